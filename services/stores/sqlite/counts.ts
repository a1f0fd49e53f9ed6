import { sql } from '../../shared/sql.js';
import type { RecordCounts } from '../../status/status-store.js';
import type { Connection } from './connection.js';

type OrganizationRow = [
  key: bigint,
  contacts: bigint,
  contactsAcceptedMs: bigint | null,
  audiencesAcceptedMs: bigint | null,
  visits: bigint,
  visitsAcceptedMs: bigint | null,
];

export function readFigures(connection: Connection, organizationId: string): RecordCounts {
  return connection.readTransaction(() => {
    const [key, contacts, contactsMs, audiencesMs, visits, visitsMs] = connection.row<OrganizationRow>(
      sql`SELECT key, contacts, contacts_accepted_ms, audiences_accepted_ms, visits, visits_accepted_ms
         FROM organizations WHERE id = ?`,
      organizationId,
    ) ?? [-1n, 0n, null, null, 0n, null];
    const audiences = connection.number(
      sql`SELECT count(*) FROM audiences WHERE organization = ? AND position IS NOT NULL`,
      key,
    );
    const newest = connection.number(
      sql`SELECT created_ms FROM visits WHERE organization = ? ORDER BY created_ms DESC, id DESC LIMIT 1`,
      key,
    );
    return {
      contacts: { records: Number(contacts), lastAcceptedAt: orNull(contactsMs) },
      audiences: { records: audiences ?? 0, lastAcceptedAt: orNull(audiencesMs) },
      visits: {
        records: Number(visits),
        lastAcceptedAt: orNull(visitsMs),
        lastCreatedAt: newest ?? null,
      },
    };
  });
}

const orNull = (value: bigint | null) => (value === null ? null : Number(value));
