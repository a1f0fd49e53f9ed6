/** Milliseconds for which results are stored per organization, route and key. */
export const IDEMPOTENCY_RETENTION_MS = 24 * 60 * 60 * 1000;

/** The idempotency key of a write. */
export interface Idempotency {
  route: string;
  key: string;
  /** Hash of the body and the query parameters. */
  fingerprint: string;
}

/** The key cannot be used: its first request is still running, or an earlier request with the key was different. */
export type IdempotencyConflict = { kind: 'idempotency_in_progress' } | { kind: 'idempotency_key_reused' };

/** Stores responses of writes whose store keeps no outcome with the write. */
export interface AnswerStore {
  /** Claims the key for one attempt. A method of `ClaimedAnswer` ends the attempt. */
  claimAnswer(request: { organizationId: string; idempotency: Idempotency }): Promise<AnswerClaim>;
}

export type AnswerClaim =
  | { kind: 'claimed'; claim: ClaimedAnswer }
  | { kind: 'kept'; sealed: string }
  /** An earlier attempt ended without a response, for example in a crash: the work of that attempt may or may not be done. */
  | { kind: 'outcome_unknown' }
  | IdempotencyConflict;

/** The end of an attempt: exactly one of these methods is called. */
export interface ClaimedAnswer {
  /** Stores the response. The erasure of a person in `shown` deletes the response. */
  keep(answer: { sealed: string; shown: readonly ShownIdentifier[] }): Promise<void>;
  /** Frees the key, because nothing was written. */
  release(): Promise<void>;
  /** Ends the attempt without a response: it is unknown whether anything was written. */
  leave(): Promise<void>;
}

/** An identifier of a person, in normal form. */
export interface ShownIdentifier {
  kind: 'id' | 'email' | 'profile';
  value: string;
}

/** The result of a write. `replayed` is true if the result was stored by an earlier request with the same key. */
export type IdempotentResult<T> = { kind: 'done'; value: T; replayed: boolean } | IdempotencyConflict;
