import {
  isRare,
  leastMatched,
  MAX_COUNTED,
  noMatch,
  sumOf,
  termsIn,
  weightsOf,
} from '../../../search/partial.js';
import { type PartialMatch, phrasesOf, type TextQuery } from '../../../search/query.js';
import type { Connection } from '../connection.js';
import type { RowId } from '../row-ids.js';
import { allOf, andNot, anyOf, type FtsQuery, type OrganizationTerms } from './fts-query.js';
import {
  combinations,
  countUpTo,
  hasRows,
  heaviestRows,
  newestRowIds,
  type RowSource,
  type WeighedSource,
} from './ordered-rows.js';
import { excludedRows, type FindSimilar, rowsOfTerm } from './query-plan.js';

/** One set of rows of a partial match: rows that match `query` and nothing in `unwanted`. */
interface MatchedTerms {
  query: TextQuery;
  unwanted: FtsQuery[];
}

/** A row and the terms that this row matches. */
export interface MatchedRow {
  position: RowId;
  query: TextQuery;
}

export interface FoundPartialMatch extends PartialMatch {
  /** All rows, if they are few enough to rank one by one. */
  rows?: MatchedRow[];
  /** The rows, grouped by the terms that they match. */
  parts: MatchedTerms[];
}

/** Maximum rows to rank one by one, at 0.1 ms each. With the index, the ranks of several terms take 0.1 to 1 s. */
export const MAX_RANKED_ROWS = 1000;
/**
 * Maximum words for which each choice of words is searched: the index intersects the words of a choice in a fraction of the time that
 * counting their rows takes. The number of choices grows faster than the number of words.
 */
const MAX_CHOSEN_WORDS = 4;

/**
 * Finds the terms that rows must match if no row matches every term: the heaviest terms that occur together, or the terms that an earlier
 * page used. Rows of frequent terms are read only if they also match a rare term.
 */
