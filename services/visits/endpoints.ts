import { cursorListWith } from '../http/cursor-list.js';
import { endpointsWith } from '../http/endpoint.js';
import { SearchVisitsRequest, SearchVisitsResponse, Visit } from './schema.js';
import { toVisitSearch } from './search.js';
import type { VisitStore } from './visit-store.js';

export interface VisitServices {
  records: VisitStore;
}

const searchVisits = endpointsWith<VisitServices>()({
  path: '/api/website-visits/search',
  name: 'SearchVisits',
  summary: 'Search website visits',
  description:
    'Newest first. All given filters must match. Continue with `cursor`; the last page has a null `next_cursor`. A page ends early, with a `next_cursor`, if it would take more than 4 MiB. `facets` counts all matches by day or by the domain of the visiting company.',
  tag: 'Website visits',
  scope: ['visits:read'],
  slots: ({ start_url, limit, facets }) => (start_url ? 2 : 1) + (limit > 200 ? 2 : 0) + (facets ? 2 : 0),
  example: { organization_id: 'org_demo', browser: 'chrome', has_recording: true, limit: 2 },
  ...cursorListWith<VisitServices>()({
    items: 'visits',
    item: Visit,
    request: SearchVisitsRequest,
    response: SearchVisitsResponse,
    pageFields: ['facets'],
    readPage: ({ body, organizationId, services, signal }, range) =>
      services.records.searchVisits({ ...toVisitSearch(organizationId, body), ...range }, signal),
  }),
});

export const visitEndpoints = [searchVisits];
