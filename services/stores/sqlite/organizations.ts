import { sql } from '../../shared/sql.js';
import type { Connection } from './connection.js';

/** Finds the short key that identifies the organization in all other tables. */
export function findOrganizationKey(connection: Connection, id: string): number | undefined {
  return connection.number(sql`SELECT key FROM organizations WHERE id = ?`, id);
}

/** Finds the key of an audience, even if only memberships name the audience. */
export function findAudienceKey(
  connection: Connection,
  organization: number,
  id: string,
): number | undefined {
  return connection.number(
    sql`SELECT key FROM audiences WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
}

export interface Organization {
  key: number;
  /** Number of contacts of the organization. */
  contacts: number;
}

export function findOrganization(connection: Connection, id: string): Organization | undefined {
  const row = connection.row<[bigint, bigint]>(sql`SELECT key, contacts FROM organizations WHERE id = ?`, id);
  return row && { key: Number(row[0]), contacts: Number(row[1]) };
}

/** Whether a record, API key or credit balance belongs to another organization. */
export function hasOtherOrganization(connection: Connection, organizationId: string): boolean {
  const others = [
    sql`organizations WHERE id`,
    sql`keys WHERE organization_id`,
    sql`credits WHERE organization_id`,
  ];
  return others.some(
    (table) => connection.row(sql`SELECT 1 FROM ${table} <> ? LIMIT 1`, organizationId) !== undefined,
  );
}
