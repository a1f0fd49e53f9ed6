import { type ContactSearch, explanationBytes } from '../../../contacts/contact-store.js';
import type { FacetField } from '../../../contacts/fields.js';
import type { Contact } from '../../../contacts/schema.js';
import { type Facets, mostFrequent } from '../../../search/facets.js';
import type { Json } from '../../../shared/json.js';
import { rowsToFetch } from '../../common/page-builder.js';
import { findAudienceKey } from '../audiences.js';
import type { Connection } from '../connection.js';
import { findOrganizationKey } from '../organizations.js';
import { buildPage, emptyPage, type JsonPage } from '../pages.js';
import { OrganizationTerms } from '../text/fts-query.js';
import { bodyFields, countRows, newestRows, type RowSource } from '../text/ordered-rows.js';
import { planMatch } from '../text/query-plan.js';
import { type RankedRow, rankedRows } from '../text/ranked-rows.js';
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

/** Whether a search takes less time than a process would need to be sent it. */
export function isQuickSearch(connection: Connection, search: ContactSearch): boolean {
  const { filters, audienceId, updatedAfter, query, facets, limit } = search;
  if (query || facets || limit > MAX_QUICK.page) return false;
  // The beginning of a word may be that of every other one.
  if (filters.some(({ kind }) => kind === 'words')) return false;
  const passes = filters.length + (audienceId === undefined ? 0 : 1) + (updatedAfter === undefined ? 0 : 1);
  if (passes === 0) return true;
  const row = connection.row<[bigint]>(
    `SELECT contacts FROM organizations WHERE id = ?`,
    search.organizationId,
  );
  return passes * Number(row?.[0] ?? 0) <= MAX_QUICK.rows;
}

export function searchContacts(connection: Connection, search: ContactSearch): JsonPage<Contact, FacetField> {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, search.organizationId);
    const audience =
      organization === undefined || search.audienceId === undefined
        ? undefined
        : findAudienceKey(connection, organization, search.audienceId);
    if (organization === undefined || (search.audienceId !== undefined && audience === undefined)) {
      return emptyPage(search.facets);
    }
    const { rows, total, matches } = findRows(
      connection,
      search,
      organization,
      audience,
      rowsToFetch(search.limit),
    );
    return buildPage(withBodies(connection, organization, rows), total, {
      limit: search.limit,
      reservedBytesPerItem: explanationBytes(search),
      explain: search.explain,
      facets: search.facets && countFacets(connection, matches, search.facets),
      toJson: ({ body }) => body,
      sortKeyOf: ({ rank, createdMs, id }) => ({ rank, createdAt: createdMs, id }),
    });
  });
}

function findRows(
  connection: Connection,
  search: ContactSearch,
  organization: number,
  audience: number | undefined,
  limit: number,
): { rows: RankedRow[]; total: number; matches: RowSource } {
  const { filters, query, updatedAfter, after } = search;
  const source: RowSource = { rows: 'contacts', organization, audience, updatedAfter };
  if (filters.length === 0 && !query) {
    const rows = newestRows(connection, source, limit, after).map((row) => ({ ...row, rank: 0 }));
    const isEvery = audience === undefined && updatedAfter === undefined;
    const count = isEvery
      ? () => countContacts(connection, organization)
      : () => countRows(connection, source);
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

function countContacts(connection: Connection, organization: number): number {
  const row = connection.row<[bigint]>(`SELECT contacts FROM organizations WHERE key = ?`, organization);
  return Number(row?.[0] ?? 0);
}

/** Each row by itself costs several times what it costs among others, and a page may have room for few. */
const BODIES_PER_READ = 64;

function* withBodies(
  connection: Connection,
  organization: number,
  rows: readonly RankedRow[],
): Generator<RankedRow & { body: Json<Contact> }, void> {
  for (let start = 0; start < rows.length; start += BODIES_PER_READ) {
    const part = rows.slice(start, start + BODIES_PER_READ);
    const bodies = connection.rows<[Json<Contact>]>(
      `SELECT c.body FROM json_each(?) p CROSS JOIN contacts c ON c.organization = ? AND c.position = p.value`,
      `[${part.map(({ rowId }) => rowId).join(',')}]`,
      organization,
    );
    if (bodies.length < part.length) throw new Error('a found contact has no row');
    for (const [index, [body]] of bodies.entries()) yield { ...(part[index] as RankedRow), body };
  }
}
