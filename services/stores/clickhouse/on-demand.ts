import type { AnalyticsStore } from '../../advertising/analytics-store.js';
import { requireRoom } from '../../shared/health.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { VisitTable } from '../../visits/visit-store.js';
import type { SqlCopy } from '../common/sql-copy.js';
import type { ClickHouse } from './client.js';
import type { Engine } from './engine.js';
import { BATCH_RECORDS } from './settings.js';
import type { OpenedAnalyticsStore } from './store.js';

export interface OnDemandOptions {
  dataDir: string;
  open(): Promise<OpenedAnalyticsStore>;
  /** Whether the folder contains an analytics store. */
  exists(): boolean;
}

/**
 * An embedded store that `open` opens at its first use; that use throws the errors of `open`. `isEmpty` tells that the folder has no store
 * yet, so that callers do not open a store to read nothing.
 */
export function analyticsStoreOnDemand({ dataDir, open, exists }: OnDemandOptions): {
  store: AnalyticsStore & VisitTable;
  engine(): Promise<Engine>;
  sqlCopies: readonly SqlCopy[];
  pauseInserts: NonNullable<ClickHouse['pauseInserts']>;
} {
  let opened: Promise<OpenedAnalyticsStore> | undefined;
  let isUsed = false;
  let isClosed = false;
  const isEmpty = () => !isUsed && !isClosed && !exists();
  const use = async () => {
    if (isClosed) throw new StoreUnavailableError('analytics');
    isUsed = true;
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return (await opened).store;
  };
  const usedCopies = async () => {
    await use();
    return ((await opened) as OpenedAnalyticsStore).sqlCopies;
  };
  return {
    async engine() {
      await use();
      return ((await opened) as OpenedAnalyticsStore).engine?.() as Promise<Engine>;
    },
    sqlCopies: [copyOnDemand(isEmpty, async () => (await usedCopies())[0] as SqlCopy)],
    async pauseInserts(work) {
      if (isEmpty()) return work(async () => undefined);
      await use();
      const { pauseInserts } = (await opened) as OpenedAnalyticsStore;
      return pauseInserts ? pauseInserts(work) : work(async () => undefined);
    },
    store: {
      get isEmpty() {
        return isEmpty();
      },
      preferredBatchSize: BATCH_RECORDS,
      query: async (query, signal) => (await use()).query(query, signal),
      insertCampaigns: async (records) => (await use()).insertCampaigns(records),
      insertCreatives: async (records) => (await use()).insertCreatives(records),
      insertCompanies: async (records) => (await use()).insertCompanies(records),
      insertDeliveries: async (records) => (await use()).insertDeliveries(records),
      insertCurrencyRates: async (records) => (await use()).insertCurrencyRates(records),
      insertVisits: async (records) => (await use()).insertVisits(records),
      countVisitsBefore: async (createdMs) => (isEmpty() ? 0 : (await use()).countVisitsBefore(createdMs)),
      deleteVisitsBefore: async (createdMs) =>
        isEmpty() ? undefined : (await use()).deleteVisitsBefore(createdMs),
      countDeliveriesBefore: async (month) => (isEmpty() ? [] : (await use()).countDeliveriesBefore(month)),
      dropDeliveriesBefore: async (month) => (isEmpty() ? [] : (await use()).dropDeliveriesBefore(month)),
      ping: async () => (isEmpty() ? requireRoom(dataDir, 'analytics') : (await use()).ping()),
      async close() {
        isClosed = true;
        const settled = await opened?.catch(() => undefined);
        await settled?.store.close();
      },
    },
  };
}

/** Opens the store only to write into it, or if there is something to read. */
function copyOnDemand(isEmpty: () => boolean, use: () => Promise<SqlCopy>): SqlCopy {
  return {
    readPosition: async () => (isEmpty() ? null : (await use()).readPosition()),
    clearContacts: async () => (isEmpty() ? undefined : (await use()).clearContacts()),
    hasOtherTables: async () => !isEmpty() && (await use()).hasOtherTables(),
    dropAbandoned: async () => (isEmpty() ? undefined : (await use()).dropAbandoned()),
    hide: async (...contacts) => (isEmpty() ? undefined : (await use()).hide(...contacts)),
    begin: async (tables) => (await use()).begin(tables),
    insertContacts: async (...batch) => (await use()).insertContacts(...batch),
    insertVisits: async (visits) => (await use()).insertVisits(visits),
  };
}
