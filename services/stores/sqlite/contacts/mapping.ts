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
  const { country, postal_code, company_domain, network_a_url, seniority, department } = values;
  let exact = terms.matchAllTerm;
  if (country !== null) exact += ` ${terms.value('country', country)}`;
  if (postal_code !== null) exact += ` ${terms.value('postal_code', postal_code)}`;
  if (company_domain !== null) exact += ` ${terms.value('company_domain', company_domain)}`;
  if (network_a_url !== null) exact += ` ${terms.value(PROFILE, slugFirst(network_a_url))}`;
  if (seniority !== null) exact += ` ${terms.value('seniority', seniority)}`;
  if (department !== null) exact += ` ${terms.value('department', department)}`;
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

function valueQuery(terms: OrganizationTerms, field: ValueField, value: string): FtsQuery {
  switch (field) {
    case 'network_a_url':
      return exactTerm(terms.value(PROFILE, slugFirst(value)));
    case 'network_a_slug':
      return prefixTerm(terms.value(PROFILE, `${value}/`));
    default:
      return exactTerm(terms.value(field, value));
  }
}

export function emailQuery(terms: OrganizationTerms, email: string): FtsQuery {
  return inColumns(['emails'], exactTerm(terms.word(email)));
}

export const profileQuery = (terms: OrganizationTerms, url: string): FtsQuery =>
  valueQuery(terms, 'network_a_url', url);

export function filterQuery(terms: OrganizationTerms, filter: ContactFilter): FtsQuery {
  if (filter.kind === 'value') return valueQuery(terms, filter.field, filter.value);
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

/** Finds rows that may have one of the keys. There is at least one key. */
export const duplicateQuery = (terms: OrganizationTerms, keys: readonly DuplicateKey[]): FtsQuery =>
  anyOf(
    keys.map(({ kind, value }) => (kind === 'email' ? emailQuery(terms, value) : profileQuery(terms, value))),
  );
