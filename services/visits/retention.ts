/** Decides, for both stores, which months of old visits may be dropped as a whole. */
import { type Month, monthAt } from '../shared/month.js';

/** Visits of these years are stored by month. All others, which are few and probably wrong, are stored together. */
const YEARS = { first: 2020, last: 2039 };

/** The month that a visit is stored in. `other` is neither before nor after any month. */
export type VisitMonth = { kind: 'month'; month: Month } | { kind: 'other' };

/** Depends only on the visit's time, so that a repeated visit is found. `createdMs` is in milliseconds since the epoch. */
export function monthOfVisit(createdMs: number): VisitMonth {
  const year = new Date(createdMs).getUTCFullYear();
  if (!(year >= YEARS.first && year <= YEARS.last)) return { kind: 'other' };
  return { kind: 'month', month: monthAt(createdMs) };
}

/** Whether the month in its name ends at or before a moment. */
export const endsBefore = (stored: VisitMonth, beforeMs: number): boolean =>
  stored.kind === 'month' && stored.month < monthAt(beforeMs);

/** A stored month: an index or a partition. */
export interface StoredMonth {
  name: string;
  month: VisitMonth;
  visits: number;
  /** Time of its newest visit, in milliseconds since the epoch; null if it is empty. */
  newestMs: number | null;
}

/**
 * Selects months that may be dropped as a whole, from the months whose names end before a moment. Refuses a month with a visit from that
 * moment on, because its name contradicts its data.
 */
export function planDrops(
  months: readonly StoredMonth[],
  beforeMs: number,
): { dropped: StoredMonth[]; refused: StoredMonth[] } {
  const old = months.filter(({ month }) => endsBefore(month, beforeMs));
  const isSafe = ({ newestMs }: StoredMonth) => newestMs === null || newestMs < beforeMs;
  return { dropped: old.filter(isSafe), refused: old.filter((month) => !isSafe(month)) };
}

/** Logger of deletions. */
export interface RetentionLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** Logs the months that will be dropped, and the months that will not. */
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

/** Counting old visits stops here; a larger number is reported as this. */
export const MAX_COUNTED_VISITS = 100_000;
