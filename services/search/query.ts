/** The small vocabulary of searches that every search store translates. Values are already in their normal forms. */

export type QueryTerm =
  /** Matches exactly, as a beginning (`prefix`), or with up to `typos` typos, the first letter right. */
  | { kind: 'word'; word: string; prefix: boolean; typos: 0 | 1 | 2 }
  /** The words, adjacent and in order. */
  | { kind: 'phrase'; words: string[] };

/** A parsed `query` (contract 3.9): every required term matches somewhere, no excluded one does. */
export interface TextQuery {
  required: QueryTerm[];
  /** A word excludes only contacts that hold it exactly. */
  excluded: QueryTerm[];
}

/** Where a page ended: the full sort key of its last row. */
export interface SortKey {
  /** Tier and group of contract 3.9 as one number from 0; 0 without a query. */
  rank: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  id: string;
}

export interface Page<T> {
  items: T[];
  /** All that match, exactly. */
  total: number;
  /** Where the next page begins; null at the end. */
  next: SortKey | null;
}
