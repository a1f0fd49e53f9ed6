/** The views of contacts, audiences and visits in the engine in process. They hold no rows: records.ts sends these to a statement. */
import { literal } from '../stores/clickhouse/bind.js';
import { columnValues, parsedFields, RECORD_VIEWS } from '../stores/clickhouse/record-columns.js';
import type { Runner } from './statement.js';

export const RECORD_VIEW_NAMES: ReadonlySet<string> = new Set(RECORD_VIEWS.map(({ name }) => name));

/**
 * A setting of the engine that holds an address, which nothing else here uses: the views read records from below it. Settings of one's
 * own do not exist in process.
 */
const ADDRESS_SETTING = 'format_avro_schema_registry_url';

/** Settings of a statement that may read records. Under `readonly = 1` the engine opens no address. */
export const recordSettings = (address: string): Record<string, string> => ({
  [ADDRESS_SETTING]: address,
  readonly: '2',
  http_make_head_request: '0',
  http_max_tries: '1',
  max_http_get_redirects: '0',
});

/** Creates the views, or replaces those of another version. */
export async function createRecordViews(runner: Runner, database: string): Promise<void> {
  for (const view of RECORD_VIEWS) {
    const { name, source, comment, columns, join = '' } = view;
    const declared = columns.map(
      (column) => `${column.name} ${column.type} COMMENT ${literal(column.comment)}`,
    );
    const values = columnValues(view);
    const selected = columns.map((column, index) => `${values[index]} AS ${column.name}`);
    await runner.run({
      sql: `CREATE OR REPLACE VIEW ${database}.${name} (${declared.join(', ')}) AS SELECT ${selected.join(', ')}
        FROM url(concat(getSetting('${ADDRESS_SETTING}'), '${source}'), 'JSONEachRow', ${literal(parsedFields(view))})${join}
        COMMENT ${literal(comment)}`,
      format: 'Null',
      database: '',
      settings: {},
      params: {},
    });
  }
}
