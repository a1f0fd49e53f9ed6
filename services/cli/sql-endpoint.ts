import { withTimeout } from '../shared/async.js';
import type { Config } from '../shared/config.js';
import type { OnEndless } from '../sql-endpoint/fair-mutex.js';
import type { SqlEndpoint } from '../sql-endpoint/server.js';
import type { SqlReader } from '../sql-endpoint/sql-reader.js';
import type { Stores } from '../stores/open-stores.js';
import { CommandError } from './errors.js';

export interface SqlOfStores {
  /** Stores of the gateway. Their `close` first closes the endpoint. */
  stores: Stores;
  /** Address of the endpoint; null if none is configured. */
  url: string | null;
  /** Absent if analysts use a ClickHouse server directly. */
  sql?: SqlReader;
}

/** Milliseconds for which the first statement waits for the copy of contacts, audiences and visits. */
const FIRST_COPY_MS = 5000;

/**
 * Starts the SQL endpoint if it is configured. Otherwise starts it at the gateway's first SQL statement, on a free port. Throws a
 * `CommandError` if its port is in use.
 */
export async function withSqlEndpoint(
  { sqlPort }: Config,
  stores: Stores,
  onEndless: OnEndless = () => undefined,
): Promise<SqlOfStores> {
  const { engine: openEngine, records, follower } = stores;
  if (!openEngine) return { stores, url: null };
  let endpoint: SqlEndpoint | undefined;
  let starting: Promise<SqlEndpoint> | undefined;
  const open = async () => {
    const { startSqlEndpoint } = await import('../sql-endpoint/server.js');
    await withTimeout(FIRST_COPY_MS, async () => follower?.run()).catch(() => undefined);
    endpoint = await startSqlEndpoint({ engine: await openEngine(), records, port: sqlPort, onEndless });
    return endpoint;
  };
  const start = () => {
    starting ??= open().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  };
  try {
    if (sqlPort > 0) await start();
  } catch (error) {
    await stores.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CommandError(`Port ${sqlPort} is in use. Choose another with REACHLINE_SQL_PORT.`);
  }
  const close = async () => {
    await starting?.catch(() => undefined);
    await endpoint?.close();
    await stores.close();
  };
  return {
    stores: { ...stores, close },
    url: sqlPort > 0 ? (await start()).url : null,
    sql: { query: async (...query) => (await start()).query(...query) },
  };
}
