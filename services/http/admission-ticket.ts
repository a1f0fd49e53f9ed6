/** The share of the admission limits that one request holds. Each method throws 503 when a limit is reached. */
export interface AdmissionTicket {
  /** Aborted when the client leaves or the request's time is up. */
  readonly signal: AbortSignal;
  /** Reserves bytes for a body before it is read. */
  receive(bytes: number): void;
  /** Releases the reservation of the body and acquires the slots of the operation. */
  bodyArrived(slots: number): void;
  /** Counts the bytes of the response until the client has read them. */
  answer(bytes: number): void;
}
