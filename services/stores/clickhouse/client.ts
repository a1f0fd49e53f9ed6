import { Readable } from 'node:stream';
import type { ResponseJSON } from '@clickhouse/client';
import type { AnalyticsQuery, AnalyticsResult } from '../analytics-store.js';
import { StoreUnavailable } from '../store-error.js';
import { placeholders, preamble, type Setting } from './bind.js';
import { ConnectionPool } from './connection-pool.js';
import { openEngine } from './engine.js';
import { storeError } from './errors.js';

export interface ClickHouseOptions {
  /** Folder of the embedded engine; made when missing. */
  path: string;
  /** Milliseconds after which the engine gives up on a statement. */
  timeoutMs?: number;
}

/** Rows of one table as TabSeparated text, every row ending with a line feed. */
export interface Rows {
  table: string;
  columns: readonly string[];
  text: string;
}

/** Statements against ClickHouse. Fails with `StoreTimeout` or `StoreUnavailable` only, or with the caller's abort. */
export interface ClickHouse {
  query<Row>(query: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsResult<Row>>;
  insert(name: string, rows: Rows): Promise<void>;
  command(name: string, sql: string): Promise<void>;
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const READ_CONNECTIONS = 2;
const MEGABYTE = 1_000_000;

/**
 * All settings a statement runs under. They stay on a connection after the statement, so every statement sends
 * all of them, with the same names.
 */
function settingsOf(name: string, timeoutMs: number): Record<string, Setting> {
  return {
    log_comment: name,
    max_execution_time: timeoutMs / 1000,
    exact_rows_before_limit: 1,
    async_insert: 0,
    max_threads: 2,
    max_memory_usage: 600 * MEGABYTE,
    // Compared with all memory of the query, readers included: set low, every block goes to disk and minutes pass.
    max_bytes_before_external_group_by: 450 * MEGABYTE,
    max_bytes_before_external_sort: 450 * MEGABYTE,
    max_bytes_ratio_before_external_group_by: 0,
    max_bytes_ratio_before_external_sort: 0,
    max_partitions_per_insert_block: 0,
    do_not_merge_across_partitions_select_final: 1,
    join_use_nulls: 1,
    output_format_json_quote_64bit_integers: 0,
    output_format_json_quote_decimals: 1,
  };
}

/** Opens the engine in this process. Throws `FolderInUse` when another process has the folder. */
export function openClickHouse({ path, timeoutMs = DEFAULT_TIMEOUT_MS }: ClickHouseOptions): ClickHouse {
  const engine = openEngine(path);
  const reads = new ConnectionPool(READ_CONNECTIONS, engine.client);
  const writes = new ConnectionPool(1, engine.client);
  const control = new ConnectionPool(1, engine.client);
  let closing = false;
  let lastTag = 0;

  /** Ends a computation nobody waits for, so that its connection is soon free. Its failure changes nothing. */
  const kill = (tag: string) => {
    const sql = preamble(settingsOf('kill_query', timeoutMs), { tag });
    return control
      .use((client) =>
        client.command({ query: `${sql} KILL QUERY WHERE startsWith(query, {tag:String}) ASYNC` }),
      )
      .catch(() => undefined);
  };

  return {
    async query<Row>({ name, sql, params }: AnalyticsQuery, signal?: AbortSignal) {
      if (closing) throw new StoreUnavailable('analytics');
      for (const placeholder of placeholders(sql)) {
        // A value bound by an earlier query on the same connection must never stand in for a forgotten one.
        if (!(placeholder in params)) throw new Error(`query ${name} binds no ${placeholder}`);
      }
      const tag = `/* ${++lastTag} */`;
      const text = `${preamble(settingsOf(name, timeoutMs), params)} ${tag} ${sql}`;
      const running = reads.use(async (client) => {
        const result = await client.query({ query: text, format: 'JSONCompact' });
        return toResult<Row>(await result.json<unknown[]>());
      }, signal);
      return settle(running, signal, () => kill(tag));
    },

    async insert(name, { table, columns, text }) {
      if (closing) throw new StoreUnavailable('analytics');
      await settle(
        writes.use((client) =>
          client.insert({
            table,
            columns: columns as [string, ...string[]],
            values: Readable.from([text], { objectMode: false }),
            format: 'TabSeparated',
            clickhouse_settings: settingsOf(name, timeoutMs),
          }),
        ),
      );
    },

    async command(name, sql) {
      if (closing) throw new StoreUnavailable('analytics');
      const text = `${preamble(settingsOf(name, timeoutMs), {})} ${sql}`;
      await settle(writes.use((client) => client.command({ query: text })));
    },

    async close() {
      closing = true;
      await Promise.all([reads.close(), writes.close()]);
      await control.close();
      await engine.close();
    },
  };
}

/** Rejects as soon as the signal aborts, whatever the engine does; engine errors become store errors. */
async function settle<T>(running: Promise<T>, signal?: AbortSignal, onAbort?: () => void): Promise<T> {
  const guarded = running.catch((cause: unknown) => {
    if (signal?.aborted) throw signal.reason;
    throw storeError(cause);
  });
  if (!signal) return guarded;
  return new Promise<T>((resolvePromise, reject) => {
    const abort = () => {
      onAbort?.();
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    guarded.then(resolvePromise, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function toResult<Row>(answer: ResponseJSON<unknown[]>): AnalyticsResult<Row> {
  const names = answer.meta?.map(({ name }) => name) ?? [];
  const rows = answer.data.map((values) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index];
    return row as Row;
  });
  return { rows, total: answer.rows_before_limit_at_least ?? rows.length };
}
