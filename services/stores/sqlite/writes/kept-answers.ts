/** Stored responses of writes whose transaction stores no outcome (contract 3.4). */
import { identifierText } from '../../../contacts/suppression.js';
import type { AnswerClaim, Idempotency, ShownIdentifier } from '../../../shared/idempotency.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import { Suppression } from '../erasure/suppression.js';
import { deleteAnswer, deleteExpiredAnswers, findOutcome, noteShown } from '../idempotency.js';

export interface AnswerKey {
  organizationId: string;
  idempotency: Idempotency;
}

type Claim = Exclude<AnswerClaim, { kind: 'claimed' }> | { kind: 'claimed' };

/** Claims a key by storing an outcome without a response. Responses expire by `now`, in milliseconds since 1970. */
export function claimAnswer(
  connection: Connection,
  { organizationId, idempotency }: AnswerKey,
  now: number,
): Claim {
  const { route, key, fingerprint } = idempotency;
  const saved = findOutcome(connection, organizationId, idempotency, now);
  if (saved) {
    const [before, outcome] = saved;
    if (before !== fingerprint) return { kind: 'idempotency_key_reused' };
    const { sealed } = JSON.parse(outcome) as { sealed: string | null };
    return sealed === null ? { kind: 'outcome_unknown' } : { kind: 'kept', sealed };
  }
  deleteExpiredAnswers(connection, now);
  connection.run(
    sql`INSERT OR REPLACE INTO idempotency (organization_id, route, key, fingerprint, saved_ms, outcome)
     VALUES (?, ?, ?, ?, ?, ?)`,
    organizationId,
    route,
    key,
    fingerprint,
    now,
    JSON.stringify({ sealed: null }),
  );
  return { kind: 'claimed' };
}

/** Stores a response. Does nothing if an erasure is suppressing one of the persons: the erasure may have looked for responses already. */
export function keepAnswer(
  connection: Connection,
  { organizationId, idempotency: { route, key }, sealed, shown }: AnswerKey & KeptAnswer,
): void {
  if (new Suppression(connection).includes(organizationId, () => shown)) return;
  connection.run(
    sql`UPDATE idempotency SET outcome = ? WHERE organization_id = ? AND route = ? AND key = ?`,
    JSON.stringify({ sealed }),
    organizationId,
    route,
    key,
  );
  noteShown(connection, { organizationId, route, key }, shown.map(identifierText));
}

interface KeptAnswer {
  sealed: string;
  shown: readonly ShownIdentifier[];
}

export const releaseAnswer = (
  connection: Connection,
  { organizationId, idempotency: { route, key } }: AnswerKey,
): void => deleteAnswer(connection, organizationId, route, key);
