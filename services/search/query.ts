/** The small vocabulary of searches, which every records store translates into its own queries. Values are already in normal form. */

/** Maximum characters of `query`, as written and once folded. */
export const MAX_QUERY_LENGTH = 200;

/** An equivalent of a word of a query. A contact that has all of `words` in the field matches as if it had the word (contract 3.9). */
export interface Equivalent {
  /** A field whose words filters compare. `group` is the group of the field in the order. */
  field: string;
  group: number;
  words: string[];
  /** The row of the table of equivalents. */
  row: string;
}

/** A word of a query. The word matches exactly, as a beginning (`prefix`), or with up to `typos` typos after the first letter. */
export interface WordTerm {
  kind: 'word';
  word: string;
  prefix: boolean;
  /** Whether the word also matches as the first letter of a word of a name. */
  initial?: true;
  typos: 0 | 1 | 2;
  /**
   * Words that this word may form with its neighbours in the query. A joined word matches instead of this word, exactly or as a beginning.
   */
  joined?: string[];
  /** Whole words that match instead of this word, and count as a beginning. */
  weaker?: string[];
  /** Equivalents that match instead of this word, as whole words only. */
  equivalents?: Equivalent[];
}

export type QueryTerm =
  | WordTerm
  /** The words of a phrase must be adjacent and in order; a word of `joined` matches instead of the phrase. */
  | { kind: 'phrase'; words: string[]; joined?: string[] };

/** A parsed `query` (contract 3.9): every required term must match somewhere, and no excluded term may match. */
export interface TextQuery {
  required: QueryTerm[];
  /** Excluded terms. An excluded word excludes only contacts that contain exactly this word. */
  excluded: QueryTerm[];
  /** Another reading of the same text, which is tried if no record matches this reading. */
  fallbackQuery?: TextQuery;
  /** Present if the words are parts of a domain. Partial matches of such words are useless. */
  isDomain?: true;
}

/** The query and its other readings, in the order in which they are tried. */
export function readingsOf(query: TextQuery): TextQuery[] {
  const { fallbackQuery, ...first } = query;
  return [first, ...(fallbackQuery ? readingsOf(fallbackQuery) : [])];
}

/** What a search does if no record has every term: returns records with the heaviest terms, or none (contract 3.9). */
export const MATCH_MODES = ['best', 'all'] as const;

/** Match of a search whose records match only some of the terms of the query (contract 3.9). */
export interface PartialMatch {
  /** Number of terms that each returned record matches; 0 if no record was found. */
  matched: number;
  /** The sum of the weights of the terms that a returned record matches. */
  weight: number;
  /** Weight of each term (see `partial.ts`); 0 if no record matches the term. */
  weights: readonly number[];
}

/** Positions of the phrases in a query. */
export const phrasesOf = ({ required }: TextQuery): number[] =>
  required.flatMap(({ kind }, place) => (kind === 'phrase' ? [place] : []));

/** The order of a list. Records without the value come last in both directions; ids decide between equal values, in the same direction. */
export interface Sort<By extends string = string> {
  by: By;
  direction: 'asc' | 'desc';
}

/** Where a page ended: the full sort key of its last row. */
export interface SortKey {
  /** Rank in the order of contract 3.9, as one number from 0 (see `ranking.ts`); 0 without a query. */
  rank: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  id: string;
  /** Value of the sort field; present only in a list with a sort. A time is in milliseconds since the epoch. `createdAt` is then 0. */
  sorted?: string | number | null;
  /** Index in `readingsOf` of the reading that found the row, if it is not the first reading. */
  fallback?: number;
  /** Present for a search with `best` in which no record has every term. */
  partial?: PartialMatch;
}

export interface Page<T> {
  items: T[];
  /** Exact number of matches. */
  total: number;
  /** Sort key at which the next page begins; null after the last page. */
  next: SortKey | null;
  /** Rank of each item, see `SortKey.rank`; only if the caller requests ranks. */
  ranks?: number[];
}
