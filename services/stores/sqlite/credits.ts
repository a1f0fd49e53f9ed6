import { sql } from '../../shared/sql.js';
import type { Connection } from './connection.js';

/** The balance; null if the organization is not metered. */
export function readCredits(connection: Connection, organizationId: string): number | null {
  return (
    connection.number(sql`SELECT balance FROM credits WHERE organization_id = ?`, organizationId) ?? null
  );
}

export function setCredits(connection: Connection, organizationId: string, balance: number): void {
  connection.run(
    sql`INSERT INTO credits (organization_id, balance) VALUES (?1, ?2)
       ON CONFLICT (organization_id) DO UPDATE SET balance = ?2`,
    organizationId,
    balance,
  );
}

/** Adds to the balance, or consumes credits if the amount is negative. Returns the new balance; null if the organization is not metered. */
export function addCredits(connection: Connection, organizationId: string, amount: number): number | null {
  const balance = connection.number(
    sql`UPDATE credits SET balance = balance + ? WHERE organization_id = ? RETURNING balance`,
    amount,
    organizationId,
  );
  return balance ?? null;
}
