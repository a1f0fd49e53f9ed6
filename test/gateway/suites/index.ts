import type { StartGateway } from '../../support/gateway.js';
import { accounts } from './accounts.js';
import { advertisingRecords } from './advertising-records.js';
import { bulkMemberships } from './bulk-memberships.js';
import { changes } from './changes.js';
import { companies } from './companies.js';
import { cursors } from './cursors.js';
import { imports } from './imports.js';
import { influence } from './influence.js';
import { isolation } from './isolation.js';
import { keptAnswers } from './kept-answers.js';
import { lostStores } from './lost-stores.js';
import { operations } from './operations.js';
import { peopleOfImports } from './people-of-imports.js';
import { repetitions } from './repetitions.js';
import { savedFilters } from './saved-filters.js';

/** Suites whose results could depend on the stores of a gateway. */
const SUITES = [
  operations,
  isolation,
  influence,
  accounts,
  advertisingRecords,
  peopleOfImports,
  imports,
  bulkMemberships,
  changes,
  companies,
  cursors,
  keptAnswers,
  lostStores,
  repetitions,
  savedFilters,
];

/** Everything that a gateway has to do with each kind of stores. */
export function gatewayContract(name: string, start: StartGateway): void {
  describe(`gateway: ${name}`, () => {
    for (const suite of SUITES) suite(start);
  });
}
