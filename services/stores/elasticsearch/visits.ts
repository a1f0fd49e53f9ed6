import type { estypes } from '@elastic/elasticsearch';
import type { FacetCount, Facets } from '../../search/facets.js';
import { KeyedMutex } from '../../shared/async.js';
import { type Json, toJson } from '../../shared/json.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import { type Clock, parseTimestamp, utcDate } from '../../shared/time.js';
import {
  MAX_COUNTED_VISITS,
  monthOfVisit,
  type RetentionLog,
  type VisitMonth,
} from '../../visits/retention.js';
import type { Visit, VisitFacet, VisitRecord } from '../../visits/schema.js';
import { type StoredVisit, searchableVisit, toVisit, visitOrder, winner } from '../../visits/stored-visit.js';
import {
  type CompanyVisits,
  MAX_FACET_DAYS,
  type VisitingCompanies,
  type VisitingCompaniesSearch,
  type VisitSearch,
  type VisitStore,
} from '../../visits/visit-store.js';
import type { Cluster } from './client.js';
import { firstFacetValues, readAllFacets } from './contacts/facets.js';
import type { AcceptanceTimes } from './counts.js';
import { Documents, type DocumentWrite, documentId, versionOfHit } from './documents.js';
import { IndexMissingError } from './errors.js';
import { dropMonthsBefore, ensureMonthIndex, type IndexNames } from './migrations/indices.js';
import { acquireReindexLock } from './migrations/reindex-lock.js';
import { type Aggregations, type BoundedRead, fetchPage, pageSort, searchAfter, totalHits } from './pages.js';
import { retryWithBackoff } from './retry.js';
import { contains, gramsOf } from './text/substrings.js';
import { valueToken } from './text/tokens.js';

type Clause = estypes.QueryDslQueryContainer;

/** The stored field (`_source` of the mapping). Fields for searching and sorting are derived from the stored field and only indexed. */
export interface VisitSource {
  visit: Json<Visit>;
  record_order: string;
}

export function visitDocument(visit: Visit, recordOrder: string): object {
  const { countries, city, browser, platform, address, startUrl, companyDomain } = searchableVisit(visit);
  const document: VisitSource & Record<string, unknown> = {
    visit: toJson(visit),
    record_order: recordOrder,
    organization_id: visit.organizationId,
    visit_id: visit.id,
    created_at: Date.parse(visit.createdAt),
    audience_id: visit.audienceId,
    search: {
      countries: countries.map(valueToken),
      city: city === null ? null : valueToken(city),
      browser: browser === null ? null : gramsOf(browser),
      platform: platform === null ? null : gramsOf(platform),
      has_recording: visit.hasRecording,
      intent_score: visit.intentScore,
      address: address === null ? null : addressText(address),
      start_url: startUrl === null ? null : gramsOf(startUrl),
      facets: { company_domain: companyDomain },
    },
  };
  return document;
}

const COMPANY_DOMAIN = 'search.facets.company_domain';

export function visitQuery(search: VisitSearch): estypes.SearchRequest {
  const filter: Clause[] = [{ term: { organization_id: search.organizationId } }];
  const { audienceId, country, city, browser, platform, hasRecording, address, startUrl } = search;
  const { companyDomain, createdFrom, createdBefore, minIntentScore } = search;
  if (audienceId !== undefined) filter.push({ term: { audience_id: audienceId } });
  if (country !== undefined) filter.push({ term: { 'search.countries': valueToken(country) } });
  if (city !== undefined) filter.push({ term: { 'search.city': valueToken(city) } });
  if (companyDomain !== undefined) filter.push({ term: { [COMPANY_DOMAIN]: companyDomain } });
  if (browser !== undefined) filter.push(contains('search.browser', browser));
  if (platform !== undefined) filter.push(contains('search.platform', platform));
  if (hasRecording !== undefined) filter.push({ term: { 'search.has_recording': hasRecording } });
  if (address) {
    const range = { gte: addressText(address.from), lte: addressText(address.to) };
    filter.push({ range: { 'search.address': range } });
  }
  if (startUrl !== undefined) filter.push(contains('search.start_url', startUrl));
  if (createdFrom !== undefined || createdBefore !== undefined) {
    filter.push({ range: { created_at: { gte: createdFrom, lt: createdBefore, format: 'epoch_millis' } } });
  }
  if (minIntentScore !== undefined)
    filter.push({ range: { 'search.intent_score': { gte: minIntentScore } } });
  return {
    routing: search.organizationId,
    query: { bool: { filter } },
    track_total_hits: !(search.after && search.skipsTotal),
    sort: pageSort('visit_id', false),
    search_after: searchAfter(search.after, null),
    aggs: search.facets && facetAggregations(search.facets),
  };
}

