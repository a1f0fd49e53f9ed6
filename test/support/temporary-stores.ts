import { loadConfig } from '../../services/shared/config.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { temporaryFolder } from './gateway.js';
import { closedWithFile } from './opened.js';

/** Embedded stores in a folder of their own, which goes with them. */
export const openTemporaryStores = (): Promise<Stores> => closedWithFile(open());

async function open(): Promise<Stores> {
  const folder = await temporaryFolder();
  const stores = await openStores(
    loadConfig({ REACHLINE_DATA_DIR: folder.path, REACHLINE_SEARCH_THREADS: '1' }),
    { analyticsOnDemand: true },
  );
  return {
    ...stores,
    async close() {
      await stores.close();
      await folder.remove();
    },
  };
}
