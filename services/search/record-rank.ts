/** Computes the rank of one record (contract 3.9), for stores that have read the record. */
import { MATCH_KINDS, matchesOf, type SearchedValue } from './explain.js';
import type { NameKeys } from './names.js';
import type { QueryTerm, TextQuery } from './query.js';
import { groupPoints, NAME_POINTS, queryKey, RANK_CLASSES, Ranking, typosOf } from './ranking.js';

/** Rank of a record that matches every term. */
export function rankOf(query: TextQuery, values: readonly SearchedValue<string>[], name: NameKeys): number {
  const ranking = new Ranking(query);
  const terms = query.required.map((term) => bestOf(term, values));
  const typos = terms.reduce((sum, term) => sum + term.typos, 0);
  const rankClass = typos > 0 ? RANK_CLASSES.beginnings + typos : classOf(query, terms, name);
  const groups = terms.map((term) => (typos > 0 ? term.groupWithTypos : term.group));
  const inNames =
    rankClass <= RANK_CLASSES.partOfName ? terms.length : groups.filter((group) => group === 0).length;
  const points = inNames > 0 ? inNames * NAME_POINTS : groupPoints(Math.min(...groups));
  return ranking.lastRank(rankClass) - points;
}

/** The query without terms that a record does not match. */
export const matchedPart = (query: TextQuery, values: readonly SearchedValue<string>[]): TextQuery => ({
  ...query,
  required: query.required.filter((term) => values.some((value) => isIn(value, term))),
});

function isIn({ words, group, field }: SearchedValue<string>, term: QueryTerm): boolean {
  for (const _ of matchesOf(term, words, group, field)) return true;
  return false;
}

const REST = 3;
const EXACT = MATCH_KINDS.indexOf('exact');
const EQUIVALENT = MATCH_KINDS.indexOf('equivalent');
const TYPO = MATCH_KINDS.indexOf('typo');

interface BestMatch {
  /** Index of the best match in `MATCH_KINDS`. */
  kind: number;
  typos: number;
  /** The best group of matches without typos, and of all matches. */
  group: number;
  groupWithTypos: number;
}

function bestOf(term: QueryTerm, values: readonly SearchedValue<string>[]): BestMatch {
  const best = { kind: TYPO, typos: typosOf(term), group: REST, groupWithTypos: REST };
  for (const { field, group, words } of values) {
    for (const { match, typos } of matchesOf(term, words, group, field)) {
      const kind = MATCH_KINDS.indexOf(match);
      best.kind = Math.min(best.kind, kind);
      best.typos = Math.min(best.typos, typos);
      best.groupWithTypos = Math.min(best.groupWithTypos, group);
      if (kind < TYPO) best.group = Math.min(best.group, group);
    }
  }
  return best;
}

function classOf({ required }: TextQuery, terms: readonly BestMatch[], { whole, parts }: NameKeys): number {
  const worst = Math.max(...terms.map(({ kind }) => kind));
  if (worst === EXACT) {
    const key = queryKey(required);
    if (whole.includes(key)) return RANK_CLASSES.wholeName;
    return parts.includes(key) ? RANK_CLASSES.partOfName : RANK_CLASSES.exact;
  }
  return worst === EQUIVALENT ? RANK_CLASSES.equivalents : RANK_CLASSES.beginnings;
}