/** Buckets of a composite aggregation are exact and ordered, whatever the number of days and shards. */
const BY_DAY: estypes.AggregationsCompositeAggregationSource = {
  date_histogram: { field: 'created_at', fixed_interval: '1d', order: 'desc' },
};

function facetAggregations(
  facets: readonly VisitFacet[],
): Record<string, estypes.AggregationsAggregationContainer> {
  const days = { composite: { size: MAX_FACET_DAYS, sources: [{ day: BY_DAY }] } };
  return {
    ...(facets.includes('day') && { day: days }),
    // Each month of visits is an index of its own, so the counts come from several shards.
    ...(facets.includes('company_domain') && firstFacetValues(['company_domain'], Number.POSITIVE_INFINITY)),
  };
}

function dayCounts(day: estypes.AggregationsAggregate): FacetCount[] {
  const buckets = (day as estypes.AggregationsCompositeAggregate)
    .buckets as estypes.AggregationsCompositeBucket[];
  return buckets
    .map(({ key, doc_count }) => ({ value: utcDate(Number(key.day)), count: doc_count }))
    .reverse();
}

/** Companies per request, far below the limit of the cluster (`search.max_buckets`). */
const COMPANIES_PER_REQUEST = 10_000;

async function readVisitingCompanies(
  documents: Pick<Documents<VisitSource>, 'search'>,
  search: VisitingCompaniesSearch,
  signal: AbortSignal,
): Promise<VisitingCompanies> {
  const { routing, query: all } = visitQuery(search);
  const hasNoDomain = { bool: { must_not: { exists: { field: COMPANY_DOMAIN } } } };
  const query = search.domains
    ? {
        bool: {
          filter: [
            all,
            { bool: { should: [{ terms: { [COMPANY_DOMAIN]: [...search.domains] } }, hasNoDomain] } },
          ],
        },
      }
    : all;
  const companies: CompanyVisits[] = [];
  let withoutDomain: number | undefined;
  let after: estypes.AggregationsCompositeAggregateKey | undefined;
  do {
    const { aggregations } = await documents.search(
      {
        routing,
        query,
        size: 0,
        track_total_hits: false,
        aggs: {
          companies: {
            composite: {
              size: COMPANIES_PER_REQUEST,
              sources: [{ domain: { terms: { field: COMPANY_DOMAIN } } }],
              after,
            },
            aggs: { last: { max: { field: 'created_at' } } },
          },
          ...(withoutDomain === undefined && { without: { missing: { field: COMPANY_DOMAIN } } }),
        },
      },
      signal,
    );
    const { companies: found, without } = aggregations as {
      companies: estypes.AggregationsCompositeAggregate;
      without?: estypes.AggregationsMissingAggregate;
    };
    withoutDomain ??= without?.doc_count ?? 0;
    for (const { key, doc_count, last } of found.buckets as estypes.AggregationsCompositeBucket[]) {
      const { value } = last as estypes.AggregationsMaxAggregate;
      companies.push({ domain: String(key.domain), count: doc_count, lastMs: Number(value) });
    }
    after = found.after_key;
  } while (after !== undefined && companies.length < search.limit);
  return { companies: companies.slice(0, search.limit), withoutDomain };
}

async function readVisitFacets(
  documents: Pick<Documents<VisitSource>, 'search'>,
  request: estypes.SearchRequest,
  { facets = [] }: VisitSearch,
  found: Aggregations,
  signal: AbortSignal,
): Promise<Facets<VisitFacet>> {
  const companies = facets.filter((facet) => facet === 'company_domain');
  const counts = {
    ...(found.day && { day: dayCounts(found.day) }),
    ...(await readAllFacets({ documents, signal }, request, companies, found)),
  };
  return Object.fromEntries(facets.map((facet) => [facet, counts[facet]]));
}

const createdBefore = (createdMs: number): Clause => ({
  range: { created_at: { lt: createdMs, format: 'epoch_millis' } },
});

/** Formats an `addressKey` as an IPv6 address. */
function addressText(key: string): string {
  return (key.match(/.{4}/g) ?? []).join(':');
}

type NewVisit = Omit<DocumentWrite, 'before'> & StoredVisit;

const storedOf = ({ visit, record_order: recordOrder }: VisitSource): StoredVisit => ({ visit, recordOrder });

interface VisitStoreDeps {
  cluster: Cluster;
  names: IndexNames;
  visits: Documents<VisitSource>;
  acceptance: AcceptanceTimes;
  clock: Clock;
  bounded: BoundedRead;
  log?: RetentionLog;
}

