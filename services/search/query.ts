/** The small vocabulary of searches that every records store translates. Values are already in their normal forms. */

/** Counts as a word of a query: a contact with all of `words` in the field (contract 3.9). */
export interface Equivalent {
  /** One whose words filters compare, in this group of the order. */
  field: string;
  group: number;
  words: string[];
  /** The row of the table that says so. */
  row: string;
}

/** Matches exactly, as a beginning (`prefix`), or with up to `typos` typos, the first letter right. */
export interface WordTerm {
  kind: 'word';
  word: string;
  prefix: boolean;
  /** Matches as the first letter of a word of a name. */
  initial?: true;
  typos: 0 | 1 | 2;
  /** Words that it may form with its neighbours in the query. They match in its place, exactly or as a beginning. */
  joined?: string[];
  /** Whole words that match in its place, and count as a beginning. */
  weaker?: string[];
  /** Match in its place, whole words only. */
  equivalents?: Equivalent[];
}

export type QueryTerm =
  | WordTerm
  /** The words, adjacent and in order; a word of `joined` in their place. */
  | { kind: 'phrase'; words: string[]; joined?: string[] };

/** A parsed `query` (contract 3.9): every required term matches somewhere, no excluded one does. */
export interface TextQuery {
  required: QueryTerm[];
  /** A word excludes only contacts that hold it exactly. */
  excluded: QueryTerm[];
  /** Another reading of the same text, asked where nobody matches this one. */
  otherwise?: TextQuery;
  /** The words are the parts of a domain: some of them are no answer to it. */
  isDomain?: true;
}

/** The query and its other readings, in the order in which they are asked. */
export function readingsOf(query: TextQuery): TextQuery[] {
  const { otherwise, ...first } = query;
  return [first, ...(otherwise ? readingsOf(otherwise) : [])];
}

/** Whether a search that finds no record with every term answers those with the terms that weigh most (contract 3.9). */
export const MATCH_MODES = ['best', 'all'] as const;

/** Match of a search whose records match only some of the terms of its query (contract 3.9). */
export interface PartialMatch {
  /** Terms that each record of the answer matches; 0 where the answer is empty. */
  matched: number;
  /** The sum of the weights of the terms that a record of the answer matches. */
  weight: number;
  /** Weight of each term, see `partial.ts`; 0 if no record matches the term. */
  weights: readonly number[];
}

/** Places of the phrases in a query. */
export const phrasesOf = ({ required }: TextQuery): number[] =>
  required.flatMap(({ kind }, place) => (kind === 'phrase' ? [place] : []));

/** The order of a list; those without the value come last in both directions, and ids of one value in the same direction. */
export interface Sort<By extends string = string> {
  by: By;
  direction: 'asc' | 'desc';
}

/** Where a page ended: the full sort key of its last row. */
export interface SortKey {
  /** Order of contract 3.9 as one number from 0, see `ranking.ts`; 0 without a query. */
  rank: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  id: string;
  /** Of a list with a sort: its value, of a time in milliseconds since the epoch. `createdAt` is 0 then. */
  sorted?: string | number | null;
  /** The place of the reading that found it in `readingsOf`, where it is not the first. */
  otherwise?: number;
  /** Present for a search by `best` that found no record with every term. */
  partial?: PartialMatch;
}

export interface Page<T> {
  items: T[];
  /** All that match, exactly. */
  total: number;
  /** Beginning of the next page; null at the end. */
  next: SortKey | null;
  /** Rank of each item, see `SortKey.rank`; only if the caller requests ranks. */
  ranks?: number[];
}
