/** Source of the current time; tests pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** `YYYY-MM-DD` in UTC of milliseconds since the epoch. */
export function utcDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

/** Milliseconds since the epoch of an ISO 8601 date-time with an offset. A leap second becomes the second after it. Throws RangeError. */
export function parseTimestamp(text: string): number {
  const upper = text.toUpperCase();
  const direct = Date.parse(upper);
  if (!Number.isNaN(direct)) return direct;
  const leap = Date.parse(upper.replace(/:60(?=[.Z+-])/, ':59'));
  if (Number.isNaN(leap)) throw new RangeError(`${text} is not a date-time`);
  return leap + 1000;
}

export const DAY_MS = 86_400_000;

/** `YYYY-MM-DD` in UTC, of milliseconds since the epoch. */
export function formatDay(milliseconds: number): string {
  return formatTimestamp(milliseconds).split('T', 1)[0] as string;
}

/** ISO 8601 in UTC with milliseconds, of milliseconds since the epoch. */
export function formatTimestamp(milliseconds: number | bigint): string {
  return new Date(Number(milliseconds)).toISOString();
}
