import type { StoredKey } from '../../accounts/key-store.js';
import type { Json } from '../../shared/json.js';
import type { Connection } from './connection.js';

/** Column of each field. `scopes` holds a JSON array. */
const COLUMNS: Record<keyof StoredKey, string> = {
  id: 'id',
  secretHash: 'secret_hash',
  organizationId: 'organization_id',
  name: 'name',
  scopes: 'scopes',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  revokedAt: 'revoked_at',
  lastUsedAt: 'last_used_at',
};
const FIELDS = Object.keys(COLUMNS) as (keyof StoredKey)[];

const INSERT = `INSERT INTO keys (${Object.values(COLUMNS).join(', ')}) VALUES (?${', ?'.repeat(FIELDS.length - 1)})`;
const SELECT = `SELECT json_object(${FIELDS.map(
  (field) => `'${field}', ${field === 'scopes' ? 'json(scopes)' : COLUMNS[field]}`,
).join(', ')}) FROM keys`;

export function findKey(connection: Connection, keyId: string): Json<StoredKey | null> {
  return connection.row<[string]>(`${SELECT} WHERE id = ?`, keyId)?.[0] ?? 'null';
}

/** Oldest first; of one organization, or of all. */
export function listKeys(connection: Connection, organizationId?: string): Json<StoredKey[]> {
  const rows = connection.rows<[string]>(
    `${SELECT} WHERE ?1 IS NULL OR organization_id = ?1 ORDER BY created_at, id`,
    organizationId ?? null,
  );
  return `[${rows.join(',')}]`;
}

export function insertKey(connection: Connection, key: StoredKey): void {
  connection.run(
    INSERT,
    ...FIELDS.map((field) => (field === 'scopes' ? JSON.stringify(key.scopes) : key[field])),
  );
}

/** False when no key has the id. */
export function revokeKey(connection: Connection, keyId: string, revokedAt: string): boolean {
  return (
    connection.run(`UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?`, revokedAt, keyId) > 0
  );
}

/** Keeps the latest time. */
export function recordKeyUse(connection: Connection, keyId: string, usedAt: string): void {
  connection.run(
    `UPDATE keys SET last_used_at = max(coalesce(last_used_at, ''), ?) WHERE id = ?`,
    usedAt,
    keyId,
  );
}
