import type { estypes } from '@elastic/elasticsearch';
import type { ContactFilter, ContactSearch } from '../../../contacts/contact-store.js';
import { type DuplicateKey, MAX_DUPLICATE_CANDIDATES } from '../../../contacts/duplicates.js';
import type { ContactSort, FacetField } from '../../../contacts/fields.js';
import { searchableName, searchedValues } from '../../../contacts/searchable.js';
import { type FacetCount, type Facets, MAX_FACET_VALUES } from '../../../search/facets.js';
import { MAX_COUNTED, termsIn, weightsOf } from '../../../search/partial.js';
import { type PartialMatch, phrasesOf, type Sort, type TextQuery } from '../../../search/query.js';
import { matchedPart, rankOf } from '../../../search/record-rank.js';
import { fromJson } from '../../../shared/json.js';
import { compareCodePoints } from '../../../shared/text.js';
import { pageSort, searchAfter, totalHits } from '../pages.js';
import {
  any,
  beginsWith,
  holdsAll,
  type MatchOptions,
  matchHeaviest,
  matchTerm,
  matchText,
  type TextFields,
} from '../text/text-query.js';
import { valueToken, wordToken } from '../text/tokens.js';
import type { ContactSource } from './indexed-contact.js';

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
  /** Score of rank 0; null if sorted by time alone. */
  bestScore: number | null;
  /** See `TextMatch`. */
  leastScore: number;
}

