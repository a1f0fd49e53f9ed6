/** The views of contacts, audiences and visits in the embedded engine. The views hold no rows: records.ts sends the rows to a statement. */
import { checkedIdentifier, EMPTY_SQL, joinSql, sql, textLiteral } from '../shared/sql.js';
import { columnValues, parsedFields, RECORD_VIEWS } from '../stores/clickhouse/record-columns.js';
import { firstColumn } from './parser.js';
import type { Runner, Surroundings } from './statement.js';

export const RECORD_VIEW_NAMES: ReadonlySet<string> = new Set(RECORD_VIEWS.map(({ name }) => name));

/**
 * Setting that tells the views the address from which they read records. The engine defines the setting for another purpose, unused here,
 * because it does not support custom settings.
 */
const ADDRESS_SETTING = 'format_avro_schema_registry_url';

/** Settings of a statement that may read records. */
export const recordSettings = (address: string): Record<string, string> => ({
  [ADDRESS_SETTING]: address,
  http_make_head_request: '0',
  http_max_tries: '1',
  max_http_get_redirects: '0',
});

/**
 * Creates the views that read records over HTTP, and replaces existing views. The views run as their definer `records`, the only user
 * that may read the URL of the records.
 */
export async function createRecordViews(runner: Runner, database: string): Promise<void> {
  for (const view of RECORD_VIEWS) {
    const { name, source, comment, columns, join = EMPTY_SQL } = view;
    const declared = columns.map(
      (column) =>
        sql`${checkedIdentifier(column.name)} ${column.type} COMMENT ${textLiteral(column.comment)}`,
    );
    const values = columnValues(view);
    const selected = columns.map(
      (column, index) => sql`${values[index] ?? EMPTY_SQL} AS ${checkedIdentifier(column.name)}`,
    );
    const create = sql`CREATE OR REPLACE VIEW ${checkedIdentifier(database)}.${checkedIdentifier(name)} (${joinSql(declared, ', ')})
        DEFINER = records SQL SECURITY DEFINER AS SELECT ${joinSql(selected, ', ')}
        FROM url(concat(getSetting(${textLiteral(ADDRESS_SETTING)}), ${textLiteral(source)}), 'JSONEachRow', ${textLiteral(parsedFields(view).text)})${join}
        COMMENT ${textLiteral(comment)}`;
    await runner.run({ ...AS_OWNER, sql: create, format: 'Null' });
  }
}

/** Lets every other view read its tables with the rights of the owner, because analysts have no rights on tables. */
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
