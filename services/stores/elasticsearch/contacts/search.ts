/** Translates a contact search into a plan, and a plan into requests to Elasticsearch. `search-page.ts` runs the requests. */
import type { estypes } from '@elastic/elasticsearch';
import type { ContactCriteria, ContactFilter, ContactSearch } from '../../../contacts/contact-store.js';
import { type DuplicateKey, MAX_DUPLICATE_CANDIDATES } from '../../../contacts/duplicates.js';
import type { ContactSort } from '../../../contacts/fields.js';
import { MAX_COUNTED } from '../../../search/partial.js';
import { type PartialMatch, phrasesOf, type Sort, type TextQuery } from '../../../search/query.js';
import { pageSort, searchAfter } from '../pages.js';
import {
  any,
  beginsWith,
  holdsAll,
  type MatchOptions,
  matchAny,
  matchHeaviest,
  matchTerm,
  matchText,
  type TextFields,
} from '../text/text-query.js';
import { valueToken, wordToken } from '../text/tokens.js';

type Clause = estypes.QueryDslQueryContainer;

const FIELDS: TextFields = {
  prefix: 'search.',
  all: 'search.all',
  initials: 'search.initials',
  names: { whole: 'search.whole_name', parts: 'search.name_parts' },
  groups: ['search.names', 'search.emails', 'search.company'],
};

export interface ContactQuery {
  request: estypes.SearchRequest;
  /** Score of rank 0; null if the page is sorted by time alone. */
  bestScore: number | null;
  /** See `TextMatch`. */
  leastScore: number;
}

/** Routing is only for speed; the filter on the organization enforces isolation. */
function filtersOf(search: ContactSearch): Clause[] {
  const { organizationId, anyOf, noneOf } = search;
  const filter: Clause[] = [{ term: { organization_id: organizationId } }, ...criteriaClauses(search)];
  if (anyOf) filter.push(any(anyOf.map(allCriteria)));
  if (noneOf) filter.push({ bool: { must_not: noneOf.map(allCriteria) } });
  return filter;
}

const allCriteria = (criteria: ContactCriteria): Clause => ({ bool: { filter: criteriaClauses(criteria) } });

function criteriaClauses(criteria: ContactCriteria): Clause[] {
  const { audienceId, filters, updatedAfter, createdFrom, createdBefore } = criteria;
  const clauses: Clause[] = filters.flatMap(filterClauses);
  if (audienceId !== undefined) clauses.push({ term: { audience_ids: audienceId } });
  const format = 'epoch_millis';
  if (updatedAfter !== undefined) clauses.push({ range: { updated_at: { gt: updatedAfter, format } } });
  if (createdFrom !== undefined || createdBefore !== undefined)
    clauses.push({ range: { created_at: { gte: createdFrom, lt: createdBefore, format } } });
  return clauses;
}

export function contactQuery(search: ContactSearch, options?: MatchOptions): ContactQuery {
  const filter = filtersOf(search);
  const isFirstPage = search.after === undefined;
  const match = search.query && matchText(search.query, FIELDS, { ...options, isFirstPage });
  const bestScore = match && match.should.length > 0 ? match.bestScore : null;
  return {
    bestScore,
    leastScore: match?.leastScore ?? 0,
    request: {
      routing: search.organizationId,
      track_total_hits: !(search.after && search.skipsTotal),
      query: {
        bool: {
          filter: match ? [...filter, ...match.filter] : filter,
          must_not: match?.mustNot,
          should: match?.should,
          minimum_should_match: 0,
        },
      },
      sort: search.sort ? sortBy(search.sort) : pageSort('contact_id', bestScore !== null),
      search_after: searchAfter(search.after, bestScore),
    },
  };
}

/** A contact search with the query that finds its page. */
export interface SearchPlan extends ContactQuery {
  search: ContactSearch;
  partial?: PartialMatch;
}

/**
 * Plans a search; with `partial`, a search for contacts that match some of its terms. The request leaves contacts that need typos at the
 * end, unordered, because ordering these contacts takes several times as long as finding them.
 */
export const planSearch = (search: ContactSearch, partial?: PartialMatch): SearchPlan => ({
  ...contactQuery(search, { partial, ignoresTypos: true }),
  search,
  partial,
});

