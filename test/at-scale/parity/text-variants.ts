/** Text as people type it: other case, other form, typos, parts. */
import { domainToASCII, domainToUnicode } from 'node:url';
import type { Random } from '../../gateway/fuzz-values.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzéüßøαж';

/** A variant that normalization folds to the same text, or nearly. */
export function textVariant(random: Random, text: string): string {
  switch (random.between(0, 7)) {
    case 0:
      return text.toUpperCase();
    case 1:
      return text.toLowerCase();
    case 2:
      return text.normalize('NFD');
    case 3:
      return text.normalize('NFD').replace(/\p{M}/gu, '');
    case 4:
      return ` ${text.replaceAll(' ', '  ')}\t`;
    case 5:
      // Full width, as East Asian keyboards produce.
      return text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
    default:
      return text;
  }
}

/** The text with one letter substituted, deleted, inserted or transposed. */
export function withTypo(random: Random, text: string): string {
  const letters = [...text];
  const at = random.between(random.chance(0.75) ? 1 : 0, Math.max(1, letters.length - 1));
  const [kind, letter] = [random.between(0, 3), random.pick([...LETTERS])];
  if (kind === 0) letters.splice(at, 1, letter);
  else if (kind === 1) letters.splice(at, 1);
  else if (kind === 2) letters.splice(at, 0, letter);
  else letters.splice(at, 2, ...letters.slice(at, at + 2).reverse());
  return letters.join('');
}

export const wordsOf = (text: string): string[] => text.split(/[\s,;:()/]+/).filter((word) => word !== '');

/** Some words of the text or their prefixes, in any order. */
export function pickWords(random: Random, text: string): string {
  const words = wordsOf(text);
  const count = random.between(1, Math.min(3, words.length));
  const picked = Array.from({ length: count }, () => maybePrefix(random, random.pick(words)));
  return textVariant(random, picked.join(' '));
}

/** A query that usually matches the texts: words, prefixes, typos, phrases, exclusions. */
export function composeQuery(random: Random, texts: readonly string[], others: readonly string[]): string {
  const terms = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3, 5]) }, () =>
    composeTerm(random, random.pick(texts)),
  );
  if (random.chance(0.15)) terms.push(`-${random.pick(wordsOf(random.pick(others)))}`);
  if (random.chance(0.05)) terms.push(`-"${random.pick(others)}"`);
  return terms.join(' ').slice(0, 200).toWellFormed();
}

function composeTerm(random: Random, text: string): string {
  const words = wordsOf(text);
  const word = random.pick(words);
  switch (random.between(0, 9)) {
    case 0:
      return text;
    case 1: {
      const from = random.between(0, words.length - 1);
      return `"${words.slice(from, from + random.between(1, 3)).join(' ')}"`;
    }
    case 2:
    case 3:
      return maybePrefix(random, word);
    case 4:
    case 5:
      return withTypo(random, word);
    case 6:
      return withTypo(random, withTypo(random, word));
    case 7:
      return textVariant(random, word);
    default:
      return word;
  }
}

function maybePrefix(random: Random, word: string): string {
  return random.chance(0.4) ? [...word].slice(0, random.between(1, 6)).join('') : word;
}

/** A web, profile or email address in another encoding. */
export function addressVariant(random: Random, address: string): string {
  const domain = address.replace(/^\w+:\/\//, '').replace(/\/.*$/s, '');
  const host = domain.slice(domain.lastIndexOf('@') + 1);
  return random.pick([
    address,
    encodeURI(address.toWellFormed()),
    address.replace(host, domainToASCII(host) || host),
    address.replace(host, domainToUnicode(host) || host),
    `https://www.${address.replace(/^\w+:\/\/(?:www\.)?/, '')}`,
    `//${address}/`,
    `${host}/about?a=b`,
    `"${address}"`,
  ]);
}

/** A phone number with other separators, prefixes or an extension, or its beginning or end. */
export function phoneVariant(random: Random, phone: string): string {
  const digits = phone.replace(/\D/g, '');
  const at = random.between(1, Math.max(1, digits.length - 1));
  return random.pick([
    phone,
    digits,
    `00${digits}`,
    `+${digits.slice(0, 2)} (0)${digits.slice(2)}`,
    `${phone} ext. 12`,
    `${digits.slice(0, at)}${random.pick([' ', '-', '.', '/'])}${digits.slice(at)}`,
    digits.slice(-random.between(5, 9)),
    digits.slice(0, at),
    digits.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
    `"${phone}"`,
  ]);
}

/** A substring of the text. */
export function pickSlice(random: Random, text: string): string {
  const from = random.between(0, Math.max(0, text.length - 2));
  return text.slice(from, from + random.between(1, 24)).toWellFormed();
}
