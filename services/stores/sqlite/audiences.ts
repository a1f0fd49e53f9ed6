import type {
  AudienceSearch,
  CreateAudience,
  CreateAudienceOutcome,
  DeleteAudience,
  DeleteAudienceOutcome,
  UpdateAudience,
  UpdateAudienceOutcome,
} from '../../audiences/audience-store.js';
import type { Audience, AudienceRecord } from '../../audiences/schema.js';
import {
  type AudienceBody,
  applyAudienceRecord,
  createdAudience,
  hasChanged,
  type StoredAudience,
  toAudience,
  updatedAudience,
} from '../../audiences/stored-audience.js';
import { nameKeys, nameWords } from '../../search/names.js';
import type { Page, SortKey } from '../../search/query.js';
import { textWords } from '../../search/words.js';
import { newId } from '../../shared/ids.js';
import { type Json, toJson } from '../../shared/json.js';
import { type Deletion, deletionAt, isDeletion, type OrderedRecord } from '../../shared/record-order.js';
import { identifier, type Sql, sql } from '../../shared/sql.js';
import { formatTimestamp } from '../../shared/time.js';
import type { Connection } from './connection.js';
import { beginJob } from './jobs/job-table.js';
import { findAudienceKey, findOrganizationKey } from './organizations.js';
import type { RowId } from './row-ids.js';
import { OrganizationTerms } from './text/fts-query.js';
import { countRows, newestRows, type RowSource } from './text/ordered-rows.js';
import { type ColumnGroups, planMatch } from './text/query-plan.js';
import { rankedRows } from './text/ranked-rows.js';
import { encoderOf, TermEncoder } from './text/term-encoder.js';
import { similarWords } from './text/vocabulary.js';
import { type BatchResult, type IsTimeUp, writeBatch } from './writes/write-batch.js';
import type { WriteSession } from './writes/write-session.js';

/** Columns of `audience_terms`, in order. */
export const AUDIENCE_COLUMNS: readonly Sql[] = (
  ['name', 'tracking_utm_value', 'description', 'exact'] as const
).map((name) => identifier(name));
const AUDIENCE_GROUPS: ColumnGroups = [['name'], ['tracking_utm_value']];

export function hasAudience(connection: Connection, organization: number, id: string): boolean {
  return (
    connection.row(
      sql`SELECT 1 FROM audiences WHERE organization = ? AND id = ? AND body IS NOT NULL`,
      organization,
      id,
    ) !== undefined
  );
}

export function getAudience(
  connection: Connection,
  organizationId: string,
  id: string,
): Json<Audience | null> {
  const row = connection.row<AudienceColumns>(
    sql`SELECT body, created_ms, updated_ms FROM audiences
      WHERE organization = (SELECT key FROM organizations WHERE id = ?) AND id = ? AND body IS NOT NULL`,
    organizationId,
    id,
  );
  return row ? audienceJson(row) : 'null';
}

export function searchAudiences(connection: Connection, search: AudienceSearch): Json<Page<Audience>> {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, search.organizationId);
    if (organization === undefined) return toJson({ items: [], total: 0, next: null });
    const source: RowSource = { rows: 'audiences', organization };
    const { offset = 0, after } = search;
    const limit = offset + search.limit;
    const { rows, total } = search.query
      ? rankedRows(
          connection,
          { ...source, index: 'audience_terms' },
          planMatch(
            new OrganizationTerms(organization),
            AUDIENCE_GROUPS,
            [],
            search.query,
            similarWords(connection, 'audience_terms', organization),
          ),
          limit,
          { after },
        )
      : {
          rows: newestRows(connection, source, limit, after),
          total: countRows(connection, source),
        };
    const items = rows.slice(offset).map(({ id }) => bodyOf(connection, organization, id));
    const last = rows.length < limit ? undefined : rows.at(-1);
    const next: SortKey | null = last ? { rank: last.rank, createdAt: last.createdMs, id: last.id } : null;
    return `{"items":[${items.join(',')}],"total":${total},"next":${JSON.stringify(next)}}`;
  });
}

