/**
 * Text as both search stores see it. What is stored and what is asked pass through the same functions,
 * so a word matches in one store exactly when it matches in the other (contract 3.9).
 */

/** Letters whose stroke or ligature Unicode does not decompose, so dropping marks alone would keep them. */
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
};
const undecomposed = /[ßæœøđðþħıłŧς]/g;
const plainAscii = /^[\0-\x7f]*$/;

/** Compatibility-decomposed, marks dropped, lower-cased: "Luján" and "LUJAN" become "lujan". */
export function fold(text: string): string {
  if (plainAscii.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(undecomposed, (letter) => UNDECOMPOSED[letter] ?? letter);
}

/** Folded, with every run of white space one space and none at the ends: for whole-value comparison. */
export function foldValue(text: string): string {
  return fold(text).trim().replace(/\s+/g, ' ');
}

const wordCharacter = /[\p{L}\p{N}]/u;
const notWord = /[^\p{L}\p{N}]+/u;

/** The folded words of a text: maximal runs of letters and digits. */
export function words(text: string): string[] {
  if (plainAscii.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return fold(text)
    .split(notWord)
    .filter((word) => word !== '');
}

const emailOrDomain = /[^\s,;:<>()"'/]+@[^\s,;:<>()"'/]+|(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}/gu;

/** Emails and domains inside a text, folded: each counts as one word beside the words it is made of. */
export function compounds(text: string): string[] {
  if (!text.includes('@') && !text.includes('.')) return [];
  return (
    fold(text)
      .match(emailOrDomain)
      ?.map((word) => word.replace(/^[-.]+|[-.]+$/g, ''))
      .filter((word) => wordCharacter.test(word)) ?? []
  );
}

/** A phone number's digits, however it is written; '' when it has none. */
export function phoneDigits(phone: string): string {
  return fold(phone).replace(/\D/g, '');
}

/** Number of code points. */
export function codePoints(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

/** Typos a folded word of a query may carry: none up to 3 letters, one from 4, two from 8; none with a digit or symbol. */
export function allowedTypos(word: string): 0 | 1 | 2 {
  if (!/^\p{L}+$/u.test(word)) return 0;
  const length = codePoints(word);
  return length >= 8 ? 2 : length >= 4 ? 1 : 0;
}

/**
 * Whether two words differ by at most `limit` insertions, deletions, substitutions or transpositions of
 * neighbours (optimal string alignment distance).
 */
export function withinDistance(left: string, right: string, limit: number): boolean {
  if (left === right) return true;
  const a = Array.from(left);
  const b = Array.from(right);
  if (Math.abs(a.length - b.length) > limit) return false;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let best = row;
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + cost,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforeLast[column - 2] as number) + 1);
      }
      current.push(distance);
      if (distance < best) best = distance;
    }
    if (best > limit) return false;
    beforeLast = last;
    last = current;
  }
  return (last[b.length] as number) <= limit;
}