export function findPartialMatch(
  connection: Connection,
  terms: OrganizationTerms,
  query: TextQuery,
  filters: FtsQuery[],
  findSimilar: FindSimilar,
  sourceOf: (match: FtsQuery) => RowSource,
  countAll: () => number,
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
  const count = (place: number) =>
    places.length === 1 ? 0 : countUpTo(connection, matching([place]), MAX_COUNTED);
  const weights = earlier?.weights ?? weightsOf(places.map(count), countAll());
  const weightOf = (chosen: readonly number[]) => sumOf(chosen.map((place) => weights[place] as number));
  const phrases = phrasesOf(query);
  const nothing = { ...noMatch(weights), parts: [] };
  if (phrases.some((place) => weights[place] === 0)) return nothing;
  /** Words, heaviest first. */
  const words = places
    .filter((place) => !phrases.includes(place) && weights[place] !== 0)
    .sort((left, right) => (weights[right] as number) - (weights[left] as number));
  const fewest = leastMatched(query) - phrases.length;
  const isRarePlace = (place: number) => isRare(weights[place] as number);
  const isEnough = (chosen: readonly number[]) =>
    chosen.length >= fewest || [...phrases, ...chosen].some(isRarePlace);

  const queryOf = (chosen: readonly number[]): TextQuery => ({
    ...query,
    required: required.filter((_, place) => phrases.includes(place) || chosen.includes(place)),
  });
  const part = (chosen: readonly number[]): MatchedTerms => ({
    query: queryOf(chosen),
    // On a first page, no row matches more terms than the chosen terms: checking this for every row and rank would double the time.
    unwanted: earlier ? rows.filter((_, place) => words.includes(place) && !chosen.includes(place)) : [],
  });
  const foundOf = (weight: number, found: Pick<FoundPartialMatch, 'rows' | 'parts'>): FoundPartialMatch => ({
    matched: termsIn(weight),
    weight,
    weights,
    ...found,
  });
  /** For few words: searches each choice of words that has the weight. Undefined if no row matches any choice. */
  const findChoices = (choices: readonly number[][], weight: number): FoundPartialMatch | undefined => {
    const found: MatchedRow[] = [];
    const parts: MatchedTerms[] = [];
    for (const chosen of choices) {
      const choice = part(chosen);
      const source = matching([...phrases, ...chosen], [], choice.unwanted);
      const positions = newestRowIds(connection, source, Math.max(MAX_RANKED_ROWS + 1 - found.length, 1));
      if (positions.length > 0) parts.push(choice);
      for (const position of positions) found.push({ position, query: choice.query });
    }
    if (parts.length === 0) return undefined;
    return found.length > MAX_RANKED_ROWS || termsIn(weight) === 1
      ? foundOf(weight, { parts })
      : foundOf(weight, { rows: found, parts: [] });
  };
  const ofPhrases = weightOf(phrases);
  if (words.length <= MAX_CHOSEN_WORDS) {
    const byWeight = new Map<number, number[][]>();
    for (const chosen of choicesOf(words)) {
      const weight = ofPhrases + weightOf(chosen);
      const isAll = phrases.length + chosen.length === required.length;
      if (!isAll && isEnough(chosen) && (earlier === undefined || weight === earlier.weight))
        byWeight.set(weight, [...(byWeight.get(weight) ?? []), chosen]);
    }
    for (const weight of [...byWeight.keys()].sort((left, right) => right - left)) {
      const found = weight === 0 ? undefined : findChoices(byWeight.get(weight) as number[][], weight);
      if (found) return found;
    }
    return earlier ? { ...nothing, ...earlier } : nothing;
  }
  // Some row has all of these words: the heaviest row has at least their weight, and therefore one of the words without which that weight
  // is out of reach.
  const together: number[] = [];
  for (const place of earlier ? [] : words) {
    if (hasRows(connection, matching([...phrases, ...together, place]))) together.push(place);
  }
  const least = earlier ? earlier.weight - ofPhrases : isEnough(together) ? weightOf(together) : 1;
  let needed = 0;
  while (needed < words.length && weightOf(words.slice(needed)) >= least) needed++;
  const rare = words.slice(0, needed);
  const hasRare = [anyOf(rare.map((place) => rows[place] as FtsQuery))];
  const sources = words.map(
    (place): WeighedSource => ({
      source: matching([...phrases, place], rare.includes(place) ? [] : hasRare),
      weight: weights[place] as number,
      isRare: isRarePlace(place) || phrases.some(isRarePlace),
    }),
  );
  const bounds = { fewest, least, most: earlier ? least : Number.MAX_SAFE_INTEGER };
  const heaviest = heaviestRows(connection, sources, bounds, MAX_RANKED_ROWS + 1);
  const weight = heaviest[0]?.weight;
  if (weight === undefined) return earlier ? { ...nothing, ...earlier } : nothing;
  const best = heaviest.filter((row) => row.weight === weight);
  const isEvery = best.length <= MAX_RANKED_ROWS;
  const masks = isEvery
    ? new Set(best.map(({ mask }) => mask))
    : combinations(connection, sources, fewest, weight);
  const choices = new Map([...masks].map((mask) => [mask, words.filter((_, index) => mask & (2 ** index))]));
  const whole = weight + ofPhrases;
  if (!isEvery || termsIn(whole) === 1) return foundOf(whole, { parts: [...choices.values()].map(part) });
  const queries = new Map([...choices].map(([mask, chosen]) => [mask, queryOf(chosen)]));
  const found = best.map(({ position, mask }) => ({ position, query: queries.get(mask) as TextQuery }));
  return foundOf(whole, { rows: found, parts: [] });
}

/** Every combination of positions. */
function choicesOf([first, ...rest]: readonly number[]): number[][] {
  if (first === undefined) return [[]];
  const others = choicesOf(rest);
  return [...others.map((chosen) => [first, ...chosen]), ...others];
}
