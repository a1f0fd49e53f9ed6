/** Decides which months a purge of old visits may drop whole, for both stores. */
import { type Month, monthAt } from '../shared/month.js';

/** Visits of these years are stored by month; all others, few and probably wrong, are stored together. */
const YEARS = { first: 2020, last: 2039 };

/** The month that stores a visit. `other` is neither before nor after any month. */
export type VisitMonth = { kind: 'month'; month: Month } | { kind: 'other' };

/** A function of the visit's time alone, so that a repeated visit meets itself. `createdMs` in milliseconds since the epoch. */
export function monthOfVisit(createdMs: number): VisitMonth {
  const year = new Date(createdMs).getUTCFullYear();
  if (!(year >= YEARS.first && year <= YEARS.last)) return { kind: 'other' };
  return { kind: 'month', month: monthAt(createdMs) };
}

/** Whether a month ends at or before a moment, by its name. */
export const endsBefore = (stored: VisitMonth, beforeMs: number): boolean =>
  stored.kind === 'month' && stored.month < monthAt(beforeMs);

/** A month as it is stored: an index or a partition. */
export interface StoredMonth {
  name: string;
  month: VisitMonth;
  visits: number;
  /** Time of its newest visit, in milliseconds since the epoch; null where it has none. */
  newestMs: number | null;
}

/**
 * Selects the months that may be dropped whole, from the months whose names end before a moment. A month with a visit from that moment on is
 * refused: name and data contradict each other.
 */
export function planDrops(
  months: readonly StoredMonth[],
  beforeMs: number,
): { dropped: StoredMonth[]; refused: StoredMonth[] } {
  const old = months.filter(({ month }) => endsBefore(month, beforeMs));
  const isSafe = ({ newestMs }: StoredMonth) => newestMs === null || newestMs < beforeMs;
  return { dropped: old.filter(isSafe), refused: old.filter((month) => !isSafe(month)) };
}

/** Log lines of purges. */
export interface RetentionLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** Says what is dropped, before it is, and what is not. */
export function logDrops(
  log: RetentionLog | undefined,
  { dropped, refused }: ReturnType<typeof planDrops>,
): void {
  for (const { name, visits, newestMs } of dropped)
    log?.info(
      { dropped: name, visits, newest: isoOf(newestMs) },
      'drops a month of visits older than their retention',
    );
  for (const { name, visits, newestMs } of refused)
    log?.warn(
      { refused: name, visits, newest: isoOf(newestMs) },
      'a month of visits is not dropped: its name says that it is older than the retention, its visits are not',
    );
}

const isoOf = (milliseconds: number | null) =>
  milliseconds === null ? null : new Date(milliseconds).toISOString();

/** A count before a purge ends here; more are told as this many. */
export const MAX_COUNTED_VISITS = 100_000;
