/** Names as people write them: in parts, or written together if the script has no spaces (contract 3.9). */
import { memoize } from '../shared/cache.js';
import { fold, plainAscii, spelledOut, words } from '../shared/text.js';
import type { QueryTerm, TextQuery, WordTerm } from './query.js';
import { isRepeat, joinDottedLetters, markRepeats, textWords } from './words.js';

const insideWords = /['’‐-]+/g;
const betweenWords = /['’‐\s-]+/g;
/** Matches most words of names. */
const plainWord = /^[a-z0-9]+$/;
const withoutSpaces = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{M}ー々]+$/u;

/**
 * The readings of a name: split everywhere, only at spaces, and nowhere: [o, connor, smith], [oconnor, smith], [oconnorsmith]. "T. J." also
 * gives [tj].
 */
function readings(name: string): string[][] {
  const folded = fold(name);
  const own = plainWord.test(folded) ? [[folded]] : differentReadings(folded);
  const spelled = spelledOut(name);
  return spelled.size === 0 ? own : [...own, words(name).map((word) => spelled.get(word) ?? word)];
}

const differentReadings = memoize((folded: string): string[][] => {
  const different = new Map<string, string[]>();
  const written = [folded, folded.replace(insideWords, ''), folded.replace(betweenWords, '')];
  for (const text of [...written, joinDottedLetters(folded)]) {
    const read = words(text);
    if (read.length > 0) different.set(read.join(' '), read);
  }
  return [...different.values()];
});

/** The words of a name and its emails and domains, then its joined words. */
export function nameWords(name: string): string[] {
  const value = textWords(name);
  if (value.length === 1) return value;
  const joined = new Set(readings(name).flat());
  for (const word of value) joined.delete(word);
  value.push(...joined);
  return value;
}

/** Maximum characters of a run of Han, kana or Hangul that are indexed: any sequence of these characters finds a company name. */
const MAX_RUN_CHARACTERS = 64;
const runWithoutSpaces = /[\p{sc=Han}\p{sc=Kana}\p{sc=Hang}\p{M}ー々]{3,}/gu;
/** Whether a position begins a character: not within a Hangul syllable, which is folded to two or three letters, and not before a mark. */
const beginsCharacter = /^[^\p{M}\u1160-\u11ff]/u;

/** The words of a name, and words that begin within a run of Han, kana or Hangul. */
export function companyWords(name: string): string[] {
  const value = nameWords(name);
  if (plainAscii.test(name)) return value;
  const within = new Set<string>();
  for (const [run] of fold(name).matchAll(runWithoutSpaces)) {
    const characters = Array.from(run).slice(0, MAX_RUN_CHARACTERS);
    for (let start = 0; start < characters.length - 1; start++) {
      const rest = characters.slice(start).join('');
      if (beginsCharacter.test(rest)) within.add(rest);
    }
  }
  for (const word of value) within.delete(word);
  value.push(...within);
  return value;
}

/**
 * Last and first name together, in both orders. In scripts without spaces, each order is one word. In other scripts, `joinedName` marks the
 * word, which is searched without typos: with typos, the words that queries may misspell would double.
 */
export function namesTogether(firstName: string | null, lastName: string | null): string[] {
  if (firstName === null || lastName === null) return [];
  const [first, last] = [firstName, lastName].map((name) => words(name).join('')) as [string, string];
  if (first === '' || last === '') return [];
  const together = [`${last}${first}`, `${first}${last}`];
  return withoutSpaces.test(first) && withoutSpaces.test(last) ? together : together.map(joinedName);
}

/** First and last name joined to one word. No other word begins with a plus. */
const joinedName = (word: string) => `+${word}`;

/** Minimum letters of a joined name. Shorter words match the beginnings of names anyway. */
const MIN_JOINED_NAME_LETTERS = 5;
/** The Thai title "Khun", which is written together with the name after it. */
const THAI_TITLE = 'คุณ';

/** The query with marks on the second and later of equal words, so that these words match only records that repeat the word as often. */
export function withRepeats(query: TextQuery): TextQuery {
  const places = query.required.flatMap((term, index) =>
    term.kind === 'word' && letters.test(term.word) ? [index] : [],
  );
  const marked = markRepeats(places.map((place) => (query.required[place] as WordTerm).word));
  const repeats = new Map(
    places.flatMap((place, index) => {
      const word = marked[index] as string;
      return isRepeat(word) ? [[place, word] as const] : [];
    }),
  );
  const required = query.required.map((term, place): QueryTerm => {
    const word = repeats.get(place);
    return word === undefined ? term : { kind: 'word', word, prefix: false, typos: 0 };
  });
  return repeats.size === 0 ? query : { ...query, required };
}

/** The query, with words that may be a first and last name written together, and phrases that may be both names. */
export function withJoinedNames(query: TextQuery): TextQuery {
  const withJoined = (term: QueryTerm): QueryTerm => {
    if (term.kind === 'phrase') {
      const together = term.words.join('');
      const isName = term.words.length > 1;
      return isName
        ? { ...term, joined: [withoutSpaces.test(together) ? together : joinedName(together)] }
        : term;
    }
    if (!term.prefix || !letters.test(term.word)) return term;
    const { word } = term;
    const untitled = word.startsWith(THAI_TITLE) ? [word.slice(THAI_TITLE.length)] : [];
    const joined = [word, ...untitled]
      .filter(({ length }) => length >= MIN_JOINED_NAME_LETTERS)
      .map(joinedName);
    const all = [...(term.joined ?? []), ...untitled, ...joined].filter((other) => other !== '');
    return all.length === 0 ? term : { ...term, joined: all };
  };
  const excludes = (term: QueryTerm) => (term.kind === 'phrase' ? withJoined(term) : term);
  return { ...query, required: query.required.map(withJoined), excluded: query.excluded.map(excludes) };
}

/** Key of a set of words, distinct and in alphabetical order. A query with the key of a name gives the whole name. */
export const nameKey = (given: readonly string[]): string =>
  given.length === 1 ? (given[0] as string) : [...new Set(given)].sort().join(' ');

export interface NameKeys {
  whole: string[];
  parts: string[];
  /** First letters of the words of the name. */
  initials: string[];
}

/** The keys of a name with one or several parts, such as first and last name, and of each part. */
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
  for (const together of namesTogether(first, last)) if (withoutSpaces.test(together)) keys.add(together);
  keys.delete('');
  return { whole: [...keys], parts: [...parts], initials: [...initials] };
}

/** Minimum letters of joined words. Shorter joined words would match too much. */
const MIN_JOINED_LENGTH = 4;
const letters = /^[\p{L}\p{M}]+$/u;
const oneLetter = /^\p{L}\p{M}*$/u;

/** The words that each word forms with its neighbours: "mc", "connell" may mean "mcconnell", and "t", "j" may mean "tj". */
export function joinedNeighbours(given: readonly string[]): string[][] {
  const initials = given.map((): string[] => []);
  for (let start = 0, end = 0; start < given.length; start = end + 1) {
    end = start;
    while (end < given.length && oneLetter.test(given[end] as string)) end++;
    if (end - start > 1) initials.fill([given.slice(start, end).join('')], start, end);
  }
  const join = (left: string | undefined, right: string | undefined): string[] =>
    left !== undefined &&
    right !== undefined &&
    left.length + right.length >= MIN_JOINED_LENGTH &&
    letters.test(left) &&
    letters.test(right)
      ? [`${left}${right}`]
      : [];
  return given.map((word, index) => [
    ...(initials[index] as string[]),
    ...join(given[index - 1], word),
    ...join(word, given[index + 1]),
  ]);
}
