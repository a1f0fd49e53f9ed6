/** Up to 26 digits before and 12 after the point, no sign and no exponent. */
export const MONEY_PATTERN = '^[0-9]{1,26}(\\.[0-9]{1,12})?$';
const money = new RegExp(MONEY_PATTERN);

/** A money amount of a record as plain decimal text, null when it is none. */
export function moneyText(value: string | number): string | null {
  const text = typeof value === 'number' ? plainNumber(value) : value;
  return money.test(text) ? text : null;
}

/** The shortest decimal that reads back as the same number, without an exponent. */
function plainNumber(value: number): string {
  const [digits = '', exponentText] = String(value).split('e');
  if (exponentText === undefined) return digits;
  const exponent = Number(exponentText);
  const [whole = '', fraction = ''] = digits.split('.');
  return exponent < 0
    ? `0.${'0'.repeat(-exponent - 1)}${whole}${fraction}`
    : `${whole}${fraction}${'0'.repeat(exponent - fraction.length)}`;
}
