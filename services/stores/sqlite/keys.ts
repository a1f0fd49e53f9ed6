import type { StoredKey } from '../../accounts/key-store.js';
import { fromJson, type Json } from '../../shared/json.js';
import { identifier, joinSql, type Sql, sql, textLiteral } from '../../shared/sql.js';
import type { Connection } from './connection.js';

/** Columns have the names of the fields; `scopes` holds a JSON array. */
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
] as const satisfies (keyof StoredKey)[];

const listed = (toSql: (name: (typeof COLUMNS)[number]) => Sql) => joinSql(COLUMNS.map(toSql), ', ');
const INSERT = sql`INSERT INTO keys (${listed((name) => identifier(name))}) VALUES (${listed(() => sql`?`)})`;
const SELECT = sql`SELECT json_object(${listed(
  (name) => sql`${textLiteral(name)}, ${name === 'scopes' ? sql`json(scopes)` : identifier(name)}`,
)}) FROM keys`;

export function findKey(connection: Connection, keyId: string): StoredKey | null {
  const row = connection.row<[Json<StoredKey>]>(sql`${SELECT} WHERE id = ?`, keyId);
  return row ? fromJson(row[0]) : null;
}

/** Oldest first; of one organization, or of all. */
export function listKeys(connection: Connection, organizationId?: string): StoredKey[] {
  const rows = connection.rows<[Json<StoredKey>]>(
    sql`${SELECT} WHERE ?1 IS NULL OR organization_id = ?1 ORDER BY created_at, id`,
    organizationId ?? null,
  );
  return rows.map(([json]) => fromJson(json));
}

export function insertKey(connection: Connection, key: StoredKey): void {
  connection.run(
    INSERT,
    ...COLUMNS.map((name) => (name === 'scopes' ? JSON.stringify(key.scopes) : key[name])),
  );
}

/** False when no key has the id. */
export function revokeKey(connection: Connection, keyId: string, revokedAt: string): boolean {
  return (
    connection.run(sql`UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?`, revokedAt, keyId) >
    0
  );
}

/** Keeps the latest time. */
export function recordKeyUse(connection: Connection, keyId: string, usedAt: string): void {
  connection.run(
    sql`UPDATE keys SET last_used_at = max(coalesce(last_used_at, ''), ?) WHERE id = ?`,
    usedAt,
    keyId,
  );
}
