/** Results are kept this long per organization, route and key. */
export const IDEMPOTENCY_RETENTION_MS = 24 * 60 * 60 * 1000;

/** The idempotency key of a write. */
export interface Idempotency {
  route: string;
  key: string;
  /** Hash of the body and the query parameters. */
  fingerprint: string;
}

/** The key cannot be used: its first request is still running, or it was used for a different request. */
export type IdempotencyConflict = { kind: 'idempotency_in_progress' } | { kind: 'idempotency_key_reused' };

/** The result of a write; `replayed` when it is the stored result of an earlier request with the same key. */
export type IdempotentResult<T> = { kind: 'done'; value: T; replayed: boolean } | IdempotencyConflict;
