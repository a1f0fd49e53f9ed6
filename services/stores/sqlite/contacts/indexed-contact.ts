import type { ContactFilter } from '../../../contacts/contact-store.js';
import type { DuplicateKey } from '../../../contacts/duplicates.js';
import {
  type ContactSearchField,
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
  anyOf,
  anyOfChunked,
  exactTerm,
  type FtsQuery,
  inColumns,
  type OrganizationTerms,
  prefixTerm,
} from '../text/fts-query.js';
import type { ColumnGroups } from '../text/query-plan.js';
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
  exact += terms.name(searchableName(body));
  columns.push(exact);
  return columns;
}

/** Field whose term finds a profile address and, by the beginning of the term, its last path segment. */
const PROFILE = 'profile';

function slugFirst(normalUrl: string): string {
  const slash = normalUrl.lastIndexOf('/');
  return `${normalUrl.slice(slash + 1)}/${normalUrl.slice(0, Math.max(slash, 0))}`;
}

/** The term that is stored for a value; null for a slug, because the term of the profile begins with the slug. */
function valueTerm(terms: OrganizationTerms, field: ValueField, value: string): string | null {
  if (field === 'network_a_slug') return null;
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

export function filterQuery(terms: OrganizationTerms, filter: ContactFilter): FtsQuery {
  if (filter.kind === 'value') {
    return anyOfChunked(
      terms,
      filter.values.map((value) => valueQuery(terms, filter.field, value)),
    );
  }
  if (filter.kind === 'email') return emailQuery(terms, filter.email);
  return inColumns(
    [filter.field],
    allOf(
      filter.words.map(({ spellings, whole, equivalents }) =>
        anyOf([
          ...spellings.map((word) => terms.prefix(word)),
          ...whole.map((word) => terms.exact([word])),
          ...equivalents.map((words) => allOf(words.map((word) => terms.exact([word])))),
        ]),
      ),
    ),
  );
}

/** Finds rows that may have one of the keys. Requires at least one key. */
export const duplicateQuery = (terms: OrganizationTerms, keys: readonly DuplicateKey[]): FtsQuery =>
  anyOf(
    keys.map(({ kind, value }) => (kind === 'email' ? emailQuery(terms, value) : profileQuery(terms, value))),
  );
