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

/** Rows of one rank (contract 3.9). */
export interface RankQuery {
  rank: number;
  match: FtsQuery;
}

/** Rows that match equally well: exactly, by prefixes, or with typos. */
export interface Tier {
  /** Rows of this tier and of those before it. */
  cumulative: FtsQuery;
  ranks: RankQuery[];
}

/** A search of a text index as one query per rank, best first. */
export interface MatchPlan {
  all: FtsQuery;
  tiers: Tier[];
}

/** Columns of each group of contract 3.9, best first; all other columns are the last group. */
export type ColumnGroups = readonly (readonly string[])[];

/** Other words of the index at most `typos` typos away. */
export type FindSimilar = (word: string, typos: number) => string[];

export function planMatch(
  terms: OrganizationTerms,
  groups: ColumnGroups,
  filters: FtsQuery[],
  query: TextQuery | undefined,
  findSimilar: FindSimilar,
): MatchPlan {
  const required = query?.required ?? [];
  const excluded = (query?.excluded ?? []).map((term) => terms.exact(term));
  const withFilters = (queries: FtsQuery[]) => {
    const every = [...queries, ...filters];
    return andNot(allOf(every.length > 0 ? every : [exactTerm(terms.matchAllTerm)]), excluded);
  };
  if (required.length === 0) {
    const all = withFilters([]);
    return { all, tiers: [{ cumulative: all, ranks: [{ rank: 0, match: all }] }] };
  }
  const exact = required.map((term) => terms.exact(term));
  const prefixes = required.map((term) =>
    term.kind === 'word' && term.prefix ? terms.prefix(term.word) : terms.exact(term),
  );
  const similar = required.map((term, index) =>
    anyOfChunked(terms, [prefixes[index] as FtsQuery, ...similarTerms(terms, term, findSimilar)]),
  );
  const inGroups = groups.map((columns) => inColumns(columns, anyOf(prefixes)));
  const tiers: Tier[] = [];
  let before: FtsQuery | undefined;
  for (const [number, words] of [exact, prefixes, similar].entries()) {
    const cumulative = withFilters(words);
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

const ALTERNATIVES_PER_CHUNK = 32;

/**
 * OR over many queries. FTS5 evaluates every alternative of an OR for every row, and flattens nested ORs; NOT a term that no row has
 * keeps chunks apart, so that a row costs the number of chunks and the size of one.
 */
function anyOfChunked(terms: OrganizationTerms, queries: FtsQuery[]): FtsQuery {
  if (queries.length <= ALTERNATIVES_PER_CHUNK) return anyOf(queries);
  const chunks: FtsQuery[] = [];
  for (let from = 0; from < queries.length; from += ALTERNATIVES_PER_CHUNK) {
    const chunk = anyOf(queries.slice(from, from + ALTERNATIVES_PER_CHUNK));
    chunks.push(andNot(chunk, [exactTerm(terms.matchNoneTerm)]));
  }
  return anyOf(chunks);
}

function similarTerms(terms: OrganizationTerms, term: QueryTerm, findSimilar: FindSimilar): FtsQuery[] {
  if (term.kind === 'phrase' || term.typos === 0) return [];
  return findSimilar(term.word, term.typos)
    .filter((word) => !(term.prefix && word.startsWith(term.word)))
    .map((word) => exactTerm(terms.word(word)));
}
