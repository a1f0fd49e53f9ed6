import { expect } from 'chai';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { tempFolder } from '../support/temp-folder.js';

describe('closing the stores', () => {
  let folder: string;
  beforeEach(async () => {
    folder = tempFolder();
  });

  const open = () => openStores({ dataDir: folder, searchProcesses: 1 }, { analyticsOnDemand: true });

  /** Logs each close of a store, and makes it fail if `error` is given. */
  function observeClose(stores: Stores, name: 'records' | 'analytics', log: string[], error?: Error): void {
    const store = stores[name];
    const close = store.close.bind(store);
    store.close = async () => {
      log.push(name);
      await close();
      if (error) throw error;
    };
  }

  it('closes the other stores and releases the data folder when one fails to close, and throws its error', async () => {
    const stores = await open();
    const log: string[] = [];
    const error = new Error('not closed');
    observeClose(stores, 'records', log);
    observeClose(stores, 'analytics', log, error);
    expect(await stores.close().catch((thrown: unknown) => thrown)).to.equal(error);
    expect(log).to.deep.equal(['analytics', 'records']);
    await (await open()).close();
  });

  it('closes each store once, however often it is called', async () => {
    const stores = await open();
    const log: string[] = [];
    observeClose(stores, 'records', log);
    observeClose(stores, 'analytics', log);
    await Promise.all([stores.close(), stores.close()]);
    await stores.close();
    expect(log).to.deep.equal(['analytics', 'records']);
  });
});
