/** Parses dates in the formats that exports write. */
import { canonicalTimestamp, formatTimestamp, utcDate } from '../../services/shared/time.js';
import type { TimeZone } from './time-zone.js';

/** An instant, or a day and time in an unknown time zone. */
export type ParsedDate =
  /** Milliseconds since the epoch. */
  | { instant: number }
  /** A time with an offset, in RFC 3339 format. */
  | { timestamp: string }
  /** `YYYY-MM-DD` and `HH:mm:ss` with any fraction. */
  | { day: string; time: string };

export type DateParser = (value: string | number) => ParsedDate | null;

const MAX_TEXT_LENGTH = 64;

const localTime =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:[T ](?<minute>\d{2}:\d{2})(?<second>:\d{2}(?:\.\d{1,9})?)?(?<utc> ?UTC)?)?$/i;
const spaceBeforeOffset = / (?=[+-]\d{2}(?::?\d{2})?$)/;

/** Parses ISO 8601 and the formats of databases: a space for T, `+00`, `+0000`, ` UTC`, no seconds, no offset. */
export const parseIsoDate: DateParser = (value) => {
  if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) return null;
  const withOffset = canonicalTimestamp(value) ?? canonicalTimestamp(value.replace(spaceBeforeOffset, ''));
  if (withOffset) return { timestamp: withOffset.text };
  const { day, minute = '00:00', second = ':00', utc } = localTime.exec(value)?.groups ?? {};
  if (day === undefined) return null;
  return utc === undefined ? { day, time: minute + second } : { timestamp: `${day}T${minute}${second}Z` };
};

/** Order of day and month in dates that end with the year. */
export type DateOrder = 'dmy' | 'mdy';

const numericDate =
  /^(?<first>\d{1,2})(?<sign>[/.-])(?<second>\d{1,2})\k<sign>(?<year>\d{4})(?:,?[ T](?:(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second_>\d{2}))?)(?: ?(?<half>[AaPp])\.?[Mm]\.?)?)?$/;
const yearFirst = /^(?<year>\d{4})(?<sign>[/.])(?<month>\d{1,2})\k<sign>(?<day>\d{1,2})(?=[ T]|$)/;

/**
 * The possible orders of a numeric date. Empty if the year comes first or the date has another format. With points as separators, the day
 * always comes first.
 */
export function dateOrders(text: string): DateOrder[] {
  const { first, sign, second } = (text.length <= MAX_TEXT_LENGTH && numericDate.exec(text)?.groups) || {};
  if (first === undefined) return [];
  const orders: DateOrder[] = [];
  if (Number(second) <= 12) orders.push('dmy');
  if (Number(first) <= 12 && sign !== '.') orders.push('mdy');
  return orders;
}

/** Parses a date with numeric day and month, and an optional time. */
export const numericDateParser =
  (order: DateOrder): DateParser =>
  (value) => {
    if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH) return null;
    const iso = value.replace(yearFirst, (...found) => {
      const { year, month, day } = found.at(-1) as Parts;
      return `${year}-${pad(month)}-${pad(day)}`;
    });
    if (iso !== value) return parseIsoDate(iso);
    const parts = numericDate.exec(value)?.groups;
    if (parts === undefined || (parts.sign === '.' && order === 'mdy')) return null;
    const [day, month] = order === 'dmy' ? [parts.first, parts.second] : [parts.second, parts.first];
    const { half } = parts;
    const hour = half === undefined ? parts.hour : hourOf({ hour12: parts.hour, half: `${half}m` });
    return {
      day: `${parts.year}-${pad(month)}-${pad(day)}`,
      time: `${pad(hour)}:${pad(parts.minute)}:${pad(parts.second_)}`,
    };
  };

const UNIX_MS: Record<string, number> = { unix_s: 1000, unix_ms: 1, unix_us: 0.001 };

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const MONTH_STARTS = MONTHS.map((name) => name.slice(0, 3).toLowerCase());

/** Tokens of a pattern, longest first, with the regular expression for each. */
const TOKENS: Record<string, string> = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<shortYear>\\d{2})',
  MMMM: `(?<monthName>${MONTHS.join('|')})`,
  MMM: '(?<monthName>[A-Za-z]{3})',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
  HH: '(?<hour>\\d{2})',
  H: '(?<hour>\\d{1,2})',
  hh: '(?<hour12>\\d{2})',
  h: '(?<hour12>\\d{1,2})',
  mm: '(?<minute>\\d{2})',
  ss: '(?<second>\\d{2})',
  SSS: '(?<fraction>\\d{1,9})',
  A: '(?<half>[AaPp][Mm])',
  Z: '(?<offset>Z|[+-]\\d{2}(?::?\\d{2})?)',
};
const token = new RegExp(Object.keys(TOKENS).join('|'), 'y');

/**
 * Compiles a format. The resulting expression has only fixed repetitions and escaped characters, so its cost is bounded. Throws a
 * `RangeError` for a format with other letters, a repeated token, or an incomplete day.
 */
