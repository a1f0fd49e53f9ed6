/** Counts the contacts of each import. */
import { type ImportCounts, MAX_LISTED_IMPORTS } from '../../../contacts/contact-store.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import { findOrganizationKey } from '../organizations.js';

export function listImports(connection: Connection, organizationId: string): ImportCounts[] {
  const organization = findOrganizationKey(connection, organizationId);
  if (organization === undefined) return [];
  return connection
    .rows<[string, bigint, bigint, bigint]>(
      sql`SELECT import_id, count(*), count(*) - sum(import_changed), max(imported_ms) FROM contacts
        WHERE organization = ? AND import_id IS NOT NULL
        GROUP BY import_id ORDER BY 4 DESC, 1 LIMIT ?`,
      organization,
      MAX_LISTED_IMPORTS,
    )
    .map(([id, contacts, unchanged, acceptedMs]) => ({
      id,
      contacts: Number(contacts),
      unchanged: Number(unchanged),
      acceptedMs: Number(acceptedMs),
    }));
}
