/** Parses numbers as reports and spreadsheets print them. */

export type DecimalMark = '.' | ',';

/** The decimal mark that a text shows: a mark, no hint (`none`), or a different number with each mark (`ambiguous`). */
export type MarkEvidence = DecimalMark | 'none' | 'ambiguous';

const SPACE = "[\\s’']";
/**
 * Pattern of a number. Groups have exactly three digits after each separator, which is the same in the whole number; groups come before the
 * decimal mark. With commas, groups above the thousands may have two digits, as in India.
 */
const numberWith = (mark: string, group: string) =>
  new RegExp(
    `^(?:(?<grouped>[1-9]\\d{0,2}(?<separator>${group}|${SPACE})\\d{3}(?:\\k<separator>\\d{3})*|[1-9]\\d?(?:,\\d\\d){1,16},\\d{3})|(?<plain>\\d{0,40}))(?:${mark}(?<fraction>\\d*))?$`,
    'u',
  );
const NUMBERS: Record<DecimalMark, RegExp> = { '.': numberWith('\\.', ','), ',': numberWith(',', '\\.') };
const scientific = /^\d{1,40}(?:\.\d{1,40})?e[+-]?\d{1,3}$/i;

const sign = /^[+\-−]|[-−]$/u;
const currency =
  /^(?:[A-Z]{1,3}\$|[A-Z]{3}(?![A-Za-z])|\p{Sc}|kr\.?|zł|Fr\.)\s*|\s*(?:[A-Z]{3}|\p{Sc}|kr\.?|zł|Fr\.)$/u;
/** Dashes that reports print in place of a missing number. */
const absent = /^\s*[-–—]+\s*$/u;

const MAX_LENGTH = 96;
const plainDigits = /^\d{1,17}$/;

export const isAbsentNumber = (text: string): boolean => absent.test(text);

/** The number without sign and currency; accountants write a negative number in parentheses. Null for a text that is too long. */
function unsigned(text: string): { isNegative: boolean; body: string } | null {
  if (text.length > MAX_LENGTH) return null;
  let body = text.trim();
  let isNegative = false;
  if (body.startsWith('(') && body.endsWith(')')) {
    isNegative = true;
    body = body.slice(1, -1).trim();
  }
  for (let part = 0; part < 2; part++) {
    const found = sign.exec(body)?.[0];
    if (found !== undefined) {
      isNegative ||= found !== '+';
      body = body.replace(sign, '').trim();
    }
    body = body.replace(currency, '').trim();
  }
  return { isNegative, body };
}

/** Digits with `.` as the decimal mark; null for text that is not a number with this mark. */
function digitsWith(mark: DecimalMark, body: string): string | null {
  const { grouped, plain = '', fraction = '' } = NUMBERS[mark].exec(body)?.groups ?? {};
  const whole = grouped?.replace(/\D/g, '') ?? plain;
  if (whole + fraction === '') return null;
  return (whole || '0') + (fraction === '' ? '' : `.${fraction}`);
}

/** The mark that a text shows; null for text that is not a number with either mark. With `isCount`, fractions are not numbers either. */
export function markEvidence(text: string, isCount = false): MarkEvidence | null {
  if (plainDigits.test(text)) return 'none';
  const { body } = unsigned(text) ?? { body: '' };
  if (scientific.test(body)) return body.includes('.') ? '.' : 'none';
  const fits = (mark: DecimalMark) => {
    const digits = digitsWith(mark, body);
    return isCount && digits !== null && !Number.isInteger(Number(digits)) ? null : digits;
  };
  const [point, comma] = [fits('.'), fits(',')];
  if (point === comma) return point === null ? null : 'none';
  if (point === null) return ',';
  return comma === null ? '.' : 'ambiguous';
}

/** Decimal text with `.` as the mark, with or without exponent; null for text that is not a number with the mark. */
export function readNumber(text: string, mark: DecimalMark): string | null {
  if (plainDigits.test(text)) return text;
  const { isNegative, body } = unsigned(text) ?? { isNegative: false, body: '' };
  const digits = scientific.test(body) ? body : digitsWith(mark, body);
  return digits === null ? null : (isNegative ? '-' : '') + digits;
}
