import { endpointsWith, type HandlerContext } from '../http/endpoint.js';
import { EXPORT_PAGE_ITEMS } from '../http/export.js';
import { unwrapIdempotent } from '../http/idempotency.js';
import { Problem } from '../http/problems.js';
import { type Page, readingsOf, type SortKey } from '../search/query.js';
import type { Cancellable } from '../shared/async.js';
import { newId } from '../shared/ids.js';
import { type Clock, parseTimestamp } from '../shared/time.js';
import type { AudienceSearch, AudienceStore } from './audience-store.js';
import {
  Audience,
  CreateAudienceRequest,
  DeleteAudienceRequest,
  DeleteAudienceResponse,
  GetAudienceRequest,
  GetAudienceResponse,
  SearchAudiencesRequest,
  SearchAudiencesResponse,
  UpdateAudienceRequest,
} from './schema.js';
import { newAudience } from './stored-audience.js';

export interface AudienceServices {
  records: AudienceStore;
  clock: Clock;
}

const endpoint = endpointsWith<AudienceServices>();

const WINDOW = 10_000;

/** Throws 404 if the organization has no such audience. */
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

/** Throws 404 if the organization lacks one of the audiences. */
export async function requireAudiences(
  store: Pick<AudienceStore, 'getAudience'>,
  organizationId: string,
  audienceIds: readonly string[],
  request?: Cancellable,
): Promise<void> {
  await Promise.all(audienceIds.map((id) => requireAudience(store, organizationId, id, request)));
}

function audienceChanged(organizationId: string, audienceId: string): Problem {
  const detail =
    'The audience has changed since if_updated_at. Get it again, and send the change with the new updated_at.';
  return new Problem('changed_meanwhile', detail, {
    organization_id: organizationId,
    audience_id: audienceId,
  });
}

export function audienceNotFound(organizationId: string, audienceId: string): Problem {
  return new Problem('audience_not_found', `The organization has no audience ${audienceId}.`, {
    organization_id: organizationId,
    audience_id: audienceId,
  });
}

/** The audiences, with the number of their members if requested. */
async function withCounts(
  audiences: Audience[],
  body: { include_counts?: boolean | null },
  { organizationId, services, signal }: HandlerContext<unknown, unknown, AudienceServices>,
): Promise<Audience[]> {
  if (!body.include_counts || audiences.length === 0) return audiences;
  const ids = audiences.map(({ id }) => id);
  const counts = await services.records.countMembers(organizationId, ids, signal);
  return audiences.map((audience, index) => ({ ...audience, member_count: counts[index] }));
}

const slotsOfCounts = ({ include_counts }: { include_counts?: boolean | null }) => (include_counts ? 4 : 1);

const getAudience = endpoint({
  path: '/api/audiences/get',
  name: 'GetAudience',
  summary: 'Get an audience',
  tag: 'Audiences',
  scope: ['audiences:read'],
  slots: slotsOfCounts,
  request: GetAudienceRequest,
  response: GetAudienceResponse,
  example: { organization_id: 'org_demo', audience_id: 'aud_customers' },
  problems: ['audience_not_found'],
  async handle(call) {
    const { body, organizationId, services } = call;
    const audience = await requireAudience(services.records, organizationId, body.audience_id, call);
    const [counted = audience] = await withCounts([audience], body, call);
    return { organization_id: organizationId, audience_id: audience.id, audience: counted };
  },
});

/** The page of the first reading of a query that matches an audience. */
async function findAudiences(
  store: Pick<AudienceStore, 'searchAudiences'>,
  search: AudienceSearch,
  signal?: AbortSignal,
): Promise<Page<Audience>> {
  const { query, after } = search;
  if (!query?.fallbackQuery) return store.searchAudiences(search, signal);
  const readings = readingsOf(query);
  for (let place = after?.fallback ?? 0; ; place++) {
    const page = await store.searchAudiences({ ...search, query: readings[place] }, signal);
    if (page.total === 0 && !after && place < readings.length - 1) continue;
    return place === 0 ? page : { ...page, next: page.next && { ...page.next, fallback: place } };
  }
}

const searchAudiences = endpoint({
  path: '/api/audiences/search',
  name: 'SearchAudiences',
  summary: 'Search audiences',
  description:
    'By relevance with `query`, otherwise newest first. With `include_counts`, each audience has its `member_count`: all memberships are counted, which takes longer than reading the audiences.',
  tag: 'Audiences',
  scope: ['audiences:read'],
  slots: slotsOfCounts,
  request: SearchAudiencesRequest,
  response: SearchAudiencesResponse,
  example: { organization_id: 'org_demo', include_counts: true, page: 1, limit: 2 },
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
    columns: ({ include_counts }) =>
      Object.keys(Audience.properties).filter((name) => include_counts || name !== 'member_count'),
    async readPage(context, next) {
      const { body, organizationId, services, signal, textQuery: query } = context;
      const after = next as SortKey | undefined;
      const search = { organizationId, query, limit: EXPORT_PAGE_ITEMS, after };
      const page = await findAudiences(services.records, search, signal);
      return { ...page, items: await withCounts(page.items, body, context) };
    },
  },
  async handle(context) {
    const { body, organizationId, services, signal, textQuery: query } = context;
    const { page, limit } = body;
    const search = { organizationId, query, offset: (page - 1) * limit, limit };
    const { items, total } = await findAudiences(services.records, search, signal);
    const audiences = await withCounts(items, body, context);
    return { organization_id: organizationId, audiences, page, limit, total_count: total };
  },
});

