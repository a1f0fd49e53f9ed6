import { Readable } from 'node:stream';
import type { ResponseJSON } from '@clickhouse/client';
import type { AnalyticsQuery } from '../../advertising/analytics-store.js';
import { checkedIdentifier, sql, textLiteral } from '../../shared/sql.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import { parameterTexts, preamble } from './bind.js';
import type { ClickHouse, EmbeddedOptions } from './client.js';
import { ConnectionPool } from './connection-pool.js';
import { openEngine } from './engine.js';
import { checkBound, settle, toResult } from './result.js';
import { DEFAULT_TIMEOUT_MS, embeddedSettings } from './settings.js';

const READ_CONNECTIONS = 2;

/**
 * Sums of months are built in the background, which a pause of inserts does not stop: their seals first, so that whatever is sealed
 * has its sums.
 */
const FREEZABLE_TABLES = sql`SELECT name FROM system.tables
WHERE database = 'default' AND engine LIKE '%MergeTree' ORDER BY name != 'rollups', name`;

/** Opens the engine in this process. Throws `FolderInUseError` when another process has the folder. */
export function openEmbedded({ path, timeoutMs = DEFAULT_TIMEOUT_MS }: EmbeddedOptions): ClickHouse {
  const engine = openEngine(path);
  // Sessions, as the client decodes its output in small steps: 6 of 40 ms for a list of 4,500 points.
  const reads = new ConnectionPool(READ_CONNECTIONS, () => {
    const session = engine.session();
    return { session, close: async () => session.close() };
  });
  const writes = new ConnectionPool(1, engine.client);
  const background = new ConnectionPool(1, engine.client);
  let closing = false;
  let lastTag = 0;

  /** The output of a statement. */
  async function read(
    { name, sql: statement, params }: AnalyticsQuery,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    if (closing) throw new StoreUnavailableError('analytics');
    checkBound({ name, sql: statement, params });
    const tag = sql`/* ${++lastTag} */`;
    const settings = preamble(embeddedSettings(name, timeoutMs), parameterTexts(params));
    let computing = false;
    const running = reads.use(async ({ session }) => {
      computing = true;
      await session.run(settings, 'Null');
      const result = await session.run(sql`${tag} ${statement}`, 'JSONCompact').finally(() => {
        computing = false;
      });
      const bytes = result.bytes();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    }, signal);
    // A computation nobody waits for ends, so that its connection is soon free; only a running one, as that blocks the event loop.
    return settle(running, signal, () => {
      if (computing) engine.kill(tag.text);
    });
  }

  return {
    layout: { tables: 'default', views: 'reachline', copies: 'copies', isReplicated: false },
    engine,
    servers: [],

    pauseInserts: (work) =>
      writes.use((client) =>
        work(async (name) => {
          if (closing) throw new StoreUnavailableError('analytics');
          const tables = await settle(client.query({ query: FREEZABLE_TABLES.text, format: 'JSONCompact' }));
          for (const [table] of (await tables.json<[string]>()).data) {
            const freeze = sql`ALTER TABLE ${checkedIdentifier(table)} FREEZE WITH NAME ${textLiteral(name)}`;
            await settle(client.command({ query: freeze.text }));
          }
        }),
      ),

    query: async <Row>(query: AnalyticsQuery, signal?: AbortSignal) =>
      toResult<Row>(JSON.parse(await read(query, signal)) as ResponseJSON<unknown[]>, signal),

    async insert(name, { table, columns, text }) {
      if (closing) throw new StoreUnavailableError('analytics');
      await settle(
        writes.use((client) =>
          client.insert({
            table,
            columns: columns as [string, ...string[]],
            values: Readable.from([text], { objectMode: false }),
            format: 'TabSeparated',
            clickhouse_settings: embeddedSettings(name, timeoutMs),
          }),
        ),
      );
    },

    async insertLines() {
      throw new Error('the engine in process has no copies of records');
    },

    async command(name, statement, inBackground) {
      if (closing) throw new StoreUnavailableError('analytics');
      const settings = preamble(embeddedSettings(name, timeoutMs), {});
      const pool = inBackground ? background : writes;
      await settle(
        pool.use(async (client) => {
          await client.command({ query: settings.text });
          return client.command({ query: statement.text });
        }),
      );
    },

    async createDatabase() {},

    async close() {
      closing = true;
      await Promise.all([reads.close(), writes.close(), background.close()]);
      await engine.close();
    },
  };
}
