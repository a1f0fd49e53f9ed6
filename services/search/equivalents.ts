/**
 * Equivalents of the words of a query: titles and their short forms, legal forms, nicknames, cities with several names, states and their
 * codes (contract 3.9). The tables are data in `equivalents/`. The tables are applied only to queries, so a new version of a table needs no
 * reindex.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoize } from '../shared/cache.js';
import { packageRoot } from '../shared/fs.js';
import { words } from '../shared/text.js';
import type { Equivalent, QueryTerm, TextQuery, WordTerm } from './query.js';
import { markRepeats } from './words.js';

/** The folder of the tables. The comments of each table name its source and licence. */
export const EQUIVALENTS_FOLDER = join(packageRoot, 'services/search/equivalents');

const textOf = (file: string) => readFileSync(join(EQUIVALENTS_FOLDER, file), 'utf8');
export const TEXTS = {
  title: textOf('titles.txt'),
  title_abroad: textOf('titles-abroad.txt'),
  company: textOf('companies.txt'),
  given_name: textOf('given-names.txt'),
  city: textOf('cities.txt'),
  region: textOf('regions.txt'),
  optional: textOf('optional-words.txt'),
  // Tables for titles.ts.
  seniority: textOf('seniorities.txt'),
  department: textOf('departments.txt'),
};

/** Version of the tables, which changes with every row. */
export const EQUIVALENTS_VERSION: string = hash('sha256', JSON.stringify(TEXTS)).slice(0, 12);

/** Subject of a table. The subject determines the fields in which equivalents of the table match. */
export const EQUIVALENT_KINDS = [
  'title',
  'title_abroad',
  'company',
  'given_name',
  'name',
  'city',
  'region',
] as const;
export type EquivalentKind = (typeof EQUIVALENT_KINDS)[number];

/** An alternative to a word. The alternative matches instead of the word if all words of the alternative are in one field of the kind. */
export interface Alternative {
  kind: EquivalentKind;
  words: string[];
  row: string;
}

/** Maximum number of alternatives, because each alternative is a condition on every match. */
const MAX_ALTERNATIVES = { ofWord: 32, ofQuery: 128 };

/** Rows of a table by each of their forms, with the other forms of the same row. */
interface Table {
  forms: Map<string, Omit<Alternative, 'kind'>[]>;
  /** Number of words in the longest form. */
  longest: number;
}

/** The rows of a table, without comments. */
export const rowsOf = (text: string) =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

function addForms(table: Table, form: string[], others: readonly string[][], row: string): void {
  const key = form.join(' ');
  const known = table.forms.get(key) ?? [];
  for (const each of others) if (each.join(' ') !== key) known.push({ words: markRepeats(each), row });
  table.forms.set(key, known);
  table.longest = Math.max(table.longest, form.length);
}

/** A table in which all forms of a line are equivalent to each other. */
function classes(kind: EquivalentKind, text: string): Table {
  const table: Table = { forms: new Map(), longest: 0 };
  for (const line of rowsOf(text)) {
    const forms = line.split(' = ').map((form) => words(form));
    const row = `${kind}: ${forms[0]?.join(' ')}`;
    for (const form of forms) addForms(table, form, forms, row);
  }
  return table;
}

/** A table in which a name is equivalent to its short forms, and each short form to the name. */
function shortForms(kind: EquivalentKind, text: string): Table {
  const table: Table = { forms: new Map(), longest: 0 };
  for (const line of rowsOf(text)) {
    const [name = '', short = ''] = line.split(': ');
    const forms = words(short).map((word) => [word]);
    const row = `${kind}: ${name}`;
    addForms(table, words(name), forms, row);
    for (const form of forms) addForms(table, form, [words(name)], row);
  }
  return table;
}

const TABLES = [
  ['title', classes('title', TEXTS.title)],
  ['company', classes('company', TEXTS.company)],
  ['given_name', shortForms('given_name', TEXTS.given_name)],
  ['city', classes('city', TEXTS.city)],
  ['region', classes('region', TEXTS.region)],
  ['title_abroad', classes('title_abroad', TEXTS.title_abroad)],
] as const satisfies [EquivalentKind, Table][];
const LEGAL = TABLES[1][1];

/** Words that a record may leave out, by position. */
const optional = new Map(
  rowsOf(TEXTS.optional).map((line) => {
    const [place = '', listed = ''] = line.split(': ');
    return [place, new Set(words(listed))];
  }),
);
export const isOptional = (place: string, word: string) => optional.get(place)?.has(word) === true;

