import type { estypes } from '@elastic/elasticsearch';
import type { Visit, VisitRecord } from '../../visits/schema.js';
import { searchableVisit, toVisit } from '../../visits/stored-visit.js';
import type { VisitSearch } from '../search-query.js';
import { after, pageSize, pageSort } from './pages.js';
import { longToken, MAX_LONG, valueToken } from './tokens.js';

type Clause = estypes.QueryDslQueryContainer;

/** The length of the text is what bounds them. */
const MAX_STATES = 2 ** 31 - 1;

export interface VisitSource {
  organization_id: string;
  visit_id: string;
  /** Milliseconds since the epoch. */
  created_at: number;
  audience_id: string | null;
  visit: Visit;
}

export function visitSource(record: VisitRecord, createdMs: number): VisitSource {
  const visit = toVisit(record, createdMs);
  return {
    organization_id: visit.organizationId,
    visit_id: visit.id,
    created_at: createdMs,
    audience_id: visit.audienceId,
    visit,
  };
}

export function visitDocument(source: VisitSource): object {
  const { countries, city, browser, platform, address, startUrl } = searchableVisit(source.visit);
  return {
    ...source,
    search: {
      countries: countries.map(valueToken),
      city: city === null ? null : valueToken(city),
      browser: browser === null ? null : longToken(browser),
      platform: platform === null ? null : longToken(platform),
      has_recording: source.visit.hasRecording,
      intent_score: source.visit.intentScore,
      address: address === null ? null : addressText(address),
      start_url: startUrl === null ? null : longToken(startUrl),
    },
  };
}

export function visitQuery(search: VisitSearch): estypes.SearchRequest {
  const filter: Clause[] = [{ term: { organization_id: search.organizationId } }];
  const { audienceId, country, city, browser, platform, hasRecording, address, startUrl } = search;
  const { createdFrom, createdBefore, minIntentScore } = search;
  if (audienceId !== undefined) filter.push({ term: { audience_id: audienceId } });
  if (country !== undefined) filter.push({ term: { 'search.countries': valueToken(country) } });
  if (city !== undefined) filter.push({ term: { 'search.city': valueToken(city) } });
  if (browser !== undefined) filter.push(beginsWord('search.browser', browser));
  if (platform !== undefined) filter.push(beginsWord('search.platform', platform));
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
    size: pageSize(search.limit),
    query: { bool: { filter } },
    sort: pageSort('visit_id', false),
    search_after: after(search.after, null),
  };
}

/** An `addressKey` as an IPv6 address. */
function addressText(key: string): string {
  return (key.match(/.{4}/g) ?? []).join(':');
}

const beginsWord = (field: string, text: string) => matching(field, '(.* )?', text);
const contains = (field: string, text: string) => matching(field, '.*', text);

/** Not by `prefix` and `wildcard`: the one takes 1 000 characters, the other no text that repeats itself at length. */
function matching(field: string, before: string, text: string): Clause {
  if (text.length > MAX_LONG) return { match_none: {} };
  const value = `${before}${literal(text.toWellFormed())}.*`;
  return { regexp: { [field]: { value, flags: 'NONE', max_determinized_states: MAX_STATES } } };
}

function literal(text: string): string {
  return text.replace(/[^\p{L}\p{N}\s]/gu, '\\$&');
}
