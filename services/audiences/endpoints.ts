import { endpointsWith } from '../http/endpoint.js';
import { EXPORT_PAGE_ITEMS } from '../http/export.js';
import { Problem } from '../http/problems.js';
import type { SortKey } from '../search/query.js';
import type { Cancellable } from '../shared/async.js';
import type { AudienceStore } from './audience-store.js';
import {
  Audience,
  GetAudienceRequest,
  GetAudienceResponse,
  SearchAudiencesRequest,
  SearchAudiencesResponse,
} from './schema.js';

export interface AudienceServices {
  search: AudienceStore;
}

const endpoint = endpointsWith<AudienceServices>();

const WINDOW = 10_000;

/** Throws 404 when the organization has no such audience. */
export async function requireAudience(
  store: Pick<AudienceStore, 'getAudience'>,
  organizationId: string,
  audienceId: string,
  request?: Cancellable,
): Promise<Audience> {
  const audience = await store.getAudience(organizationId, audienceId, request);
  if (!audience) throw audienceNotFound(organizationId, audienceId);
  return audience;
}

export function audienceNotFound(organizationId: string, audienceId: string): Problem {
  return new Problem('audience_not_found', `The organization has no audience ${audienceId}.`, {
    organization_id: organizationId,
    audience_id: audienceId,
  });
}

const getAudience = endpoint({
  path: '/api/audiences/get',
  name: 'GetAudience',
  summary: 'Get an audience',
  tag: 'Audiences',
  scope: ['audiences:read'],
  request: GetAudienceRequest,
  response: GetAudienceResponse,
  example: { organization_id: 'org_demo', audience_id: 'aud_customers' },
  problems: ['audience_not_found'],
  async handle(call) {
    const { body, organizationId, services } = call;
    const audience = await requireAudience(services.search, organizationId, body.audience_id, call);
    return { organization_id: organizationId, audience_id: audience.id, audience };
  },
});

const searchAudiences = endpoint({
  path: '/api/audiences/search',
  name: 'SearchAudiences',
  summary: 'Search audiences',
  description: 'By relevance with `query`, newest first without.',
  tag: 'Audiences',
  scope: ['audiences:read'],
  request: SearchAudiencesRequest,
  response: SearchAudiencesResponse,
  example: { organization_id: 'org_demo', page: 1, limit: 2 },
  problems: ['page_window_exceeded'],
  check({ page = 1, limit = 1 }) {
    const end = page * limit;
    if (end <= WINDOW) return [];
    const detail = `page × limit is ${end} and may not exceed ${WINDOW}; narrow the query instead.`;
    return [{ pointer: '/page', code: 'page_window_exceeded', detail }];
  },
  list: {
    item: Audience,
    pageFields: ['page', 'limit'],
    readPage: ({ organizationId, services, signal, textQuery: query }, next) =>
      services.search.searchAudiences(
        { organizationId, query, limit: EXPORT_PAGE_ITEMS, after: next as SortKey | undefined },
        signal,
      ),
  },
  async handle({ body: { page, limit }, organizationId, services, signal, textQuery: query }) {
    const search = { organizationId, query, offset: (page - 1) * limit, limit };
    const { items, total } = await services.search.searchAudiences(search, signal);
    return { organization_id: organizationId, audiences: items, page, limit, total_count: total };
  },
});

export const audienceEndpoints = [getAudience, searchAudiences];
