/** The write was asked for under an idempotency key. Kept 24 hours for one organization and route. */
export interface Idempotency {
  route: string;
  key: string;
  /** Of the body and the query parameters. */
  fingerprint: string;
}

/** Why an idempotency key could not be used: its request is still running, or it was used for another body. */
export type IdempotencyRefusal = { kind: 'idempotency_in_progress' } | { kind: 'idempotency_key_reused' };

/** A write's outcome, and whether it is the saved one of an earlier request with the same idempotency key. */
export type Once<T> = { kind: 'done'; value: T; replayed: boolean } | IdempotencyRefusal;
