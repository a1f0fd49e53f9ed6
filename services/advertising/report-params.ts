/** Parameters of a report: validated, with defaults filled in and values normalized. This module builds no SQL. */

import { invalid, Problem } from '../http/problems.js';
import { normalizeDomain } from '../search/normalize.js';
import { utcDate } from '../shared/time.js';
import type { FieldError } from '../shared/validation.js';
import { countPeriods, type DateRange, daysBetween, lastFinalDay } from './calendar.js';
import type { Metric } from './metrics.js';
import { caseFold, dropAccents, normalizeObjective, normalizeStatus } from './normalization.js';
import type { Granularity } from './requests.js';

/** Maximum days of a range, including the first and the last (contract 5.10). */
export const MAX_DAYS = 3660;

/** Maximum points of one response: items of the page × periods (contract 5.4). */
export const MAX_POINTS = 100_000;

export const DEFAULT_PAGE_SIZE = 50;

/** A month whose sums were made from its current deliveries. `month` is its first day. */
export interface SealedMonth {
  month: string;
  build: string;
}

/** Parameters common to all reports. */
export interface ReportParams {
  organizationId: string;
  range: DateRange;
  granularity: Granularity;
  /** Metrics and rates of the response. */
  metrics: readonly Metric[];
  /** Today, UTC. */
  today: string;
  /** Last final day: later days may still be restated. */
  lastFinalDay: string;
  /** Currency to which money is converted; by default, money stays in the currency of each campaign. */
  currency?: string;
  /**
   * Whether some creatives have deliveries under campaigns of other currencies. Absent unless the caller looked it up; false if money is
   * converted.
   */
  hasForeign?: boolean;
  /** Months whose sums replace their deliveries; empty unless the caller looked them up. */
  sealed?: readonly SealedMonth[];
}

export interface Page {
  page: number;
  size: number;
}

export interface Sort<Name extends string> {
  by: Name;
  descending: boolean;
}

/** A page of a list of entities. */
export interface ListParams<SortName extends string> {
  report: ReportParams;
  filters: Filters;
  sort: Sort<SortName>;
  page: Page;
}

interface ReportFields {
  start_date: string;
  end_date: string;
  granularity?: Granularity | null;
  metrics?: readonly Metric[] | null;
  currency?: string | null;
}

/** Parses and checks the parameters. Throws a `Problem` 422 with the errors of the range and `otherErrors`. */
export function parseReportParams(
  body: ReportFields,
  allMetrics: readonly Metric[],
  organizationId: string,
  { now, provisionalDays }: { now: number; provisionalDays: number },
  otherErrors: readonly FieldError[] = [],
): ReportParams {
  const range = { start: body.start_date, end: body.end_date };
  const errors = [...rangeErrors(range), ...otherErrors];
  if (errors.length > 0) throw invalid(...errors);
  const today = utcDate(now);
  return {
    organizationId,
    range,
    granularity: body.granularity ?? 'daily',
    metrics: body.metrics ? allMetrics.filter((metric) => body.metrics?.includes(metric)) : allMetrics,
    today,
    lastFinalDay: lastFinalDay(today, provisionalDays),
    ...(body.currency && { currency: body.currency }),
  };
}

export const parsePage = ({
  page,
  page_size,
}: {
  page?: number | null;
  page_size?: number | null;
}): Page => ({ page: page ?? 1, size: page_size ?? DEFAULT_PAGE_SIZE });

/** Throws a `Problem` 422 `too_many_points` if the series of this number of items would be too long. */
export function checkPoints({ range, granularity }: ReportParams, items: number): void {
  const periods = countPeriods(range, granularity);
  if (items * periods <= MAX_POINTS) return;
  const detail = `${items} items × ${periods} ${granularity} periods are more than ${MAX_POINTS} points; set granularity to monthly, or page_size to ${Math.floor(MAX_POINTS / periods)} or less.`;
  throw new Problem('too_many_points', detail, {
    errors: [{ pointer: '/page_size', code: 'too_many_points', detail }],
  });
}

function rangeErrors({ start, end }: DateRange): FieldError[] {
  const pointer = '/end_date';
  if (end < start) {
    return [{ pointer, code: 'before_start_date', detail: 'end_date must not be before start_date.' }];
  }
  if (daysBetween(start, end) >= MAX_DAYS) {
    const detail = `A range has at most ${MAX_DAYS} days: end_date must be at most ${MAX_DAYS - 1} days after start_date.`;
    return [{ pointer, code: 'range_too_long', detail }];
  }
  return [];
}

const asWritten = (value: string) => value;
/** Normal forms of the lists that requests filter by. */
const NORMALIZE = {
  campaign_ids: asWritten,
  creative_ids: asWritten,
  company_ids: asWritten,
  network_a_company_ids: asWritten,
  domains: normalizeDomain,
  statuses: normalizeStatus,
  objective_types: normalizeObjective,
};
export type ListFilter = keyof typeof NORMALIZE;

/** Filters in normal form, with the names that they have in requests and as SQL parameters. */
export type Filters = { [Name in ListFilter]?: string[] } & { search?: string };

/** Lists without duplicates. Absent and empty lists both mean no filter. */
export function filtersOf(
  body: { [Name in ListFilter]?: readonly string[] | null } & { search?: string | null },
): Filters {
  const filters: Filters = body.search ? { search: dropAccents(caseFold(body.search)) } : {};
  for (const [name, normalize] of Object.entries(NORMALIZE) as [ListFilter, (value: string) => string][]) {
    const values = body[name];
    if (values && values.length > 0) filters[name] = [...new Set(values.map(normalize))];
  }
  return filters;
}
