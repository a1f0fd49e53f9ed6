/** Milliseconds since the epoch of an ISO 8601 date-time with an offset. A leap second becomes the second after it. Throws RangeError. */
export function parseTimestamp(text: string): number {
  const upper = text.toUpperCase();
  const direct = Date.parse(upper);
  if (!Number.isNaN(direct)) return direct;
  const leap = Date.parse(upper.replace(/:60(?=[.Z+-])/, ':59'));
  if (Number.isNaN(leap)) throw new RangeError(`${text} is not a date-time`);
  return leap + 1000;
}

/** ISO 8601 in UTC with milliseconds. */
export function formatTimestamp(milliseconds: number | bigint): string {
  return new Date(Number(milliseconds)).toISOString();
}
