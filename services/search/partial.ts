/** Weighs the words of a query if no record matches all of them (contract 3.9). */
import { type PartialMatch, phrasesOf, type TextQuery } from './query.js';

/** Maximum records that are counted for a word. A word with more records is frequent. */
export const MAX_COUNTED = 20_000;

/** Unit of weights. Larger than the maximum number of terms, so that a sum of weights also encodes the number of its terms. */
const TERMS_UNIT = 16;
/** Rarity of a word that one in a hundred records has. */
const RARE = rarity(1, 100);
/** Minimum number of records for the weights. With fewer records, no word would be rare. */
const LEAST_RECORDS = 1000;

/** The square of the information of a word, in bits, rounded. Rare words say much more than frequent words. */
function rarity(count: number, records: number): number {
  return Math.max(1, Math.round(Math.log2(records / count) ** 2));
}

/**
 * The weight of each term, by how many of the searched records match the term; 0 if no record does. Weights are integers: their sum is
 * exact in every store, and at most 2^24, up to which 32-bit floating point is exact.
 */
export const weightsOf = (counts: readonly number[], records: number): number[] =>
  counts.map((count) =>
    count === 0
      ? 0
      : rarity(Math.min(count, MAX_COUNTED), Math.max(records, count, LEAST_RECORDS)) * TERMS_UNIT + 1,
  );

/** Weight of a word that one of 2^53 records has. */
export const MAX_WEIGHT = rarity(1, Number.MAX_SAFE_INTEGER) * TERMS_UNIT + 1;

/** Whether a word is so rare that a record may match although it has less than half of the words. */
export const isRare = (weight: number): boolean => weight > RARE * TERMS_UNIT;

/** The number of terms in a sum of weights. */
export const termsIn = (weight: number): number => weight % TERMS_UNIT;

export const sumOf = (weights: readonly number[]): number => weights.reduce((sum, weight) => sum + weight, 0);

/** Minimum terms that a record must match unless one of them is rare: half of the terms, rounded up, and all phrases. */
export const leastMatched = (query: TextQuery): number =>
  Math.max(Math.ceil(query.required.length / 2), phrasesOf(query).length);

/** Result without a match. */
export const noMatch = (weights: readonly number[]): PartialMatch => ({ matched: 0, weight: 0, weights });

/** Positions in the query of the terms that no record matches. */
export const unmatchedOf = ({ weights }: PartialMatch): number[] =>
  weights.flatMap((weight, place) => (weight === 0 ? [place] : []));
