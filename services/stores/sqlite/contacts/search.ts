import {
  type ContactFilter,
  type ContactPage,
  type ContactSearch,
  explanationBytes,
  selectsAll,
} from '../../../contacts/contact-store.js';
import type { FacetField } from '../../../contacts/fields.js';
import type { Contact } from '../../../contacts/schema.js';
import { searchableName, searchedValues } from '../../../contacts/searchable.js';
import { type Facets, mostFrequent } from '../../../search/facets.js';
import { noMatch, sumOf } from '../../../search/partial.js';
import type { Page, PartialMatch, SortKey, TextQuery } from '../../../search/query.js';
import { rankOf } from '../../../search/record-rank.js';
import { fromJson, type Json } from '../../../shared/json.js';
import { sql } from '../../../shared/sql.js';
import { compareCodePoints } from '../../../shared/text.js';
import { rowsToFetch } from '../../common/page-builder.js';
import type { Connection } from '../connection.js';
import {
  findAudienceKey,
  findOrganization,
  findOrganizationKey,
  type Organization,
} from '../organizations.js';
import { buildPage, emptyPage } from '../pages.js';
import type { RowId } from '../row-ids.js';
import { allOf, type FtsQuery, OrganizationTerms } from '../text/fts-query.js';
import {
  countRows,
  facetFields,
  newestRowIds,
  newestRows,
  type RankedRow,
  type RowSource,
  rowsAmong,
  sortedRows,
} from '../text/ordered-rows.js';
import { findPartialMatch, MAX_RANKED_ROWS, type MatchedRow } from '../text/partial-match.js';
import { planMatch } from '../text/query-plan.js';
import { rankedRows } from '../text/ranked-rows.js';
import { similarWords, withHeldEquivalents } from '../text/vocabulary.js';
import { compileCriteria, type SearchCriteria } from './criteria.js';
import { currentContact, formerAudiences } from './former-audiences.js';
import { CONTACT_GROUPS, filterQueries } from './indexed-contact.js';

