import { searchStoreAccounts } from './search-store-accounts.js';
import { searchStoreAudiences } from './search-store-audiences.js';
import { searchStoreCreate } from './search-store-create.js';
import { searchStoreFacets } from './search-store-facets.js';
import { searchStoreFigures } from './search-store-figures.js';
import { searchStoreFilters } from './search-store-filters.js';
import { searchStoreGetMany } from './search-store-get-many.js';
import { searchStoreMemberships } from './search-store-memberships.js';
import { searchStoreNames } from './search-store-names.js';
import { searchStoreOrder } from './search-store-order.js';
import { searchStoreQuery } from './search-store-query.js';
import { searchStoreRecordOrder } from './search-store-record-order.js';
import { searchStoreRecords } from './search-store-records.js';
import { searchStoreValues } from './search-store-values.js';
import { searchStoreVisits } from './search-store-visits.js';
import type { Open } from './search-support.js';

/** The rules of the search port, for every adapter. */
export function searchStoreContract(name: string, open: Open): void {
  describe(`search store: ${name}`, () => {
    searchStoreFilters(open);
    searchStoreQuery(open);
    searchStoreNames(open);
    searchStoreValues(open);
    searchStoreOrder(open);
    searchStoreFacets(open);
    searchStoreGetMany(open);
    searchStoreRecords(open);
    searchStoreRecordOrder(open);
    searchStoreCreate(open);
    searchStoreMemberships(open);
    searchStoreAudiences(open);
    searchStoreVisits(open);
    searchStoreAccounts(open);
    searchStoreFigures(open);
  });
}
