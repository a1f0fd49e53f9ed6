/** Counts the contacts of each import. */
import type { estypes } from '@elastic/elasticsearch';
import { type ImportCounts, MAX_LISTED_IMPORTS } from '../../../contacts/contact-store.js';
import type { ContactDocuments } from './documents.js';

type ImportBucket = estypes.AggregationsStringTermsBucket & {
  newest: estypes.AggregationsMaxAggregate;
  unchanged: estypes.AggregationsFilterAggregate;
};

const countsOf = (terms: estypes.AggregationsTermsAggregation) => ({
  imports: {
    terms: {
      field: 'import.id',
      size: MAX_LISTED_IMPORTS,
      order: [{ newest: 'desc' as const }, { _key: 'asc' as const }],
      ...terms,
    },
    aggs: {
      newest: { max: { field: 'import.accepted_at' } },
      unchanged: { filter: { term: { 'import.is_changed': false } } },
    },
  },
});

export async function listImports(
  contacts: ContactDocuments,
  organizationId: string,
  shards: number,
  signal: AbortSignal,
): Promise<ImportCounts[]> {
  const search = async (terms: estypes.AggregationsTermsAggregation) => {
    const { aggregations = {} } = await contacts.search(
      {
        size: 0,
        routing: organizationId,
        track_total_hits: false,
        query: {
          bool: {
            filter: [{ term: { organization_id: organizationId } }, { exists: { field: 'import.id' } }],
          },
        },
        aggs: countsOf(terms),
      },
      signal,
    );
    return (aggregations.imports as unknown as { buckets: ImportBucket[] }).buckets;
  };
  // The newest imports of an organization are among the newest of each shard, but a shard counts only its own newest imports.
  const newest = await search({});
  const buckets =
    shards === 1 || newest.length === 0
      ? newest
      : await search({ include: newest.map(({ key }) => String(key)) });
  return buckets.map((bucket) => ({
    id: bucket.key as string,
    contacts: bucket.doc_count,
    unchanged: bucket.unchanged.doc_count,
    acceptedMs: bucket.newest.value as number,
  }));
}
