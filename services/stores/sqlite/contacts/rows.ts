/** Rows of the table of contacts. */

import { parseContact } from '../../../contacts/contact-json.js';
import type { Contact } from '../../../contacts/schema.js';
import type { StoredContact } from '../../../contacts/stored-contact.js';
import type { Json } from '../../../shared/json.js';
import type { Deletion } from '../../../shared/record-order.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import type { RowId } from '../row-ids.js';
import { currentAudiences } from './former-audiences.js';

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
  const row = connection.row<[RowId, string | null, Json<Contact>]>(
    sql`SELECT position, record_order, body FROM contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  if (!row) return undefined;
  const [rowId, recordOrder, body] = row;
  const stored = parseContact(body, recordOrder);
  const audienceIds = currentAudiences(connection, organization, id, stored.audienceIds);
  return { rowId, ...stored, audienceIds, namesFormerAudience: audienceIds !== stored.audienceIds };
}

/** The deletion of a contact; undefined if the contact was never deleted or came back. */
export function readDeletion(connection: Connection, organization: number, id: string): Deletion | undefined {
  const row = connection.row<[string]>(
    sql`SELECT record_order FROM deleted_contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  return row && { recordOrder: row[0] };
}
