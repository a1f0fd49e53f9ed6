import { loadConfig } from '../../shared/config.js';
import { openStores } from '../../stores/open-stores.js';
import { type Io, say } from '../io.js';

/** Opening the stores brings them up to date. */
export async function migrate(io: Io): Promise<void> {
  const config = loadConfig(io.env);
  const stores = await openStores(config);
  await stores.close();
  say(io, 'The stores are up to date.');
}
