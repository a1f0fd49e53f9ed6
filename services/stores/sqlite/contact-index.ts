import {
  CONTACT_SEARCH_GROUPS,
  type ContactSearchField,
  emailWord,
  searchableValues,
  searchableWords,
} from '../../contacts/searchable.js';
import type { ContactCondition, ValueField } from '../search-query.js';
import type { ContactBody } from './contact-rows.js';
import type { Groups } from './match-plan.js';
import { allOf, anyOf, type Expression, exactTerm, type OrganizationTerms, within } from './terms.js';

const FIELDS = Object.keys(CONTACT_SEARCH_GROUPS) as ContactSearchField[];

export const CONTACT_GROUPS: Groups = [0, 1, 2].map((group) =>
  FIELDS.filter((field) => CONTACT_SEARCH_GROUPS[field] === group),
);

/** Columns of contact_terms, in order. */
export const CONTACT_COLUMNS = [...FIELDS, 'exact'] as const;

/** What one row of a text index holds: a text of terms a column, and the words it is made of. */
export interface IndexedText {
  columns: string[];
  words: string[];
}

export function contactText(terms: OrganizationTerms, body: ContactBody): IndexedText {
  const fields = searchableWords(body);
  const text: IndexedText = { columns: [], words: [] };
  for (const field of FIELDS) addColumn(text, terms, fields[field]);
  const exact = [terms.everything];
  const values = searchableValues(body);
  for (const field of Object.keys(values) as ValueField[]) {
    const value = values[field];
    if (value !== null) exact.push(terms.value(field, value));
  }
  text.columns.push(exact.join(' '));
  return text;
}

/** Adds a column that holds the words of each value of a field. */
export function addColumn(text: IndexedText, terms: OrganizationTerms, values: string[][]): void {
  let column = '';
  for (const value of values) {
    if (column !== '') column += ` ${terms.gap}`;
    for (const word of value) {
      column += column === '' ? terms.word(word) : ` ${terms.word(word)}`;
      text.words.push(word);
    }
  }
  text.columns.push(column);
}

export function conditionExpression(terms: OrganizationTerms, condition: ContactCondition): Expression {
  if (condition.kind === 'value') return exactTerm(terms.value(condition.field, condition.value));
  return within([condition.field], allOf(condition.words.map((word) => terms.beginning(word))));
}

/** Finds the rows that may count as the same person; null when the contact has nothing to tell by (contract 3.3). */
export function duplicateExpression(terms: OrganizationTerms, body: ContactBody): Expression | null {
  const { network_a_url: profile } = searchableValues(body);
  const expressions = body.work_emails.map((email) =>
    within(['emails'], exactTerm(terms.word(emailWord(email)))),
  );
  if (profile) expressions.push(exactTerm(terms.value('network_a_url', profile)));
  return expressions.length === 0 ? null : anyOf(expressions);
}

export function isDuplicate(left: ContactBody, right: ContactBody): boolean {
  const profile = searchableValues(left).network_a_url;
  return (
    (Boolean(profile) && profile === searchableValues(right).network_a_url) ||
    left.work_emails.some((email) => right.work_emails.includes(email))
  );
}