export function getContact(connection: Connection, organizationId: string, id: string): Json<Contact> | null {
  const organization = findOrganizationKey(connection, organizationId);
  if (organization === undefined) return null;
  // Reads the former audiences before the contact: a job may finish between the two statements, and this contact may still name the
  // audience.
  const former = formerAudiences(connection, organization);
  const row = connection.row<[Json<Contact>]>(
    sql`SELECT body FROM contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  return row ? currentContact(connection, organization, row[0], former) : null;
}

/** Limits of a quick search: rows that it may read, which takes about a millisecond, and contacts on its page. */
const MAX_QUICK = { rows: 10_000, page: 200 };

/** Returns null if the search may take longer than sending the search to a search process. */
export function quickSearch(connection: Connection, search: ContactSearch): ContactPage | null {
  const { filters, audienceId, updatedAfter, createdFrom, createdBefore, query, facets, limit } = search;
  // A prefix can match any number of words, so the cost has no bound.
  const hasWords = query !== undefined || filters.some(({ kind }) => kind === 'words');
  if (hasWords || search.anyOf || search.noneOf || facets || limit > MAX_QUICK.page) return null;
  const terms = filters.map((filter) =>
    filter.kind === 'value' ? filter.values.length : filter.kind === 'terms' ? filter.terms.length : 1,
  );
  const others = [audienceId, updatedAfter, createdFrom ?? createdBefore];
  const passes = sumOf(terms) + others.filter((each) => each !== undefined).length;
  return inOrganization(connection, search, (organization) =>
    passes * organization.contacts <= MAX_QUICK.rows ? findPage(connection, search, organization) : null,
  );
}

/** Matches of several words are ranked by their contacts if there are at most `mostRanked` matches, otherwise by the index. */
export function searchContacts(
  connection: Connection,
  search: ContactSearch,
  mostRanked = MAX_RANKED_ROWS,
): ContactPage {
  return inOrganization(connection, search, (organization) =>
    findPage(connection, search, organization, mostRanked),
  );
}

export function searchContactKeys(connection: Connection, search: ContactSearch): Page<SortKey> {
  return connection.readTransaction(() => {
    const { organizationId, audienceId, limit } = search;
    const organization = findOrganization(connection, organizationId);
    if (!organization) return { items: [], total: 0, next: null };
    const audience =
      audienceId === undefined ? undefined : findAudienceKey(connection, organization.key, audienceId);
    if (audienceId !== undefined && audience === undefined) return { items: [], total: 0, next: null };
    const { rows, total } = findRows(connection, search, organization, audience, limit);
    const items = rows.map(({ rank, createdMs, id }) => ({ rank, createdAt: createdMs, id }));
    return { items, total, next: items.length < limit ? null : (items.at(-1) ?? null) };
  });
}

export function countContacts(
  connection: Connection,
  organizationId: string,
  filters: readonly ContactFilter[],
): number[] {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, organizationId);
    if (organization === undefined) return filters.map(() => 0);
    const terms = new OrganizationTerms(organization);
    return filters.map((filter) => {
      const query = allOf(filterQueries(terms, [filter]));
      return countRows(connection, {
        rows: 'contacts',
        organization,
        match: { index: 'contact_terms', query },
      });
    });
  });
}

/** The positions, among the given ones, of contacts that a search finds. */
export function matchesAmong(
  connection: Connection,
  search: SearchCriteria & Pick<ContactSearch, 'query'>,
  organization: number,
  positions: readonly RowId[],
): RowId[] {
  const { audienceId, query } = search;
  const audience =
    audienceId === undefined ? undefined : findAudienceKey(connection, organization, audienceId);
  if (audienceId !== undefined && audience === undefined) return [];
  const terms = new OrganizationTerms(organization);
  const { filtered, rows } = compileCriteria(connection, terms, organization, search);
  const source: RowSource = { rows: 'contacts', organization, audience, ...rows };
  if (filtered.length === 0 && !query) return rowsAmong(connection, source, positions);
  const { all } = planMatch(
    terms,
    CONTACT_GROUPS,
    filtered,
    query && withHeldEquivalents(connection, 'contact_terms', organization, query),
    similarWords(connection, 'contact_terms', organization),
  );
  return rowsAmong(connection, { ...source, match: { index: 'contact_terms', query: all } }, positions);
}

function inOrganization<T>(
  connection: Connection,
  search: ContactSearch,
  work: (organization: Organization) => T,
): T | ContactPage {
  return connection.readTransaction(() => {
    const organization = findOrganization(connection, search.organizationId);
    return organization === undefined ? nothing(search) : work(organization);
  });
}

/** The page for an organization or audience without contacts. */
function nothing({ facets, match, query, after }: ContactSearch): ContactPage {
  const page = emptyPage<Contact, FacetField>(facets);
  if (after || !match || !query?.required.length) return page;
  return { ...page, partial: noMatch(query.required.map(() => 0)) };
}

function findPage(
  connection: Connection,
  search: ContactSearch,
  organization: Organization,
  mostRanked?: number,
): ContactPage {
  const { audienceId, facets } = search;
  const audience =
    audienceId === undefined ? undefined : findAudienceKey(connection, organization.key, audienceId);
  if (audienceId !== undefined && audience === undefined) return nothing(search);
  const { rows, total, matches, partial } = findRows(
    connection,
    search,
    organization,
    audience,
    rowsToFetch(search.limit),
    mostRanked,
  );
  const page = buildPage(withBodies(connection, organization.key, rows), total, {
    limit: search.limit,
    reservedBytesPerItem: explanationBytes(search),
    explain: search.explain,
    facets: facets && countFacets(connection, matches, facets),
    toJson: ({ body }) => body,
    sortKeyOf: ({ row: { rank, createdMs, id, sorted } }) =>
      sorted === undefined ? { rank, createdAt: createdMs, id } : { rank, createdAt: 0, id, sorted },
  });
  return partial ? { ...page, partial } : page;
}

interface FoundRows {
  rows: RankedRow[];
  total: number;
  /** All matches, without duplicates. */
  matches: RowSource[];
  partial?: PartialMatch;
}

function findRows(
  connection: Connection,
  search: ContactSearch,
  { key: organization, contacts }: Organization,
  audience: number | undefined,
  limit: number,
  mostRanked = MAX_RANKED_ROWS,
): FoundRows {
  const { filters, sort, after, match } = search;
  const query = search.query && withHeldEquivalents(connection, 'contact_terms', organization, search.query);
  const [first, ...others] = filters;
  // In combination with other conditions, the country is a term of the text index.
  const isSegment = search.anyOf !== undefined || search.noneOf !== undefined;
  const [value, ...values] = first?.kind === 'value' && first.field === 'country' ? first.values : [];
  const isCountry = values.length === 0 && others.length === 0 && !isSegment;
  const country = isCountry && !query && !sort && audience === undefined ? value : undefined;
  const terms = new OrganizationTerms(organization);
  const { filtered, rows: conditions } = compileCriteria(connection, terms, organization, search);
  const source: RowSource = { rows: 'contacts', organization, audience, country, ...conditions };
  const isEvery = selectsAll(search) && !isSegment;
  const sourceOf = (all: FtsQuery): RowSource => ({
    ...source,
    match: { index: 'contact_terms', query: all },
  });
  const findSimilar = similarWords(connection, 'contact_terms', organization);
  const filtering = () => sourceOf(planMatch(terms, CONTACT_GROUPS, filtered, undefined, findSimilar).all);
  if (!query) {
    const matching = filtered.length === 0 || country !== undefined ? source : filtering();
    const rows = sort
      ? sortedRows(connection, matching, sort, limit, after)
      : newestRows(connection, matching, limit, after);
    const count = () => (isEvery ? contacts : countRows(connection, matching));
    // The first page contains all matches if there is room for them.
    const isWhole = !after && rows.length < limit;
    const total = after && search.skipsTotal ? 0 : isWhole ? rows.length : count();
    // Facets are read by position, which the index of countries lacks.
    return { rows, total, matches: [country === undefined ? matching : filtering()] };
  }
  /** Builds the page from rows that are ranked by their contacts. */
  const few = (matched: readonly MatchedRow[]) => {
    const rows = rankRows(connection, organization, matched)
      .filter((row) => !after || byRank(row, { ...after, createdMs: after.createdAt }) > 0)
      .sort(byRank)
      .slice(0, limit);
    const positions = `[${matched.map(({ position }) => position).join(',')}]`;
    const matches: RowSource = { rows: 'contacts', organization, positions };
    return { rows, total: after && search.skipsTotal ? 0 : matched.length, matches };
  };
  const ranked = (asked: TextQuery | undefined, unwanted?: FtsQuery[]) => {
    const plan = planMatch(terms, CONTACT_GROUPS, filtered, asked, findSimilar, unwanted);
    const matches = sourceOf(plan.all);
    // The index would need one search for each combination of ways in which the words may match.
    if (asked && asked.required.length > 1) {
      const positions = newestRowIds(connection, matches, mostRanked + 1);
      if (positions.length <= mostRanked)
        return few(positions.map((position) => ({ position, query: asked })));
    }
    return { ...rankedRows(connection, { ...source, index: 'contact_terms' }, plan, limit, search), matches };
  };
  if (!after?.partial) {
    const { matches, ...found } = ranked(query);
    if (found.total > 0 || after || !match || !query?.required.length)
      return { ...found, matches: [matches] };
  }
  const {
    rows: all,
    parts,
    ...partial
  } = findPartialMatch(
    connection,
    terms,
    query as TextQuery,
    filtered,
    findSimilar,
    sourceOf,
    // Without a condition, counting reads every contact.
    () => (isEvery ? contacts : countRows(connection, filtering())),
    after?.partial,
  );
  if (match !== 'best' && !after)
    return { rows: [], total: 0, matches: [], partial: noMatch(partial.weights) };
  if (all) {
    const { matches, ...found } = few(all);
    return { ...found, matches: [matches], partial };
  }
  const found = parts.map((part) => ranked(part.query, part.unwanted));
  return {
    rows: found
      .flatMap(({ rows }) => rows)
      .sort(byRank)
      .slice(0, limit),
    total: found.reduce((sum, { total }) => sum + total, 0),
    matches: found.map(({ matches }) => matches),
    partial,
  };
}

/** Ranks rows by their contacts. */
function rankRows(connection: Connection, organization: number, rows: readonly MatchedRow[]): RankedRow[] {
  const queries = new Map(rows.map(({ position, query }) => [position, query]));
  const ranked: RankedRow[] = [];
  const read = connection.each<[RowId, bigint, bigint, string, Json<Contact>]>(
    sql`SELECT position, key, created_ms, id, body FROM contacts
      WHERE organization = ? AND position IN (SELECT value FROM json_each(?))`,
    organization,
    `[${rows.map(({ position }) => position).join(',')}]`,
  );
  for (const [position, key, createdMs, id, json] of read) {
    const contact = fromJson(json);
    const query = queries.get(position) as TextQuery;
    const rank = rankOf(query, searchedValues(contact), searchableName(contact));
    ranked.push({ key, rank, createdMs: Number(createdMs), id });
  }
  return ranked;
}

const byRank = (left: Omit<RankedRow, 'key'>, right: Omit<RankedRow, 'key'>): number =>
  left.rank - right.rank || right.createdMs - left.createdMs || compareCodePoints(right.id, left.id);

/** Reads each match once. Memory grows only with the number of different values. */
function countFacets(
  connection: Connection,
  matches: readonly RowSource[],
  fields: readonly FacetField[],
): Facets<FacetField> {
  const counts = fields.map((field) => ({ field, byValue: new Map<string, number>() }));
  for (const source of matches) {
    for (const lists of facetFields(connection, source, fields)) {
      for (const [index, { byValue }] of counts.entries()) {
        for (const value of lists[index] ?? []) if (value) byValue.set(value, (byValue.get(value) ?? 0) + 1);
      }
    }
  }
  return Object.fromEntries(counts.map(({ field, byValue }) => [field, mostFrequent(byValue)]));
}

/**
 * Contact bodies that one statement reads. Reading bodies one by one costs several times as much, but a page may have room for only a few
 * bodies.
 */
const BODIES_PER_READ = 64;

function* withBodies(
  connection: Connection,
  organization: number,
  rows: readonly RankedRow[],
): Generator<{ row: RankedRow; body: Json<Contact> }, void> {
  const former = formerAudiences(connection, organization);
  for (let start = 0; start < rows.length; start += BODIES_PER_READ) {
    const part = rows.slice(start, start + BODIES_PER_READ);
    // Returns one text, because handing a row over takes longer than reading it. JSON contains no line breaks.
    const [bodies] = connection.row<[string | null]>(
      sql`SELECT group_concat(c.body, char(10)) FROM json_each(?) p CROSS JOIN contacts c ON c.key = p.value`,
      `[${part.map(({ key }) => key).join(',')}]`,
    ) as [string | null];
    const lines = bodies?.split('\n') ?? [];
    if (lines.length < part.length) throw new Error('a found contact has no row');
    for (const [index, body] of lines.entries()) {
      const row = part[index] as RankedRow;
      yield { row, body: currentContact(connection, organization, body, former) };
    }
  }
}
