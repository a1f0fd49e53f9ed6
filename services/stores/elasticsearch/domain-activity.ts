/** Records by domain, counted by aggregations. */
import type { estypes } from '@elastic/elasticsearch';
import type {
  DomainActivityStore,
  DomainDay,
  DomainDaysQuery,
  DomainRecords,
  DomainWindow,
} from '../../search/domain-activity.js';
import type { ContactSource, Tombstone } from './contacts/indexed-contact.js';
import type { Documents } from './documents.js';
import { type BoundedRead, totalHits } from './pages.js';
import type { VisitSource } from './visits.js';

type Clause = estypes.QueryDslQueryContainer;

/** Keyword fields of each kind of document. */
const FIELDS = {
  contacts: { id: 'contact_id', domain: 'search.domain' },
  visits: { id: 'visit_id', domain: 'search.facets.company_domain' },
} as const;

/** Buckets per request, far below the limit of the cluster (`search.max_buckets`). */
const BUCKETS_PER_REQUEST = 10_000;

const BY_DAY: estypes.AggregationsCompositeAggregationSource = {
  date_histogram: { field: 'created_at', fixed_interval: '1d' },
};

const createdIn = (from: number | undefined, before: number): Clause => ({
  range: { created_at: { ...(from !== undefined && { gte: from }), lt: before, format: 'epoch_millis' } },
});

interface DomainActivityDeps {
  contacts: Pick<Documents<ContactSource | Tombstone>, 'search'>;
  visits: Pick<Documents<VisitSource>, 'search'>;
  bounded: BoundedRead;
}

export function domainActivity({ bounded, ...documents }: DomainActivityDeps): DomainActivityStore {
  /** Routing is only for speed; the filter on the organization enforces isolation. */
  const searchIn = (
    kind: DomainRecords,
    organizationId: string,
    filter: Clause[],
    request: estypes.SearchRequest,
    signal: AbortSignal,
  ) =>
    documents[kind].search(
      {
        size: 0,
        routing: organizationId,
        query: { bool: { filter: [{ term: { organization_id: organizationId } }, ...filter] } },
        ...request,
      },
      signal,
    );

  /** Reads the records of some domains and a time, by domain, and by day if the time has a beginning. */
  async function* readDays(
    kind: DomainRecords,
    { organizationId, windows }: DomainDaysQuery,
    { from, before }: { from?: number; before: number },
    signal: AbortSignal,
  ): AsyncGenerator<DomainDay> {
    const { domain } = FIELDS[kind];
    const domains = { terms: { [domain]: windows.map((window) => window.domain) } };
    let after: estypes.AggregationsCompositeAggregateKey | undefined;
    do {
      const sources = [
        { domain: { terms: { field: domain } } },
        ...(from === undefined ? [] : [{ day: BY_DAY }]),
      ];
      const { aggregations = {} } = await searchIn(
        kind,
        organizationId,
        [domains, createdIn(from, before)],
        {
          track_total_hits: false,
          aggs: {
            days: {
              composite: { size: BUCKETS_PER_REQUEST, sources, after },
              aggs: { first: { min: { field: 'created_at' } } },
            },
          },
        },
        signal,
      );
      const days = aggregations.days as estypes.AggregationsCompositeAggregate;
      for (const { key, doc_count, first } of days.buckets as estypes.AggregationsCompositeBucket[]) {
        yield {
          domain: String(key.domain),
          day: Number(key.day ?? Number.NEGATIVE_INFINITY),
          count: doc_count,
          first: (first as estypes.AggregationsMinAggregate).value as number,
        };
      }
      after = days.after_key;
    } while (after !== undefined);
  }

  return {
    countDomainDays: (kind, query, caller) =>
      bounded(caller, async (signal) => {
        const { windows, countsEarlier, limit } = query;
        const windowOf = new Map(windows.map((window) => [window.domain, window]));
        const span = {
          from: Math.min(...windows.map(({ from }) => from)),
          before: Math.max(...windows.map(({ before }) => before)),
        };
        const days = new Map<string, DomainDay>();
        for (const part of countsEarlier ? [{ before: span.from }, span] : [span]) {
          for await (const { domain, day, count, first } of readDays(kind, query, part, signal)) {
            const { from, before } = windowOf.get(domain) as DomainWindow;
            if (day >= before || (day < from && !countsEarlier)) continue;
            const counted = Math.max(day, from);
            const key = `${counted} ${domain}`;
            const known = days.get(key);
            days.set(key, {
              ...{ domain, day: counted, count: count + (known?.count ?? 0) },
              first: Math.min(first, known?.first ?? first),
            });
            if (days.size >= limit) return { result: [...days.values()], bytes: 0 };
          }
        }
        return { result: [...days.values()], bytes: 0 };
      }),

    findOldest: (kind, { organizationId, windows, limit }, caller) =>
      bounded(caller, async (signal) => {
        if (windows.length === 0) return { result: [], bytes: 0 };
        const { id, domain } = FIELDS[kind];
        const filters = windows.map(({ domain: name, from, before }) => ({
          bool: { filter: [{ term: { [domain]: name } }, createdIn(from, before)] },
        }));
        const { aggregations = {} } = await searchIn(
          kind,
          organizationId,
          [{ terms: { [domain]: windows.map((each) => each.domain) } }],
          {
            track_total_hits: false,
            aggs: {
              windows: {
                filters: { filters },
                aggs: {
                  oldest: {
                    top_hits: {
                      size: limit,
                      _source: false,
                      docvalue_fields: [id],
                      sort: [{ created_at: 'asc' }, { [id]: 'asc' }],
                    },
                  },
                },
              },
            },
          },
          signal,
        );
        const buckets = (aggregations.windows as estypes.AggregationsFiltersAggregate)
          .buckets as estypes.AggregationsFiltersBucket[];
        const result = buckets.map(({ oldest }) =>
          (oldest as estypes.AggregationsTopHitsAggregate).hits.hits.map(({ fields }) =>
            String((fields as Record<string, string[]>)[id]?.[0]),
          ),
        );
        return { result, bytes: 0 };
      }),

    countPlaced: (kind, organizationId, { from, before }, caller) =>
      bounded(caller, async (signal) => {
        const { hits, aggregations = {} } = await searchIn(
          kind,
          organizationId,
          [createdIn(from, before)],
          { track_total_hits: true, aggs: { without: { missing: { field: FIELDS[kind].domain } } } },
          signal,
        );
        const { doc_count: withoutDomain } = aggregations.without as estypes.AggregationsMissingAggregate;
        return { result: { all: totalHits(hits), withoutDomain }, bytes: 0 };
      }),
  };
}
