/** The share of the admission limits that one request holds. Each method throws 503 when a limit is reached. */
export interface AdmissionTicket {
  /** Aborted when the client leaves or the request's time is up. */
  readonly signal: AbortSignal;
  /** Reserves bytes for a body before it is read. */
  receive(bytes: number): void;
  /** Releases the reservation of the body and acquires the slots of the operation. */
  bodyArrived(slots: number): void;
  /** Counts the request as an export: its time is then up when it has made no progress for that long. */
  startExport(): void;
  /** More of an export was made and its client has read before. */
  progressed(): void;
  /** Counts the bytes of the response until the client has read them. */
  answer(bytes: number): void;
}
