/** Source of the current time. Tests pass their own clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Formats milliseconds since the epoch as `YYYY-MM-DD` in UTC. */
export function utcDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

const timestamp =
  /^(?<day>\d{4}-\d{2}-\d{2})[T ](?<time>\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(?:(?<utc>Z)|(?<hours>[+-]\d{2})(?::?(?<minutes>\d{2}))?)$/i;

/**
 * A date-time with an offset in RFC 3339 format, and its day; null for other text. Also accepts forms that exports write: a space in place
 * of T (warehouses), `+0000` (Salesforce) and `+00` (PostgreSQL).
 */
export function canonicalTimestamp(text: string): { day: string; text: string } | null {
  const { day, time, utc, hours, minutes = '00' } = timestamp.exec(text)?.groups ?? {};
  if (day === undefined) return null;
  return { day, text: `${day}T${time}${utc ? 'Z' : `${hours}:${minutes}`}` };
}

/**
 * Parses a date-time with an offset to milliseconds since the epoch. A leap second becomes the next second. Throws RangeError for other
 * text.
 */
export function parseTimestamp(given: string): number {
  const upper = canonicalTimestamp(given)?.text ?? given;
  const direct = Date.parse(upper);
  if (!Number.isNaN(direct)) return direct;
  const leap = Date.parse(upper.replace(/:60(?=[.Z+-])/, ':59'));
  if (Number.isNaN(leap)) throw new RangeError(`${given} is not a date-time`);
  return leap + 1000;
}

export const DAY_MS = 86_400_000;

/** Limits of `parseTimestamp`: the years 0 to 9999 in any offset. */
const FIRST_TIMESTAMP_MS = Date.parse('0000-01-01T00:00:00Z') - DAY_MS;
const LAST_TIMESTAMP_MS = Date.parse('9999-12-31T23:59:59.999Z') + DAY_MS;

/** Whether a value is a number of milliseconds since the epoch that a record may have as its time. */
export const isTimestampMs = (value: unknown): value is number =>
  Number.isInteger(value) &&
  (value as number) >= FIRST_TIMESTAMP_MS &&
  (value as number) <= LAST_TIMESTAMP_MS;

/** Formats milliseconds since the epoch as ISO 8601 in UTC with milliseconds. */
export function formatTimestamp(milliseconds: number | bigint): string {
  return new Date(Number(milliseconds)).toISOString();
}
