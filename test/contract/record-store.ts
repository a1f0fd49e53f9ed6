import type { Clock } from '../../services/shared/time.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import { closedWithFile } from '../support/opened.js';
import { parsed } from '../support/parsed-store.js';
import { recordStoreAccounts } from './record-store-accounts.js';
import { recordStoreAnswers } from './record-store-answers.js';
import { recordStoreAudienceRequests, recordStoreAudiences } from './record-store-audiences.js';
import { recordStoreChanges } from './record-store-changes.js';
import { recordStoreCounts } from './record-store-counts.js';
import { recordStoreCreate } from './record-store-create.js';
import { recordStoreDeletedAudiences } from './record-store-deleted-audiences.js';
import { recordStoreDeletions } from './record-store-deletions.js';
import { recordStoreErasures } from './record-store-erasures.js';
import { recordStoreExamples } from './record-store-examples.js';
import { recordStoreExplain } from './record-store-explain.js';
import { recordStoreFacets } from './record-store-facets.js';
import { recordStoreFilters } from './record-store-filters.js';
import { recordStoreGetMany } from './record-store-get-many.js';
import { recordStoreMatch } from './record-store-match.js';
import { recordStoreMemberships } from './record-store-memberships.js';
import { recordStoreOrder } from './record-store-order.js';
import { recordStorePeople } from './record-store-people.js';
import { recordStoreRecordOrder } from './record-store-record-order.js';
import { recordStoreRecords } from './record-store-records.js';
import { recordStoreRejections } from './record-store-rejections.js';
import { recordStoreRetention } from './record-store-retention.js';
import { recordStoreSavedFilters } from './record-store-saved-filters.js';
import { recordStoreSegments } from './record-store-segments.js';
import type { Open, OpenStore, StoreHooks } from './record-store-support.js';
import { recordStoreUpdates } from './record-store-updates.js';
import { recordStoreVisits } from './record-store-visits.js';

interface UnparsedStore {
  store: RecordStore;
  /** Opens the same data as another process would. */
  another(hooks?: StoreHooks): Promise<RecordStore>;
  close(): Promise<void>;
}

/** The rules of the records port, for every adapter. */
export function recordStoreContract(
  name: string,
  openStore: (options: { clock: Clock }) => Promise<UnparsedStore>,
): void {
  const openNew: Open = async (): Promise<OpenStore> => {
    const clock = { now: Date.now };
    const { store, another, close } = await openStore({ clock });
    return {
      store: parsed(store),
      another: async (hooks) => parsed(await closedWithFile(another(hooks))),
      clock,
      close,
    };
  };
  let shared: Promise<OpenStore> | undefined;
  /** One store for all suites but those that need an empty store: they keep apart by organization. */
  const open: Open = async () => {
    shared ??= openNew();
    return { ...(await shared), close: async () => {} };
  };
  describe(`records store: ${name}`, () => {
    after(async () => (await shared)?.close());

    recordStoreFilters(open);
    recordStoreSegments(open);
    recordStoreSavedFilters(open);
    recordStoreExamples(open);
    recordStorePeople(open);
    recordStoreOrder(open);
    recordStoreMatch(open);
    recordStoreDeletions(open);
    recordStoreAnswers(open);
    recordStoreErasures(open);
    recordStoreExplain(open);
    recordStoreFacets(open);
    recordStoreGetMany(open);
    recordStoreChanges(open);
    recordStoreRecords(open);
    recordStoreRecordOrder(open);
    recordStoreCreate(open);
    recordStoreUpdates(open);
    recordStoreMemberships(open);
    recordStoreAudiences(open);
    recordStoreAudienceRequests(open);
    recordStoreDeletedAudiences(open);
    recordStoreVisits(open);
    recordStoreAccounts(openNew);
    recordStoreRejections(open);
    recordStoreRetention(openNew);
    recordStoreCounts(open);
  });
}
