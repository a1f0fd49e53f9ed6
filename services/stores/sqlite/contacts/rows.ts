/** Rows of the table of contacts. */
import type { ContactBody, StoredContact } from '../../../contacts/stored-contact.js';
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
  const row = connection.row<[bigint, bigint, bigint, string | null, string, string]>(
    `SELECT position, created_ms, updated_ms, record_order, audience_ids, body
       FROM contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  if (!row) return undefined;
  const [rowId, created, updated, record, audienceIds, body] = row;
  return {
    rowId,
    createdMs: Number(created),
    updatedMs: Number(updated),
    recordOrder: record,
    audienceIds: JSON.parse(audienceIds) as string[],
    body: JSON.parse(body) as ContactBody,
  };
}

export type ContactColumns = readonly [
  body: string,
  audienceIds: string,
  createdMs: bigint,
  updatedMs: bigint,
];

/** The contact as JSON, assembled without parsing. */
export function contactJson([body, audienceIds, created, updated]: ContactColumns): string {
  return `${body.slice(0, -1)},"audience_ids":${audienceIds},"created_at":"${formatTimestamp(created)}","updated_at":"${formatTimestamp(updated)}"}`;
}
