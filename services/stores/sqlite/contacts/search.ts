import { type ContactSearch, explanationBytes } from '../../../contacts/contact-store.js';
import type { FacetField } from '../../../contacts/fields.js';
import type { Contact } from '../../../contacts/schema.js';
import { type Facets, mostFrequent } from '../../../search/facets.js';
import type { Json } from '../../../shared/json.js';
import { rowsToFetch } from '../../common/page-builder.js';
import { findAudienceKey } from '../audiences.js';
import type { Connection } from '../connection.js';
import { findOrganization, type Organization } from '../organizations.js';
import { buildPage, emptyPage, type JsonPage } from '../pages.js';
import { OrganizationTerms } from '../text/fts-query.js';
import { bodyFields, countRows, newestRows, type RankedRow, type RowSource } from '../text/ordered-rows.js';
import { planMatch } from '../text/query-plan.js';
import { rankedRows } from '../text/ranked-rows.js';
import { similarWords } from '../text/vocabulary.js';
import { CONTACT_GROUPS, filterQuery } from './mapping.js';

export function getContact(connection: Connection, organizationId: string, id: string): Json<Contact> | null {
  const row = connection.row<[Json<Contact>]>(
    `SELECT body FROM contacts
      WHERE organization = (SELECT key FROM organizations WHERE id = ?) AND id = ?`,
    organizationId,
    id,
  );
  return row?.[0] ?? null;
}

/** Rows that a quick search may pass over, which takes about a millisecond, and contacts on its page. */
const MAX_QUICK = { rows: 10_000, page: 100 };

/** Null where the search may take longer than a process would need to be sent it. */
export function quickSearch(
  connection: Connection,
  search: ContactSearch,
): JsonPage<Contact, FacetField> | null {
  const { filters, audienceId, updatedAfter, query, facets, limit } = search;
  // The beginning of a word may be that of every other one.
  const hasWords = query !== undefined || filters.some(({ kind }) => kind === 'words');
  if (hasWords || facets || limit > MAX_QUICK.page) return null;
  const passes = filters.length + (audienceId === undefined ? 0 : 1) + (updatedAfter === undefined ? 0 : 1);
  return inOrganization(connection, search, (organization) =>
    passes * organization.contacts <= MAX_QUICK.rows ? findPage(connection, search, organization) : null,
  );
}

export function searchContacts(connection: Connection, search: ContactSearch): JsonPage<Contact, FacetField> {
  return inOrganization(connection, search, (organization) => findPage(connection, search, organization));
}

function inOrganization<T>(
  connection: Connection,
  search: ContactSearch,
  work: (organization: Organization) => T,
): T | JsonPage<Contact, FacetField> {
  return connection.readTransaction(() => {
    const organization = findOrganization(connection, search.organizationId);
    return organization === undefined ? emptyPage(search.facets) : work(organization);
  });
}

function findPage(
  connection: Connection,
  search: ContactSearch,
  organization: Organization,
): JsonPage<Contact, FacetField> {
  const { audienceId, facets } = search;
  const audience =
    audienceId === undefined ? undefined : findAudienceKey(connection, organization.key, audienceId);
  if (audienceId !== undefined && audience === undefined) return emptyPage(facets);
  const { rows, total, matches } = findRows(
    connection,
    search,
    organization,
    audience,
    rowsToFetch(search.limit),
  );
  return buildPage(withBodies(connection, rows), total, {
    limit: search.limit,
    reservedBytesPerItem: explanationBytes(search),
    explain: search.explain,
    facets: facets && countFacets(connection, matches, facets),
    toJson: ({ body }) => body,
    sortKeyOf: ({ row: { rank, createdMs, id } }) => ({ rank, createdAt: createdMs, id }),
  });
}

function findRows(
  connection: Connection,
  search: ContactSearch,
  { key: organization, contacts }: Organization,
  audience: number | undefined,
  limit: number,
): { rows: RankedRow[]; total: number; matches: RowSource } {
  const { filters, query, updatedAfter, after } = search;
  const [first, ...others] = filters;
  // Together with anything else it is a term of the text index.
  const isCountry = first?.kind === 'value' && first.field === 'country' && others.length === 0;
  const country = isCountry && !query && audience === undefined ? first.value : undefined;
  const source: RowSource = { rows: 'contacts', organization, audience, country, updatedAfter };
  if ((filters.length === 0 || country !== undefined) && !query) {
    const rows = newestRows(connection, source, limit, after);
    const isEvery = audience === undefined && country === undefined && updatedAfter === undefined;
    const count = isEvery ? () => contacts : () => countRows(connection, source);
    const total = after && search.skipsTotal ? 0 : count();
    return { rows, total, matches: source };
  }
  const terms = new OrganizationTerms(organization);
  const plan = planMatch(
    terms,
    CONTACT_GROUPS,
    filters.map((filter) => filterQuery(terms, filter)),
    query,
    similarWords(connection, 'contact_terms', organization),
  );
  const matches: RowSource = { ...source, match: { index: 'contact_terms', query: plan.all } };
  return { ...rankedRows(connection, { ...source, index: 'contact_terms' }, plan, limit, search), matches };
}

/** One pass over the matches: half a second for 100 000 of them. Memory grows with the different values alone. */
function countFacets(
  connection: Connection,
  matches: RowSource,
  fields: readonly FacetField[],
): Facets<FacetField> {
  const counts = fields.map((field) => ({ field, byValue: new Map<string, number>() }));
  for (const values of bodyFields(connection, matches, fields)) {
    for (const [index, { byValue }] of counts.entries()) {
      const value = values[index];
      if (value) byValue.set(value, (byValue.get(value) ?? 0) + 1);
    }
  }
  return Object.fromEntries(counts.map(({ field, byValue }) => [field, mostFrequent(byValue)]));
}

/** Reading rows one by one costs several times as much as together; a page may have room for few. */
const BODIES_PER_READ = 64;

function* withBodies(
  connection: Connection,
  rows: readonly RankedRow[],
): Generator<{ row: RankedRow; body: Json<Contact> }, void> {
  for (let start = 0; start < rows.length; start += BODIES_PER_READ) {
    const part = rows.slice(start, start + BODIES_PER_READ);
    // One text, as each row takes longer to hand over than to read; JSON holds no line breaks.
    const [bodies] = connection.row<[string | null]>(
      `SELECT group_concat(c.body, char(10)) FROM json_each(?) p CROSS JOIN contacts c ON c.key = p.value`,
      `[${part.map(({ key }) => key).join(',')}]`,
    ) as [string | null];
    const lines = bodies?.split('\n') ?? [];
    if (lines.length < part.length) throw new Error('a found contact has no row');
    for (const [index, body] of lines.entries()) yield { row: part[index] as RankedRow, body };
  }
}
