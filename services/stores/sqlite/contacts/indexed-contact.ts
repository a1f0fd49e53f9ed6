import type { ContactFilter } from '../../../contacts/contact-store.js';
import type { DuplicateKey } from '../../../contacts/duplicates.js';
import type { PresenceField } from '../../../contacts/field-types.js';
import {
  type ContactSearchField,
  industryWords,
  presentFields,
  SEARCH_FIELDS,
  searchableName,
  searchableTexts,
  searchableValues,
  type ValueField,
} from '../../../contacts/searchable.js';
import type { ContactBody } from '../../../contacts/stored-contact.js';
import { memoize } from '../../../shared/cache.js';
import { identifier, type Sql } from '../../../shared/sql.js';
import {
  allOf,
  andNot,
  anyOf,
  anyOfChunked,
  exactTerm,
  type FtsQuery,
  inColumns,
  type OrganizationTerms,
  prefixTerm,
} from '../text/fts-query.js';
import { type ColumnGroups, rowsOfTerm } from '../text/query-plan.js';
import { encoderOf, type TermEncoder } from '../text/term-encoder.js';

const FIELD_NAMES = Object.keys(SEARCH_FIELDS) as ContactSearchField[];

export const CONTACT_GROUPS: ColumnGroups = [0, 1, 2].map((group) =>
  FIELD_NAMES.filter((field) => SEARCH_FIELDS[field].group === group),
);

/** Columns of `contact_terms`, in order. */
export const CONTACT_COLUMNS: readonly Sql[] = ([...FIELD_NAMES, 'exact'] as const).map((name) =>
  identifier(name),
);

const FIELDS = FIELD_NAMES.map((name) => {
  const field = SEARCH_FIELDS[name];
  const encode = encoderOf(field.wordsOf);
  return { name, encode: 'isUnique' in field ? encode : memoize(encode) };
});

export function contactColumns(
  text: TermEncoder,
  body: ContactBody,
  values: ReturnType<typeof searchableValues> = searchableValues(body),
): string[] {
  const { terms } = text;
  const columns = FIELDS.map(({ name, encode }) => text.encodeColumn(searchableTexts(body, name), encode));
  let exact = terms.matchAllTerm;
  for (const [field, value] of Object.entries(values) as [ValueField, string | null][]) {
    const term = value === null ? null : valueTerm(terms, field, value);
    if (term !== null) exact += ` ${term}`;
  }
  for (const field of presentFields(body)) exact += ` ${terms.value(HAS, field)}`;
  for (const word of industryWords(body)) exact += ` ${terms.value(INDUSTRY, word)}`;
  exact += terms.name(searchableName(body));
  columns.push(exact);
  return columns;
}

const HAS = 'has';
/** Words of the industry are terms of the column `exact`, because queries do not search the industry. */
const INDUSTRY = 'industry';

/** Field whose term finds a profile address and, by the beginning of the term, its last path segment. */
const PROFILE = 'profile';

function slugFirst(normalUrl: string): string {
  const slash = normalUrl.lastIndexOf('/');
  return `${normalUrl.slice(slash + 1)}/${normalUrl.slice(0, Math.max(slash, 0))}`;
}

/** The stored term that equals a value. Null for a slug, which has no term of its own: the term of the profile begins with it. */
function valueTerm(terms: OrganizationTerms, field: ValueField, value: string): string | null {
  if (field === 'network_a_slug') return null;
  // Imports are told apart by the case of ASCII letters, which the tokenizer ignores, and by the signs that escape others.
  if (field === 'data_import_id')
    return terms.value(field, value.replaceAll('%', '%25').replaceAll(/[A-Z^]/g, '^$&'));
  return field === 'network_a_url' ? terms.value(PROFILE, slugFirst(value)) : terms.value(field, value);
}

function valueQuery(terms: OrganizationTerms, field: ValueField, value: string): FtsQuery {
  const term = valueTerm(terms, field, value);
  return term === null ? prefixTerm(terms.value(PROFILE, `${value}/`)) : exactTerm(term);
}

export function emailQuery(terms: OrganizationTerms, email: string): FtsQuery {
  return inColumns(['emails'], exactTerm(terms.word(email)));
}

export const profileQuery = (terms: OrganizationTerms, url: string): FtsQuery =>
  valueQuery(terms, 'network_a_url', url);

const hasQuery = (terms: OrganizationTerms, field: PresenceField): FtsQuery =>
  exactTerm(terms.value(HAS, field));

function filterQuery(terms: OrganizationTerms, filter: Exclude<ContactFilter, { kind: 'lacks' }>): FtsQuery {
  if (filter.kind === 'value') {
    return anyOfChunked(
      terms,
      filter.values.map((value) => valueQuery(terms, filter.field, value)),
    );
  }
  if (filter.kind === 'email') return emailQuery(terms, filter.email);
  if (filter.kind === 'terms') {
    return anyOfChunked(
      terms,
      filter.terms.map((term) => rowsOfTerm(terms, term, () => [])),
    );
  }
  if (filter.kind === 'has') return hasQuery(terms, filter.field);
  const { field, words } = filter;
  if (field === 'company_industry') {
    return allOf(
      words.map(({ spellings, whole }) =>
        anyOf([
          ...spellings.map((word) => prefixTerm(terms.value(INDUSTRY, word))),
          ...whole.map((word) => exactTerm(terms.value(INDUSTRY, word))),
        ]),
      ),
    );
  }
  return inColumns(
    [field],
    allOf(
      words.map(({ spellings, whole, equivalents }) =>
        anyOf([
          ...spellings.map((word) => terms.prefix(word)),
          ...whole.map((word) => terms.exact([word])),
          ...equivalents.map((words) => allOf(words.map((word) => terms.exact([word])))),
        ]),
      ),
    ),
  );
}

/** Queries that rows must all match, so that they match every filter and none of `excluded`. Empty if every row does. */
export function filterQueries(
  terms: OrganizationTerms,
  filters: readonly ContactFilter[],
  excluded: readonly FtsQuery[] = [],
): FtsQuery[] {
  const wanted: FtsQuery[] = [];
  const unwanted = [...excluded];
  for (const filter of filters) {
    if (filter.kind === 'lacks') unwanted.push(hasQuery(terms, filter.field));
    else wanted.push(filterQuery(terms, filter));
  }
  if (unwanted.length === 0) return wanted;
  return [andNot(wanted.length === 0 ? exactTerm(terms.matchAllTerm) : allOf(wanted), unwanted)];
}

/** Finds rows that may have one of the keys. Requires at least one key. */
export const duplicateQuery = (terms: OrganizationTerms, keys: readonly DuplicateKey[]): FtsQuery =>
  anyOf(
    keys.map(({ kind, value }) => (kind === 'email' ? emailQuery(terms, value) : profileQuery(terms, value))),
  );
