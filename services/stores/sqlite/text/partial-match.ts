import { leastMatched, type PartialMatch, type TextQuery } from '../../../search/query.js';
import type { Connection } from '../connection.js';
import type { RowId } from '../row-ids.js';
import { allOf, andNot, anyOf, type FtsQuery, type OrganizationTerms } from './fts-query.js';
import {
  combinations,
  countUpTo,
  hasRows,
  type MarkedRow,
  newestRowIds,
  type RowSource,
  rowsInSources,
} from './ordered-rows.js';
import { excludedRows, type FindSimilar, rowsOfTerm } from './query-plan.js';

/** The part of a partial match whose rows match these terms, and none of what may be unwanted. */
interface MatchedTerms {
  query: TextQuery;
  unwanted: FtsQuery[];
}

/** A row, and the terms that it matches. */
export interface MatchedRow {
  position: RowId;
  query: TextQuery;
}

export interface FoundPartialMatch extends PartialMatch {
  /** Every row, where they are few. */
  rows?: MatchedRow[];
  /** The rows by the terms that they match. */
  parts: MatchedTerms[];
}

/** Rows that are ranked one by one, 0.1 ms each; the index takes 0.1 to 1 s for the ranks of several terms. */
export const MAX_RANKED_ROWS = 1000;
/**
 * Of as few words each choice is searched: the index intersects them, which takes a fraction of counting all their rows. Choices
 * grow faster than words.
 */
const MAX_CHOSEN_WORDS = 4;
/** Up to here rows of terms are counted, to know which terms are rare. */
const MAX_COUNT = 20_000;

/**
 * What rows match where none matches every term: as many terms as any row matches, or as an earlier page did. A row without k of the
 * terms matches one of the k + 1 rarest, so that the rows of frequent terms are read only where a rare one matches.
 */
export function findPartialMatch(
  connection: Connection,
  terms: OrganizationTerms,
  query: TextQuery,
  filters: FtsQuery[],
  findSimilar: FindSimilar,
  sourceOf: (match: FtsQuery) => RowSource,
  earlier?: PartialMatch,
): FoundPartialMatch {
  const { required } = query;
  const rows = required.map((term) => rowsOfTerm(terms, term, findSimilar));
  const excluded = excludedRows(terms, query);
  const matching = (places: readonly number[], also: FtsQuery[] = [], unwanted: FtsQuery[] = []): RowSource =>
    sourceOf(
      andNot(allOf([...places.map((place) => rows[place] as FtsQuery), ...also, ...filters]), [
        ...unwanted,
        ...excluded,
      ]),
    );
  const places = [...required.keys()];
  const counts = places.map((place) => countUpTo(connection, matching([place]), MAX_COUNT));
  const unmatched = places.filter((place) => places.length === 1 || counts[place] === 0);
  const phrases = places.filter((place) => required[place]?.kind === 'phrase');
  const words = places
    .filter((place) => !phrases.includes(place) && !unmatched.includes(place))
    .sort((left, right) => (counts[left] as number) - (counts[right] as number));
  const least = leastMatched(query);
  const nothing = { matched: 0, unmatched, parts: [] };
  if (phrases.some((place) => unmatched.includes(place))) return nothing;

  const queryOf = (chosen: readonly number[]): TextQuery => ({
    ...query,
    required: required.filter((_, place) => phrases.includes(place) || chosen.includes(place)),
  });
  const part = (chosen: readonly number[]): MatchedTerms => ({
    query: queryOf(chosen),
    // On a first page no row matches more: evaluating this for every row and rank would take as long again.
    unwanted: earlier ? rows.filter((_, place) => words.includes(place) && !chosen.includes(place)) : [],
  });
  type Found = Pick<FoundPartialMatch, 'matched' | 'rows' | 'parts'>;
  /** Those that match these words and every phrase; undefined where no row does. */
  const findAll = (chosen: readonly number[]): Found | undefined =>
    hasRows(connection, matching([...phrases, ...chosen]))
      ? { matched: phrases.length + chosen.length, parts: [part(chosen)] }
      : undefined;
  /** As `findMost`, by a search for each choice of as many of few words; no row matches more of them. */
  const findChoice = (count: number): Found | undefined => {
    const matched = phrases.length + count;
    const found: MatchedRow[] = [];
    const parts: MatchedTerms[] = [];
    for (const chosen of choicesOf(words, count)) {
      const choice = part(chosen);
      const source = matching([...phrases, ...chosen], [], choice.unwanted);
      const positions = newestRowIds(connection, source, Math.max(MAX_RANKED_ROWS + 1 - found.length, 1));
      if (positions.length > 0) parts.push(choice);
      for (const position of positions) found.push({ position, query: choice.query });
    }
    if (parts.length === 0) return undefined;
    return found.length > MAX_RANKED_ROWS || matched === 1
      ? { matched, parts }
      : { matched, rows: found, parts: [] };
  };
  /** Those that match the most of the words, from `fewest` to `most` of them; undefined where no row does. */
  const findMost = (fewest: number, most: number): Found | undefined => {
    if (words.length <= MAX_CHOSEN_WORDS) {
      for (let count = most; count >= fewest; count--) {
        const found = findChoice(count);
        if (found) return found;
      }
      return undefined;
    }
    const rare = words.slice(0, words.length - fewest + 1);
    const hasRare = [anyOf(rare.map((place) => rows[place] as FtsQuery))];
    const sources = words.map((place) => matching([...phrases, place], rare.includes(place) ? [] : hasRare));
    const found = rowsInSources(connection, sources, fewest, most, MAX_RANKED_ROWS + 1);
    const count = found[0]?.count;
    if (count === undefined) return undefined;
    const best = found.filter((row) => row.count === count);
    const isEvery = best.length <= MAX_RANKED_ROWS;
    const masks = isEvery ? new Set(best.map(({ mask }) => mask)) : combinations(connection, sources, count);
    const choices = new Map(
      [...masks].map((mask) => [mask, words.filter((_, index) => mask & (2 ** index))]),
    );
    const matched = phrases.length + count;
    if (!isEvery || matched === 1) {
      return { matched, parts: [...choices.values()].map(part) };
    }
    const queries = new Map([...choices].map(([mask, chosen]) => [mask, queryOf(chosen)]));
    const asRow = ({ position, mask }: MarkedRow) => ({ position, query: queries.get(mask) as TextQuery });
    return { matched, rows: best.map(asRow), parts: [] };
  };

  if (earlier) {
    const count = earlier.matched - phrases.length;
    const isChoice = count > 0 && count < words.length;
    const found = isChoice ? findMost(count, count) : findAll(words.slice(0, count));
    return { parts: [], ...found, matched: earlier.matched, unmatched: earlier.unmatched };
  }
  const fewest = least - phrases.length;
  if (words.length < fewest) return nothing;
  // The fewest is looked for where all but one are not found: each look reads more rows.
  const found =
    (unmatched.length > 0 ? findAll(words) : undefined) ??
    (words.length > 1 ? findMost(Math.max(words.length - 1, fewest, 1), words.length - 1) : undefined) ??
    (words.length > 2 ? findMost(Math.max(fewest, 1), words.length - 2) : undefined) ??
    (fewest <= 0 ? findAll([]) : undefined);
  return found ? { ...found, unmatched } : nothing;
}

/** Every choice of `count` of the places. */
function choicesOf(places: readonly number[], count: number): number[][] {
  if (count === 0) return [[]];
  return places.flatMap((place, index) =>
    choicesOf(places.slice(index + 1), count - 1).map((others) => [place, ...others]),
  );
}
