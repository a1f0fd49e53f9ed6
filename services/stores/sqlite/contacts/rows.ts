import { parseContact } from '../../../contacts/contact-json.js';
import {
  type DuplicateKey,
  hasKey,
  type KnownPeople,
  MAX_DUPLICATE_CANDIDATES,
  MAX_HOLDERS,
  type PeopleQuery,
} from '../../../contacts/duplicates.js';
import type { Contact } from '../../../contacts/schema.js';
import type { StoredContact } from '../../../contacts/stored-contact.js';
import type { Json } from '../../../shared/json.js';
import type { Deletion } from '../../../shared/record-order.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import { findOrganizationKey } from '../organizations.js';
import type { RowId } from '../row-ids.js';
import { OrganizationTerms } from '../text/fts-query.js';
import { currentAudiences } from './former-audiences.js';
import { duplicateQuery } from './indexed-contact.js';

export interface ContactRow extends StoredContact {
  rowId: RowId;
  /** Whether the stored text names deleted audiences; `audienceIds` leaves these out. */
  namesFormerAudience: boolean;
}

export function readContactRow(
  connection: Connection,
  organization: number,
  id: string,
): ContactRow | undefined {
  const row = connection.row<[RowId, string | null, Json<Contact>, bigint | null, bigint | null]>(
    sql`SELECT position, record_order, body, imported_ms, import_changed FROM contacts
      WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  if (!row) return undefined;
  const [rowId, recordOrder, body, importedMs, importChanged] = row;
  const stored = parseContact(body, recordOrder);
  const audienceIds = currentAudiences(connection, organization, id, stored.audienceIds);
  const imported =
    importedMs === null
      ? undefined
      : { acceptedMs: Number(importedMs), isChanged: Number(importChanged) !== 0 };
  return { rowId, ...stored, audienceIds, imported, namesFormerAudience: audienceIds !== stored.audienceIds };
}

/**
 * Finds contacts that have one of the keys, and returns at most the `most` oldest. If very many rows may have a key, compares only the
 * oldest rows.
 */
export function rowsWithKeys(
  connection: Connection,
  organization: number,
  keys: readonly DuplicateKey[],
  most: number,
): ContactRow[] {
  if (keys.length === 0) return [];
  const query = duplicateQuery(new OrganizationTerms(organization), keys);
  const candidates = connection.rows<[string]>(
    sql`SELECT c.id FROM contact_terms t
       CROSS JOIN contacts c ON c.organization = ? AND c.position = t.rowid
      WHERE contact_terms MATCH ? ORDER BY c.created_ms, c.id LIMIT ?`,
    organization,
    query.text,
    MAX_DUPLICATE_CANDIDATES,
  );
  const found: ContactRow[] = [];
  for (const [id] of candidates) {
    if (found.length >= most) break;
    const row = readContactRow(connection, organization, id) as ContactRow;
    if (hasKey(row.body, keys)) found.push(row);
  }
  return found;
}

export function findPeople(connection: Connection, query: PeopleQuery): KnownPeople {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, query.organizationId);
    if (organization === undefined) return { contactIds: [], holders: query.keys.map(() => []) };
    return {
      contactIds: query.contactIds.filter((id) =>
        connection.row(sql`SELECT 1 FROM contacts WHERE organization = ? AND id = ?`, organization, id),
      ),
      holders: query.keys.map((key) =>
        rowsWithKeys(connection, organization, [key], MAX_HOLDERS).map(({ body }) => body.contact_id),
      ),
    };
  });
}

/** The deletion of a contact; undefined if the contact was never deleted or exists again. */
export function readDeletion(connection: Connection, organization: number, id: string): Deletion | undefined {
  const row = connection.row<[string]>(
    sql`SELECT record_order FROM deleted_contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  return row && { recordOrder: row[0] };
}
