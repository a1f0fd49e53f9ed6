/** Days and periods of a range. Days are UTC, as `YYYY-MM-DD` text, which sorts by time. */
import { DAY_MS, utcDate } from '../shared/time.js';
import type { CompareTo, Granularity } from './requests.js';

export interface DateRange {
  start: string;
  end: string;
}

export interface Period {
  /** Name of the period: `YYYY-MM-DD`, or `YYYY-MM`. */
  period: string;
  /** First day of the period; first and last day are inside the range. */
  start: string;
  end: string;
}

export function addDays(day: string, days: number): string {
  return utcDate(Date.parse(day) + days * DAY_MS);
}

/** Number of days between two days; 0 for the same day. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

/** The earlier of two days. */
export const earlier = (one: string, other: string) => [one, other].sort()[0] as string;

/** The range to compare a range with: the same number of days right before it, or the same days a month or a year earlier. */
export function previousRange({ start, end }: DateRange, compareTo: CompareTo): DateRange {
  if (compareTo === 'previous_year') return { start: yearBefore(start), end: yearBefore(end) };
  if (compareTo === 'previous_month') return { start: monthBefore(start), end: monthBefore(end) };
  return { start: addDays(start, -1 - daysBetween(start, end)), end: addDays(start, -1) };
}

/** The same day one year earlier; 29 February becomes 28 February. */
function yearBefore(day: string): string {
  const year = String(Number(day.slice(0, 4)) - 1).padStart(4, '0');
  return `${year}${day.slice(4).replace('-02-29', '-02-28')}`;
}

/**
 * The same day one month earlier. The last day of a month, and a day that the earlier month lacks, becomes the last day of the earlier
 * month.
 */
function monthBefore(day: string): string {
  const last = addDays(`${day.slice(0, 7)}-01`, -1);
  if (day === lastOfMonth(day)) return last;
  return earlier(`${last.slice(0, 7)}${day.slice(7)}`, last);
}

/** Last day of the month that contains a day. */
export function lastOfMonth(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  const last = new Date(0);
  // Not `Date.UTC`, which would place years below 100 in the twentieth century.
  last.setUTCFullYear(year, month, 0);
  return last.toISOString().slice(0, 10);
}

/** Name of the period that contains a day. */
export function periodOf(day: string, granularity: Granularity): string {
  return granularity === 'daily' ? day : day.slice(0, 7);
}

/** All periods of a range, ascending, clipped to the range. */
export function periodsOf({ start, end }: DateRange, granularity: Granularity): Period[] {
  const periods: Period[] = [];
  let day = start;
  while (day <= end) {
    const monthEnd = granularity === 'daily' ? day : lastOfMonth(day);
    const last = earlier(monthEnd, end);
    periods.push({ period: periodOf(day, granularity), start: day, end: last });
    if (last === end) break;
    day = addDays(last, 1);
  }
  return periods;
}

/** The number of periods of a range. */
export function countPeriods({ start, end }: DateRange, granularity: Granularity): number {
  if (granularity === 'daily') return daysBetween(start, end) + 1;
  const months = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
  return months(end) - months(start) + 1;
}

/** A range divided at months, ascending: each part has at most `maxPeriods` periods, or is a single month. */
export function splitByMonths(range: DateRange, granularity: Granularity, maxPeriods: number): DateRange[] {
  const parts: DateRange[] = [];
  for (const { start, end } of periodsOf(range, 'monthly')) {
    const last = parts.at(-1);
    if (last && countPeriods({ start: last.start, end }, granularity) <= maxPeriods) last.end = end;
    else parts.push({ start, end });
  }
  return parts;
}

/** Whether a monthly series would begin or end within a month. */
export function cutsMonth({ start, end }: DateRange): boolean {
  return !start.endsWith('-01') || end !== lastOfMonth(end);
}

/** The last final day; later days may still be restated (contract 5.11). */
export function lastFinalDay(today: string, provisionalDays: number): string {
  return addDays(today, -provisionalDays);
}
