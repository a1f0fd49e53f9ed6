/** Counts of values over all matches of a search: builds the requests and reads their responses. */
import type { estypes } from '@elastic/elasticsearch';
import type { FacetField } from '../../../contacts/fields.js';
import { type FacetCount, type Facets, MAX_FACET_VALUES } from '../../../search/facets.js';
import type { Documents } from '../documents.js';
import type { Aggregations } from '../pages.js';

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

/** Aggregations for every value of the fields on each shard. */
const allFacetValues = (fields: readonly FacetField[]) =>
  facetAggregations(fields, MAX_FACET_VALUES, ALL_VALUES);

/** Fields whose counts may be wrong, because the organization is on several shards. `allFacetValues` counts them exactly. */
export const inexactFacets = (fields: readonly FacetField[], found: Aggregations): FacetField[] =>
  fields.filter((field) => !isExact(found[field] as Terms));

/**
 * Reads the facets in the order of `fields`, because Elasticsearch does not keep the order. Counts in `recounted` replace the counts in
 * `found`.
 */
export const readFacets = (
  fields: readonly FacetField[],
  found: Aggregations,
  recounted: Aggregations = {},
): Facets<FacetField> =>
  Object.fromEntries(
    fields.map((field): [string, FacetCount[]] => {
      const buckets = ((recounted[field] ?? found[field]) as Terms).buckets as FacetBucket[];
      const first = buckets.slice(0, MAX_FACET_VALUES);
      return [field, first.map(({ key, doc_count }) => ({ value: String(key), count: doc_count }))];
    }),
  );

/** Whether every shard has counted the first values, and no other value can be among the most frequent. */
function isExact({ buckets, doc_count_error_upper_bound: unseen = 0 }: Terms): boolean {
  if (unseen === 0) return true;
  const counted = buckets as FacetBucket[];
  const least = counted[MAX_FACET_VALUES - 1]?.doc_count ?? 0;
  const isCertain = ({ doc_count, doc_count_error_upper_bound: missed = 0 }: FacetBucket, index: number) =>
    missed === 0 || (index >= MAX_FACET_VALUES && doc_count + missed < least);
  const mostOfOthers = (counted.at(-1)?.doc_count ?? 0) + unseen;
  return counted.every(isCertain) && mostOfOthers < least;
}

/** Reads the facets of a search from its aggregations. Counts again where the shards may have missed a value. */
export async function readAllFacets<Field extends FacetField>(
  { documents, signal }: { documents: Pick<Documents<unknown>, 'search'>; signal: AbortSignal },
  { routing, query }: estypes.SearchRequest,
  fields: readonly Field[],
  found: Aggregations,
): Promise<Facets<Field>> {
  const inexact = inexactFacets(fields, found);
  if (inexact.length === 0) return readFacets(fields, found);
  const recount = { routing, query, size: 0, track_total_hits: false, aggs: allFacetValues(inexact) };
  return readFacets(fields, found, (await documents.search(recount, signal)).aggregations);
}
