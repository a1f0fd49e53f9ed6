/** What a request holds of the gateway's limits while it is read and answered. Each method throws 503 where a limit is reached. */
export interface AdmissionTicket {
  /** Aborted when the client leaves or the request's time is up. */
  readonly signal: AbortSignal;
  /** Reserves the bytes of a body that is about to be read. */
  receive(bytes: number): void;
  /** Gives back what the body took, and takes the slots of the operation. */
  bodyArrived(slots: number): void;
  /** Counts the bytes of an answer until its client has read them. */
  answer(bytes: number): void;
}