export function visitStore({
  cluster,
  names,
  visits,
  acceptance,
  clock,
  bounded,
  log,
}: VisitStoreDeps): VisitStore {
  /** Aliases of months whose index is known to exist. */
  const months = new Set<string>();
  const mutex = new KeyedMutex();

  /** Creates visits. Existing visits are replaced by compare-and-set if the new record wins. */
  async function writeAll(documents: Documents<VisitSource>, visits: readonly NewVisit[]): Promise<void> {
    let pending: (NewVisit & Pick<DocumentWrite, 'before'>)[] = [...visits];
    await retryWithBackoff(async () => {
      const conflicts = await documents.writeMany(pending);
      if (conflicts.size === 0) return true;
      const refused = pending.filter(({ id }) => conflicts.has(id));
      const found = await documents.getMany(refused);
      pending = refused
        .map((change) => ({ ...change, before: found.get(change.id) }))
        .filter((change) => !change.before || winner(storedOf(change.before.source), change) === change);
      return pending.length === 0 ? true : undefined;
    });
  }

  async function insertMonth(month: VisitMonth, changes: NewVisit[]): Promise<void> {
    const alias = names.monthAlias(month);
    const documents = new Documents<VisitSource>(cluster, alias);
    if (months.has(alias)) {
      try {
        await writeAll(documents, changes);
        return;
      } catch (error) {
        // The operator dropped old visits by deleting the index of the month. This late visit creates the index again.
        if (!(error instanceof IndexMissingError)) throw error;
        months.delete(alias);
      }
    }
    await ensureMonthIndex(cluster, names, month);
    months.add(alias);
    await writeAll(documents, changes);
  }

  async function insert(records: readonly OrderedRecord<VisitRecord>[]): Promise<void> {
    const byMonth = new Map<string, { month: VisitMonth; changes: Map<string, NewVisit> }>();
    for (const ordered of records) {
      const { record } = ordered;
      const createdMs = parseTimestamp(record.createdAt);
      const { organizationId: routing } = record;
      const id = `${documentId(routing, record.id)}/${createdMs}`;
      const month = monthOfVisit(createdMs);
      const alias = names.monthAlias(month);
      const changes = byMonth.get(alias)?.changes ?? new Map<string, NewVisit>();
      byMonth.set(alias, { month, changes });
      const visit = toVisit(record, createdMs);
      const recordOrder = visitOrder(ordered);
      const json = () => JSON.stringify(visitDocument(visit, recordOrder));
      const change: NewVisit = {
        id,
        routing,
        json,
        recordOrder,
        get visit() {
          return toJson(visit);
        },
      };
      const other = changes.get(id);
      changes.set(id, other ? winner(other, change) : change);
    }
    await Promise.all(
      Array.from(byMonth.values(), ({ month, changes }) =>
        mutex.runExclusive([...changes.keys()], () => insertMonth(month, [...changes.values()])),
      ),
    );
  }

  return {
    searchVisits(search, caller) {
      const form = {
        limit: search.limit,
        bestScore: null,
        toJson: ({ visit }: VisitSource) => visit,
      };
      return bounded(caller, (signal) => {
        const request = visitQuery(search);
        const toFacets = (found: Aggregations) => readVisitFacets(visits, request, search, found, signal);
        return fetchPage(visits, request, { ...form, toFacets }, signal);
      });
    },

    countVisitsByCompany: (search, caller) =>
      bounded(caller, async (signal) => ({
        result: await readVisitingCompanies(visits, search, signal),
        bytes: 0,
      })),

    insertVisits(records) {
      return acceptance.noteWritten('visits', records, insert(records));
    },

    async countVisitsBefore(createdMs) {
      await visits.refresh();
      const { hits } = await visits.search({
        size: 0,
        track_total_hits: MAX_COUNTED_VISITS,
        query: createdBefore(createdMs),
      });
      return totalHits(hits);
    },

    /** Whole indices are deleted for months that end before the moment. */
    async deleteVisitsBefore(createdMs, limit) {
      const lock = await acquireReindexLock(cluster, names, clock);
      if (!lock) return 0;
      try {
        const dropped = await dropMonthsBefore(cluster, names, createdMs, log);
        months.clear();
        if (dropped > 0) return dropped;
        // Without the refresh, the search would miss the newest writes, and find again what the previous step deleted.
        await visits.refresh();
        const { hits } = await visits.search({
          size: Math.min(limit, 10_000),
          seq_no_primary_term: true,
          track_total_hits: false,
          _source: false,
          query: createdBefore(createdMs),
          sort: [{ created_at: 'asc' }],
        });
        lock.throwIfLost();
        return await visits.deleteMany(hits.hits.map(versionOfHit));
      } finally {
        await lock.release();
      }
    },
  };
}
