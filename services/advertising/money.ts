/** Up to 26 digits before and 12 after the point, no sign and no exponent. */
export const MONEY_PATTERN = '^[0-9]{1,26}(\\.[0-9]{1,12})?$';
const money = new RegExp(MONEY_PATTERN);

/** A money amount of a record as plain decimal text, null when it is none. */
export function moneyText(value: string | number): string | null {
  const text = typeof value === 'number' ? decimalText(String(value)) : value;
  return money.test(text) ? text : null;
}

/** Beyond, no digit of a number is one that money has. */
const MAX_EXPONENT = 400;

/** A JSON number without a sign as decimal text with the same digits and no exponent, unless that is absurdly long. */
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
