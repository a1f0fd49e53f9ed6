import type { Config } from '../shared/config.js';
import { startAnalystDoor } from '../sql-door/analyst-door.js';
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
    const close = async () => {
      await door.close();
      await stores.close();
    };
    return { stores: { ...stores, close }, url: door.url };
  } catch (error) {
    await stores.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CommandError(`Port ${sqlDoor.port} is in use. Choose another with REACHLINE_SQL_PORT.`);
  }
}
