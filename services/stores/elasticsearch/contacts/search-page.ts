/** Runs the plan of a contact search and reads its page. */
import type { estypes } from '@elastic/elasticsearch';
import { type ContactPage, type ContactSearch, explanationBytes } from '../../../contacts/contact-store.js';
import type { Contact } from '../../../contacts/schema.js';
import { searchableName, searchedValues } from '../../../contacts/searchable.js';
import { noMatch, termsIn, weightsOf } from '../../../search/partial.js';
import type { PartialMatch, TextQuery } from '../../../search/query.js';
import { matchedPart, rankOf } from '../../../search/record-rank.js';
import { fromJson } from '../../../shared/json.js';
import { compareCodePoints } from '../../../shared/text.js';
import { FIRST_ITEMS } from '../../common/contact-batch.js';
import type { Documents } from '../documents.js';
import { bytesOfFacets, firstPart, HitPage, type PartRequest, totalHits } from '../pages.js';
import { firstFacetValues, readAllFacets } from './facets.js';
import { type AudienceToken, type ContactSource, currentContact, isTombstone } from './indexed-contact.js';
import { countRequests, heaviestRequest, planSearch, type SearchPlan, withTypos } from './search.js';

type Hit = estypes.SearchHit<ContactSource>;
type Response = estypes.SearchResponse<ContactSource>;

/** Documents that one search reads. Searches find no tombstone, because tombstones belong to no organization. */
export interface ContactReader {
  documents: Pick<Documents<ContactSource>, 'search' | 'getMany'>;
  /** Tokens of deleted audiences that contacts may still hold. */
  formerTokens: Promise<ReadonlySet<AudienceToken>>;
  shardsPerOrganization: number;
  signal: AbortSignal;
}

interface ReadPage {
  result: ContactPage;
  bytes: number;
}

/** Reads a page of the contacts that match all terms. If no contact matches all terms, reads the contacts that match the heaviest terms. */
export async function searchPage(reader: ContactReader, search: ContactSearch): Promise<ReadPage> {
  const { query, match, after } = search;
  const page = await readPage(reader, planSearch(search, after?.partial));
  if (page.result.total > 0 || after || !match || !query?.required.length) {
    return after?.partial ? withPartial(page, after.partial) : page;
  }
  const weights = await readWeights(reader, search, query);
  const partial = match === 'best' ? await readHeaviest(reader, search, query, weights) : null;
  if (!partial) return withPartial(page, noMatch(weights));
  return withPartial(await readPage(reader, planSearch(search, partial)), partial);
}

const withPartial = ({ result, bytes }: ReadPage, partial: PartialMatch): ReadPage => ({
  result: { ...result, partial },
  bytes,
});

async function readPage(reader: ContactReader, plan: SearchPlan): Promise<ReadPage> {
  const { search, bestScore } = plan;
  const aggs = search.facets && firstFacetValues(search.facets, reader.shardsPerOrganization);
  let part: PartRequest | null = firstPart({ ...plan.request, aggs }, search.limit);
  let [response, former] = await Promise.all([readPart(reader, plan, part), reader.formerTokens]);
  const total = totalHits(response.hits);
  const found = response.aggregations ?? {};
  const facets = search.facets && (await readAllFacets(reader, plan.request, search.facets, found));
  const page = new HitPage<ContactSource, Contact>({
    limit: search.limit,
    bestScore,
    toJson: (source) => currentContact(source, former),
    reservedBytes: bytesOfFacets(facets),
    reservedBytesPerItem: explanationBytes(search),
    explain: search.explain,
    isSorted: search.sort !== undefined,
  });
  for (;;) {
    part = page.take(part, response.hits.hits);
    if (!part) break;
    response = await readPart(reader, plan, part);
  }
  const { items, next, ranks, bytes } = page;
  return { result: { items, total, next, ...(facets ? { facets } : {}), ...ranks }, bytes };
}

/** Maximum hits that this process ranks itself; ranking a hit takes 40 µs. */
const MAX_RANKED_HERE = 400;

