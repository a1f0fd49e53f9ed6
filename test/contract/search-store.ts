import type { Clock } from '../../services/shared/time.js';
import type { SearchStore } from '../../services/stores/common/search-store.js';
import { closedWithFile } from '../support/opened.js';
import { parsed } from '../support/parsed-store.js';
import { searchStoreAccounts } from './search-store-accounts.js';
import { searchStoreAnswers } from './search-store-answers.js';
import { searchStoreAudienceRequests, searchStoreAudiences } from './search-store-audiences.js';
import { searchStoreCreate } from './search-store-create.js';
import { searchStoreDeletedAudiences } from './search-store-deleted-audiences.js';
import { searchStoreDeletions } from './search-store-deletions.js';
import { searchStoreErasures } from './search-store-erasures.js';
import { searchStoreExamples } from './search-store-examples.js';
import { searchStoreExplain } from './search-store-explain.js';
import { searchStoreFacets } from './search-store-facets.js';
import { searchStoreFigures } from './search-store-figures.js';
import { searchStoreFilters } from './search-store-filters.js';
import { searchStoreGetMany } from './search-store-get-many.js';
import { searchStoreMatch } from './search-store-match.js';
import { searchStoreMemberships } from './search-store-memberships.js';
import { searchStoreOrder } from './search-store-order.js';
import { searchStorePeople } from './search-store-people.js';
import { searchStoreRecordOrder } from './search-store-record-order.js';
import { searchStoreRecords } from './search-store-records.js';
import { searchStoreRejections } from './search-store-rejections.js';
import { searchStoreRetention } from './search-store-retention.js';
import { searchStoreUpdates } from './search-store-updates.js';
import { searchStoreVisits } from './search-store-visits.js';
import type { Open, OpenStore, StoreHooks } from './search-support.js';

interface UnparsedStore {
  store: SearchStore;
  /** Opens the same data as another process would. */
  another(hooks?: StoreHooks): Promise<SearchStore>;
  close(): Promise<void>;
}

/** The rules of the search port, for every adapter. */
export function searchStoreContract(
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
  /** One store for all suites but those that need an empty one: they keep apart by organization. */
  const open: Open = async () => {
    shared ??= openNew();
    return { ...(await shared), close: async () => {} };
  };
  describe(`search store: ${name}`, () => {
    after(async () => (await shared)?.close());

    searchStoreFilters(open);
    searchStoreExamples(open);
    searchStorePeople(open);
    searchStoreOrder(open);
    searchStoreMatch(open);
    searchStoreDeletions(open);
    searchStoreAnswers(open);
    searchStoreErasures(open);
    searchStoreExplain(open);
    searchStoreFacets(open);
    searchStoreGetMany(open);
    searchStoreRecords(open);
    searchStoreRecordOrder(open);
    searchStoreCreate(open);
    searchStoreUpdates(open);
    searchStoreMemberships(open);
    searchStoreAudiences(open);
    searchStoreAudienceRequests(open);
    searchStoreDeletedAudiences(open);
    searchStoreVisits(open);
    searchStoreAccounts(openNew);
    searchStoreRejections(open);
    searchStoreRetention(openNew);
    searchStoreFigures(open);
  });
}
