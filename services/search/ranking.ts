/**
 * The order of contract 3.9 as one number, best first. Stores decide which conditions a record meets. This module decides what a condition
 * is worth, so that all stores rank alike and their cursors are compatible.
 */
import { nameKey } from './names.js';
import type { Equivalent, QueryTerm, TextQuery } from './query.js';
import { withoutMark } from './words.js';

/**
 * Classes of matches, best first: the query is the whole name; the query is the whole first or last name; every word is exact; every word
 * is exact or an equivalent; every word is exact, an equivalent or a beginning. A class after these has as many typos as its distance from
 * the last.
 */
export const RANK_CLASSES = { wholeName: 0, partOfName: 1, exact: 2, equivalents: 3, beginnings: 4 } as const;

/** The tiers of contract 3.9, best first. */
export const TIERS = [
  'whole_name',
  'first_or_last_name',
  'exact',
  'equivalent',
  'beginning',
  'typo',
] as const;
type Tier = (typeof TIERS)[number];

export class Ranking {
  /** Number of terms that a record matches. */
  readonly terms: number;
  /** Maximum typos of all terms together. */
  readonly typos: number;
  /** Number of ranks in a class. */
  readonly width: number;

  /** `matched` is the number of terms that a record matches. */
  constructor({ required }: TextQuery, matched = required.length) {
    this.terms = matched;
    this.typos = required.reduce((sum, term) => sum + typosOf(term), 0);
    this.width = NAME_POINTS * this.terms + 1;
  }

  /** The tier of a rank, and the typos of all terms together. */
  tierOf(rank: number): { tier: Tier; typos: number } {
    const rankClass = Math.floor(rank / this.width);
    const typos = Math.max(0, rankClass - RANK_CLASSES.beginnings);
    return { tier: typos > 0 ? 'typo' : (TIERS[rankClass] as Tier), typos };
  }

  /** Rank of the last class. */
  get worst(): number {
    return this.lastRank(RANK_CLASSES.beginnings + this.typos);
  }

  /** Rank in a class of a record in which no term matches in a name, and all terms match only in the last group. */
  lastRank(rankClass: number): number {
    return (rankClass + 1) * this.width - 1;
  }
}

/** Points of a rank for each term that matches in a name; more than the points of any other group. */
export const NAME_POINTS = 3;

/** Points of a rank if no term matches in a name, but one matches in this group (1 or 2). The best group counts. */
export const groupPoints = (group: number): number => NAME_POINTS - group;

export const typosOf = (term: QueryTerm): number => (term.kind === 'word' ? term.typos : 0);

export const equivalentsOf = (term: QueryTerm): readonly Equivalent[] =>
  (term.kind === 'word' && term.equivalents) || [];

/** The key of the words of a query, which `nameKeys` compares with the keys of a name. */
export const queryKey = (terms: readonly QueryTerm[]): string =>
  nameKey(terms.flatMap((term) => (term.kind === 'word' ? [withoutMark(term.word)] : term.words)));
