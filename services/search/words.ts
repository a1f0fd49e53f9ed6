/** Words of texts and addresses, for the index and for queries. */
import { compounds, fold, plainAscii, spelledOut, words } from '../shared/text.js';
import { normalizeDomain, normalizeEmail, normalizeProfileUrl, profileSlug } from './normalize.js';

/** Marks a word that is the second or a later occurrence in a text. No other word begins with an asterisk. */
const REPEAT = '*';
/** Minimum letters of a marked word. Single letters are initials, each of which may stand for several names. */
const MIN_REPEATED_LETTERS = 2;

/** Marks the second and later of equal words, so that a word that a query repeats needs two words of the record. */
export function markRepeats(given: readonly string[]): string[] {
  if (new Set(given).size === given.length) return [...given];
  const times = new Map<string, number>();
  return given.map((word) => {
    const before = times.get(word) ?? 0;
    times.set(word, before + 1);
    return word.length < MIN_REPEATED_LETTERS ? word : REPEAT.repeat(before) + word;
  });
}

export const isRepeat = (word: string) => word.startsWith(REPEAT);

/** The word without its mark. */
export const withoutMark = (word: string) => (isRepeat(word) ? word.replace(/^\*+/, '') : word);

/** The words of a text, with repeated words marked and umlauts spelled out, then its emails and domains, and its dotted letters joined. */
export function textWords(text: string): string[] {
  const value = words(text);
  value.push(...markRepeats(value).filter(isRepeat), ...spelledOut(text).values());
  if (!text.includes('.')) return value;
  for (const compound of compounds(text)) value.push(compoundWord(compound));
  for (const [dotted] of fold(text).matchAll(dottedLetters)) value.push(joinLetters(dotted));
  return value;
}

/** "b.v", "s.p.a", "t. j": letters with a dot after each except the last. */
const dottedLetters = /(?<![\p{L}\p{M}\p{N}])\p{L}\p{M}*(?:\.\s?\p{L}\p{M}*)+(?![\p{L}\p{M}\p{N}])/gu;

const joinLetters = (dotted: string) => dotted.replace(/[.\s]/g, '');

/** The folded text with its dotted letters as words. */
export const joinDottedLetters = (folded: string): string =>
  folded.includes('.') ? folded.replace(dottedLetters, joinLetters) : folded;

/** The single word that stands for an email or domain of a text. */
export function compoundWord(compound: string): string {
  return compound.includes('@') ? emailWord(compound) : fold(normalizeDomain(compound));
}

/** Matches nearly every address, for which `compounds` would find only the address itself. */
const plainEmail = /^[a-z0-9][a-z0-9._+-]*@[a-z0-9.-]*[a-z0-9]$/;

/**
 * The words of an email address. The whole address also counts as one word, and so does its domain. Only these words have an `@` inside, so
 * they decide who has the address. `foldedEmail` marks other meanings of a query: an address without accents, and the parts of
 * `o'brien@acme.example` that look like an address.
 */
export function emailWords(email: string): string[] {
  const normal = normalizeEmail(email);
  const value = words(normal);
  const domain = fold(normal.slice(normal.lastIndexOf('@') + 1));
  if (plainEmail.test(normal)) value.push(normal, domain);
  else if (plainAscii.test(normal)) {
    const parts = compounds(normal).filter((part) => part !== normal);
    value.push(...new Set([...parts.map(partOfEmail), normal, domain]));
  } else value.push(...new Set([normal, foldedEmail(fold(normal)), domain]));
  return value;
}

const partOfEmail = (part: string) => (part.includes('@') ? foldedEmail(part) : part);

/** The single word that stands for an email address in a query, without accents. */
export function emailWord(email: string): string {
  return fold(normalizeEmail(email));
}

/** Marks an address without accents, or a part of an address, so that it does not count as a whole address. */
export const foldedEmail = (folded: string) => `@${folded}`;

/** The words of the slug of a profile address, and the whole slug as one word. */
export function slugWords(url: string): string[] {
  const slug = profileSlug(normalizeProfileUrl(url));
  return [...textWords(slug), slugWord(slug)];
}

/** The single word that stands for a profile address. No other word begins with a slash. */
export const slugWord = (slug: string) => `/${fold(slug)}`;

/** The words of a postal code, and the whole code as one word: "SW1A 1AA" is also found as "sw1a1aa". */
export function postalCodeWords(text: string): string[] {
  const value = words(text);
  if (value.length > 1) value.push(value.join(''));
  return value;
}