export function countMembers(
  connection: Connection,
  organizationId: string,
  audienceIds: readonly string[],
): Json<number[]> {
  return connection.readTransaction(() => {
    const count = sql`SELECT count(*) FROM memberships WHERE audience =
      (SELECT key FROM audiences WHERE organization = (SELECT key FROM organizations WHERE id = ?) AND id = ?)`;
    return toJson(audienceIds.map((id) => connection.number(count, organizationId, id) ?? 0));
  });
}

type AudienceColumns = readonly [body: string, createdMs: bigint, updatedMs: bigint];

/** The audience as JSON, assembled without parsing. */
export function audienceJson([body, created, updated]: AudienceColumns): string {
  return `${body.slice(0, -1)},"created_at":"${formatTimestamp(created)}","updated_at":"${formatTimestamp(updated)}"}`;
}

function bodyOf(connection: Connection, organization: number, id: string): string {
  const row = connection.row<AudienceColumns>(
    sql`SELECT body, created_ms, updated_ms FROM audiences WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  if (!row) throw new Error('a found audience has no row');
  return audienceJson(row);
}

/** Applies stream records until time is up. Each record replaces the whole audience (contract 6.2). */
export function upsertAudiences(
  session: WriteSession,
  records: readonly OrderedRecord<AudienceRecord>[],
  isTimeUp: IsTimeUp,
): BatchResult {
  return writeBatch(session, 'audiences', records, isTimeUp, (record) => upsertAudience(session, record));
}

function upsertAudience(session: WriteSession, ordered: OrderedRecord<AudienceRecord>): void {
  const { organization_id: organizationId, id } = ordered.record;
  const row = readRow(session, organizationId, id);
  const stored = applyAudienceRecord(row.stored, ordered);
  if (stored !== null) writeAudience(session, row, stored);
}

/** `now` is in milliseconds since the epoch, as in the operations below. */
export function createAudience(
  session: WriteSession,
  { audience }: CreateAudience,
  now: number,
): CreateAudienceOutcome {
  const row = readRow(session, audience.organization_id, audience.id);
  if (row.stored && !isDeletion(row.stored)) return { kind: 'audience_exists' };
  if (row.stored) endMemberships(session, row, audience.id, now);
  const created = createdAudience(audience, now, row.stored);
  writeAudience(session, row, created);
  return { kind: 'created', audience: toAudience(created) };
}

export function updateAudience(
  session: WriteSession,
  { organizationId, audienceId, changes, ifUpdatedMs }: UpdateAudience,
  now: number,
): UpdateAudienceOutcome {
  const row = findRow(session, organizationId, audienceId);
  if (!row?.stored || isDeletion(row.stored)) return { kind: 'audience_not_found' };
  if (hasChanged(row.stored, ifUpdatedMs)) return { kind: 'changed_meanwhile' };
  const updated = updatedAudience(row.stored, changes, now);
  writeAudience(session, row, updated);
  return { kind: 'updated', audience: toAudience(updated) };
}

/** Ends the memberships of the audience at once. A job removes stored memberships. */
export function deleteAudience(
  session: WriteSession,
  { organizationId, audienceId, ifUpdatedMs }: DeleteAudience,
  now: number,
): DeleteAudienceOutcome {
  const row = findRow(session, organizationId, audienceId);
  const stored = row?.stored && !isDeletion(row.stored) ? row.stored : undefined;
  if (stored && hasChanged(stored, ifUpdatedMs)) return { kind: 'changed_meanwhile' };
  if (row?.stored) endMemberships(session, row, audienceId, now);
  if (!row || !stored) return { kind: 'deleted', deleted: false, audience: null };
  writeAudience(session, row, deletionAt(now, stored));
  return { kind: 'deleted', deleted: true, audience: toAudience(stored) };
}

/** Retires the key of an audience permanently: the id gets a new key, which no membership has. */
function endMemberships(session: WriteSession, row: AudienceRow, id: string, now: number): void {
  const { connection } = session;
  const { organization, key } = row;
  if (connection.row(sql`SELECT 1 FROM memberships WHERE audience = ? LIMIT 1`, key) === undefined) return;
  row.key = session.replaceAudienceKey(organization, id);
  const state = { key, audience_id: id };
  beginJob(connection, { id: newId('job', now), kind: 'remove-memberships', organization, state }, now);
}

interface AudienceRow {
  organization: number;
  key: number;
  position: RowId | null;
  /** Undefined if only memberships name the audience. */
  stored: StoredAudience | Deletion | undefined;
}

/** Undefined if nothing was ever stored about the audience, not even a membership. */
function findRow(session: WriteSession, organizationId: string, id: string): AudienceRow | undefined {
  const { connection } = session;
  const organization = findOrganizationKey(connection, organizationId);
  if (organization === undefined) return undefined;
  const isKnown = findAudienceKey(connection, organization, id) !== undefined;
  return isKnown ? readRow(session, organizationId, id) : undefined;
}

function readRow(session: WriteSession, organizationId: string, id: string): AudienceRow {
  const organization = session.organizationKey(organizationId);
  const key = session.audienceKey(organization, id);
  type Columns = [
    position: RowId | null,
    created: bigint | null,
    updated: bigint | null,
    recordOrder: string | null,
    body: string | null,
  ];
  const [position, created, updated, recordOrder, body] = session.connection.row<Columns>(
    sql`SELECT position, created_ms, updated_ms, record_order, body FROM audiences WHERE key = ?`,
    key,
  ) as Columns;
  const stored =
    body !== null
      ? {
          createdMs: Number(created),
          updatedMs: Number(updated),
          recordOrder,
          audience: JSON.parse(body) as AudienceBody,
        }
      : recordOrder === null
        ? undefined
        : { recordOrder };
  return { organization, key, position, stored };
}

function writeAudience(
  session: WriteSession,
  { organization, key, position, stored: previous }: AudienceRow,
  stored: StoredAudience | Deletion,
): void {
  const changes = session.indexChanges('audience_terms', AUDIENCE_COLUMNS);
  const text = new TermEncoder(organization);
  const last = previous && !isDeletion(previous) ? previous : undefined;
  const before = last ? audienceColumns(text, last.audience) : [];
  const wordsBefore = text.takeWords();
  if (isDeletion(stored)) {
    if (position !== null) changes.remove(position, before);
    session.forgetWords('audience_terms', organization, wordsBefore);
    session.connection.run(
      sql`UPDATE audiences SET position = NULL, created_ms = NULL, updated_ms = NULL, record_order = ?, body = NULL WHERE key = ?`,
      stored.recordOrder,
      key,
    );
    return;
  }
  const { createdMs, updatedMs, audience } = stored;
  const stays = position !== null && createdMs === last?.createdMs;
  const newRowId = stays ? position : session.newRowId('audience_terms', createdMs);
  session.connection.run(
    sql`UPDATE audiences SET position = ?, created_ms = ?, updated_ms = ?, record_order = ?, body = ? WHERE key = ?`,
    newRowId,
    createdMs,
    updatedMs,
    stored.recordOrder,
    JSON.stringify(audience),
    key,
  );
  const columns = audienceColumns(text, audience);
  const words = text.takeWords();
  session.addWords('audience_terms', organization, words);
  const lost = [...wordsBefore].filter((word) => !words.has(word));
  session.forgetWords('audience_terms', organization, lost);
  if (stays) {
    changes.replace(newRowId, before, columns);
  } else {
    if (position !== null) changes.remove(position, before);
    changes.add(newRowId, columns);
  }
}

const encodeName = encoderOf(nameWords);
const encodeText = encoderOf(textWords);

export function audienceColumns(text: TermEncoder, audience: AudienceBody): string[] {
  const { name, tracking_utm_value: tracking, description } = audience;
  const others = [tracking, description].map((value) =>
    text.encodeColumn(value === null ? [] : [value], encodeText),
  );
  const { whole, initials } = nameKeys([name]);
  const exact = text.terms.matchAllTerm + text.terms.name({ whole, parts: [], initials });
  return [text.encodeColumn([name], encodeName), ...others, exact];
}