export const createAudience = endpoint({
  path: '/api/audiences/create',
  name: 'CreateAudience',
  summary: 'Create an audience',
  description:
    'If an audience has the `id` already, the response is 409 `audience_exists`. Names need not be unique.',
  tag: 'Audiences',
  scope: ['audiences:write'],
  request: CreateAudienceRequest,
  response: GetAudienceResponse,
  example: { organization_id: 'org_demo', name: 'Webinar guests', tracking_utm_value: 'webinar' },
  problems: ['audience_exists'],
  idempotent: true,
  async handle(context) {
    const { body, organizationId, services, idempotency } = context;
    const { id, ...fields } = body;
    const audience = newAudience(organizationId, id ?? newId('aud', services.clock.now()), fields);
    const result = await services.records.createAudience({ audience, idempotency });
    const outcome = unwrapIdempotent(context, result);
    if (outcome.kind === 'audience_exists') {
      throw new Problem('audience_exists', `The organization already has an audience ${audience.id}.`, {
        organization_id: organizationId,
        audience_id: audience.id,
      });
    }
    return {
      organization_id: organizationId,
      audience_id: outcome.audience.id,
      audience: outcome.audience,
    };
  },
});

const updateAudience = endpoint({
  path: '/api/audiences/update',
  name: 'UpdateAudience',
  summary: 'Change an audience',
  description:
    'Given fields overwrite, `null` clears, and other fields stay. With `if_updated_at`, an audience that has changed since is 409 `changed_meanwhile`, so that no change by somebody else is lost. A later record of the stream `audiences` replaces the whole audience; an older record changes nothing.',
  tag: 'Audiences',
  scope: ['audiences:write'],
  request: UpdateAudienceRequest,
  response: GetAudienceResponse,
  example: { organization_id: 'org_demo', audience_id: 'aud_newsletter', description: 'Weekly readers' },
  problems: ['audience_not_found', 'changed_meanwhile'],
  idempotent: true,
  nullClears: true,
  async handle(context) {
    const { body, organizationId, services, idempotency } = context;
    const { organization_id: _, audience_id: audienceId, if_updated_at: ifUpdatedAt, ...changes } = body;
    const ifUpdatedMs = ifUpdatedAt ? parseTimestamp(ifUpdatedAt) : undefined;
    const command = { organizationId, audienceId, changes, ifUpdatedMs, idempotency };
    const outcome = unwrapIdempotent(context, await services.records.updateAudience(command));
    if (outcome.kind === 'audience_not_found') throw audienceNotFound(organizationId, audienceId);
    if (outcome.kind === 'changed_meanwhile') throw audienceChanged(organizationId, audienceId);
    return { organization_id: organizationId, audience_id: audienceId, audience: outcome.audience };
  },
});

const deleteAudience = endpoint({
  path: '/api/audiences/delete',
  name: 'DeleteAudience',
  summary: 'Delete an audience',
  description:
    'The contacts stay, but are no longer members. A record of the stream `audiences` creates the audience again only if its `updated_at`, or otherwise its acceptance, is later than the deletion. The response comes once the audience has no members; stored memberships are removed afterwards. With `if_updated_at`, an audience that has changed since is 409 `changed_meanwhile` and stays. With `return_deleted`, `deleted_audience` is the audience before its deletion.',
  tag: 'Audiences',
  scope: ['audiences:write'],
  slots: () => 2,
  request: DeleteAudienceRequest,
  response: DeleteAudienceResponse,
  example: { organization_id: 'org_demo', audience_id: 'aud_last_year' },
  problems: ['changed_meanwhile'],
  idempotent: true,
  async handle(context) {
    const { body, organizationId, services, idempotency } = context;
    const { audience_id, if_updated_at: ifUpdatedAt, return_deleted } = body;
    const ifUpdatedMs = ifUpdatedAt ? parseTimestamp(ifUpdatedAt) : undefined;
    const command = { organizationId, audienceId: audience_id, ifUpdatedMs, idempotency };
    const outcome = unwrapIdempotent(context, await services.records.deleteAudience(command));
    if (outcome.kind === 'changed_meanwhile') throw audienceChanged(organizationId, audience_id);
    const { deleted, audience } = outcome;
    return {
      organization_id: organizationId,
      audience_id,
      deleted,
      ...(return_deleted && { deleted_audience: audience }),
    };
  },
});

export const audienceEndpoints = [
  createAudience,
  getAudience,
  searchAudiences,
  updateAudience,
  deleteAudience,
];
