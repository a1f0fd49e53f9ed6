import { recordStoreContract } from '../../contract/record-store.js';
import type { StoreHooks } from '../../contract/record-store-support.js';
import { openStore, testIndices } from './support.js';

recordStoreContract('Elasticsearch', async (options) => {
  const indices = testIndices();
  // Uses two shards per organization: with a single shard, no results are merged.
  const config = { ...indices.config, shardsPerOrganization: 2 };
  const open = ({ goesOn = false, ...hooks }: StoreHooks = {}) =>
    openStore(config, {
      ...{ ...options, ...hooks, refreshIntervalMs: 0 },
      ...(goesOn && { recoveryIntervalMs: 100, takeoverMs: 0 }),
    });
  const store = await open();
  await indices.refreshAtOnce();
  return { store, another: open, close: () => store.close() };
});
