/** Numbers and dates of cells as text. */
import type { Book, DateKind } from './workbook.js';

/** Integers from here on that have an exponent were rounded by Excel. They keep the exponent, which shows the rounding. */
const MAX_EXACT = 1e15;

/**
 * A number with all its digits and without exponent. Three decimal places get a fourth, so that the point cannot be a thousands separator.
 */
export function numberText(text: string): string {
  if (/^-?\d+$/.test(text)) return text;
  const number = Number(text);
  if (text === '' || !Number.isFinite(number)) return text;
  if (Number.isInteger(number)) return Math.abs(number) < MAX_EXACT ? String(number) : text;
  const short = plainDecimal(String(number));
  return /\.\d{3}$/.test(short) ? `${short}0` : short;
}

/** A number as JavaScript writes it, without exponent. */
function plainDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] =
    /^(-?)(\d+)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${whole}${fraction}`;
}

const DAY_MS = 86_400_000;

/** Formats days since 31 December 1899, or since 1904. Excel counts 29 February 1900, which did not exist. */
export function dateText(serial: number, kind: DateKind, { isFrom1904 }: Book): string {
  if (!(serial >= 0 && serial < 2_958_466)) return String(serial);
  const days = isFrom1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial;
  const moment = new Date(Date.UTC(1899, 11, 30) + Math.round(days * DAY_MS));
  const [day, time] = moment.toISOString().slice(0, 19).split('T') as [string, string];
  if (kind === 'time' && serial < 1) return time;
  return kind === 'date' || time === '00:00:00' ? day : `${day} ${time}`;
}