/**
 * Reads a part of a page in its order. If few matches need typos, this process ranks them. If many do, Elasticsearch ranks them, but only
 * if the page has room for some of them. "Few" means the last hits of a page, or for a partial match, of which most pages need typos, all
 * hits.
 */
export async function readPart(
  reader: ContactReader,
  plan: SearchPlan,
  part: PartRequest,
): Promise<Response> {
  const { documents, signal } = reader;
  const { search, partial, bestScore, leastScore } = plan;
  if (bestScore === null || leastScore === 0) return documents.search(part, signal);
  const isUnranked = (sort: estypes.SortResults | undefined) => Number(sort?.[0]) < leastScore;
  if (isUnranked(part.search_after)) return documents.search(withTypos(part, plan), signal);
  const seesAll = partial !== undefined && part.search_after === undefined;
  const size = seesAll ? MAX_RANKED_HERE + 1 : part.size;
  const response = await documents.search(seesAll ? { ...part, size, _source: false } : part, signal);
  const { hits } = response.hits;
  const first = hits.findIndex(({ sort }) => isUnranked(sort));
  const isFilled = first === -1 || first >= Math.min(search.limit, part.size);
  if (isFilled || (hits.length < size && hits.length - first <= MAX_RANKED_HERE)) {
    const needed = isFilled ? hits.slice(0, part.size) : hits;
    const found = seesAll ? await readSources(reader, search.organizationId, needed) : needed;
    if (found && isFilled) return withHits(response, found);
    if (found) {
      const ranked = found.map((hit) => (isUnranked(hit.sort) ? rankHit(hit, plan, bestScore) : hit));
      return withHits(response, ranked.sort(byRank).slice(0, part.size));
    }
  }
  const ranked = { ...withTypos(part, plan), track_total_hits: false, aggs: undefined };
  return withHits(response, (await documents.search(ranked, signal)).hits.hits);
}

const withHits = (response: Response, hits: Hit[]): Response => ({
  ...response,
  hits: { ...response.hits, hits },
});

function rankHit(hit: Hit, { search, partial }: SearchPlan, bestScore: number): Hit {
  const query = search.query as TextQuery;
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

/** Maximum bytes of contacts that are read to rank them. */
const MAX_RANKED_BYTES = 4 * 1024 * 1024;

/**
 * Reads the sources of hits in several requests, so that the size of a request does not grow with the size of contacts. Null if a contact
 * is gone, or if all contacts together are too large.
 */
async function readSources(
  { documents, signal }: ContactReader,
  routing: string,
  hits: readonly Hit[],
): Promise<Hit[] | null> {
  const read: Hit[] = [];
  let bytes = 0;
  for (let start = 0; start < hits.length; start += FIRST_ITEMS) {
    if (bytes > MAX_RANKED_BYTES) return null;
    const part = hits.slice(start, start + FIRST_ITEMS);
    const wanted = part.map(({ _id }) => ({ id: _id as string, routing }));
    const found = await documents.getMany(wanted, signal);
    for (const hit of part) {
      const source = found.get(hit._id as string)?.source;
      if (!source || isTombstone(source)) return null;
      bytes += source.contact.length;
      read.push({ ...hit, _source: source });
    }
  }
  return read;
}

/** The weight of each term, by the number of contacts that match it within the filters. */
async function readWeights(
  { documents, signal }: ContactReader,
  search: ContactSearch,
  query: TextQuery,
): Promise<number[]> {
  if (query.required.length === 1) return [0];
  const counting = countRequests(search, query).map((request) => documents.search(request, signal));
  const [all = 0, ...found] = (await Promise.all(counting)).map(({ hits }) => totalHits(hits));
  return weightsOf(found, all);
}

/** Query terms of the contact with the greatest weight; null if no contact matches well enough for a partial match. */
async function readHeaviest(
  { documents, signal }: ContactReader,
  search: ContactSearch,
  query: TextQuery,
  weights: readonly number[],
): Promise<PartialMatch | null> {
  const request = heaviestRequest(search, query, weights);
  const [heaviest] = request ? (await documents.search(request, signal)).hits.hits : [];
  const weight = heaviest?._score ?? 0;
  return weight === 0 ? null : { matched: termsIn(weight), weight, weights };
}
