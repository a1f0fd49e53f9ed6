/** Words and values as terms of the index. */
import { createHash } from 'node:crypto';
import { isOfLetters, isTypoCandidate } from '../../../search/typos.js';

/**
 * Maximum characters of a word. The tokenizer splits tokens of more than 255 characters, so longer words are truncated, and words that are
 * equal up to this length match.
 */
const MAX_WORD_CHARACTERS = 254;
/** Prefix of words that a query with a typo cannot mean. Queries with typos, and the words that they match, begin with a letter. */
const WITHOUT_TYPOS = '=';
/** Maximum characters of a value. Lucene rejects terms above 32 766 bytes. */
const MAX_VALUE_CHARACTERS = 8000;
const separator = /[\s\p{Cc}]/u;
const separators = /[\s\p{Cc}]/gu;

/** Matches words that are one token without escaping, as nearly every word is. */
const plain = /^[\x21-\x7e]{1,254}$/;

export function wordToken(word: string): string {
  const token = oneToken(word);
  return isTypoCandidate(token) ? token : WITHOUT_TYPOS + token;
}

/** Prefixes of tokens: the token of every word with this beginning starts with one of them. */
export function beginningTokens(beginning: string): string[] {
  const token = oneToken(beginning);
  return isOfLetters(token) ? [token, WITHOUT_TYPOS + token] : [WITHOUT_TYPOS + token];
}

function oneToken(word: string): string {
  if (plain.test(word)) return word;
  let token = word.isWellFormed() ? word : word.toWellFormed();
  if (separator.test(token)) token = token.replace(separators, encodeURIComponent);
  return token.length <= MAX_WORD_CHARACTERS ? token : token.slice(0, MAX_WORD_CHARACTERS).toWellFormed();
}

/** Words as one text, which the analyzer splits at the spaces. */
export function wordTokens(words: readonly string[]): string {
  return words.map(wordToken).join(' ');
}

/** Token of a value that is compared as a whole; the token of a long value is its hash. */
export function valueToken(value: string): string {
  const token = value.toWellFormed();
  return token.length <= MAX_VALUE_CHARACTERS ? token : createHash('sha256').update(token).digest('hex');
}
