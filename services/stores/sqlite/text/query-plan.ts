import type { QueryTerm, TextQuery } from '../../../search/query.js';
import {
  allOf,
  andNot,
  anyOf,
  exactTerm,
  type FtsQuery,
  inColumns,
  type OrganizationTerms,
} from './fts-query.js';

/** Rows of one rank of contract 3.9. */
export interface RankQuery {
  rank: number;
  match: FtsQuery;
}

/** Classes that count the same in the first order of contract 3.9. */
export interface Tier {
  /** All rows of this tier and the ones before it. */
  cumulative: FtsQuery;
  ranks: RankQuery[];
}

/** A search of a text index: the rows it matches, apart by rank, best first. */
export interface MatchPlan {
  all: FtsQuery;
  tiers: Tier[];
}

/** Columns of the groups of contract 3.9, best first, save the last, which is everything else. */
export type ColumnGroups = readonly (readonly string[])[];

/** Words of letters of the index that are at most `typos` typos away from the word, the word itself not among them. */
export type FindSimilar = (word: string, typos: number) => string[];

export function planMatch(
  terms: OrganizationTerms,
  groups: ColumnGroups,
  conditions: FtsQuery[],
  query: TextQuery | undefined,
  findSimilar: FindSimilar,
): MatchPlan {
  const required = query?.required ?? [];
  const excluded = (query?.excluded ?? []).map((term) => terms.exact(term));
  const narrow = (expressions: FtsQuery[]) => {
    const every = [...expressions, ...conditions];
    return andNot(allOf(every.length > 0 ? every : [exactTerm(terms.matchAllTerm)]), excluded);
  };
  if (required.length === 0) {
    const all = narrow([]);
    return { all, tiers: [{ cumulative: all, ranks: [{ rank: 0, match: all }] }] };
  }
  const exact = required.map((term) => terms.exact(term));
  const prefixes = required.map((term) =>
    term.kind === 'word' && term.prefix ? terms.prefix(term.word) : terms.exact(term),
  );
  const similar = required.map((term, index) =>
    anyOfChunked(terms, [prefixes[index] as FtsQuery, ...similarWords(terms, term, findSimilar)]),
  );
  const inGroups = groups.map((columns) => inColumns(columns, anyOf(prefixes)));
  const tiers: Tier[] = [];
  let before: FtsQuery | undefined;
  for (const [number, words] of [exact, prefixes, similar].entries()) {
    const cumulative = narrow(words);
    if (cumulative === before) continue;
    const better = before === undefined ? [] : [before];
    const ranks = [...inGroups, undefined].map((inGroup, group) => ({
      rank: number * (groups.length + 1) + group,
      match: andNot(inGroup === undefined ? cumulative : allOf([cumulative, inGroup]), [
        ...inGroups.slice(0, group),
        ...better,
      ]),
    }));
    tiers.push({ cumulative, ranks });
    before = cumulative;
  }
  return { all: before as FtsQuery, tiers };
}

const ALTERNATIVES_PER_GROUP = 32;

/**
 * Any of many expressions. FTS5 looks at every alternative of an OR for every row it finds, and makes one OR of an OR
 * within an OR; "but not a term that no row has" keeps groups apart, so that a row costs their number and the size of one.
 */
function anyOfChunked(terms: OrganizationTerms, expressions: FtsQuery[]): FtsQuery {
  if (expressions.length <= ALTERNATIVES_PER_GROUP) return anyOf(expressions);
  const groups: FtsQuery[] = [];
  for (let from = 0; from < expressions.length; from += ALTERNATIVES_PER_GROUP) {
    const group = anyOf(expressions.slice(from, from + ALTERNATIVES_PER_GROUP));
    groups.push(andNot(group, [exactTerm(terms.matchNoneTerm)]));
  }
  return anyOf(groups);
}

function similarWords(terms: OrganizationTerms, term: QueryTerm, findSimilar: FindSimilar): FtsQuery[] {
  if (term.kind === 'phrase' || term.typos === 0) return [];
  return findSimilar(term.word, term.typos)
    .filter((word) => !(term.prefix && word.startsWith(term.word)))
    .map((word) => exactTerm(terms.word(word)));
}
