/** Names as people write them: in parts or joined, and written together where the script has no space (contract 3.9). */
import { memoize } from '../shared/cache.js';
import { fold, words } from '../shared/text.js';
import { textWords } from './words.js';

const insideWords = /['’‐-]+/g;
const betweenWords = /['’‐\s-]+/g;
/** Most names. */
const plainWord = /^[a-z0-9]+$/;
const withoutSpaces = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{M}ー々]+$/u;

/** The words of a name split everywhere, only at spaces, and nowhere: [o, connor, smith], [oconnor, smith], [oconnorsmith]. */
function readings(name: string): string[][] {
  const folded = fold(name);
  return plainWord.test(folded) ? [[folded]] : differentReadings(folded);
}

const differentReadings = memoize((folded: string): string[][] => {
  const different = new Map<string, string[]>();
  for (const text of [folded, folded.replace(insideWords, ''), folded.replace(betweenWords, '')]) {
    const read = words(text);
    if (read.length > 0) different.set(read.join(' '), read);
  }
  return [...different.values()];
});

/** The words of a name and its emails and domains, then its words joined. */
export function nameWords(name: string): string[] {
  const value = textWords(name);
  if (value.length === 1) return value;
  const joined = new Set(readings(name).flat());
  for (const word of value) joined.delete(word);
  value.push(...joined);
  return value;
}

const hasAsciiLetter = /[a-z]/i;

/** Last and first name together, in both orders; none for scripts that put a space between them. */
export function namesTogether(firstName: string | null, lastName: string | null): string[] {
  if (firstName === null || lastName === null || hasAsciiLetter.test(lastName)) return [];
  const [first, last] = [firstName, lastName].map((name) => fold(name).replace(betweenWords, '')) as [
    string,
    string,
  ];
  return withoutSpaces.test(first) && withoutSpaces.test(last) ? [`${last}${first}`, `${first}${last}`] : [];
}

/** A query gives a whole name if its words equal these: distinct, in alphabetical order. */
export const nameKey = (given: readonly string[]): string =>
  given.length === 1 ? (given[0] as string) : [...new Set(given)].sort().join(' ');

export interface NameKeys {
  whole: string[];
  parts: string[];
  /** First letters of the words. */
  initials: string[];
}

/** The keys of a name of one or several parts, such as first and last name, and of each part. */
export function nameKeys(names: readonly (string | null)[]): NameKeys {
  const parts = new Set<string>();
  const initials = new Set<string>();
  let whole: string[][] = [[]];
  for (const name of names) {
    if (name === null) continue;
    const read = readings(name);
    for (const reading of read) parts.add(nameKey(reading));
    for (const word of read[0] ?? []) initials.add(String.fromCodePoint(word.codePointAt(0) as number));
    const longer: string[][] = [];
    for (const before of whole) for (const after of read) longer.push([...before, ...after]);
    whole = longer;
  }
  const [first = null, last = null] = names;
  const keys = new Set(whole.map(nameKey));
  for (const together of namesTogether(first, last)) keys.add(together);
  keys.delete('');
  return { whole: [...keys], parts: [...parts], initials: [...initials] };
}

/** Joined words shorter than this would match too much. */
const MIN_JOINED_LENGTH = 4;
const letters = /^[\p{L}\p{M}]+$/u;

/** For each word, the words it forms with its neighbours: "mc", "connell" may mean "mcconnell". */
export function joinedNeighbours(given: readonly string[]): string[][] {
  const join = (left: string | undefined, right: string | undefined): string[] =>
    left !== undefined &&
    right !== undefined &&
    left.length + right.length >= MIN_JOINED_LENGTH &&
    letters.test(left) &&
    letters.test(right)
      ? [`${left}${right}`]
      : [];
  return given.map((word, index) => [...join(given[index - 1], word), ...join(word, given[index + 1])]);
}
