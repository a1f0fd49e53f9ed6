import type { Config } from '../shared/config.js';
import { type SqlEndpoint, startSqlEndpoint } from '../sql-endpoint/server.js';
import type { Stores } from '../stores/open-stores.js';
import { CommandError } from './errors.js';

/** Starts the SQL endpoint when it is configured, and closes it with the stores. Throws a `CommandError` when its port is in use. */
export async function withSqlEndpoint(
  { sqlEndpoint }: Config,
  stores: Stores,
): Promise<{ stores: Stores; url: string | null }> {
  const { engine } = stores;
  if (!sqlEndpoint || !engine) return { stores, url: null };
  try {
    const endpoint = await startSqlEndpoint({ engine, search: stores.search, ...sqlEndpoint });
    return { stores: closeWithEndpoint(stores, endpoint), url: endpoint.url };
  } catch (error) {
    await stores.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CommandError(`Port ${sqlEndpoint.port} is in use. Choose another with REACHLINE_SQL_PORT.`);
  }
}

/**
 * The stores, which close after the endpoint. A statement that the engine cannot end keeps the engine open, and Node.js from exiting, as
 * it joins its threads: only the search store is closed then, and the process kills itself on exit.
 */
export function closeWithEndpoint(stores: Stores, endpoint: SqlEndpoint): Stores {
  const killIfHeld = () => {
    if (endpoint.running() > 0) process.kill(process.pid, 'SIGKILL');
  };
  process.once('exit', killIfHeld);
  const close = async () => {
    if (!(await endpoint.close())) return stores.search.close();
    process.off('exit', killIfHeld);
    await stores.close();
  };
  return { ...stores, close };
}
