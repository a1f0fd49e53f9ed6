/** Phone numbers as digits, and the words by which searches find phone numbers (contract 3.9). */
import { fold } from '../shared/text.js';

/** Minimum digits for which the end of a number identifies the number. */
const MIN_END_DIGITS = 7;
/** Number of digits after which a letter or sign begins an extension. Before that, letters label the number ("Tel."). */
const MIN_DIGITS_BEFORE_EXTENSION = 5;

const beginsWithDigit = /^[0-9]/;

/** The digits without `+`, leading `00`, `(0)` and extension; '' if there are no digits. */
export function phoneDigits(phone: string): string {
  const parts = fold(phone)
    .replace(/\(\s?0\s?\)/g, '')
    .match(/[0-9]+|[\p{L}\p{N}#,;~]/gu);
  let digits = '';
  for (const part of parts ?? []) {
    if (beginsWithDigit.test(part)) digits += part;
    else if (digits.length >= MIN_DIGITS_BEFORE_EXTENSION) break;
  }
  return digits.startsWith('00') ? digits.slice(2) : digits;
}

/** The words of a number. North American numbers also get words without their country code 1. */
export function phoneWords(phone: string): string[] {
  const digits = phoneDigits(phone);
  return digits === '' ? [] : [...new Set([digits, nationalDigits(digits), ...endWord(digits)])];
}

/**
 * Digits that a number in a query matches exactly or as a beginning: its own digits, or the end of a number, with or without the trunk
 * zero.
 */
export function phoneAlternatives(digits: string): string[] {
  const withoutZero = digits.startsWith('0') ? endWord(digits.slice(1)) : [];
  return [...new Set([nationalDigits(digits), digits, ...endWord(digits), ...withoutZero])];
}

/** Country codes with one and two digits (ITU-T E.164); all other country codes have three. */
const countryCode = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;
/** Trunk prefixes that are dialled before a national number, except 0. */
const OTHER_TRUNKS: Readonly<Record<string, string>> = { 7: '8', 36: '06' };
/** Minimum digits of a number without its country code. */
const MIN_NATIONAL_DIGITS = 6;

const international = /^\P{N}*\+|^\P{N}*00/u;

/** National forms in which an international number of a query, with `+` or `00`, may be stored. */
export function nationalForms(phone: string): string[] {
  if (!international.test(fold(phone))) return [];
  const digits = phoneDigits(phone);
  const [code = ''] = countryCode.exec(digits) ?? [];
  const national = digits.slice(code.length);
  if (code === '' || national.length < MIN_NATIONAL_DIGITS) return [];
  return [national, `0${national}`, ...(OTHER_TRUNKS[code] ? [`${OTHER_TRUNKS[code]}${national}`] : [])];
}

/** The ten digits of a North American number with its country code, otherwise the digits unchanged. */
function nationalDigits(digits: string): string {
  return digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
}

/** A word with the digits reversed, so that the end of a number is a beginning of the word. No other word begins with `<`. */
function endWord(digits: string): string[] {
  return digits.length < MIN_END_DIGITS ? [] : [`<${Array.from(digits).reverse().join('')}`];
}
