import type { AnalyticsStore } from '../../advertising/analytics-store.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { VisitTable } from '../../visits/visit-store.js';
import type { ClickHouse } from './client.js';
import type { Engine } from './engine.js';
import { BATCH_RECORDS, type OpenedAnalyticsStore } from './store.js';

/** An embedded store that `open` opens with its first use, which throws the errors of `open`. */
export function analyticsStoreOnDemand(open: () => Promise<OpenedAnalyticsStore>): {
  store: AnalyticsStore & VisitTable;
  engine(): Promise<Engine>;
  copy: null;
  pauseInserts: NonNullable<ClickHouse['pauseInserts']>;
} {
  let opened: Promise<OpenedAnalyticsStore> | undefined;
  let isClosed = false;
  const use = async () => {
    if (isClosed) throw new StoreUnavailableError('analytics');
    opened ??= open();
    return (await opened).store;
  };
  return {
    async engine() {
      await use();
      return ((await opened) as OpenedAnalyticsStore).engine?.() as Promise<Engine>;
    },
    copy: null,
    async pauseInserts(work) {
      await use();
      const { pauseInserts } = (await opened) as OpenedAnalyticsStore;
      return pauseInserts ? pauseInserts(work) : work(async () => undefined);
    },
    store: {
      preferredBatchSize: BATCH_RECORDS,
      query: async (query, signal) => (await use()).query(query, signal),
      insertCampaigns: async (records) => (await use()).insertCampaigns(records),
      insertCreatives: async (records) => (await use()).insertCreatives(records),
      insertCompanies: async (records) => (await use()).insertCompanies(records),
      insertDeliveries: async (records) => (await use()).insertDeliveries(records),
      // The views of the embedded engine read the search store.
      insertVisits: async () => undefined,
      deleteVisitsBefore: async () => undefined,
      dropDeliveriesBefore: async (month) => (await use()).dropDeliveriesBefore(month),
      ping: async () => (await use()).ping(),
      async close() {
        isClosed = true;
        const settled = await opened?.catch(() => undefined);
        await settled?.store.close();
      },
    },
  };
}
