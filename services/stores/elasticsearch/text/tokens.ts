/** Words and values as terms of the index. */
import { createHash } from 'node:crypto';

/** The tokenizer splits longer words, so they are truncated: words equal up to here match. */
const MAX_WORD_CHARACTERS = 255;
/** Lucene rejects terms above 32 766 bytes. */
const MAX_VALUE_CHARACTERS = 8000;
const separator = /[\s\p{Cc}]/u;
const separators = /[\s\p{Cc}]/gu;

/** Matches nearly every word, which then needs no change. */
const plain = /^[\x21-\x7e]{1,255}$/;

export function wordToken(word: string): string {
  if (plain.test(word)) return word;
  let token = word.isWellFormed() ? word : word.toWellFormed();
  if (separator.test(token)) token = token.replace(separators, encodeURIComponent);
  return token.length <= MAX_WORD_CHARACTERS ? token : token.slice(0, MAX_WORD_CHARACTERS).toWellFormed();
}

/** Words as one text, which the analyzer splits at the spaces. */
export function wordTokens(words: readonly string[]): string {
  return words.map(wordToken).join(' ');
}

/** A value that is compared as a whole; long ones become their hash. */
export function valueToken(value: string): string {
  const token = value.toWellFormed();
  return token.length <= MAX_VALUE_CHARACTERS ? token : createHash('sha256').update(token).digest('hex');
}
