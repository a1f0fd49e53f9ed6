import type { ResponseJSON } from '@clickhouse/client';
import type { AnalyticsQuery } from '../../advertising/analytics-store.js';
import { checkedIdentifier, sql, textLiteral } from '../../shared/sql.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import { parameterTexts, preamble } from './bind.js';
import type { ClickHouse, EmbeddedOptions } from './client.js';
import { ConnectionPool } from './connection-pool.js';
import { type EngineResult, openEngine } from './engine.js';
import { requireWholeParts } from './parts.js';
import { checkBound, settle, toResult } from './result.js';
import { DEFAULT_TIMEOUT_MS, embeddedSettings } from './settings.js';

const READ_CONNECTIONS = 2;

/**
 * Tables to freeze, in order. A background job builds the sums of months, and a pause of inserts does not stop that job. The seals of these
 * sums (table `rollups`) come first, so that every sealed month has its sums.
 */
const FREEZABLE_TABLES = sql`SELECT name FROM system.tables
WHERE database = 'default' AND engine LIKE '%MergeTree' AND position(name, '_next') = 0 ORDER BY name != 'rollups', name`;

function textOf(result: EngineResult): string {
  const bytes = result.bytes();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

const rowsOf = <Row>(json: string) => (JSON.parse(json) as ResponseJSON<Row>).data;

/** Opens the engine in its own process. Throws `BrokenPartsError`, and `FolderInUseError` if another process uses the folder. */
export async function openEmbedded({
  path,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  configFile,
  onEnded,
}: EmbeddedOptions): Promise<ClickHouse> {
  const engine = await openEngine(path, {
    configFile,
    onEnded,
    verify: (run) =>
      requireWholeParts(async (statement) => rowsOf(textOf(await run(statement, 'JSON'))), path),
  });
  const connections = (size: number) =>
    new ConnectionPool(size, () => {
      const session = engine.session();
      return {
        session,
        get isLost() {
          return session.isLost;
        },
        close: async () => session.close(),
      };
    });
  const reads = connections(READ_CONNECTIONS);
  const writes = connections(1);
  const background = connections(1);
  let closing = false;

  /** Runs a statement and returns its output. */
  async function read(
    { name, sql: statement, params }: AnalyticsQuery,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    if (closing) throw new StoreUnavailableError('analytics');
    checkBound({ name, sql: statement, params });
    const settings = preamble(embeddedSettings(name, timeoutMs), parameterTexts(params));
    const running = reads.use(async ({ session }) => {
      return textOf(await session.run(statement, 'JSONCompact', { preparations: [settings], signal }));
    }, signal);
    return settle(running, signal);
  }

  return {
    layout: { tables: 'default', views: 'reachline', copies: 'default', isReplicated: false },
    engine,
    servers: [],

    pauseInserts: (work) =>
      writes.use(({ session }) =>
        work(async (name) => {
          if (closing) throw new StoreUnavailableError('analytics');
          const tables = textOf(await settle(session.run(FREEZABLE_TABLES, 'JSONCompact')));
          for (const [table] of (JSON.parse(tables) as ResponseJSON<[string]>).data) {
            const freeze = sql`ALTER TABLE ${checkedIdentifier(table)} FREEZE WITH NAME ${textLiteral(name)}`;
            await settle(session.run(freeze, 'Null'));
          }
        }),
      ),

    query: async <Row>(query: AnalyticsQuery, signal?: AbortSignal) =>
      toResult<Row>(JSON.parse(await read(query, signal)) as ResponseJSON<unknown[]>, signal),

    async insert(name, rows) {
      if (closing) throw new StoreUnavailableError('analytics');
      await settle(
        writes.use(({ session }) => session.insert(rows, [preamble(embeddedSettings(name, timeoutMs), {})])),
      );
    },

    async command(name, statement, inBackground) {
      if (closing) throw new StoreUnavailableError('analytics');
      const settings = preamble(embeddedSettings(name, timeoutMs), {});
      const pool = inBackground ? background : writes;
      await settle(
        pool.use(async ({ session }) => {
          await session.run(statement, 'Null', { preparations: [settings] });
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
