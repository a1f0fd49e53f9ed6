import type { StoredKey } from '../../accounts/key-store.js';
import type { Connection } from './connection.js';

type KeyRow = readonly [
  id: string,
  secretHash: string,
  organizationId: string,
  name: string | null,
  scopes: string,
  createdAt: string,
  expiresAt: string | null,
  revokedAt: string | null,
];

const KEY_COLUMNS = 'id, secret_hash, organization_id, name, scopes, created_at, expires_at, revoked_at';

export function findKey(connection: Connection, keyId: string): StoredKey | null {
  const row = connection.row<KeyRow>(`SELECT ${KEY_COLUMNS} FROM keys WHERE id = ?`, keyId);
  return row ? toKey(row) : null;
}

/** Oldest first; of one organization, or all. */
export function listKeys(connection: Connection, organizationId?: string): StoredKey[] {
  const rows = connection.rows<KeyRow>(
    `SELECT ${KEY_COLUMNS} FROM keys WHERE ?1 IS NULL OR organization_id = ?1 ORDER BY created_at, id`,
    organizationId ?? null,
  );
  return rows.map(toKey);
}

function toKey([
  id,
  secretHash,
  organizationId,
  name,
  scopes,
  createdAt,
  expiresAt,
  revokedAt,
]: KeyRow): StoredKey {
  return {
    id,
    secretHash,
    organizationId,
    name,
    scopes: JSON.parse(scopes) as string[],
    createdAt,
    expiresAt,
    revokedAt,
  };
}

export function insertKey(connection: Connection, key: StoredKey): void {
  connection.run(
    `INSERT INTO keys (${KEY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    key.id,
    key.secretHash,
    key.organizationId,
    key.name,
    JSON.stringify(key.scopes),
    key.createdAt,
    key.expiresAt,
    key.revokedAt,
  );
}

export function revokeKey(connection: Connection, keyId: string, revokedAt: string): boolean {
  const found = connection.run(
    `UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?`,
    revokedAt,
    keyId,
  );
  return found > 0;
}

/** The balance, null when the organization is not metered. */
export function readCredits(connection: Connection, organizationId: string): number | null {
  const row = connection.row<[bigint]>(
    `SELECT balance FROM credits WHERE organization_id = ?`,
    organizationId,
  );
  return row ? Number(row[0]) : null;
}

export function setCredits(connection: Connection, organizationId: string, balance: number): void {
  connection.run(
    `INSERT INTO credits (organization_id, balance) VALUES (?1, ?2)
       ON CONFLICT (organization_id) DO UPDATE SET balance = ?2`,
    organizationId,
    balance,
  );
}

/** The new balance; null when the organization is not metered. */
export function grantCredits(connection: Connection, organizationId: string, amount: number): number | null {
  const balance = readCredits(connection, organizationId);
  if (balance === null) return null;
  setCredits(connection, organizationId, balance + amount);
  return balance + amount;
}

/** Records of any kind, keys and credits count. */
export function hasOtherOrganization(connection: Connection, organizationId: string): boolean {
  const others = ['organizations WHERE id', 'keys WHERE organization_id', 'credits WHERE organization_id'];
  return others.some(
    (table) => connection.row(`SELECT 1 FROM ${table} <> ? LIMIT 1`, organizationId) !== undefined,
  );
}

export function debit(connection: Connection, organizationId: string, amount: number): void {
  connection.run(
    `UPDATE credits SET balance = balance - ? WHERE organization_id = ?`,
    amount,
    organizationId,
  );
}
