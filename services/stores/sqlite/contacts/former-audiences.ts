/**
 * Audiences that were deleted while they had members. A deletion retires the key of the audience, which ends its memberships at once.
 * Contacts still name the audience until a job has rewritten them, so readers of contacts filter such names out.
 */

import type { Contact } from '../../../contacts/schema.js';
import { fromJson, type Json, toJson } from '../../../shared/json.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';

/** Ids of audiences that contacts of the organization may name without being members. Usually empty. */
export function formerAudiences(connection: Connection, organization: number): ReadonlySet<string> {
  const ids = connection.rows<[string]>(
    sql`SELECT state ->> 'audience_id' FROM jobs WHERE organization = ? AND kind = 'remove-memberships'`,
    organization,
  );
  return ids.length === 0 ? NONE : new Set(ids.map(([id]) => id));
}

const NONE: ReadonlySet<string> = new Set();

/** The audiences that a contact names and is a member of; the same array if the contact is a member of all that it names. */
export function currentAudiences(
  connection: Connection,
  organization: number,
  contactId: string,
  audienceIds: string[],
  former = formerAudiences(connection, organization),
): string[] {
  if (former.size === 0 || !audienceIds.some((id) => former.has(id))) return audienceIds;
  return audienceIds.filter((id) => !former.has(id) || isMember(connection, organization, contactId, id));
}

/** Filters a contact that is given as JSON: the result names only the contact's `currentAudiences`. */
export function currentContact(
  connection: Connection,
  organization: number,
  json: Json<Contact>,
  former: ReadonlySet<string>,
): Json<Contact> {
  if (former.size === 0) return json;
  const contact = fromJson(json);
  const { contact_id, audience_ids } = contact;
  const current = currentAudiences(connection, organization, contact_id, audience_ids, former);
  return current === audience_ids ? json : toJson({ ...contact, audience_ids: current });
}

/** Whether the contact is a member of the audience that currently has the id. */
const isMember = (
  connection: Connection,
  organization: number,
  contactId: string,
  audienceId: string,
): boolean =>
  connection.row(
    sql`SELECT 1 FROM contacts c
       CROSS JOIN audiences a ON a.organization = c.organization AND a.id = ?
       CROSS JOIN memberships m ON m.audience = a.key AND m.position = c.position
      WHERE c.organization = ? AND c.id = ?`,
    audienceId,
    organization,
    contactId,
  ) !== undefined;
