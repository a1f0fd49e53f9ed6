/** Converts values of a source to the types of the fields of a stream. */
import type { TObject, TSchema } from 'typebox';
import { decimalText } from '../../services/advertising/money.js';
import type { Stream } from '../streams/stream.js';
import { compileDateFormat, type DateParser, parseIsoDate, toDateTime, toDay } from './date-format.js';
import type { SourceOptions } from './mapping-file.js';
import type { TimeZone } from './time-zone.js';

export type TargetType = 'text' | 'integer' | 'boolean' | 'money' | 'date' | 'date-time' | 'list';

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

export type Convert = (value: unknown) => unknown;

/** Null, a blank text and a list without entries give no value. */
export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0);

/**
 * Compiles the conversion to a type, of values that are not empty. A value that fits no type of the field stays as it is, and validation
 * rejects it; a date returns `ConversionFailure`, which names its format. Throws a `RangeError` for a format that cannot be used.
 */
export function converterTo(type: TargetType, options: SourceOptions, zone: TimeZone | undefined): Convert {
  switch (type) {
    case 'text':
      return toText;
    case 'boolean':
      return toBoolean;
    case 'integer': {
      const number = numberText(options.decimal);
      return (value) => toInteger(number(value));
    }
    case 'money': {
      const number = numberText(options.decimal);
      return (value) => toMoney(number(value));
    }
    case 'list':
      return listConverter(options.split ?? ';');
    default:
      return dateConverter(type, options, zone);
  }
}

/** Ids are often numbers in the source; one that JSON has rounded stays a number. */
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

/** Text with an exponent is written out; the decoder does the rest. */
function toMoney(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const { sign, digits } = exponent.exec(value)?.groups ?? {};
  return digits === undefined ? value : sign + decimalText(digits);
}

/** The text of a number with `.` as its decimal mark and no groups; anything but text as it is. */
function numberText(decimal: SourceOptions['decimal']): Convert {
  if (decimal === undefined) return (value) => (typeof value === 'string' ? value.trim() : value);
  const groups = decimal === '.' ? /[,'’\s]/g : /[.'’\s]/g;
  return (value) => (typeof value === 'string' ? value.replace(groups, '').replace(decimal, '.') : value);
}

/** More entries than any field may have, so that validation rejects them and no list grows without bound. */
export const MAX_LIST_ENTRIES = 10_001;

function listConverter(separator: string): Convert {
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

/** Text is the JSON of a list, as warehouses write it, or entries between separators. */
function listOf(value: unknown, separator: string): unknown[] {
  if (typeof value !== 'string') return [value];
  const text = value.trim();
  if (text.startsWith('[') && text.endsWith(']')) {
    try {
      return JSON.parse(text) as unknown[];
    } catch {
      // A text in brackets.
    }
  }
  return text.split(separator, MAX_LIST_ENTRIES);
}

function dateConverter(
  type: 'date' | 'date-time',
  options: SourceOptions,
  zone: TimeZone | undefined,
): Convert {
  const formats = options.format === undefined ? [] : [options.format].flat();
  const parsers: DateParser[] =
    formats.length === 0 ? [parseIsoDate] : formats.map((format) => compileDateFormat(format));
  const written =
    formats.length === 0
      ? 'as in ISO 8601; name another form with "format", such as "DD.MM.YYYY" or "unix_ms"'
      : formats.join(' or ');
  const code = type === 'date' ? 'invalid_date' : 'invalid_date_time';
  const unreadable = new ConversionFailure(
    code,
    `is not a ${type === 'date' ? 'date' : 'date and time'} written ${written}`,
  );
  const withoutZone = new ConversionFailure(
    code,
    'has no offset: name the time zone in the mapping, such as "timezone": "UTC"',
  );
  return (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return unreadable;
    const given = typeof value === 'string' ? value.trim() : value;
    for (const parse of parsers) {
      const parsed = parse(given);
      if (parsed === null) continue;
      return type === 'date' ? toDay(parsed, zone) : (toDateTime(parsed, zone) ?? withoutZone);
    }
    return unreadable;
  };
}
