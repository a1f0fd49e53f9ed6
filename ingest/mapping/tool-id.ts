/** The one form of an id that a tool writes: numbers that a spreadsheet or a program made floats of, and short ids of Salesforce. */
import { ConversionFailure } from './target-types.js';

/** A whole number as programs write floats. */
const float = /^((?:urn:[a-z:]+:)?\d+)[.,]0+$/i;
/** A number in powers of ten, whose last digits are lost. Ids of letters and digits without a mark or a sign are no such numbers. */
const powerOfTen = /^(?:urn:[a-z:]+:)?\d(?:[.,]\d+E\+?|E\+)\d{1,3}$/i;

/** `720` for `720.0`; a failure (`rounded_id`) for `1.23E8`, which stands for many ids. Any other text is its own id. */
export function toolId(text: string): string | ConversionFailure {
  if (powerOfTen.test(text)) {
    return new ConversionFailure(
      'rounded_id',
      `is ${JSON.stringify(text)}. A spreadsheet has rounded this id: load the export without saving it in a spreadsheet`,
    );
  }
  return float.exec(text)?.[1] ?? text;
}

const shortSalesforceId = /^[A-Za-z0-9]{15}$/;
const CHECK_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/**
 * The id of 18 characters for one of 15, which reports show: each of the three last characters says which letters of a third are capitals.
 * Any other text stays.
 */
export function salesforceId(text: string): string {
  if (!shortSalesforceId.test(text)) return text;
  const digits = [0, 5, 10].map((start) => {
    const capitals = [...text.slice(start, start + 5)].map((sign) => (/[A-Z]/.test(sign) ? 1 : 0));
    return CHECK_DIGITS[capitals.reduce((sum: number, bit, index) => sum + bit * 2 ** index, 0)];
  });
  return text + digits.join('');
}