export function compileDateFormat(format: string): DateParser {
  if (format === 'iso') return parseIsoDate;
  const unit = UNIX_MS[format];
  if (unit !== undefined) return (value) => unixTime(value, unit);
  let source = '';
  const used = new Set<string>();
  for (let at = 0; at < format.length; ) {
    token.lastIndex = at;
    const found = token.exec(format)?.[0];
    if (found !== undefined) {
      const part = TOKENS[found] as string;
      const kind = part.slice(0, part.indexOf('>'));
      if (used.has(kind)) throw new RangeError(`the date format ${format} has ${found} twice.`);
      used.add(kind);
      source += part;
      at += found.length;
      continue;
    }
    const sign = String.fromCodePoint(format.codePointAt(at) as number);
    if (/\p{L}/u.test(sign) && sign !== 'T') {
      throw new RangeError(
        `the date format ${format} has the letter ${sign}, which stands for nothing: use ${Object.keys(TOKENS).join(' ')}, or iso, unix_s, unix_ms, unix_us.`,
      );
    }
    source += sign.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
    at += sign.length;
  }
  const has = (...kinds: string[]) => kinds.some((kind) => used.has(`(?<${kind}`));
  if (!has('year', 'shortYear') || !has('month', 'monthName') || !has('day')) {
    throw new RangeError(`the date format ${format} must name year, month and day.`);
  }
  if (has('hour12') !== has('half') || (has('hour12') && has('hour'))) {
    throw new RangeError(`the date format ${format} must have h together with A, and not with H.`);
  }
  return textParser(new RegExp(`^${source}$`, 'u'));
}

function unixTime(value: string | number, unit: number): ParsedDate | null {
  if (typeof value === 'string' && !/^-?\d{1,17}(?:\.\d{1,9})?$/.test(value)) return null;
  const instant = Math.round(Number(value) * unit);
  // An instant; null for values that `Date` cannot hold.
  return Math.abs(instant) <= 8.64e15 ? { instant } : null;
}

function textParser(expression: RegExp): DateParser {
  return (value) => {
    const text = String(value);
    if (text.length > MAX_TEXT_LENGTH) return null;
    const parts = expression.exec(text)?.groups;
    if (parts === undefined) return null;
    const month = parts.monthName
      ? MONTH_STARTS.indexOf(parts.monthName.slice(0, 3).toLowerCase()) + 1
      : parts.month;
    const day = `${yearOf(parts)}-${pad(month)}-${pad(parts.day)}`;
    const fraction = parts.fraction === undefined ? '' : `.${parts.fraction}`;
    const time = `${pad(hourOf(parts))}:${pad(parts.minute)}:${pad(parts.second)}${fraction}`;
    if (parts.offset === undefined) return { day, time };
    const timestamp = canonicalTimestamp(`${day}T${time}${parts.offset}`);
    return timestamp && { timestamp: timestamp.text };
  };
}

type Parts = Record<string, string | undefined>;

/** Full year. Two digits mean 1969 to 2068, as in POSIX. */
const yearOf = ({ year, shortYear }: Parts) => year ?? `${Number(shortYear) >= 69 ? '19' : '20'}${shortYear}`;

function hourOf({ hour, hour12, half }: Parts): string | number | undefined {
  if (hour12 === undefined) return hour;
  const inHalf = Number(hour12);
  // Other hours do not exist, so the hour becomes 99, which validation rejects.
  if (inHalf < 1 || inHalf > 12) return 99;
  return (inHalf % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0);
}

const pad = (part: string | number | undefined) => String(part ?? 0).padStart(2, '0');

/** A day that exists in any year, so that most dates need no calendar. */
const ordinaryDay = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;
const ordinaryTime = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d/;

/** Whether the day exists in the calendar, and the time on a clock. */
export function exists(parsed: ParsedDate): boolean {
  if (!('day' in parsed)) return true;
  const { day, time } = parsed;
  if (ordinaryDay.test(day) && ordinaryTime.test(time)) return true;
  const instant = Date.parse(`${day}T${time.replace(/:60/, ':59')}Z`);
  return !Number.isNaN(instant) && utcDate(instant) === day;
}

/** A date-time with an offset; null if the date has no offset and no time zone is known. */
export function toDateTime(parsed: ParsedDate, zone: TimeZone | undefined): string | null {
  if ('instant' in parsed) return formatTimestamp(parsed.instant);
  if ('timestamp' in parsed) return parsed.timestamp;
  if (zone === undefined) return null;
  const { day, time } = parsed;
  const local = Date.parse(`${day}T${time}Z`);
  // A day or hour that does not exist is returned as it is, and validation rejects it.
  if (Number.isNaN(local)) return `${day}T${time}Z`;
  const offset = zone.offsetOfLocal(local);
  if (offset === 0) return `${day}T${time}Z`;
  const minutes = Math.abs(offset) / 60_000;
  if (!Number.isInteger(minutes)) return formatTimestamp(local - offset);
  return `${day}T${time}${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** Formats `YYYY-MM-DD`: for an instant, the day in the time zone, by default UTC; otherwise the day as written. */
export function toDay(parsed: ParsedDate, zone: TimeZone | undefined): string {
  if ('day' in parsed) return parsed.day;
  const instant = 'instant' in parsed ? parsed.instant : Date.parse(parsed.timestamp);
  if (Number.isNaN(instant)) return 'timestamp' in parsed ? parsed.timestamp : '';
  return utcDate(instant + (zone?.offsetAt(instant) ?? 0));
}
