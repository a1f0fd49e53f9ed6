import type { StartGateway } from '../../support/gateway.js';
import { credits } from './credits.js';
import { errors } from './errors.js';
import { http, limits } from './http.js';
import { isolation } from './isolation.js';
import { analyticsStoreGone, searchStoreGone } from './lost-stores.js';
import { operations } from './operations.js';
import { status, statusWithoutStores } from './status.js';
import { visitsPaging } from './visits-paging.js';

/** What depends on where a gateway keeps its records. */
const STORED = [
  operations,
  isolation,
  visitsPaging,
  credits,
  status,
  statusWithoutStores,
  searchStoreGone,
  analyticsStoreGone,
];

/** Everything a gateway has to do wherever it keeps its records; `storesOnly` leaves out what no store touches. */
export function gatewayContract(name: string, start: StartGateway, { storesOnly = false } = {}): void {
  describe(`gateway: ${name}`, () => {
    for (const suite of storesOnly ? STORED : [...STORED, http, limits, errors]) suite(start);
  });
}
