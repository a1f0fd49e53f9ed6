import type { StartGateway } from '../../support/gateway.js';
import { audienceSearch } from './audience-search.js';
import { credits } from './credits.js';
import { errors } from './errors.js';
import { examples } from './examples.js';
import { http, limits } from './http.js';
import { isolation } from './isolation.js';
import { analyticsStoreGone, searchStoreGone } from './lost-stores.js';
import { operations } from './operations.js';
import { status, statusWithoutStores } from './status.js';
import { visitsPaging } from './visits-paging.js';

/** Everything a gateway has to do wherever it keeps its records. */
export function gatewayContract(name: string, start: StartGateway): void {
  describe(`gateway: ${name}`, () => {
    for (const suite of [
      operations,
      http,
      limits,
      errors,
      isolation,
      audienceSearch,
      visitsPaging,
      credits,
      examples,
      status,
      statusWithoutStores,
      searchStoreGone,
      analyticsStoreGone,
    ]) {
      suite(start);
    }
  });
}
