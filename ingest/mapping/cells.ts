/** Recognizes texts that spreadsheets and other tools write into a cell that has no value. Files of our own form are read letter by letter. */
import ipaddr from 'ipaddr.js';

/** Errors of formulas in English, German, French, Spanish and LibreOffice, and what warehouses and reports write for nothing. */
const DEBRIS = new Set([
  ...['#N/A', '#REF!', '#NAME?', '#VALUE!', '#DIV/0!', '#NUM!', '#NULL!', '#SPILL!', '#CALC!', '#FIELD!'],
  ...['#BEZUG!', '#WERT!', '#ZAHL!', '#NV', '#N/V', '#NOM?', '#VALEUR!', '#NOMBRE!', '#NUL!', '#N/D'],
  ...['#¡REF!', '#¡VALOR!', '#¿NOMBRE?', '#¡DIV/0!', '#¡NUM!', '#¡NULO!', '#ERROR!', '#GETTING_DATA'],
  ...['NULL', '(null)', '\\N', 'nan', 'NaN', 'NaT', '<NA>', 'None', 'undefined', 'Loading...'],
  ...['(not set)', '(not provided)', '(none)', '(unknown)', '(other)', '(blank)'],
]);
/** A column that was too narrow for its value, and errors of LibreOffice. */
const unreadable = /^(?:#{2,}|Err:\d{3})$/;
const MAX_DEBRIS_LENGTH = 256;

/** Whether a text stands for no value, letter by letter: people are called Null and Nan. */
export const isDebris = (text: string): boolean =>
  text.length <= MAX_DEBRIS_LENGTH && (DEBRIS.has(text) || unreadable.test(text));

/** Whether a text is what a formula or a narrow column left, and a value is lost. */
export const isSpreadsheetError = (text: string): boolean => text.startsWith('#') && isDebris(text);

/** `01067` for `="01067"`, as exports keep a spreadsheet from reading a number. */
export function unwrapped(text: string): string {
  if (!text.startsWith('="') || !text.endsWith('"') || text.length < 3) return text;
  return text.slice(2, -1).replaceAll('""', '"').trim();
}

const MAX_ADDRESSES = 100;
const emailIn = /[<(]\s*(?:mailto:)?([^\s<>()@]{1,64}@[^\s<>()@]{1,255})\s*[>)]/i;

/**
 * The email addresses of a cell: `Ann <a@b>`, `mailto:a@b` and several between commas, semicolons, line breaks or ` ::: `. Empty for a
 * placeholder such as `n/a`. An address that is damaged stays, so that its record is rejected.
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

/** Digits from which each of the texts between slashes is a number of its own. */
const MIN_PHONE_DIGITS = 7;
const MAX_PHONES = 10;

/** The phones of a cell, without what programs add to numbers; null for one in powers of ten, whose digits are lost. */
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

/** A postal code of digits that a program has made a float of. */
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

/** First cells of the rows that a report adds below its data. */
const total =
  /^(?:grand |sub-?)?total(?:s|e|es|i)?(?: general| général)?(?:\s*[:(–—-].*)?$|^(?:gesamt(?:summe|ergebnis)?|summe|insgesamt|totaal|suma|итого|合計|总计|總計)(?:\s*:.*)?$/iu;
const MAX_TOTAL_LENGTH = 128;

/** Whether a row with this first cell is the sum of a report or a line about the report. */
export const isReportLine = (text: string): boolean =>
  text.startsWith('©') || (text.length <= MAX_TOTAL_LENGTH && total.test(text));

/** Changes the text of a cell before it is converted to the type of its field; null if the text is no value. */
export type CellRule = (text: string) => string | string[] | null;

const CELL_RULES: Readonly<Record<string, CellRule>> = {
  work_emails: emailsIn,
  personal_emails: emailsIn,
  phones: phonesIn,
  postal_code: postalCodeIn,
  ipAddress: ipAddressIn,
};

/** The rule of a field whose texts other tools decorate; undefined for the others. */
export const cellRuleOf = (field: string | undefined): CellRule | undefined => CELL_RULES[field ?? ''];
