/** Reads the feed of changes: contacts and marks of absent contacts, in the order of their change numbers. */
import type {
  ChangePosition,
  ChangesPage,
  ChangesRequest,
  ChangesResult,
} from '../../../contacts/change-feed.js';
import type { Contact } from '../../../contacts/schema.js';
import { fromJson, type Json, toJson } from '../../../shared/json.js';
import { sql } from '../../../shared/sql.js';
import { numberingOf } from '../../common/numbering.js';
import { PageBuilder } from '../../common/page-builder.js';
import { lastChange } from '../change-counter.js';
import type { Connection } from '../connection.js';
import { findOrganizationKey } from '../organizations.js';
import type { RowId } from '../row-ids.js';
import { currentContact, formerAudiences } from './former-audiences.js';
import { matchesAmong } from './search.js';

/** Maximum changes that a page reads, including changes that it leaves out. */
const MAX_READ = 10_000;
/** Bytes of a change in a response besides the contact: its id and the names of the fields. */
const BYTES_PER_CHANGE = 256;

interface Organization {
  key: number;
  id: string;
}

/** Key of the organization whose changes are read; null for all organizations. */
type Scope = number | null;
/** Scope of an organization without records. */
const NO_ORGANIZATION = -1;

interface ChangedRow {
  change: number;
  organization: Organization;
  contactId: string;
  /** Absent if the contact does not exist. */
  position?: RowId;
}

/** Reads a page without changes, which takes microseconds; null if there are changes to read. */
export const quickChanges = (connection: Connection, request: ChangesRequest): ChangesResult | null =>
  request.after === undefined ? null : read(connection, request, true);

export const readChanges = (connection: Connection, request: ChangesRequest): ChangesResult =>
  read(connection, request, false) as ChangesResult;

function read(connection: Connection, request: ChangesRequest, isQuick: boolean): ChangesResult | null {
  return connection.readTransaction(() => {
    const [id, marksFrom] = connection.row<[string, bigint]>(
      sql`SELECT epoch, marks_from FROM change_feed`,
    ) as [string, bigint];
    const numbering = numberingOf([id]);
    const { epoch } = numbering;
    const last = lastChange(connection);
    const position = positionOf(request.after, epoch, last);
    const [after, start] = [position.after, position.start].map(
      ([number = Number.POSITIVE_INFINITY]) => number,
    ) as [number, number];
    const isKnown = position.epoch === epoch && after <= last && start <= last;
    if (!isKnown || marksFrom > Math.max(after, start)) return { kind: 'expired', numbering };
    const { organizationId } = request;
    const scope =
      organizationId === undefined
        ? null
        : (findOrganizationKey(connection, organizationId) ?? NO_ORGANIZATION);
    if (isQuick && changedRows(connection, scope, after, last, 1).length > 0) return null;
    const page = isQuick
      ? { changes: [], reached: last }
      : readPage(connection, request, scope, { after, start, last });
    const { changes, reached } = page;
    const isChanging = hasFormerMemberships(connection, scope);
    return {
      kind: 'page',
      numbering,
      changes,
      next: { epoch, after: [reached], start: [start] },
      more: reached < last || isChanging,
    };
  });
}

function positionOf(after: ChangesRequest['after'], epoch: string, last: number): ChangePosition {
  if (after === undefined) return { epoch, after: [0], start: [last] };
  return after === 'now' ? { epoch, after: [last], start: [last] } : after;
}

function readPage(
  connection: Connection,
  { limit, search }: ChangesRequest,
  scope: Scope,
  { after, start, last }: { after: number; start: number; last: number },
): Pick<ChangesPage, 'changes'> & { reached: number } {
  const former = new Map<number, ReadonlySet<string>>();
  const formerOf = (key: number) => {
    const known = former.get(key) ?? formerAudiences(connection, key);
    former.set(key, known);
    return known;
  };
  const contactOf = ({ organization: { key }, contactId }: ChangedRow): Json<Contact> => {
    const [body] = connection.row<[Json<Contact>]>(
      sql`SELECT body FROM contacts WHERE organization = ? AND id = ?`,
      key,
      contactId,
    ) as [Json<Contact>];
    return currentContact(connection, key, body, formerOf(key));
  };
  const builder = new PageBuilder<Json<Contact> | null, Contact | null>({
    limit,
    reservedBytesPerItem: BYTES_PER_CHANGE,
    toJson: (contact) => contact ?? 'null',
  });
  const changes: ChangesPage['changes'] = [];
  let reached = after;
  // Evaluating the query costs about the same for few rows as for many, so each further window is twice as large.
  let size = limit + 1;
  for (let done = 0; reached < last && done < MAX_READ; size = Math.min(2 * size, MAX_READ)) {
    const rows = changedRows(connection, scope, reached, last, size);
    const found = presentRows(connection, search, rows);
    for (const row of rows) {
      const { change, organization, contactId, position } = row;
      const contact = position !== undefined && found.has(position) ? contactOf(row) : null;
      if (contact !== null || change > start) {
        if (!builder.add(contact)) return { changes, reached };
        changes.push({ organizationId: organization.id, contactId, contact });
      }
      reached = change;
    }
    if (rows.length < size) reached = last;
    done += rows.length;
  }
  return { changes, reached };
}