/** The alternatives of each word of a text, in order. */
const alternativesOf = memoize((text: string): Alternative[][] => {
  const given = text.split(' ');
  const found = given.map((): Alternative[] => []);
  const add = (at: number, alternative: Alternative) => {
    const own = found[at] as Alternative[];
    const key = alternative.words.join(' ');
    const isKnown = own.some(
      ({ kind, words: known }) => kind === alternative.kind && known.join(' ') === key,
    );
    if (!isKnown && key !== given[at]) own.push(alternative);
  };
  for (const [kind, { forms, longest }] of TABLES) {
    for (let start = 0; start < given.length; start++) {
      for (let length = 1; length <= longest + 1 && start + length <= given.length; length++) {
        const run = given.slice(start, start + length);
        const isJoint = (word: string, index: number) =>
          index > 0 && index < length - 1 && isOptional('and', word);
        const key = run.filter((word, index) => !isJoint(word, index)).join(' ');
        for (const each of forms.get(key) ?? []) {
          for (let at = start; at < start + length; at++) add(at, { kind, ...each });
        }
      }
    }
  }
  const legal = legalForms(given);
  for (const [at, word] of given.entries()) {
    const [before, after] = [given[at - 1], given[at + 1]];
    if (isOptional('and', word) && before !== undefined && after !== undefined) {
      add(at, { kind: 'company', words: [before, after], row: 'company: &' });
    }
    const standsFor: EquivalentKind[] = [];
    if (isOptional('preposition', word) || isOptional('and', word)) standsFor.push('title');
    if (isOptional('before a place', word)) standsFor.push('company', 'city', 'region');
    for (const kind of after === undefined ? [] : standsFor) {
      const same = (found[at + 1] ?? []).filter((each) => each.kind === kind).map(({ words }) => words);
      for (const words of [[after as string], ...same]) add(at, { kind, words, row: `${kind}: ${word}` });
    }
    const name = legal[at];
    if (name !== undefined) add(at, { kind: 'company', words: [name], row: `company: ${word}` });
    if (isOptional('before a name', word) && after !== undefined) {
      add(at, { kind: 'name', words: [after], row: `name: ${word}` });
    }
    if (isOptional('after a name', word) && before !== undefined) {
      add(at, { kind: 'name', words: [before], row: `name: ${word}` });
    }
  }
  return found;
});

/** For each word of a legal form, the word before it, because a company may be recorded without its legal form. */
function legalForms(given: readonly string[]): (string | undefined)[] {
  const names: (string | undefined)[] = given.map(() => undefined);
  for (let start = 1; start < given.length; start++) {
    for (let length = Math.min(LEGAL.longest, given.length - start); length > 0; length--) {
      if (!LEGAL.forms.has(given.slice(start, start + length).join(' '))) continue;
      names.fill(names[start - 1] ?? given[start - 1], start, start + length);
      start += length - 1;
      break;
    }
  }
  return names;
}

/** The alternatives of the given kinds, for each word of a filter. */
export const filterAlternatives = (
  given: readonly string[],
  kinds: readonly EquivalentKind[],
): Alternative[][] =>
  alternativesOf(given.join(' ')).map((own) =>
    own.filter(({ kind }) => kinds.includes(kind)).slice(0, MAX_ALTERNATIVES.ofWord),
  );

/** Maximum letters of a short form. Longer forms in a table are ordinary words. */
const MAX_SHORT_FORM = 4;

/** Whether a word is a short form in a table. In filters, a short form matches only whole words. */
export const isShortForm = (word: string, kinds: readonly EquivalentKind[]): boolean =>
  word.length <= MAX_SHORT_FORM && TABLES.some(([of, { forms }]) => kinds.includes(of) && forms.has(word));

const GIVEN_NAMES = TABLES[2][1];

/** The term for a given name that is in the table. It may have at most one typo, because two typos usually make another name. */
const ofGivenName = (term: WordTerm): WordTerm =>
  term.typos > 1 && GIVEN_NAMES.forms.has(term.word) ? { ...term, typos: 1 } : term;

/** Fields in which the equivalents of a kind match, each with its group of the order. */
export type EquivalentFields = Record<EquivalentKind, readonly Pick<Equivalent, 'field' | 'group'>[]>;

/** The query with the equivalents of its words. Phrases and excluded words have no equivalents. */
export function withEquivalents(query: TextQuery, fieldsOf: EquivalentFields): TextQuery {
  let room = MAX_ALTERNATIVES.ofQuery;
  const required: QueryTerm[] = [];
  for (let start = 0; start < query.required.length; ) {
    const term = query.required[start] as QueryTerm;
    if (term.kind === 'phrase') {
      required.push(term);
      start++;
      continue;
    }
    const next = query.required.findIndex(({ kind }, index) => index > start && kind === 'phrase');
    const run = query.required.slice(start, next === -1 ? undefined : next) as WordTerm[];
    const alternatives = alternativesOf(run.map(({ word }) => word).join(' '));
    for (const [index, word] of run.entries()) {
      const equivalents = (alternatives[index] ?? [])
        .flatMap(({ kind, ...each }) => fieldsOf[kind].map((field): Equivalent => ({ ...field, ...each })))
        .slice(0, Math.min(MAX_ALTERNATIVES.ofWord, room));
      room -= equivalents.length;
      const term = ofGivenName(word);
      required.push(equivalents.length === 0 ? term : { ...term, equivalents });
    }
    start += run.length;
  }
  return { ...query, required };
}
