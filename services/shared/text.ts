import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './fs.js';

/**
 * Normal form, words and length of text. Stored text and searched text pass through the same functions, so a word matches in one store if
 * and only if it matches in the other store (contract 3.9).
 */

/** Letters whose stroke or ligature Unicode does not decompose, so dropping marks alone would keep the stroke or ligature. */
const UNDECOMPOSED: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŧ: 't',
  ς: 'σ',
  // Arabic and Persian keyboards write the same letter in two ways.
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  // Unicode calls this character a letter, but in Ukrainian names it is an apostrophe.
  ʼ: "'",
};
const undecomposed = /[ßæœøđðþħıłŧςىیکʼ]/g;
export const plainAscii = /^[\0-\x7f]*$/;

/** Accents, harakat and niqqud. Marks of other scripts stay: without vowel signs and voicing marks, different names would become equal. */
const accents = /(^|[^\p{L}\p{M}]|[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Arab}\p{sc=Hebr}])\p{M}+/gu;
/** Marks that only select a glyph or join marks, and the stroke that lengthens Arabic words. */
const glyphSelectors = /\p{Variation_Selector}|[\u034f\u0640]/gu;
const hiragana = /[\u3041-\u3096\u309d\u309e]/g;
const KATAKANA_OFFSET = 0x60;
const hasHan = /\p{sc=Han}/u;
const han = /\p{sc=Han}/gu;
/** The normal form of each variant of a Han character. */
const HAN_VARIANTS: ReadonlyMap<string, string> = readHanVariants();
const otherDigit = /(?![0-9])\p{Nd}/gu;

/**
 * Folds text: compatibility-decomposed, lower case, without accents in Latin, Greek and Cyrillic, without harakat and niqqud, hiragana as
 * katakana, traditional Han as simplified, and digits of every script in ASCII. "Luján" and "LUJAN" become "lujan".
 */
export function fold(text: string): string {
  if (plainAscii.test(text)) return text.toLowerCase();
  const folded = dropAccents(dropAccents(text).toLowerCase())
    .replace(undecomposed, (letter) => UNDECOMPOSED[letter] ?? letter)
    .replace(hiragana, (kana) => String.fromCharCode(kana.charCodeAt(0) + KATAKANA_OFFSET))
    .replace(otherDigit, asciiDigit);
  return hasHan.test(folded)
    ? folded.replace(han, (character) => HAN_VARIANTS.get(character) ?? character)
    : folded;
}

/** Reads a table. Each row has the normal form, then the variants of it. */
function readHanVariants(): Map<string, string> {
  const rows = readFileSync(join(packageRoot, 'services/shared/han-variants.txt'), 'utf8').split('\n');
  const variants = new Map<string, string>();
  for (const row of rows) {
    if (row.startsWith('#')) continue;
    const [folded = '', ...others] = row;
    for (const other of others) variants.set(other, folded);
  }
  return variants;
}

function dropAccents(text: string): string {
  return text.normalize('NFKD').replace(glyphSelectors, '').replace(accents, '$1');
}

/** The digits of a script are ten consecutive code points; two such groups may be adjacent. */
function asciiDigit(digit: string): string {
  const point = digit.codePointAt(0) as number;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(point - before - 1))) before++;
  return String(before % 10);
}

/** Maximum letters to which one character (U+FDFA) folds. */
export const MAX_FOLDED_GROWTH = 18;

/** Symbols, squared words and presentation forms. All other characters fold to at most `USUAL_GROWTH` characters. */
export const growing = /[\u2000-\u33ff\uf900-\uffff]/;
export const USUAL_GROWTH = 3;

/**
 * Whether the text has at most `limit` code points once folded. Also true if the text exceeds `limit` before folding, because `maxLength`
 * rejects such text.
 */
export function foldsWithin(text: string, limit: number): boolean {
  if (text.length * MAX_FOLDED_GROWTH <= limit || plainAscii.test(text)) return true;
  if (text.length * USUAL_GROWTH <= limit && !growing.test(text)) return true;
  if (text.length > 2 * limit || codePoints(text) > limit) return true;
  return codePoints(fold(text)) <= limit;
}

/** Message for text that `foldsWithin` rejects. */
export const tooLongOnceFolded = (limit: number) =>
  `must have at most ${limit} characters also when those that stand for several, such as ligatures, are written out.`;

/** Compares text by code points, in the order of its UTF-8 bytes; `<` compares UTF-16 code units. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = codePointOrder(left.charCodeAt(index)) - codePointOrder(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Surrogates stand for code points that are above all other code units. */
const codePointOrder = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Folds and trims text and collapses its white space, to compare whole values. */
export function foldValue(text: string): string {
  return fold(text).trim().replace(/\s+/g, ' ');
}

const wordCharacter = /[\p{L}\p{N}]/u;
const notWord = /[^\p{L}\p{M}\p{N}]+/u;

