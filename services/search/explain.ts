/** Explains why a record matched a query: the words of contract 3.9 that decided its rank. */
import { codePoints, distanceWithin } from '../shared/text.js';
import type { QueryTerm, TextQuery } from './query.js';
import { isTypoCandidate } from './typos.js';
import { withoutMark } from './words.js';

/** A value of a record that a query searches. */
export interface SearchedValue<Field extends string> {
  field: Field;
  /** Group of fields in contract 3.9; 0 means names. */
  group: number;
  /** Words of the value, in order. */
  words: readonly string[];
}

export const MATCH_KINDS = ['exact', 'equivalent', 'beginning', 'typo'] as const;
type MatchKind = (typeof MATCH_KINDS)[number];

/** Best match of a word or a phrase of a query. */
export interface WordMatch<Field extends string> {
  /** The word of the query, folded. The words of a phrase are separated by spaces. */
  word: string;
  field: Field;
  /** The word of the record, folded. The words of an equivalent are separated by spaces. */
  text: string;
  match: MatchKind;
  /** The row of the table of equivalents. */
  row?: string;
  /** Number of typos of the match; 0 for every other kind of match. */
  typos: number;
}

/** Maximum characters of a matched text; longer words of records are cut. */
export const MAX_MATCH_CHARACTERS = 64;
/** Maximum JSON size of a match, without the word of the query: keys, names, numbers and a row, and four bytes per character of text. */
const MATCH_BYTES = 200 + 4 * MAX_MATCH_CHARACTERS;

/** Maximum bytes of the matches of one record as JSON. */
export function maxMatchBytes({ required }: TextQuery): number {
  let bytes = 200;
  for (const term of required) bytes += MATCH_BYTES + Buffer.byteLength(JSON.stringify(givenWord(term)));
  return bytes;
}

/**
 * The best match of each term: an exact match comes before an equivalent, a beginning and typos; fewer typos come first; then the best
 * group; then the first of the values.
 */
export function explainMatch<Field extends string>(
  { required }: TextQuery,
  values: readonly SearchedValue<Field>[],
): WordMatch<Field>[] {
  return required.flatMap((term) => {
    let best: { match: WordMatch<Field>; order: number } | null = null;
    for (const { field, group, words } of values) {
      for (const { text, match, typos, row } of matchesOf(term, words, group, field)) {
        const order = (MATCH_KINDS.indexOf(match) + typos) * GROUPS + group;
        if (best !== null && best.order <= order) continue;
        best = { match: { word: givenWord(term), field, text, match, typos, ...(row && { row }) }, order };
      }
    }
    return best === null ? [] : [{ ...best.match, text: shortened(withoutMark(best.match.text)) }];
  });
}

/** Multiplier that is larger than the number of field groups. */
const GROUPS = 16;

/** The term in the form in which explanations name it. */
export const givenWord = (term: QueryTerm): string =>
  term.kind === 'word' ? withoutMark(term.word) : term.words.join(' ');

const shortened = (text: string): string =>
  codePoints(text) <= MAX_MATCH_CHARACTERS ? text : [...text].slice(0, MAX_MATCH_CHARACTERS).join('');

type TermMatch = Pick<WordMatch<string>, 'text' | 'match' | 'typos' | 'row'>;

/** Every way in which a term matches a value. */
export function* matchesOf(
  term: QueryTerm,
  words: readonly string[],
  group: number,
  field: string,
): Iterable<TermMatch> {
  if (term.kind === 'phrase') {
    const isFound =
      words.some((_, start) => term.words.every((word, at) => words[start + at] === word)) ||
      term.joined?.some((word) => words.includes(word));
    if (isFound) yield { text: term.words.join(' '), match: 'exact', typos: 0 };
    return;
  }
  const { word, joined = [], weaker = [], typos: allowed } = term;
  for (const equivalent of term.equivalents ?? []) {
    if (equivalent.field !== field || !equivalent.words.every((each) => words.includes(each))) continue;
    yield { text: equivalent.words.join(' '), match: 'equivalent', typos: 0, row: equivalent.row };
  }
  const begins = term.prefix || (term.initial === true && group === 0);
  for (const text of words) {
    if (text === word || joined.includes(text)) {
      yield { text, match: 'exact', typos: 0 };
    } else if (
      weaker.includes(text) ||
      (begins && text.startsWith(word)) ||
      joined.some((other) => text.startsWith(other))
    ) {
      yield { text, match: 'beginning', typos: 0 };
    } else if (allowed > 0 && text.codePointAt(0) === word.codePointAt(0) && isTypoCandidate(text)) {
      const typos = distanceWithin(text, word, allowed);
      if (typos !== null) yield { text, match: 'typo', typos };
    }
  }
}
