/** Rows of the table of contacts. */
import type { Contact } from '../../../contacts/schema.js';
import type { StoredContact } from '../../../contacts/stored-contact.js';
import { fromJson, type Json } from '../../../shared/json.js';
import type { Deletion } from '../../../shared/record-order.js';
import { formatTimestamp } from '../../../shared/time.js';
import type { Connection } from '../connection.js';
import type { RowId } from '../row-ids.js';

export interface ContactRow extends StoredContact {
  rowId: RowId;
}

export function readContactRow(
  connection: Connection,
  organization: number,
  id: string,
): ContactRow | undefined {
  const row = connection.row<[bigint, bigint, bigint, string | null, Json<Contact>]>(
    `SELECT position, created_ms, updated_ms, record_order, body
       FROM contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  if (!row) return undefined;
  const [rowId, created, updated, recordOrder, text] = row;
  const { audience_ids: audienceIds, created_at: _, updated_at: __, ...body } = fromJson(text);
  return { rowId, createdMs: Number(created), updatedMs: Number(updated), recordOrder, audienceIds, body };
}

/** What is left of a deleted contact; undefined when it was never deleted, or came back. */
export function readDeletion(connection: Connection, organization: number, id: string): Deletion | undefined {
  const row = connection.row<[string]>(
    `SELECT record_order FROM deleted_contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  return row && { recordOrder: row[0] };
}

/** The contact as responses show it. */
export function contactJson({ body, audienceIds, createdMs, updatedMs }: StoredContact): Json<Contact> {
  const fields = JSON.stringify(body).slice(0, -1);
  return `${fields},"audience_ids":${JSON.stringify(audienceIds)},"created_at":"${formatTimestamp(createdMs)}","updated_at":"${formatTimestamp(updatedMs)}"}`;
}
