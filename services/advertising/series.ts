/** Time series of responses, built in parts of the range to bound the size of a result and the time the event loop is blocked. */
import { TimeSlice } from '../shared/async.js';
import { countPeriods, type DateRange, type Period, periodOf, periodsOf, splitByMonths } from './calendar.js';
import { type MetricSums, metricWriter } from './metric-values.js';
import type { ReportParams } from './report-params.js';
import type { CampaignItem } from './responses.js';

/** Points per response up to which every period is present (contract 5.4). */
export const MAX_COMPLETE_POINTS = 20_000;

/** Rows per series statement. A single month of a full page has 6 200. */
const ROWS_PER_STATEMENT = 10_000;

/** Sums of one item in one period, which `day` begins. */
export type SeriesRow = MetricSums & { id: string; day: string };

export type Point = CampaignItem['timeseries'][number];

/** Whether a response with this many items leaves out empty periods. */
export function isSparse({ range, granularity }: ReportParams, items: number): boolean {
  return items * countPeriods(range, granularity) > MAX_COMPLETE_POINTS;
}

/** Items whose series have every period. */
export const completeItems = ({ range, granularity }: ReportParams): number =>
  Math.floor(MAX_COMPLETE_POINTS / countPeriods(range, granularity));

/** The parts of the range to query in sequence: cut between months, as the tables are partitioned. */
export function seriesParts(report: ReportParams, items: number): ReportParams[] {
  const maxPeriods = Math.floor(ROWS_PER_STATEMENT / Math.max(1, items));
  return splitByMonths(report.range, report.granularity, maxPeriods).map((range) => ({ ...report, range }));
}

/** The series of the items of one response, complete unless there are too many points. */
export class SeriesBuilder {
  readonly #report: ReportParams;
  readonly #sparse: boolean;
  readonly #write: ReturnType<typeof metricWriter>;
  readonly #empty: Point;
  readonly #points: Map<string, Point[]>;

  constructor(report: ReportParams, ids: readonly string[]) {
    this.#report = report;
    this.#sparse = isSparse(report, ids.length);
    this.#write = metricWriter(report.metrics);
    // Points are copies of one with all fields: V8 copies an object in one step, but adds fields one by one.
    this.#empty = this.#write({ period: '', start_date: '', end_date: '', provisional: false }, {});
    this.#points = new Map(ids.map((id) => [id, []]));
  }

  /** Appends the points of one part of the range; parts come in ascending order. Yields to the event loop. */
  async append(range: DateRange, rows: readonly SeriesRow[], signal?: AbortSignal): Promise<void> {
    const { granularity } = this.#report;
    const slice = new TimeSlice();
    const rowsOf = new Map(Array.from(this.#points.keys(), (id) => [id, new Map<string, MetricSums>()]));
    for (const row of rows) {
      rowsOf.get(row.id)?.set(periodOf(row.day, granularity), row);
      if (slice.shouldYield()) await slice.yieldToEventLoop(signal);
    }
    const periods = periodsOf(range, granularity);
    for (const [id, points] of this.#points) {
      const sums = rowsOf.get(id);
      for (const period of periods) {
        const row = sums?.get(period.period);
        if (row || !this.#sparse) points.push(this.#point(period, row));
        if (slice.shouldYield()) await slice.yieldToEventLoop(signal);
      }
    }
  }

  pointsOf(id: string): Point[] {
    return this.#points.get(id) ?? [];
  }

  #point({ period, start, end }: Period, sums: MetricSums | undefined): Point {
    const point = { ...this.#empty };
    point.period = period;
    point.start_date = start;
    point.end_date = end;
    point.provisional = end > this.#report.lastFinalDay;
    return sums ? this.#write(point, sums) : point;
  }
}
