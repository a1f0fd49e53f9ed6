import type { Config } from '../shared/config.js';
import { startAnalystDoor } from '../sql-endpoint/analyst-endpoint.js';
import type { SqlDoor } from '../sql-endpoint/server.js';
import type { Stores } from '../stores/open-stores.js';
import { CommandError } from './errors.js';

/** Opens the SQL door of the settings, if any, and closes it with the stores. */
export async function withSqlDoor(
  { sqlDoor }: Config,
  stores: Stores,
): Promise<{ stores: Stores; url: string | null }> {
  const { engine } = stores;
  if (!sqlDoor || !engine) return { stores, url: null };
  try {
    const door = await startAnalystDoor(engine, sqlDoor);
    return { stores: closedWithDoor(stores, door), url: door.url };
  } catch (error) {
    await stores.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CommandError(`Port ${sqlDoor.port} is in use. Choose another with REACHLINE_SQL_PORT.`);
  }
}

/**
 * The stores, which close after the door. A statement that the engine cannot end keeps the engine open, and Node.js from
 * exiting, as it joins its threads: the search store is closed then, and the process kills itself once it exits.
 */
export function closedWithDoor(stores: Stores, door: SqlDoor): Stores {
  const killIfHeld = () => {
    if (door.running() > 0) process.kill(process.pid, 'SIGKILL');
  };
  process.once('exit', killIfHeld);
  const close = async () => {
    if (!(await door.close())) return stores.search.close();
    process.off('exit', killIfHeld);
    await stores.close();
  };
  return { ...stores, close };
}
