import type { Insertion, InsertRules, KeySearch, StoredKey } from '../../accounts/key-store.js';
import { keyIsActive, RUN_KEY_NAME } from '../../accounts/keys.js';
import { fromJson, type Json } from '../../shared/json.js';
import { EMPTY_SQL, identifier, joinSql, type Sql, sql, textLiteral } from '../../shared/sql.js';
import { formatTimestamp } from '../../shared/time.js';
import { rowsToFetch } from '../common/page-builder.js';
import type { Connection } from './connection.js';
import { buildPage, type JsonPage } from './pages.js';

/** Columns of `keys`, named like the fields of a key; lists are JSON arrays. */
const COLUMNS = [
  'id',
  'secret_hash',
  'organization_id',
  'name',
  'scopes',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'ancestors',
] as const satisfies (keyof StoredKey)[];
type Column = (typeof COLUMNS)[number];

/** A text that sorts after every ISO 8601 time. */
const NEVER = sql`'~'`;

/** Time of the earliest revocation that applies to the key: of the key itself, or of an ancestor together with its descendants. */
const REVOKED_AT = sql`nullif(min(coalesce(keys.revoked_at, ${NEVER}), coalesce((
  SELECT min(ancestor.descendants_revoked_at)
    FROM json_each(keys.ancestors) AS each CROSS JOIN keys AS ancestor ON ancestor.id = each.value
), ${NEVER})), ${NEVER})`;

const VALUES: { [Name in Column]?: Sql } = {
  scopes: sql`json(keys.scopes)`,
  ancestors: sql`json(keys.ancestors)`,
  revoked_at: REVOKED_AT,
};

const listed = (toSql: (name: Column) => Sql) => joinSql(COLUMNS.map(toSql), ', ');
const INSERT = sql`INSERT INTO keys (${listed((name) => identifier(name))}) VALUES (${listed(() => sql`?`)})`;
const KEY = sql`json_object(${listed(
  (name) => sql`${textLiteral(name)}, ${VALUES[name] ?? sql`keys.${identifier(name)}`}`,
)})`;

const RUN = textLiteral(RUN_KEY_NAME);
/** Condition for keys that lists show. The first line is the condition of the partial indexes. The one parameter is the current time. */
const IS_LISTED = sql`(name IS NOT ${RUN} OR revoked_at IS NULL)
  AND (name IS NOT ${RUN} OR expires_at IS NULL OR expires_at > ?)`;

export function findKey(connection: Connection, keyId: string): StoredKey | null {
  const row = connection.row<[Json<StoredKey>]>(sql`SELECT ${KEY} FROM keys WHERE id = ?`, keyId);
  return row ? fromJson(row[0]) : null;
}

/** Lists keys, newest first. */
export function listKeys(
  connection: Connection,
  { organizationId, limit, after, now }: KeySearch,
): JsonPage<StoredKey> {
  const time = formatTimestamp(now);
  return connection.readTransaction(() => {
    const rows = connection.each<[key: Json<StoredKey>, createdAt: string, id: string]>(
      sql`SELECT ${KEY}, keys.created_at, keys.id FROM keys
        WHERE ${IS_LISTED} ${organizationId === undefined ? EMPTY_SQL : sql`AND organization_id = ?`}
          ${after ? sql`AND (created_at, id) < (?, ?)` : EMPTY_SQL}
        ORDER BY created_at DESC, id DESC LIMIT ?`,
      time,
      ...(organizationId === undefined ? [] : [organizationId]),
      ...(after ? [formatTimestamp(after.createdAt), after.id] : []),
      rowsToFetch(limit),
    );
    return buildPage(rows, countKeys(connection, now, organizationId), {
      limit,
      toJson: ([key]) => key,
      sortKeyOf: ([, createdAt, id]) => ({ rank: 0, createdAt: Date.parse(createdAt), id }),
    });
  });
}

/** Counts listed keys. Reads only the index. */
function countKeys(connection: Connection, now: number, organizationId?: string): number {
  const counted = sql`SELECT count(*) FROM keys WHERE ${IS_LISTED}`;
  const time = formatTimestamp(now);
  const count =
    organizationId === undefined
      ? connection.number(counted, time)
      : connection.number(sql`${counted} AND organization_id = ?`, time, organizationId);
  return count ?? 0;
}

/** Counts only the descendants of a key, finding each by its creating key. The `+` lets SQLite use the index on an expression. */
export function countDescendants(connection: Connection, keyId: string, now: number): number {
  return (
    connection.number(
      sql`WITH RECURSIVE descendants (id) AS (
          SELECT id FROM keys WHERE ancestors ->> 0 = ?1
          UNION SELECT made.id FROM descendants CROSS JOIN keys AS made ON made.ancestors ->> 0 = +descendants.id)
        SELECT count(*) FROM descendants CROSS JOIN keys USING (id)
         WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)`,
      keyId,
      formatTimestamp(now),
    ) ?? 0
  );
}

export function insertKey(
  connection: Connection,
  key: StoredKey,
  { maxKeys, makerActiveAt }: InsertRules = {},
): Insertion {
  const { organization_id, created_at, ancestors } = key;
  if (maxKeys !== undefined && countKeys(connection, Date.parse(created_at), organization_id) >= maxKeys)
    return 'too_many_keys';
  if (makerActiveAt !== undefined && ancestors[0] !== undefined) {
    const maker = findKey(connection, ancestors[0]);
    if (!maker || !keyIsActive(maker, makerActiveAt)) return 'maker_ended';
  }
  const values = COLUMNS.map((name) => {
    const value = key[name];
    return Array.isArray(value) ? JSON.stringify(value) : value;
  });
  connection.run(INSERT, ...values);
  return 'inserted';
}

/** Returns false if no key has the id. */
export function revokeKey(
  connection: Connection,
  keyId: string,
  revokedAt: string,
  keepDescendants = false,
): boolean {
  const descendants = keepDescendants
    ? EMPTY_SQL
    : sql`, descendants_revoked_at = coalesce(descendants_revoked_at, ?1)`;
  return (
    connection.run(
      sql`UPDATE keys SET revoked_at = coalesce(revoked_at, ?1) ${descendants} WHERE id = ?2`,
      revokedAt,
      keyId,
    ) > 0
  );
}

/** Records the last use of a key. A time before the stored time changes nothing. */
export function recordKeyUse(connection: Connection, keyId: string, usedAt: string): void {
  connection.run(
    sql`UPDATE keys SET last_used_at = max(coalesce(last_used_at, ''), ?) WHERE id = ?`,
    usedAt,
    keyId,
  );
}