/** Routing is only for speed; the filter on the organization enforces isolation. */
function filtersOf(search: ContactSearch): Clause[] {
  const filter: Clause[] = [{ term: { organization_id: search.organizationId } }];
  if (search.audienceId !== undefined) filter.push({ term: { audience_ids: search.audienceId } });
  if (search.updatedAfter !== undefined) {
    filter.push({ range: { updated_at: { gt: search.updatedAfter, format: 'epoch_millis' } } });
  }
  filter.push(...search.filters.flatMap(filterClauses));
  return filter;
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

type RunSearch = (request: estypes.SearchRequest) => Promise<estypes.SearchResponse<ContactSource>>;

/** How the store reads contacts. */
interface Reading {
  run: RunSearch;
  /** Adds sources to hits without one. Null if one is gone, or if all are too large together. */
  readSources(hits: readonly Hit[]): Promise<Hit[] | null>;
}

/** Ranking a hit takes 40 µs. */
const MAX_RANKED_HERE = 400;

/**
 * A page of the search, read by `fetch`. If few matches need typos, they are ranked here. If many do, Elasticsearch ranks them, but only if
 * the page has room for some. Few means the last hits of a page; for a partial match, of which most pages need typos, all hits.
 */
export function readRanked<T>(
  search: ContactSearch,
  partial: PartialMatch | undefined,
  { run, readSources }: Reading,
  fetch: (query: ContactQuery, run: RunSearch) => Promise<T>,
): Promise<T> {
  const lazy = contactQuery(search, { partial, ignoresTypos: true });
  const { bestScore, leastScore } = lazy;
  if (bestScore === null || leastScore === 0) return fetch(lazy, run);
  const runRanked: RunSearch = (part) => {
    const { query } = contactQuery(search, { partial }).request;
    return run({ ...part, query });
  };
  const isUnranked = (sort: estypes.SortResults | undefined) => Number(sort?.[0]) < leastScore;
  const rank = (hit: Hit) =>
    isUnranked(hit.sort) ? rankHit(hit, search.query as TextQuery, bestScore, partial) : hit;
  return fetch(lazy, async (part) => {
    if (isUnranked(part.search_after)) return runRanked(part);
    const size = part.size as number;
    const seesAll = partial !== undefined && part.search_after === undefined;
    const response = await run(seesAll ? { ...part, size: MAX_RANKED_HERE + 1, _source: false } : part);
    const { hits } = response.hits;
    const first = hits.findIndex(({ sort }) => isUnranked(sort));
    const isFilled = first === -1 || first >= Math.min(search.limit, size);
    const isEnd = hits.length < (seesAll ? MAX_RANKED_HERE + 1 : size);
    if (isFilled || (isEnd && hits.length - first <= MAX_RANKED_HERE)) {
      const needed = isFilled ? hits.slice(0, size) : hits;
      const found = seesAll ? await readSources(needed) : needed;
      if (found) return withHits(response, isFilled ? found : found.map(rank).sort(byRank).slice(0, size));
    }
    const ranked = await runRanked({ ...part, track_total_hits: false, aggs: undefined });
    return withHits(response, ranked.hits.hits);
  });
}

export type Hit = estypes.SearchHit<ContactSource>;

const withHits = (response: estypes.SearchResponse<ContactSource>, hits: Hit[]) => ({
  ...response,
  hits: { ...response.hits, hits },
});

function rankHit(hit: Hit, query: TextQuery, bestScore: number, partial: PartialMatch | undefined): Hit {
  const contact = fromJson((hit._source as ContactSource).contact);
  const values = searchedValues(contact);
  const part = partial === undefined ? query : matchedPart(query, values);
  const rank = rankOf(part, values, searchableName(contact));
  return { ...hit, sort: [bestScore - rank, ...(hit.sort as estypes.SortResults).slice(1)] };
}

/** Compares hits by score, time and id. */
function byRank({ sort: left = [] }: Hit, { sort: right = [] }: Hit): number {
  return (
    Number(right[0]) - Number(left[0]) ||
    Number(right[1]) - Number(left[1]) ||
    compareCodePoints(String(right[2]), String(left[2]))
  );
}

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

/** The weight of each term, by the number of contacts that match it within the filters. */
export async function findWeights(
  search: ContactSearch,
  query: TextQuery,
  run: RunSearch,
): Promise<number[]> {
  const { mustNot } = matchText(query, FIELDS);
  const count = async (filter: Clause[], limit: number | true): Promise<number> => {
    const { hits } = await run({
      routing: search.organizationId,
      size: 0,
      track_total_hits: limit,
      query: { bool: { filter: [...filtersOf(search), ...filter] } },
    });
    return totalHits(hits);
  };
  if (query.required.length === 1) return [0];
  const counts = query.required.map((term) =>
    count([matchTerm(term, FIELDS), { bool: { must_not: mustNot } }], MAX_COUNTED),
  );
  const [all, ...found] = await Promise.all([count([], true), ...counts]);
  return weightsOf(found, all);
}

/** The terms that the heaviest matching contacts have; null if no contact matches enough. */
export async function findHeaviest(
  search: ContactSearch,
  query: TextQuery,
  weights: readonly number[],
  run: RunSearch,
): Promise<PartialMatch | null> {
  if (weights.every((weight) => weight === 0) || phrasesOf(query).some((place) => weights[place] === 0))
    return null;
  const { filter, mustNot, should } = matchHeaviest(query, weights, FIELDS);
  const { hits } = await run({
    routing: search.organizationId,
    size: 1,
    _source: false,
    track_total_hits: false,
    query: { bool: { filter: [...filtersOf(search), ...filter], must_not: mustNot, should } },
  });
  const weight = hits.hits[0]?._score ?? 0;
  return weight === 0 ? null : { matched: termsIn(weight), weight, weights };
}

export type Aggregations = Record<string, estypes.AggregationsAggregate>;
type Terms = estypes.AggregationsTermsAggregateBase<FacetBucket>;
type FacetBucket = estypes.AggregationsStringTermsBucket;

/** Values per shard in the first request, if there are several shards: enough unless thousands of values are about equally frequent. */
const FACET_VALUES_PER_SHARD = 100;
const ALL_VALUES = 2 ** 31 - 1;

/** Aggregations for the most frequent values of an organization on this number of shards, with their error bounds. */
export const firstFacetValues = (fields: readonly FacetField[], shards: number) =>
  facetAggregations(fields, shards === 1 ? MAX_FACET_VALUES : FACET_VALUES_PER_SHARD);

/** Values with the same count are ordered by their UTF-8 bytes. */
const facetAggregations = (fields: readonly FacetField[], size: number, shard_size = size) =>
  Object.fromEntries(
    fields.map((field): [string, estypes.AggregationsAggregationContainer] => [
      field,
      {
        terms: {
          field: `search.facets.${field}`,
          size,
          shard_size,
          show_term_doc_count_error: true,
          order: [{ _count: 'desc' }, { _key: 'asc' }],
        },
      },
    ]),
  );

/**
 * The facets in the order of the fields, which Elasticsearch loses. Exact even if the organization is on several shards: fields that need
 * it are requested with all values.
 */
export async function contactFacets(
  fields: readonly FacetField[],
  found: Aggregations,
  search: (aggregations: Record<string, estypes.AggregationsAggregationContainer>) => Promise<Aggregations>,
): Promise<Facets<FacetField>> {
  const inexact = fields.filter((field) => !isExact(found[field] as Terms));
  const all: Aggregations =
    inexact.length === 0 ? {} : await search(facetAggregations(inexact, MAX_FACET_VALUES, ALL_VALUES));
  return Object.fromEntries(
    fields.map((field): [string, FacetCount[]] => {
      const buckets = ((all[field] ?? found[field]) as Terms).buckets as FacetBucket[];
      const first = buckets.slice(0, MAX_FACET_VALUES);
      return [field, first.map(({ key, doc_count }) => ({ value: String(key), count: doc_count }))];
    }),
  );
}

/** Whether the first values are counted on every shard, and no other value can be among them. */
function isExact({ buckets, doc_count_error_upper_bound: unseen = 0 }: Terms): boolean {
  if (unseen === 0) return true;
  const counted = buckets as FacetBucket[];
  const least = counted[MAX_FACET_VALUES - 1]?.doc_count ?? 0;
  const isCertain = ({ doc_count, doc_count_error_upper_bound: missed = 0 }: FacetBucket, index: number) =>
    missed === 0 || (index >= MAX_FACET_VALUES && doc_count + missed < least);
  const mostOfOthers = (counted.at(-1)?.doc_count ?? 0) + unseen;
  return counted.every(isCertain) && mostOfOthers < least;
}

function filterClauses(filter: ContactFilter): Clause[] {
  if (filter.kind === 'value') {
    return [{ term: { [`search.${filter.field}_value`]: valueToken(filter.value) } }];
  }
  if (filter.kind === 'email') return [emailClause(filter.email)];
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

/** Finds contacts that may have one of the keys. There is at least one key. */
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
