import { writeCursor } from '../http/cursor.js';
import { endpointsWith } from '../http/endpoint.js';
import { EXPORT_PAGE_ITEMS } from '../http/export.js';
import type { SortKey } from '../search/query.js';
import { jsonArray } from '../shared/json.js';
import { SearchVisitsRequest, SearchVisitsResponse, Visit } from './schema.js';
import { toVisitSearch } from './search.js';
import type { VisitStore } from './visit-store.js';

export interface VisitServices {
  search: VisitStore;
}

const endpoint = endpointsWith<VisitServices>();

const PATH = '/api/website-visits/search';

const searchVisits = endpoint({
  path: PATH,
  name: 'SearchVisits',
  summary: 'Search website visits',
  description:
    'Newest first. All filters given must match. Page on with `cursor`; the last page has a null `next_cursor`. A page ends early, with a `next_cursor`, where it would take more than 4 MiB. `facets: ["day"]` counts the visits of each day over all matches.',
  tag: 'Website visits',
  scope: 'visits:read',
  request: SearchVisitsRequest,
  slots: ({ start_url, limit, facets }) =>
    (start_url ? 2 : 1) + ((limit ?? 0) > 200 ? 2 : 0) + (facets ? 2 : 0),
  response: SearchVisitsResponse,
  example: { organization_id: 'org_demo', browser: 'chrome', has_recording: true, limit: 2 },
  list: {
    item: Visit,
    pageFields: ['limit', 'cursor'],
    readPage({ body, organizationId, services, signal }, next) {
      const { search } = toVisitSearch(PATH, organizationId, body);
      const after = next as SortKey | undefined;
      const page = { limit: EXPORT_PAGE_ITEMS, after, skipsTotal: after !== undefined };
      return services.search.searchVisits({ ...search, ...page }, signal);
    },
  },
  async handle({ body, organizationId, services, signal }) {
    const { search, scope } = toVisitSearch(PATH, organizationId, body);
    const page = await services.search.searchVisits(search, signal);
    return {
      organization_id: organizationId,
      visits: jsonArray(page.items),
      next_cursor: writeCursor(scope, page.next),
      total_count: page.total,
      facets: page.facets,
    };
  },
});

export const visitEndpoints = [searchVisits];
