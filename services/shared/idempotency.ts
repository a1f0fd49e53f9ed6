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

/** Where the answers of writes are kept that keep no outcome with what they write. */
export interface AnswerStore {
  /** Keeps the key for one attempt, whose end says what becomes of it. */
  claimAnswer(request: { organizationId: string; idempotency: Idempotency }): Promise<AnswerClaim>;
}

export type AnswerClaim =
  | { kind: 'claimed'; claim: ClaimedAnswer }
  | { kind: 'kept'; sealed: string }
  /** An earlier attempt ended without an answer, as in a crash: its work may be done or not. */
  | { kind: 'outcome_unknown' }
  | IdempotencyConflict;

/** The end of an attempt, by exactly one of its methods. */
export interface ClaimedAnswer {
  /** Keeps the answer. An erasure of one of the persons whom it shows deletes it. */
  keep(answer: { sealed: string; shown: readonly ShownIdentifier[] }): Promise<void>;
  /** Nothing was written: the key can be used again. */
  release(): Promise<void>;
  /** Unknown whether anything was written. */
  leave(): Promise<void>;
}

/** An identifier of a person, in normal form. */
export interface ShownIdentifier {
  kind: 'id' | 'email' | 'profile';
  value: string;
}

/** The result of a write; `replayed` when it is the stored result of an earlier request with the same key. */
export type IdempotentResult<T> = { kind: 'done'; value: T; replayed: boolean } | IdempotencyConflict;
