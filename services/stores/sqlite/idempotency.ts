import {
  IDEMPOTENCY_RETENTION_MS,
  type Idempotency,
  type IdempotentResult,
} from '../../shared/idempotency.js';
import type { Connection } from './connection.js';

/** Expired outcomes deleted per saved one: enough to keep up, at no noticeable cost. */
const EXPIRED_PER_WRITE = 20;

/** Runs a write once for its idempotency key: the saved outcome is answered again (contract 3.4). */
export function runIdempotent<T>(
  connection: Connection,
  request: { organizationId: string; idempotency?: Idempotency; now: number },
  work: () => T,
  isKept: (outcome: T) => boolean,
): IdempotentResult<T> {
  const { organizationId, idempotency, now } = request;
  if (!idempotency) return { kind: 'done', value: work(), replayed: false };
  const { route, key, fingerprint } = idempotency;
  const saved = connection.row<[string, string]>(
    `SELECT fingerprint, outcome FROM idempotency
      WHERE organization_id = ? AND route = ? AND key = ? AND saved_ms > ?`,
    organizationId,
    route,
    key,
    now - IDEMPOTENCY_RETENTION_MS,
  );
  if (saved) {
    const [before, outcome] = saved;
    if (before !== fingerprint) return { kind: 'idempotency_key_reused' };
    return { kind: 'done', value: JSON.parse(outcome) as T, replayed: true };
  }
  const value = work();
  if (isKept(value)) {
    connection.run(
      `DELETE FROM idempotency WHERE (organization_id, route, key) IN (
         SELECT organization_id, route, key FROM idempotency WHERE saved_ms <= ? ORDER BY saved_ms LIMIT ?)`,
      now - IDEMPOTENCY_RETENTION_MS,
      EXPIRED_PER_WRITE,
    );
    connection.run(
      `INSERT OR REPLACE INTO idempotency (organization_id, route, key, fingerprint, saved_ms, outcome)
       VALUES (?, ?, ?, ?, ?, ?)`,
      organizationId,
      route,
      key,
      fingerprint,
      now,
      JSON.stringify(value),
    );
  }
  return { kind: 'done', value, replayed: false };
}
