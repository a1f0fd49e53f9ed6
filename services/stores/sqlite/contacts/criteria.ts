/** Translates the conditions of a contact search into a query of the text index and conditions on rows. */
import type { ContactCriteria, ContactSearch } from '../../../contacts/contact-store.js';
import type { Connection } from '../connection.js';
import { findAudienceKey } from '../organizations.js';
import { allOf, anyOf, exactTerm, type FtsQuery, type OrganizationTerms } from '../text/fts-query.js';
import type { RowSource } from '../text/ordered-rows.js';
import { filterQueries } from './indexed-contact.js';

export type SearchCriteria = ContactCriteria & Pick<ContactSearch, 'anyOf' | 'noneOf'>;

export interface CompiledCriteria {
  /** Queries that rows must all match. */
  filtered: FtsQuery[];
  /** Conditions that the text index cannot check. */
  rows: Pick<RowSource, 'updatedAfter' | 'createdFrom' | 'createdBefore' | 'anyOf' | 'noneOf'>;
}

/**
 * The text index checks what it can, because it skips rows without reading them. Audiences and times are not in the index, so alternatives
 * that name one are searched on their own, and their rows are united.
 */
export function compileCriteria(
  connection: Connection,
  terms: OrganizationTerms,
  organization: number,
  search: SearchCriteria,
): CompiledCriteria {
  const any = split(search.anyOf);
  const none = split(search.noneOf);
  const queryOf = ({ filters }: ContactCriteria): FtsQuery => {
    const queries = filterQueries(terms, filters);
    return queries.length === 0 ? exactTerm(terms.matchAllTerm) : allOf(queries);
  };
  const sourceOf = (criteria: ContactCriteria): RowSource[] => {
    const { audienceId, filters } = criteria;
    const audience =
      audienceId === undefined ? undefined : findAudienceKey(connection, organization, audienceId);
    // An audience that nobody is in.
    if (audienceId !== undefined && audience === undefined) return [];
    const match =
      filters.length === 0 ? undefined : { index: 'contact_terms' as const, query: queryOf(criteria) };
    return [{ rows: 'contacts', organization, audience, match, ...timesOf(criteria) }];
  };
  const filtered = filterQueries(terms, search.filters, none.indexed.map(queryOf));
  const rows: CompiledCriteria['rows'] = timesOf(search);
  if (none.others.length > 0) rows.noneOf = none.others.flatMap(sourceOf);
  if (any.others.length === 0) {
    if (any.indexed.length > 0) filtered.push(anyOf(any.indexed.map(queryOf)));
  } else {
    const query = any.indexed.length > 0 && anyOf(any.indexed.map(queryOf));
    const indexed: RowSource[] = query
      ? [{ rows: 'contacts', organization, match: { index: 'contact_terms', query } }]
      : [];
    rows.anyOf = [...indexed, ...any.others.flatMap(sourceOf)];
  }
  return { filtered, rows };
}

const timesOf = ({ updatedAfter, createdFrom, createdBefore }: ContactCriteria) => ({
  updatedAfter,
  createdFrom,
  createdBefore,
});

/** Criteria that the text index can check, and the others. */
function split(criteria: readonly ContactCriteria[] = []) {
  const isIndexed = ({ audienceId, ...each }: ContactCriteria) =>
    [audienceId, ...Object.values(timesOf(each))].every((value) => value === undefined);
  return { indexed: criteria.filter(isIndexed), others: criteria.filter((each) => !isIndexed(each)) };
}
