/** Decides which words may have typos, and how many (contract 3.9). */
import { codePoints } from '../shared/text.js';

/** Minimum letters of a query word for one typo, and for two typos. */
const MIN_LETTERS = { oneTypo: 4, twoTypos: 8 };

const ASCII_LETTERS = /^[a-z]+$/;
const LETTERS = /^[\p{L}\p{M}]+$/u;

/** Number of typos that a folded query word may have: insertions, deletions, substitutions and transpositions of neighbours. */
export function allowedTypos(word: string): 0 | 1 | 2 {
  if (!isOfLetters(word)) return 0;
  const length = codePoints(word);
  return length >= MIN_LETTERS.twoTypos ? 2 : length >= MIN_LETTERS.oneTypo ? 1 : 0;
}

/**
 * Whether a query word with a typo can mean this folded word of a record. The word of the record may be one letter shorter than the
 * shortest query word that may have a typo.
 */
export function isTypoCandidate(word: string): boolean {
  return word.length >= MIN_LETTERS.oneTypo - 1 && isOfLetters(word);
}

export const isOfLetters = (word: string): boolean => ASCII_LETTERS.test(word) || LETTERS.test(word);
