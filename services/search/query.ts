/** The small vocabulary of searches that every search store translates. Values are already in their normal forms. */

/** Fields of a contact whose single words can be asked for. */
export const WORD_FIELDS = [
  'first_name',
  'last_name',
  'job_title',
  'functional_area',
  'company_name',
  'city',
  'state_region',
] as const;
export type WordField = (typeof WORD_FIELDS)[number];

/** Fields of a contact compared as a whole, in the normal form of `shared/normalize.ts`. */
export type ValueField = 'country' | 'postal_code' | 'company_domain' | 'network_a_url' | 'network_a_slug';

export type ContactCondition =
  /** Every word is a word of the field, or the beginning of one. */
  { kind: 'words'; field: WordField; words: string[] } | { kind: 'value'; field: ValueField; value: string };

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
export interface Position {
  /** Tier and group of contract 3.9 as one number from 0; 0 without a query. */
  rank: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  id: string;
}

export interface ContactSearch {
  organizationId: string;
  audienceId?: string;
  conditions: ContactCondition[];
  query?: TextQuery;
  limit: number;
  after?: Position;
}

export interface AudienceSearch {
  organizationId: string;
  query?: TextQuery;
  offset: number;
  limit: number;
}

export interface VisitSearch {
  organizationId: string;
  audienceId?: string;
  /** Normal form of `normalizeCountry`; matches the country or its code. */
  country?: string;
  /** Folded whole value. */
  city?: string;
  /** Folded: the whole value, or the beginning of a word of it. */
  browser?: string;
  platform?: string;
  hasRecording?: boolean;
  /** Inclusive range of `addressKey`s. */
  address?: { from: string; to: string };
  /** Normal form of `normalizeUrlText`; a substring of the visit's. */
  startUrl?: string;
  /** Milliseconds, inclusive. */
  createdFrom?: number;
  /** Milliseconds, exclusive. */
  createdBefore?: number;
  minIntentScore?: number;
  limit: number;
  after?: Position;
}

export interface Page<T> {
  items: T[];
  /** All that match, exactly. */
  total: number;
  /** Where the next page begins; null at the end. */
  next: Position | null;
}