/** The folded words of a text: maximal runs of letters, their marks, and digits. */
export function words(text: string): string[] {
  if (plainAscii.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return fold(text)
    .split(notWord)
    .filter((word) => word !== '');
}

/** Letters that people write as two letters if a keyboard lacks them. */
const SPELLED_OUT: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ø: 'oe', ü: 'ue', å: 'aa' };
const spelledLetters = /[äöøüå]/giu;

/** Words that contain such letters, each with its spelled-out form: "Müller" gives the pair muller, mueller. */
export function spelledOut(text: string): Map<string, string> {
  const pairs = new Map<string, string>();
  if (plainAscii.test(text)) return pairs;
  const composed = text.normalize('NFC');
  const written = composed.replace(spelledLetters, (letter) => SPELLED_OUT[letter.toLowerCase()] as string);
  if (written === composed) return pairs;
  const spelled = words(written);
  for (const [index, word] of words(composed).entries()) {
    const other = spelled[index] as string;
    if (other !== word) pairs.set(word, other);
  }
  return pairs;
}

const notSeparator = /[^\s,;:<>()"'/]+/gu;
const outsideDomains = /[^\p{L}\p{M}\p{N}.-]/u;
const leadingLetters = /^(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)/u;

/**
 * Emails and domains in a text, folded. An email or domain counts as one word in addition to its parts. Takes linear time; a single regular
 * expression would take quadratic time.
 */
export function compounds(text: string): string[] {
  if (!text.includes('@') && !text.includes('.')) return [];
  const found: string[] = [];
  const add = (compound: string) => {
    const trimmed = trimDashesAndDots(compound);
    if (wordCharacter.test(trimmed)) found.push(trimmed);
  };
  for (const token of fold(text).match(notSeparator) ?? []) {
    const at = token.indexOf('@', 1);
    if (at > 0 && at < token.length - 1) add(token);
    else if (token.includes('.')) {
      for (const piece of token.split(outsideDomains)) if (piece.includes('.')) addDomains(piece, add);
    }
  }
  return found;
}

/** `piece` has only letters, marks, digits, dashes and dots. An empty label ends a domain, and a new domain may follow. */
function addDomains(piece: string, add: (domain: string) => void): void {
  const labels = piece.split('.');
  let first = 0;
  for (let index = 0; index <= labels.length; index++) {
    if (index < labels.length && labels[index] !== '') continue;
    // The last label that begins with two letters ends the domain.
    for (let last = index - 1; last > first; last--) {
      const letters = leadingLetters.exec(labels[last] as string);
      if (!letters) continue;
      add(`${labels.slice(first, last).join('.')}.${letters[0]}`);
      break;
    }
    first = index + 1;
  }
}

function trimDashesAndDots(text: string): string {
  const isTrimmed = (index: number) => text[index] === '-' || text[index] === '.';
  let from = 0;
  let to = text.length;
  while (from < to && isTrimmed(from)) from++;
  while (to > from && isTrimmed(to - 1)) to--;
  return text.slice(from, to);
}

/** The text without trailing slashes. */
export function trimTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end--;
  return text.slice(0, end);
}

/** Number of code points. */
export function codePoints(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Three rows of the distance matrix, reused by all calls. */
let rows: [number[], number[], number[]] = [[], [], []];

/**
 * Number of insertions, deletions, substitutions and transpositions of neighbours between two words (optimal string alignment distance);
 * null if the number is above `limit`.
 */
export function distanceWithin(left: string, right: string, limit: number): number | null {
  if (left === right) return 0;
  const a = letters(left);
  const b = letters(right);
  if (Math.abs(a.length - b.length) > limit) return null;
  const tooFar = limit + 1;
  let [beforeLast, last, current] = rows;
  for (let column = 0; column <= b.length; column++) last[column] = Math.min(column, tooFar);
  for (let row = 1; row <= a.length; row++) {
    // Only the band within `limit` of the diagonal can hold a small enough distance. The cells next to the band are read too.
    const from = Math.max(1, row - limit);
    const to = Math.min(b.length, row + limit);
    current[from - 1] = from === 1 ? Math.min(row, tooFar) : tooFar;
    current[to + 1] = tooFar;
    let best = current[from - 1] as number;
    for (let column = from; column <= to; column++) {
      const isSame = a[row - 1] === b[column - 1];
      let distance = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforeLast[column - 2] as number) + 1);
      }
      current[column] = distance;
      if (distance < best) best = distance;
    }
    if (best > limit) return null;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  rows = [beforeLast, last, current];
  const distance = last[b.length] as number;
  return distance <= limit ? distance : null;
}

function letters(word: string): number[] {
  const codes: number[] = [];
  for (let index = 0; index < word.length; index++) {
    const code = word.codePointAt(index) as number;
    if (code > 0xffff) index++;
    codes.push(code);
  }
  return codes;
}

/** The text, or null if it is blank, which counts as absent (contract 1.4). */
export function orNull(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.trim() === '' ? null : text;
}

const MAX_NAMED = 5;

/** Formats a list such as "a, b, c, d, e and 7 more". */
export function firstFew(values: readonly string[]): string {
  const more = values.length - MAX_NAMED;
  return values.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export const hasLetterOrDigit = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
