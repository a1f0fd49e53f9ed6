import { loadConfig } from '../../services/shared/config.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { closedWithFile } from './opened.js';
import { tempFolder } from './temp-folder.js';

/** Embedded stores in a folder of their own. */
export const openTemporaryStores = (): Promise<Stores> => {
  const config = loadConfig({ REACHLINE_DATA_DIR: tempFolder(), REACHLINE_SEARCH_PROCESSES: '1' });
  return closedWithFile(openStores(config, { analyticsOnDemand: true }));
};
