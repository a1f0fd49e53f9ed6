/** Milliseconds since the epoch of a date-time with an offset. A leap second counts as the second after it began. */
export function parseMoment(text: string): number {
  const upper = text.toUpperCase();
  const direct = Date.parse(upper);
  if (!Number.isNaN(direct)) return direct;
  const leap = Date.parse(upper.replace(/:60(?=[.Z+-])/, ':59'));
  if (Number.isNaN(leap)) throw new RangeError(`${text} is no date-time`);
  return leap + 1000;
}

/** ISO 8601 in UTC with milliseconds. */
export function formatMoment(milliseconds: number | bigint): string {
  return new Date(Number(milliseconds)).toISOString();
}
