/** Detects parts of tables that cannot be read. */

import { join } from 'node:path';
import type { AnalyticsReader } from '../../advertising/analytics-store.js';
import { quotedIdentifier, type Sql, sql, textLiteral } from '../../shared/sql.js';
import { firstFew } from '../../shared/text.js';

/** Parts of a table cannot be read. Their rows are missing, so metrics would be too low. The message says what to do. */
export class BrokenPartsError extends Error {
  override readonly name = 'BrokenPartsError';
}

/**
 * Throws a `BrokenPartsError` if the engine detached parts because it could not read them, now or at an earlier start. The engine itself
 * only logs this, and returns results without the rows of these parts.
 */
export async function requireWholeParts(
  query: (statement: Sql) => Promise<{ part: string }[]>,
  path: string,
): Promise<void> {
  const rows = await query(sql`SELECT concat(table, ' ', name) AS part FROM system.detached_parts
WHERE database = currentDatabase() AND reason LIKE '%broken%' ORDER BY part`);
  if (rows.length === 0) return;
  const parts = firstFew(rows.map(({ part }) => part));
  throw new BrokenPartsError(
    `ClickHouse could not read ${rows.length} parts of its tables (${parts}), so figures would be missing. Restore the data folder from a backup. To go on without the rows of these parts, delete the folders ${join(path, 'store/*/*/detached/*broken*')}.`,
  );
}

/** Reads every part of the tables and compares the checksums. Returns damaged parts with the reason. */
export async function findDamagedParts(store: AnalyticsReader): Promise<string[]> {
  const { rows } = await store.query<{ table: string; part: string }>({
    name: 'active_parts',
    sql: sql`SELECT table, name AS part FROM system.parts
WHERE database = currentDatabase() AND active ORDER BY table, part`,
    params: {},
  });
  const damaged: string[] = [];
  for (const { table, part } of rows) {
    const checked = await store.query<{ is_passed: number | boolean; message: string }>({
      name: 'check_part',
      sql: sql`CHECK TABLE ${quotedIdentifier(table)} PART ${textLiteral(part)} SETTINGS check_query_single_value_result = 0`,
      params: {},
    });
    for (const { is_passed, message } of checked.rows) {
      if (!is_passed) damaged.push(`${table} ${part}: ${message.split('\n')[0]}`);
    }
  }
  return damaged;
}
