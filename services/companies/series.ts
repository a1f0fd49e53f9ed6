/** The periods of a company. The function has no side effects. */
import { periodOf, periodsOf } from '../advertising/calendar.js';
import type { ReportParams } from '../advertising/report-params.js';
import type { PeriodRow } from './queries.js';
import type { GetCompanyResponse } from './schema.js';

/** Every period of the range, with zeros where nothing happened. `visits` counts by UTC day. */
export function activityPoints(
  { range, granularity, lastFinalDay }: ReportParams,
  rows: readonly PeriodRow[],
  visits: ReadonlyMap<string, number>,
): GetCompanyResponse['timeseries'] {
  const sums = new Map(rows.map(({ day, ...row }) => [periodOf(day, granularity), row]));
  const visitsOf = new Map<string, number>();
  for (const [day, count] of visits) {
    const period = periodOf(day, granularity);
    visitsOf.set(period, (visitsOf.get(period) ?? 0) + count);
  }
  return periodsOf(range, granularity).map(({ period, start, end }) => ({
    period,
    start_date: start,
    end_date: end,
    provisional: end > lastFinalDay,
    impressions: 0,
    clicks: 0,
    engagements: 0,
    ...sums.get(period),
    visits: visitsOf.get(period) ?? 0,
  }));
}
