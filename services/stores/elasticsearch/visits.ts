import type { estypes } from '@elastic/elasticsearch';
import type { Facets } from '../../search/facets.js';
import { type Json, toJson } from '../../shared/json.js';
import { formatDay } from '../../shared/time.js';
import type { Visit, VisitFacet } from '../../visits/schema.js';
import { searchableVisit } from '../../visits/stored-visit.js';
import { MAX_FACET_DAYS, type VisitSearch } from '../../visits/visit-store.js';
import { pageSort, searchAfter } from './pages.js';
import { contains, gramsOf } from './text/substrings.js';
import { valueToken } from './text/tokens.js';

type Clause = estypes.QueryDslQueryContainer;

/** The stored field (`_source` of the mapping). Those that are searched or sorted by are derived from it and only indexed. */
export interface VisitSource {
  visit: Json<Visit>;
}

export function visitDocument(visit: Visit): object {
  const { countries, city, browser, platform, address, startUrl } = searchableVisit(visit);
  const document: VisitSource & Record<string, unknown> = {
    visit: toJson(visit),
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
    },
  };
  return document;
}

export function visitQuery(search: VisitSearch): estypes.SearchRequest {
  const filter: Clause[] = [{ term: { organization_id: search.organizationId } }];
  const { audienceId, country, city, browser, platform, hasRecording, address, startUrl } = search;
  const { createdFrom, createdBefore, minIntentScore } = search;
  if (audienceId !== undefined) filter.push({ term: { audience_id: audienceId } });
  if (country !== undefined) filter.push({ term: { 'search.countries': valueToken(country) } });
  if (city !== undefined) filter.push({ term: { 'search.city': valueToken(city) } });
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
    aggs: search.facets && { day: { composite: { size: MAX_FACET_DAYS, sources: [{ day: BY_DAY }] } } },
  };
}

/** Buckets of a composite aggregation are exact and come in order, whatever the number of days and of shards. */
const BY_DAY: estypes.AggregationsCompositeAggregationSource = {
  date_histogram: { field: 'created_at', fixed_interval: '1d', order: 'desc' },
};

export function visitFacets({ day }: Record<string, estypes.AggregationsAggregate>): Facets<VisitFacet> {
  const buckets = (day as estypes.AggregationsCompositeAggregate)
    .buckets as estypes.AggregationsCompositeBucket[];
  return {
    day: buckets
      .map(({ key, doc_count }) => ({ value: formatDay(Number(key.day)), count: doc_count }))
      .reverse(),
  };
}

/** An `addressKey` as an IPv6 address. */
function addressText(key: string): string {
  return (key.match(/.{4}/g) ?? []).join(':');
}
