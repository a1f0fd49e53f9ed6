/** Converts values of a source to the types of the fields of a stream. */
import type { TObject, TSchema } from 'typebox';
import { decimalText } from '../../services/advertising/money.js';
import type { Stream } from '../streams/stream.js';
import {
  compileDateFormat,
  type DateOrder,
  type DateParser,
  dateOrders,
  exists,
  numericDateParser,
  parseIsoDate,
  toDateTime,
  toDay,
} from './date-format.js';
import type { SourceOptions } from './mapping-file.js';
import { type DecimalMark, isAbsentNumber, markEvidence, readNumber } from './number-format.js';
import type { TimeZone } from './time-zone.js';

export type TargetType = 'text' | 'integer' | 'boolean' | 'money' | 'date' | 'date-time' | 'list';

/** Whether a field holds a domain, which a mapping reads from any URL. */
export const isDomainField = (field: string): boolean =>
  field === 'company_domain' || field === 'companyDomain' || field === 'domain';

/** The types of the fields of a stream. */
export function targetTypes(stream: Stream): Map<string, TargetType> {
  const properties = (stream.schema as TObject).properties as Record<string, TSchema>;
  return new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      stream.moneyFields?.includes(name) ? 'money' : typeOf(schema),
    ]),
  );
}

function typeOf(schema: TSchema): TargetType {
  const { type, format } = schema as { type?: string | string[]; format?: string };
  const types = [type].flat();
  if (types.includes('array')) return 'list';
  if (types.includes('boolean')) return 'boolean';
  if (types.includes('string')) {
    if (types.includes('number')) return 'money';
    return format === 'date' || format === 'date-time' ? format : 'text';
  }
  return 'integer';
}

/** A value that cannot be converted to the type of its field. The detail continues a sentence that begins with the name of the field. */
export class ConversionFailure {
  readonly code: string;
  readonly detail: string;