/** The request with typos in its score, so that Elasticsearch also orders contacts that need typos. */
export const withTypos = <Part extends estypes.SearchRequest>(
  part: Part,
  { search, partial }: SearchPlan,
): Part => ({ ...part, query: contactQuery(search, { partial }).request.query });

const SORT_FIELDS: Record<ContactSort, string> = {
  created_at: 'created_at',
  updated_at: 'updated_at',
  last_name: 'search.sort.last_name',
  company_name: 'search.sort.company_name',
};

const sortBy = ({ by, direction: order }: Sort<ContactSort>): estypes.SortCombinations[] => [
  { [SORT_FIELDS[by]]: { order, missing: '_last' } },
  { contact_id: order },
];

/** Request that counts the contacts of each filter, as the buckets of `counts`. */
export const filterCountsRequest = (
  organizationId: string,
  filters: readonly ContactFilter[],
): estypes.SearchRequest => ({
  routing: organizationId,
  size: 0,
  track_total_hits: false,
  query: { bool: { filter: filtersOf({ organizationId, filters: [], limit: 0 }) } },
  aggs: { counts: { filters: { filters: filters.map((filter) => allCriteria({ filters: [filter] })) } } },
});

/** Requests that count all contacts within the filters, then the contacts that match each term: these counts are the weights of terms. */
export function countRequests(search: ContactSearch, query: TextQuery): estypes.SearchRequest[] {
  const { mustNot } = matchText(query, FIELDS);
  const count = (filter: Clause[], limit: number | true): estypes.SearchRequest => ({
    routing: search.organizationId,
    size: 0,
    track_total_hits: limit,
    query: { bool: { filter: [...filtersOf(search), ...filter] } },
  });
  return [
    count([], true),
    ...query.required.map((term) =>
      count([matchTerm(term, FIELDS), { bool: { must_not: mustNot } }], MAX_COUNTED),
    ),
  ];
}

/** Request for a contact whose terms weigh most; null if no contact can match enough. */
export function heaviestRequest(
  search: ContactSearch,
  query: TextQuery,
  weights: readonly number[],
): estypes.SearchRequest | null {
  if (weights.every((weight) => weight === 0) || phrasesOf(query).some((place) => weights[place] === 0))
    return null;
  const { filter, mustNot, should } = matchHeaviest(query, weights, FIELDS);
  return {
    routing: search.organizationId,
    size: 1,
    _source: false,
    track_total_hits: false,
    query: { bool: { filter: [...filtersOf(search), ...filter], must_not: mustNot, should } },
  };
}

function filterClauses(filter: ContactFilter): Clause[] {
  if (filter.kind === 'value') {
    return [{ terms: { [`search.${filter.field}_value`]: filter.values.map(valueToken) } }];
  }
  if (filter.kind === 'email') return [emailClause(filter.email)];
  if (filter.kind === 'terms') return [matchAny(filter.terms, FIELDS)];
  if (filter.kind === 'has') return [{ term: { 'search.has': filter.field } }];
  if (filter.kind === 'lacks') return [{ bool: { must_not: { term: { 'search.has': filter.field } } } }];
  const field = `search.${filter.field}`;
  return filter.words.map(({ spellings, whole, equivalents }) =>
    any([
      ...spellings.flatMap((word) => beginsWith(field, word)),
      ...whole.map((word) => holdsAll(field, [word])),
      ...equivalents.map((words) => holdsAll(field, words)),
    ]),
  );
}

const emailClause = (email: string): Clause => ({ term: { 'search.emails': wordToken(email) } });

/** Finds contacts that have an address, in normal form. */
export const addressClause = (kind: 'email' | 'profile', value: string): Clause =>
  kind === 'email' ? emailClause(value) : { term: { 'search.network_a_url_value': valueToken(value) } };

/** Finds contacts that may have one of the keys. Requires at least one key. */
export function duplicateQuery(
  organizationId: string,
  keys: readonly DuplicateKey[],
  size = MAX_DUPLICATE_CANDIDATES,
): estypes.SearchRequest {
  const should = keys.map(({ kind, value }) => addressClause(kind, value));
  return {
    routing: organizationId,
    size,
    track_total_hits: false,
    query: {
      bool: {
        filter: [{ term: { organization_id: organizationId } }],
        should,
        minimum_should_match: 1,
      },
    },
    sort: [{ created_at: 'asc' }, { contact_id: 'asc' }],
  };
}