/** Positions of rows that the search finds. Only requests for one organization have a search. */
function presentRows(
  connection: Connection,
  search: ChangesRequest['search'],
  rows: readonly ChangedRow[],
): ReadonlySet<RowId> {
  const positions = rows.flatMap(({ position }) => (position === undefined ? [] : [position]));
  const [first] = rows;
  return new Set(
    search && first ? matchesAmong(connection, search, first.organization.key, positions) : positions,
  );
}

/**
 * The first changes after a number. Reads windows of numbers, because each organization has only some of the numbers; a window that finds
 * too little is followed by one of twice the size.
 */
function changedRows(
  connection: Connection,
  scope: Scope,
  after: number,
  last: number,
  limit: number,
): ChangedRow[] {
  const rows: ChangedRow[] = [];
  let size = limit;
  for (let from = after; from < last && rows.length < limit; size *= 2) {
    const upTo = Math.min(from + size, last);
    const room = limit - rows.length;
    rows.push(...rowsBetween(connection, scope, from, upTo, room));
    from = upTo;
  }
  return rows;
}

function rowsBetween(
  connection: Connection,
  scope: Scope,
  after: number,
  upTo: number,
  limit: number,
): ChangedRow[] {
  const [inScope, keys] = scope === null ? [sql`1`, []] : [sql`o.key = ?`, [scope]];
  const rows = connection.rows<[bigint, string, RowId | null, bigint, string]>(
    sql`SELECT c.change, c.id, c.position, o.key, o.id FROM organizations o
        CROSS JOIN contacts c ON c.organization = o.key
        WHERE ${inScope} AND c.change > ? AND c.change <= ?
      UNION ALL
      SELECT a.change, a.id, c.position, o.key, o.id FROM organizations o
        CROSS JOIN absent_contacts a ON a.organization = o.key
        LEFT JOIN contacts c ON c.organization = a.organization AND c.id = a.id
        WHERE ${inScope} AND a.change > ? AND a.change <= ?
      ORDER BY 1 LIMIT ?`,
    ...[...keys, after, upTo],
    ...[...keys, after, upTo],
    limit,
  );
  return rows.map(([change, contactId, position, key, id]) => ({
    change: Number(change),
    organization: { key: Number(key), id },
    contactId,
    ...(position !== null && { position }),
  }));
}

/** Whether a job still removes memberships of deleted audiences: the contacts concerned come into the feed step by step. */
function hasFormerMemberships(connection: Connection, scope: Scope): boolean {
  const [inScope, keys] = scope === null ? [sql`1`, []] : [sql`organization = ?`, [scope]];
  return (
    connection.row(
      sql`SELECT 1 FROM jobs WHERE ${inScope} AND kind = 'remove-memberships' LIMIT 1`,
      ...keys,
    ) !== undefined
  );
}

/** A result in the form in which a search process sends it: a line with everything except the contacts, then a line per contact. */
export function changesToLines(result: ChangesResult): string {
  if (result.kind !== 'page') return toJson(result);
  const { changes, ...head } = result;
  const ids = changes.map(({ organizationId, contactId }) => [organizationId, contactId]);
  return [toJson({ ...head, ids }), ...changes.map(({ contact }) => contact ?? 'null')].join('\n');
}

export function parseChanges(lines: string): ChangesResult {
  const [first, ...contacts] = lines.split('\n');
  type Head = Omit<ChangesPage, 'changes'> & { ids: [organizationId: string, contactId: string][] };
  const head = fromJson(first as Json<Head | Exclude<ChangesResult, ChangesPage>>);
  if (head.kind !== 'page') return head;
  const { ids, ...page } = head;
  const changes = ids.map(([organizationId, contactId], index) => {
    const contact = contacts[index] as Json<Contact>;
    return { organizationId, contactId, contact: contact === 'null' ? null : contact };
  });
  return { ...page, changes };
}
