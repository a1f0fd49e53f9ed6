/** Filters of lists under a name, which everybody in the organization sees (contract 3.18). */
import { checkSort } from '../contacts/endpoints.js';
import { exactlyOneOf } from '../contacts/person.js';
import type { BulkFilter } from '../contacts/schema.js';
import { toContactSearch } from '../contacts/search.js';
import { endpointsWith } from '../http/endpoint.js';
import { invalid, Problem } from '../http/problems.js';
import type { Scope } from '../http/scopes.js';
import { slugOfProfile } from '../search/normalize.js';
import type { Clock } from '../shared/time.js';
import type { FieldError } from '../shared/validation.js';
import { toVisitSearch } from '../visits/search.js';
import { MAX_FILTERS, type SavedFilterStore, toSavedFilter } from './saved-filter-store.js';
import {
  DeleteFilterRequest,
  DeleteFilterResponse,
  ListFiltersRequest,
  ListFiltersResponse,
  SaveFilterRequest,
  SaveFilterResponse,
  VIEWS,
  type View,
} from './schema.js';

export interface SavedFilterServices {
  records: SavedFilterStore;
  clock: Clock;
}

const endpoint = endpointsWith<SavedFilterServices>();

/** Maximum characters of a filter as JSON. An organization has at most 100 filters, and a list returns all of its view. */
const MAX_LENGTH = 16_384;

/** The scope that reads the list. */
const SCOPES = {
  contacts: 'contacts:read',
  audiences: 'audiences:read',
  visits: 'visits:read',
} as const satisfies Record<View, Scope>;

type Given = { [Name in View]?: object | null };

const viewOf = (body: Given): View => VIEWS.find((view) => body[view] != null) as View;

/** The errors that a search with the filter would have. */
function searchErrors({ contacts, visits }: Given): FieldError[] {
  try {
    if (contacts) toContactSearch('', contacts as BulkFilter);
    if (visits) toVisitSearch('', visits as Parameters<typeof toVisitSearch>[1]);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.extras.errors ?? [];
  }
  return [];
}

/** Errors for values that name one person: an address, a profile, or anything with an @. Erasures do not reach saved filters. */
function personErrors(filter: object, pointer = ''): FieldError[] {
  return Object.entries(filter).flatMap(([field, value]): FieldError[] => {
    const place = `${pointer}/${field}`;
    if (typeof value === 'object' && value !== null) return personErrors(value, place);
    if (typeof value !== 'string') return [];
    const isNamed =
      field === 'email' ||
      field === 'network_a_url' ||
      slugOfProfile(value) !== null ||
      value.normalize('NFKC').includes('@');
    const detail = `A saved filter names no person, because erasures do not reach it; leave ${field} out.`;
    return isNamed ? [{ pointer: place, code: 'names_a_person', detail }] : [];
  });
}

function checkFilter(body: Given, sent: Readonly<Record<string, unknown>>): FieldError[] {
  const errors = exactlyOneOf(...VIEWS)(body, sent);
  if (errors.length > 0) return errors;
  const view = viewOf(body);
  // The filter breaks its schema.
  if (view === undefined) return [];
  const filter = body[view] as Record<string, unknown>;
  const own = searchErrors(body);
  if (view === 'contacts') own.push(...checkSort(body, filter));
  own.push(...personErrors(filter));
  const length = JSON.stringify(filter).length;
  if (length > MAX_LENGTH) {
    const detail = `${view} takes ${length} characters as JSON, more than ${MAX_LENGTH}.`;
    own.push({ pointer: '', code: 'filter_too_large', detail });
  }
  return own.map((error) => ({ ...error, pointer: `/${view}${error.pointer}` }));
}

const listFilters = endpoint({
  path: '/api/filters/list',
  name: 'ListFilters',
  summary: 'List saved filters',
  description:
    'The saved filters of a list, by name. Needs the scope that reads the list: `contacts:read`, `audiences:read` or `visits:read`.',
  tag: 'Saved filters',
  scope: [],
  bodyScope: ({ view }) => [SCOPES[view]],
  request: ListFiltersRequest,
  response: ListFiltersResponse,
  example: { organization_id: 'org_demo', view: 'contacts' },
  async handle({ body: { view }, organizationId, services, signal }) {
    const filters = await services.records.listFilters(organizationId, view, signal);
    return { organization_id: organizationId, view, filters: filters.map(toSavedFilter) };
  },
});

const saveFilter = endpoint({
  path: '/api/filters/save',
  name: 'SaveFilter',
  summary: 'Save a filter',
  description: `Saves the filter of exactly one list under a name, and replaces the filter of the list that has the name, unless \`replace\` is false. An organization has at most ${MAX_FILTERS}. Everybody with the scope that reads the list sees it, so it may not name a person by email or profile. Needs that scope too.`,
  tag: 'Saved filters',
  scope: ['audiences:write'],
  bodyScope: (body) => [SCOPES[viewOf(body)]],
  request: SaveFilterRequest,
  response: SaveFilterResponse,
  example: {
    organization_id: 'org_demo',
    name: 'German marketing',
    contacts: { country: 'DE', job_title: 'marketing' },
  },
  problems: ['filter_exists'],
  check: checkFilter,
  async handle({ body, organizationId, services, beginsToWrite }) {
    const view = viewOf(body);
    beginsToWrite();
    const filter = { view, name: body.name, filter: body[view] as object, replace: body.replace ?? true };
    const outcome = await services.records.saveFilter(organizationId, filter, services.clock.now());
    if (outcome.kind === 'too_many_filters') {
      const detail = `The organization has ${MAX_FILTERS} saved filters, which is the limit. Delete one first.`;
      throw invalid({ pointer: '', code: 'too_many_filters', detail });
    }
    if (outcome.kind === 'filter_exists') {
      const detail = `The list already has a saved filter ${JSON.stringify(body.name)}.`;
      throw new Problem('filter_exists', detail, { organization_id: organizationId });
    }
    return {
      organization_id: organizationId,
      filter: toSavedFilter(outcome.filter),
      replaced_filter: outcome.replaced && toSavedFilter(outcome.replaced),
    };
  },
});

const deleteFilter = endpoint({
  path: '/api/filters/delete',
  name: 'DeleteFilter',
  summary: 'Delete a saved filter',
  description:
    'Deleting again changes nothing. The response has the filter, so that it can be saved again. Needs the scope that reads the list too.',
  tag: 'Saved filters',
  scope: ['audiences:write'],
  bodyScope: ({ view }) => [SCOPES[view]],
  request: DeleteFilterRequest,
  response: DeleteFilterResponse,
  example: { organization_id: 'org_demo', view: 'contacts', name: 'Last year' },
  async handle({ body: { view, name }, organizationId, services, beginsToWrite }) {
    beginsToWrite();
    const deleted = await services.records.deleteFilter(organizationId, view, name);
    return {
      organization_id: organizationId,
      deleted: deleted !== null,
      deleted_filter: deleted && toSavedFilter(deleted),
    };
  },
});

export const savedFilterEndpoints = [listFilters, saveFilter, deleteFilter] as const;
