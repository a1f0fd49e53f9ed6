/**
 * Recognizes texts that spreadsheets and other tools write into a cell that has no value. Files in the format of the stream are read
 * literally.
 */
import ipaddr from 'ipaddr.js';

/** Errors of formulas in English, German, French, Spanish and LibreOffice, and placeholders of warehouses and reports. */
const DEBRIS = new Set([
  ...['#N/A', '#REF!', '#NAME?', '#VALUE!', '#DIV/0!', '#NUM!', '#NULL!', '#SPILL!', '#CALC!', '#FIELD!'],
  ...['#BEZUG!', '#WERT!', '#ZAHL!', '#NV', '#N/V', '#NOM?', '#VALEUR!', '#NOMBRE!', '#NUL!', '#N/D'],
  ...['#¡REF!', '#¡VALOR!', '#¿NOMBRE?', '#¡DIV/0!', '#¡NUM!', '#¡NULO!', '#ERROR!', '#GETTING_DATA'],
  ...['NULL', '(null)', '\\N', 'nan', 'NaN', 'NaT', '<NA>', 'None', 'undefined', 'Loading...'],
  ...['(not set)', '(not provided)', '(none)', '(unknown)', '(other)', '(blank)'],
]);
/** Text of a column that was too narrow for its value, and errors of LibreOffice. */
const unreadable = /^(?:#{2,}|Err:\d{3})$/;
const MAX_DEBRIS_LENGTH = 256;

/** Whether a text is a placeholder. Compares case-sensitively, because there are people called Null and Nan. */
export const isDebris = (text: string): boolean =>
  text.length <= MAX_DEBRIS_LENGTH && (DEBRIS.has(text) || unreadable.test(text));

/** Whether a text is an error of a formula or of a narrow column, so that the value is lost. */
export const isSpreadsheetError = (text: string): boolean => text.startsWith('#') && isDebris(text);

/** Removes the form `="01067"`, with which exports keep a spreadsheet from reading a number: returns `01067`. */
export function unwrapped(text: string): string {
  if (!text.startsWith('="') || !text.endsWith('"') || text.length < 3) return text;
  return text.slice(2, -1).replaceAll('""', '"').trim();
}

const MAX_ADDRESSES = 100;
const emailIn = /[<(]\s*(?:mailto:)?([^\s<>()@]{1,64}@[^\s<>()@]{1,255})\s*[>)]/i;

/**
 * The email addresses of a cell: `Ann <a@b>`, `mailto:a@b`, and several addresses between commas, semicolons, line breaks or ` ::: `. Empty
 * for a placeholder such as `n/a`. A damaged address stays, so that its record is rejected.
 */
export function emailsIn(text: string): string[] {
  return text
    .split(/[,;\n\r]|\s:::\s/, MAX_ADDRESSES)
    .filter((part) => part.includes('@'))
    .flatMap((part) => {
      const named = emailIn.exec(part)?.[1];
      if (named !== undefined) return [named];
      const words = part.trim().split(/\s+/);
      const isList = words.every((word) => word.includes('@'));
      return (isList ? words : [part.trim()]).map(withoutScheme);
    });
}

const withoutScheme = (text: string) => (/^mailto:/i.test(text) ? text.slice(7).replace(/\?.*$/s, '') : text);

const roundedPhone = /^\+?\d(?:[.,]\d+)?E\+?\d{1,3}$/i;

/** Minimum number of digits for texts between slashes to count as separate phone numbers. */
const MIN_PHONE_DIGITS = 7;
const MAX_PHONES = 10;

/** The phone numbers of a cell, without decorations that programs add. Null for a number in powers of ten, whose digits are lost. */
export function phonesIn(text: string): string[] | string | null {
  if (roundedPhone.test(text)) return null;
  const parts = text.split(/ [/|] /, MAX_PHONES + 1);
  const areSeveral =
    parts.length <= MAX_PHONES && parts.every((part) => part.replace(/\D/g, '').length >= MIN_PHONE_DIGITS);
  return areSeveral && parts.length > 1 ? parts.map(plainPhone) : plainPhone(text);
}

const plainPhone = (text: string) =>
  text
    .trim()
    .replace(/^tel:/i, '')
    .replace(/^(\+?\d{6,})\.0$/, '$1');

/** Restores a numeric postal code that a program has turned into a float. */
const postalCodeIn = (text: string) => text.replace(/^(\d{3,10})\.0$/, '$1');

/** The first address of a list, without port, brackets and zone; null for any other text. */
export function ipAddressIn(text: string): string | null {
  const [first = ''] = text.split(',', 1);
  const bare = first.trim();
  const inBrackets = /^\[([^\]]+)\](?::\d+)?$/.exec(bare)?.[1];
  const address = (inBrackets ?? bare.replace(/^([\d.]+):\d+$/, '$1')).replace(/%.*$/s, '');
  return ipaddr.isValid(address) && (address.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(address))
    ? address
    : null;
}

/** First cells of the rows that a report adds below its data, such as a total. */
const total =
  /^(?:grand |sub-?)?total(?:s|e|es|i)?(?: general| général)?(?:\s*[:(–—-].*)?$|^(?:gesamt(?:summe|ergebnis)?|summe|insgesamt|totaal|suma|итого|合計|总计|總計)(?:\s*:.*)?$/iu;
const MAX_TOTAL_LENGTH = 128;

/** Whether a row with this first cell is a total or a note of the report. */
export const isReportLine = (text: string): boolean =>
  text.startsWith('©') || (text.length <= MAX_TOTAL_LENGTH && total.test(text));

/** Changes the text of a cell before it is converted to the type of its field; null means that the cell has no value. */
export type CellRule = (text: string) => string | string[] | null;

const CELL_RULES: Readonly<Record<string, CellRule>> = {
  work_emails: emailsIn,
  personal_emails: emailsIn,
  phones: phonesIn,
  postal_code: postalCodeIn,
  ipAddress: ipAddressIn,
};

/** The rule of a field whose texts other tools decorate; undefined for other fields. */
export const cellRuleOf = (field: string | undefined): CellRule | undefined => CELL_RULES[field ?? ''];
