/** Normalizes ids that tools write: numbers that a spreadsheet or program turned into floats, and short ids of Salesforce. */
import { ConversionFailure } from './target-types.js';

/** An integer that a tool wrote as a float. */
const float = /^((?:urn:[a-z:]+:)?\d+)[.,]0+$/i;
/** A number in powers of ten, whose last digits are lost. Ids of letters and digits without a mark or sign are not such numbers. */
const powerOfTen = /^(?:urn:[a-z:]+:)?\d(?:[.,]\d+E\+?|E\+)\d{1,3}$/i;

/** Returns `720` for `720.0`, and a failure (`rounded_id`) for `1.23E8`, which may mean many ids. Other texts stay unchanged. */
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
 * The id of 18 characters for an id of 15 characters, which reports show. Each of the last three characters encodes which letters of a
 * third of the id are capitals. Other texts stay unchanged.
 */
export function salesforceId(text: string): string {
  if (!shortSalesforceId.test(text)) return text;
  const digits = [0, 5, 10].map((start) => {
    const capitals = [...text.slice(start, start + 5)].map((sign) => (/[A-Z]/.test(sign) ? 1 : 0));
    return CHECK_DIGITS[capitals.reduce((sum: number, bit, index) => sum + bit * 2 ** index, 0)];
  });
  return text + digits.join('');
}
