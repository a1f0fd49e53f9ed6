import type { ContactBody } from '../../contacts/stored-contact.js';
import { type Identifier, identifiersOf, identifierText, showsAny } from '../../contacts/suppression.js';
import {
  IDEMPOTENCY_RETENTION_MS,
  type Idempotency,
  type IdempotentResult,
} from '../../shared/idempotency.js';
import { sql } from '../../shared/sql.js';
import type { Connection } from './connection.js';

/** Expired outcomes to delete per saved outcome: enough to delete them as fast as they expire, at no noticeable cost. */
const EXPIRED_PER_WRITE = 20;

/** Runs a write once per idempotency key. A repetition returns the saved outcome (contract 3.4). */
export function runIdempotent<T>(
  connection: Connection,
  request: { organizationId: string; idempotency?: Idempotency; now: number },
  work: () => T,
  isKept: (outcome: T) => boolean,
): IdempotentResult<T> {
  const { organizationId, idempotency, now } = request;
  if (!idempotency) return { kind: 'done', value: work(), replayed: false };
  const { route, key, fingerprint } = idempotency;
  const saved = findOutcome(connection, organizationId, idempotency, now);
  if (saved) {
    const [before, outcome] = saved;
    if (before !== fingerprint) return { kind: 'idempotency_key_reused' };
    return { kind: 'done', value: JSON.parse(outcome) as T, replayed: true };
  }
  const value = work();
  if (isKept(value)) {
    deleteExpiredAnswers(connection, now);
    deleteAnswer(connection, organizationId, route, key);
    connection.run(
      sql`INSERT INTO idempotency (organization_id, route, key, fingerprint, saved_ms, outcome)
       VALUES (?, ?, ?, ?, ?, ?)`,
      organizationId,
      route,
      key,
      fingerprint,
      now,
      JSON.stringify(value),
    );
    const { contact } = value as { contact?: ContactBody };
    noteShown(
      connection,
      { organizationId, route, key },
      contact ? identifiersOf(contact).map(identifierText) : [],
    );
  }
  return { kind: 'done', value, replayed: false };
}

/** The fingerprint and the outcome that are stored for a key. `now` is in milliseconds since 1970. */
export const findOutcome = (
  connection: Connection,
  organizationId: string,
  { route, key }: Idempotency,
  now: number,
): [fingerprint: string, outcome: string] | undefined =>
  connection.row<[string, string]>(
    sql`SELECT fingerprint, outcome FROM idempotency
      WHERE organization_id = ? AND route = ? AND key = ? AND saved_ms > ?`,
    organizationId,
    route,
    key,
    now - IDEMPOTENCY_RETENTION_MS,
  );

/** Deletes some expired responses. `now` is in milliseconds since 1970. */
export function deleteExpiredAnswers(connection: Connection, now: number): void {
  connection.run(
    sql`DELETE FROM idempotency WHERE (organization_id, route, key) IN (
       SELECT organization_id, route, key FROM idempotency WHERE saved_ms <= ? ORDER BY saved_ms LIMIT ?)`,
    now - IDEMPOTENCY_RETENTION_MS,
    EXPIRED_PER_WRITE,
  );
}

/** Records which persons a response shows. */
export function noteShown(
  connection: Connection,
  { organizationId, route, key }: { organizationId: string; route: string; key: string },
  identifiers: readonly string[],
): void {
  for (const identifier of identifiers) {
    connection.run(
      sql`INSERT OR IGNORE INTO answer_identifiers (organization_id, identifier, route, key) VALUES (?, ?, ?, ?)`,
      organizationId,
      identifier,
      route,
      key,
    );
  }
}

/** Deletes stored responses that show one of the persons. Returns the number of deleted responses. */
export function deleteAnswersOf(
  connection: Connection,
  organizationId: string,
  identifiers: readonly Identifier[],
): number {
  const isShown = showsAny(organizationId, identifiers);
  return identifiers.map(identifierText).reduce((sum, text) => {
    const answers = connection.rows<Answer>(
      sql`SELECT route, key, outcome FROM answer_identifiers CROSS JOIN idempotency USING (organization_id, route, key)
        WHERE organization_id = ? AND identifier = ?`,
      organizationId,
      text,
    );
    return sum + deleteShown(connection, organizationId, answers, isShown);
  }, 0);
}

/**
 * Deletes stored responses of the organization that show a contact selected by the predicate, and encrypted responses. Reads all responses.
 */
export function deleteAnswers(
  connection: Connection,
  organizationId: string,
  isShown: (outcome: unknown) => boolean,
): void {
  const answers = connection.rows<Answer>(
    sql`SELECT route, key, outcome FROM idempotency WHERE organization_id = ?`,
    organizationId,
  );
  deleteShown(connection, organizationId, answers, isShown);
}

type Answer = [route: string, key: string, outcome: string];

function deleteShown(
  connection: Connection,
  organizationId: string,
  answers: readonly Answer[],
  isShown: (outcome: unknown) => boolean,
): number {
  // An encrypted response cannot be read, so its deletion relies on the persons that `noteShown` recorded.
  const shown = answers.filter(([, , outcome]) => {
    const value = JSON.parse(outcome) as object;
    return 'sealed' in value || isShown(value);
  });
  for (const [route, key] of shown) deleteAnswer(connection, organizationId, route, key);
  return shown.length;
}

export function deleteAnswer(
  connection: Connection,
  organizationId: string,
  route: string,
  key: string,
): void {
  connection.run(
    sql`DELETE FROM idempotency WHERE organization_id = ? AND route = ? AND key = ?`,
    organizationId,
    route,
    key,
  );
}
