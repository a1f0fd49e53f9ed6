import { Readable } from 'node:stream';
import type { AnalyticsQuery } from '../../advertising/analytics-store.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import { literal, preamble, type Setting } from './bind.js';
import type { ClickHouse, EmbeddedOptions } from './client.js';
import { ConnectionPool } from './connection-pool.js';
import { openEngine } from './engine.js';
import { checkBound, settle, toResult } from './result.js';
import { commonSettings, DEFAULT_TIMEOUT_MS } from './settings.js';

const READ_CONNECTIONS = 2;
const MEGABYTE = 1_000_000;

/**
 * All settings a statement runs under. They stay on a connection after the statement, so every statement sends
 * all of them, with the same names.
 */
function settingsOf(name: string, timeoutMs: number): Record<string, Setting> {
  return {
    ...commonSettings(name, timeoutMs),
    max_threads: 2,
    max_memory_usage: 600 * MEGABYTE,
    // Compared with all memory of the query, readers included: set low, every block goes to disk and minutes pass.
    max_bytes_before_external_group_by: 450 * MEGABYTE,
    max_bytes_before_external_sort: 450 * MEGABYTE,
    max_bytes_ratio_before_external_group_by: 0,
    max_bytes_ratio_before_external_sort: 0,
  };
}

/** Opens the engine in this process. Throws `FolderInUseError` when another process has the folder. */
export function openEmbedded({ path, timeoutMs = DEFAULT_TIMEOUT_MS }: EmbeddedOptions): ClickHouse {
  const engine = openEngine(path);
  const reads = new ConnectionPool(READ_CONNECTIONS, engine.client);
  const writes = new ConnectionPool(1, engine.client);
  // Statements on it run on this thread for a few milliseconds, as long ones may fill all others.
  const control = engine.session();
  let closing = false;
  let lastTag = 0;

  /** Ends a computation nobody waits for, so that its connection is soon free. Its failure changes nothing. */
  const kill = (tag: string) => {
    try {
      control.query(`KILL QUERY WHERE startsWith(query, ${literal(tag)}) ASYNC`, 'Null');
    } catch {
      // It ended by itself.
    }
  };

  return {
    layout: { tables: 'default', views: 'reachline', cluster: null },
    engine,

    async query<Row>({ name, sql, params }: AnalyticsQuery, signal?: AbortSignal) {
      if (closing) throw new StoreUnavailableError('analytics');
      checkBound({ name, sql, params });
      const tag = `/* ${++lastTag} */`;
      const text = `${preamble(settingsOf(name, timeoutMs), params)} ${tag} ${sql}`;
      let computing = false;
      const running = reads.use(async (client) => {
        computing = true;
        try {
          const result = await client.query({ query: text, format: 'JSONCompact' });
          computing = false;
          return await toResult<Row>(await result.json<unknown[]>(), signal);
        } finally {
          computing = false;
        }
      }, signal);
      // What waits for a connection, or is already computed, is nothing to the engine; asking it holds up the event loop.
      return settle(running, signal, () => {
        if (computing) kill(tag);
      });
    },

    async insert(name, { table, columns, text }) {
      if (closing) throw new StoreUnavailableError('analytics');
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
      if (closing) throw new StoreUnavailableError('analytics');
      const text = `${preamble(settingsOf(name, timeoutMs), {})} ${sql}`;
      await settle(writes.use((client) => client.command({ query: text })));
    },

    async createDatabase() {},

    async close() {
      closing = true;
      await Promise.all([reads.close(), writes.close()]);
      control.close();
      await engine.close();
    },
  };
}
