import { leastMatched, type PartialMatch, type TextQuery } from '../../../search/query.js';
import type { Connection } from '../connection.js';
import { allOf, andNot, type FtsQuery, type OrganizationTerms } from './fts-query.js';
import { combinations, hasRows, type RowSource } from './ordered-rows.js';
import { excludedRows, type FindSimilar, rowsOfTerm } from './query-plan.js';

/** The part of a partial match whose rows match these terms, and none of what may be unwanted. */
interface MatchedTerms {
  query: TextQuery;
  unwanted: FtsQuery[];
}

/**
 * What rows match where none matches every term: as many terms as any row matches, or as an earlier page did. Rows are read only where
 * the terms that match some row do not meet in one.
 */
export function findPartialMatch(
  connection: Connection,
  terms: OrganizationTerms,
  query: TextQuery,
  filters: FtsQuery[],
  findSimilar: FindSimilar,
  sourceOf: (match: FtsQuery) => RowSource,
  earlier?: PartialMatch,
): PartialMatch & { parts: MatchedTerms[] } {
  const { required } = query;
  const rows = required.map((term) => rowsOfTerm(terms, term, findSimilar));
  const excluded = excludedRows(terms, query);
  const matching = (places: readonly number[]): RowSource =>
    sourceOf(andNot(allOf([...places.map((place) => rows[place] as FtsQuery), ...filters]), excluded));
  const places = [...required.keys()];
  const unmatched =
    places.length === 1 ? places : places.filter((place) => !hasRows(connection, matching([place])));
  const phrases = places.filter((place) => required[place]?.kind === 'phrase');
  const words = places.filter((place) => !phrases.includes(place) && !unmatched.includes(place));
  const least = Math.max(leastMatched(query), phrases.length);
  const nothing = { matched: 0, unmatched, parts: [] };
  if (phrases.some((place) => unmatched.includes(place)) || phrases.length + words.length < least) {
    return nothing;
  }

  let found: number[][];
  if (unmatched.length > 0 && hasRows(connection, matching([...phrases, ...words]))) {
    found = [words];
  } else {
    const masks = combinations(
      connection,
      words.map((word) => matching([...phrases, word])),
    );
    found = masks.map((mask) => words.filter((_, index) => mask & (2 ** index)));
    if (phrases.length >= least && hasRows(connection, matching(phrases))) found.push([]);
  }
  const most = phrases.length + Math.max(...found.map(({ length }) => length));
  const matched = earlier?.matched ?? most;
  if (!(matched >= least)) return nothing;
  const parts = found
    .filter(({ length }) => phrases.length + length === matched)
    .map((chosen) => {
      const isWanted = (place: number) => phrases.includes(place) || chosen.includes(place);
      return {
        query: { ...query, required: required.filter((_, place) => isWanted(place)) },
        // On a first page no row matches more: evaluating this for every row and rank would take as long again.
        unwanted: earlier ? rows.filter((_, place) => !isWanted(place) && !unmatched.includes(place)) : [],
      };
    });
  return { matched, unmatched: earlier?.unmatched ?? unmatched, parts };
}
