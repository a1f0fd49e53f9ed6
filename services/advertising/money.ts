/** Money as exact decimal text. */
import Type from 'typebox';

/** Up to 26 digits before and 12 after the point, no sign and no exponent. */
export const MONEY_PATTERN = '^[0-9]{1,26}(\\.[0-9]{1,12})?$';
const money = new RegExp(MONEY_PATTERN);
const examples = ['1234.56'];

/** Money in a record: a decimal string, or a number, kept exactly. */
export const moneyInput = (description: string) =>
  Type.Unsafe<string | number>({
    description,
    type: ['string', 'number'],
    pattern: MONEY_PATTERN,
    minimum: 0,
    exclusiveMaximum: 1e26,
    examples,
  });

/** Money in a response. */
export const moneyAmount = (description: string) =>
  Type.String({ description, pattern: MONEY_PATTERN, examples });

/** A money amount of a record as plain decimal text, null when it cannot be kept exactly. */
export function moneyText(value: string | number): string | null {
  const text = typeof value === 'number' ? decimalText(String(value)) : value;
  return money.test(text) ? text : null;
}

/** As `moneyText`, for values that passed validation. Throws a `RangeError` for any other. */
export function requireMoneyText(value: string | number): string {
  const text = moneyText(value);
  if (text === null) throw new RangeError('an amount of money passed validation but is not one');
  return text;
}

/** Beyond this exponent a number has no digit that money has. */
const MAX_EXPONENT = 400;

/** A JSON number without a sign, with the same digits and no exponent; unchanged when the exponent exceeds `MAX_EXPONENT`. */
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
