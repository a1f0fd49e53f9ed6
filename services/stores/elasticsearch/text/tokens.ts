/** Words and values as terms of the index. */
import { createHash } from 'node:crypto';
import { isOfLetters, isTypoCandidate } from '../../../search/typos.js';

/** The tokenizer splits tokens of more than 255 characters, so words are truncated: words that are equal up to here match. */
const MAX_WORD_CHARACTERS = 254;
/** Marks words that a query with a typo cannot mean. Such a query, and what it matches, begins with a letter. */
const WITHOUT_TYPOS = '=';
/** Lucene rejects terms above 32 766 bytes. */
const MAX_VALUE_CHARACTERS = 8000;
const separator = /[\s\p{Cc}]/u;
const separators = /[\s\p{Cc}]/gu;

/** Matches nearly every word. Such a word is one token without escaping. */
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