  constructor(code: string, detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** The determined format of the texts of a column. Without a format, a text that can be read in two ways is rejected. */
export interface ColumnForm {
  order?: DateOrder | undefined;
  mark?: DecimalMark | undefined;
}

export type Convert = (value: unknown) => unknown;

/** Null, blank text and an empty list count as missing. */
export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0);

/**
 * Compiles the conversion of present values to a type. A value that fits no type of the field stays unchanged, and validation rejects it. A
 * date, and a number of a table, return `ConversionFailure`. `form` is the format of a column of a table; values of JSON have none. Throws
 * a `RangeError` for an invalid format.
 */
export function converterTo(
  type: TargetType,
  options: SourceOptions,
  zone: TimeZone | undefined,
  form: ColumnForm | undefined,
): Convert {
  switch (type) {
    case 'text':
      return toText;
    case 'boolean':
      return toBoolean;
    case 'integer':
      return numberConverter(toInteger, options.decimal, form);
    case 'money':
      return numberConverter(toMoney, options.decimal, form);
    case 'list':
      return listConverter(options.split ?? DEFAULT_SEPARATOR);
    default:
      return dateConverter(type, options, zone, form);
  }
}

/**
 * Converts a value to text, because ids are often numbers in the source. A number that JSON has rounded stays a number, which validation
 * rejects.
 */
function toText(value: unknown): unknown {
  if (typeof value === 'string') return value.trim();
  if (typeof value !== 'number') return value;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : String(value);
}

function toBoolean(value: unknown): unknown {
  if (value === 1) return true;
  if (value === 0) return false;
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (/^(?:true|t|yes|y|1)$/i.test(text)) return true;
  if (/^(?:false|f|no|n|0)$/i.test(text)) return false;
  return value;
}

const toInteger: Convert = (value) =>
  typeof value === 'string' && /^-?\d{1,17}(?:\.\d{1,17})?$/.test(value) ? Number(value) : value;

const exponent = /^(?<sign>-?)(?<digits>\d{1,40}(?:\.\d{1,40})?e[+-]?\d{1,3})$/i;

/** Writes out the exponent of an amount; the decoder does the rest. */
function toMoney(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const { sign, digits } = exponent.exec(value)?.groups ?? {};
  return digits === undefined ? value : sign + decimalText(digits);
}

/** Matches a text that is the same number with either decimal mark. */
const wholeNumber = /^\d{1,17}$/;

/** A `declared` mark takes precedence over the mark of the column. Without either, text is read unchanged. */
function numberConverter(convert: Convert, declared: DecimalMark | undefined, form?: ColumnForm): Convert {
  const settled = declared ?? form?.mark;
  const isAsItIs = declared === undefined && form === undefined;
  return (value) => {
    if (typeof value !== 'string') return convert(value);
    if (isAsItIs || wholeNumber.test(value)) return convert(value.trim());
    if (isAbsentNumber(value)) return undefined;
    const evidence = settled ?? markEvidence(value, convert === toInteger);
    if (evidence === 'ambiguous') return ambiguousNumber;
    const text = evidence && readNumber(value, evidence === 'none' ? '.' : evidence);
    if (text !== null) return convert(text);
    const mark = settled === undefined ? '' : ` with ${JSON.stringify(settled)} as its decimal mark`;
    return new ConversionFailure('invalid_number', `is not a number${mark}`);
  };
}

const ambiguousNumber = new ConversionFailure(
  'ambiguous_number',
  'can be read with a point or with a comma as its decimal mark, and nothing before it says which',
);

/**
 * Maximum entries of a converted list: one more than any field may have, so that validation rejects longer lists and no list grows without
 * bound.
 */
export const MAX_LIST_ENTRIES = 10_001;

/**
 * The default separator of entries: a semicolon, except before a parameter of a phone number (RFC 3966), or the separator of Google
 * Contacts.
 */
const DEFAULT_SEPARATOR = /;(?!(?:ext|isub|phone-context)=)|\s:::\s/i;

function listConverter(separator: string | RegExp): Convert {
  return (value) => {
    const entries = Array.isArray(value) ? value : listOf(value, separator);
    const list: unknown[] = [];
    for (const entry of entries) {
      if (isEmpty(entry)) continue;
      list.push(toText(entry));
      if (list.length >= MAX_LIST_ENTRIES) break;
    }
    return list;
  };
}

/** Parses text as a JSON list, as warehouses write it, or as entries between separators. */
function listOf(value: unknown, separator: string | RegExp): unknown[] {
  if (typeof value !== 'string') return [value];
  const text = value.trim();
  if (text.startsWith('[') && text.endsWith(']')) {
    try {
      return JSON.parse(text) as unknown[];
    } catch {
      // Text in brackets is not JSON.
    }
  }
  return text.split(separator, MAX_LIST_ENTRIES);
}

const PATTERNS = { dmy: 'D/M/YYYY', mdy: 'M/D/YYYY' };

const ambiguousDate = new ConversionFailure(
  'ambiguous_date',
  'can be read with the day or with the month first, and nothing before it says which',
);

function dateConverter(
  type: 'date' | 'date-time',
  options: SourceOptions,
  zone: TimeZone | undefined,
  form: ColumnForm | undefined,
): Convert {
  const given = options.format === undefined ? [] : [options.format].flat();
  const formats: [string, DateParser][] =
    given.length === 0
      ? [['YYYY-MM-DD', parseIsoDate]]
      : given.map((format) => [format, compileDateFormat(format)]);
  const column = given.length === 0 ? form : undefined;
  const written =
    given.length === 0
      ? 'as in ISO 8601; name another form with "format", such as "DD.MM.YYYY" or "unix_ms"'
      : given.join(' or ');
  const kind = type === 'date' ? 'date' : 'date and time';
  const code = type === 'date' ? 'invalid_date' : 'invalid_date_time';
  const unreadable = new ConversionFailure(code, `is not a ${kind} written ${written}`);
  const withoutZone = new ConversionFailure(
    code,
    'has no offset: name the time zone in the mapping, such as "timezone": "UTC"',
  );
  const convert = (text: string | number, format: string, parse: DateParser) => {
    const parsed = parse(text);
    if (parsed === null) return undefined;
    if (!exists(parsed)) {
      return new ConversionFailure(
        code,
        `is ${JSON.stringify(text)}: it fits ${format}, but there is no such ${kind}`,
      );
    }
    return type === 'date' ? toDay(parsed, zone) : (toDateTime(parsed, zone) ?? withoutZone);
  };
  return (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return unreadable;
    const text = typeof value === 'string' ? value.trim() : value;
    for (const [format, parse] of formats) {
      const converted = convert(text, format, parse);
      if (converted !== undefined) return converted;
    }
    if (column === undefined || typeof text !== 'string') return unreadable;
    const [order, other] = dateOrders(text);
    if (column.order === undefined && other !== undefined) return ambiguousDate;
    const used = column.order ?? order ?? 'dmy';
    return convert(text, PATTERNS[used], numericDateParser(used)) ?? unreadable;
  };
}
