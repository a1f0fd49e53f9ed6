/** Words and values in the form in which the index holds them. */
import { createHash } from 'node:crypto';

/** The tokenizer cuts longer words apart, so that they are cut off instead: alike up to here is the same word. */
const MAX_WORD = 255;
/** Lucene refuses terms of more than 32 766 bytes. */
const MAX_VALUE = 8000;
const separator = /[\s\p{Cc}]/u;
const separators = /[\s\p{Cc}]/gu;

/** Nearly every word: nothing of it is to be changed. */
const plain = /^[\x21-\x7e]{1,255}$/;

export function wordToken(word: string): string {
  if (plain.test(word)) return word;
  let token = word.isWellFormed() ? word : word.toWellFormed();
  if (separator.test(token)) token = token.replace(separators, encodeURIComponent);
  return token.length <= MAX_WORD ? token : token.slice(0, MAX_WORD).toWellFormed();
}

/** Words as one text, which the analyzer takes apart again at the spaces. */
export function wordTokens(words: readonly string[]): string {
  return words.map(wordToken).join(' ');
}

/** A value compared as a whole. */
export function valueToken(value: string): string {
  const token = value.toWellFormed();
  return token.length <= MAX_VALUE ? token : createHash('sha256').update(token).digest('hex');
}
