/** Months as numbers, so that ages are not compared as text. */

/** Months since the beginning of the year 0, in UTC. */
export type Month = number & { readonly month: unique symbol };

const monthOf = (date: Date): Month => (date.getUTCFullYear() * 12 + date.getUTCMonth()) as Month;

/** Month of a time, in milliseconds since the epoch. */
export const monthAt = (milliseconds: number): Month => monthOf(new Date(milliseconds));

/** Month from a four-digit year and a number from 1 to 12; null for other numbers. */
export const monthFrom = (year: number, month: number): Month | null =>
  Number.isInteger(year) && year >= 0 && year <= 9999 && Number.isInteger(month) && month >= 1 && month <= 12
    ? ((year * 12 + month - 1) as Month)
    : null;

/** Year, and number of the month from 1 to 12. */
export const partsOfMonth = (month: Month): { year: number; month: number } => ({
  year: Math.floor(month / 12),
  month: (month % 12) + 1,
});

/** First day of the month as `YYYY-MM-DD`. */
export function firstDayOf(month: Month): string {
  const { year, month: number } = partsOfMonth(month);
  return `${String(year).padStart(4, '0')}-${String(number).padStart(2, '0')}-01`;
}
