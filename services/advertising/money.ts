/** Money as exact decimal text. */
import { Type } from '../shared/schema.js';

/** Pattern of money: up to 26 digits before and 12 digits after the decimal point, without sign and exponent. */
export const MONEY_PATTERN = '^[0-9]{1,26}(\\.[0-9]{1,12})?$';
const money = new RegExp(MONEY_PATTERN);
const FRACTION_DIGITS = 12;
const MAX_UNITS = 10n ** 38n - 1n;

/** Pattern of money in records, which may have more decimal places; these are rounded. */
export const MONEY_INPUT_PATTERN = '^[0-9]{1,26}(\\.[0-9]+)?$';
const examples = ['1234.56'];

/** Exclusive limit of an amount in a record (contract 5.2). A larger number comes from a wrong column, such as an id. */
export const MAX_MONEY = 1e15;
const LARGEST = /^0*[0-9]{1,15}(?:\.|$)/;

/** Whether a text that matches `MONEY_PATTERN` is at least `MAX_MONEY`. */
export const isTooMuchMoney = (text: string): boolean => !LARGEST.test(text);

/** Money in a record: a decimal string or a number, exact to 12 decimal places. */
export const moneyInput = (description: string) =>
  Type.Unsafe<string | number>({
    description,
    type: ['string', 'number'],
    pattern: MONEY_INPUT_PATTERN,
    minimum: 0,
    exclusiveMaximum: MAX_MONEY,
    examples,
  });

/** An ISO 4217 code. */
export const currencyCode = (description: string) =>
  Type.String({
    description,
    title: 'an ISO 4217 code in capital letters, such as USD',
    pattern: '^[A-Z]{3}$',
    examples: ['USD'],
  });

/** Money in a response. */
export const moneyAmount = (description: string) =>
  Type.String({ description, pattern: MONEY_PATTERN, examples });

export interface Money {
  /** Amount as text that matches `MONEY_PATTERN`. */
  text: string;
  /** Whether rounding changed the amount. */
  isRounded: boolean;
}

const decimal = /^(?<minus>-?)(?<whole>[0-9]{1,26})(?:\.(?<fraction>[0-9]+))?$/;

/**
 * An amount of a record, rounded half-even to 12 decimal places. An amount below 10⁻¹², even if negative, becomes 0. Null for anything that
 * is not an amount.
 */
export function readMoney(value: string | number): Money | null {
  const given = typeof value === 'number' ? numberText(value) : value;
  if (money.test(given)) return { text: given, isRounded: false };
  const { minus, whole, fraction = '' } = decimal.exec(given)?.groups ?? {};
  if (whole === undefined) return null;
  const kept = fraction.slice(0, FRACTION_DIGITS);
  const dropped = withoutEndingZeros(fraction.slice(FRACTION_DIGITS));
  const units = BigInt(whole + kept.padEnd(FRACTION_DIGITS, '0'));
  if (units === 0n) return { text: '0', isRounded: dropped !== '' };
  if (minus) return null;
  if (dropped === '') return { text: shortText(units), isRounded: false };
  const isUp = dropped > '5' || (dropped === '5' && units % 2n === 1n);
  return { text: shortText(isUp && units < MAX_UNITS ? units + 1n : units), isRounded: true };
}

const numberText = (value: number) =>
  value < 0 ? `-${decimalText(String(-value))}` : decimalText(String(value));

function shortText(units: bigint): string {
  const text = withoutEndingZeros(unitsText(units));
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

/** Removes trailing zeros in linear time, even if a megabyte of zeros was sent. */
function withoutEndingZeros(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === '0') end--;
  return text.slice(0, end);
}

/** Decimal text of an amount in units of 10⁻¹². */
export function unitsText(units: bigint): string {
  const digits = String(units).padStart(FRACTION_DIGITS + 1, '0');
  return `${digits.slice(0, -FRACTION_DIGITS)}.${digits.slice(-FRACTION_DIGITS)}`;
}

/** The text of an amount that was read from a record. Throws a `RangeError` for other values. */
export function requireMoneyText(value: string | number): string {
  const amount = readMoney(value);
  if (amount === null) throw new RangeError('an amount of money passed validation but is not one');
  return amount.text;
}

/** Maximum exponent. Numbers with larger exponents have no digit within the range of money. */
const MAX_EXPONENT = 400;

/** A JSON number without a sign, written with the same digits and without an exponent; unchanged if the exponent exceeds `MAX_EXPONENT`. */
export function decimalText(number: string): string {
  const [digits = '', exponentText] = number.toLowerCase().split('e');
  if (exponentText === undefined) return digits;
  const exponent = Number(exponentText);
  if (!(Math.abs(exponent) <= MAX_EXPONENT)) return number;
  const [whole = '', fraction = ''] = digits.split('.');
  const point = whole.length + exponent;
  const all = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`.padEnd(point, '0');
  const wholeDigits = Math.max(1, point);
  const integer = all.slice(0, wholeDigits).replace(/^0+(?=\d)/, '');
  const rest = all.slice(wholeDigits).replace(/0+$/, '');
  return rest === '' ? integer : `${integer}.${rest}`;
}
