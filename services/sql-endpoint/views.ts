/** The rights of the views of the embedded engine. */
import { checkedIdentifier, sql, textLiteral } from '../shared/sql.js';
import { firstColumn } from './parser.js';
import type { Runner, Surroundings } from './statement.js';

/** Lets every view read its tables with the rights of the owner, because analysts have no rights on tables. */
export async function secureViews(runner: Runner, database: string): Promise<void> {
  const invoked = await firstColumn(
    sql`SELECT name FROM system.tables WHERE database = ${textLiteral(database)} AND engine = 'View'
      AND create_table_query NOT LIKE '%SQL SECURITY DEFINER%'`,
    runner,
  );
  for (const name of invoked) {
    const view = sql`${checkedIdentifier(database)}.${checkedIdentifier(name)}`;
    const alter = sql`ALTER TABLE ${view} MODIFY DEFINER = default SQL SECURITY DEFINER`;
    await runner.run({ ...AS_OWNER, sql: alter, format: 'Null' });
  }
}

const AS_OWNER: Surroundings = { role: 'owner', database: '', settings: {}, params: {} };
