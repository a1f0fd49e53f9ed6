/** Time series of responses, built in parts of the range to bound the size of a result and the time the event loop is blocked. */
import { TimeSlice } from '../shared/async.js';
import type { Json } from '../shared/json.js';
import { countPeriods, type DateRange, periodOf, periodsOf, splitByMonths } from './calendar.js';
import { type MetricSums, metricWriter } from './metric-values.js';
import type { Metric } from './metrics.js';
import type { ReportParams } from './report-params.js';
import type { CampaignItem } from './responses.js';
import { PRINTED_METRICS } from './sql.js';

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

/** The figures of one item in one period, or in the whole range. */
export interface PrintedRow {
  id: string;
  /** Empty for the whole range. */
  day: string;
  /** The metrics as the fields of an object. */
  fields: string;
  /** What is known besides the metrics, for the whole range. */
  others: object;
}

/** `{"number":2,"day":"2026-01-31",…}`; null where the store could not print the metrics. */
export function parsePrintedRow(line: string, ids: readonly string[]): PrintedRow | null {
  const comma = line.indexOf(',');
  const id = ids[Number(line.slice(NUMBER_AT, comma)) - 1];
  if (id === undefined) return null;
  const dayAt = comma + DAY_AT;
  const dayEnd = line.indexOf('"', dayAt);
  const day = line.slice(dayAt, dayEnd);
  const metricsAt = line.indexOf(PRINTED_METRICS, dayEnd);
  const others =
    day === '' ? (JSON.parse(`{${line.slice(dayEnd + 2, metricsAt).replace(/,$/, '')}}`) as object) : {};
  return { id, day, fields: line.slice(metricsAt + PRINTED_METRICS.length + 1, -1), others };
}
const NUMBER_AT = '{"number":'.length;
const DAY_AT = ',"day":"'.length;

/** Prints rows as the store does, which costs more. */
export function rowPrinter(
  metrics: readonly Metric[],
  others: readonly string[] = [],
): (row: SeriesRow) => PrintedRow {
  const write = metricWriter(metrics);
  return (row) => ({
    id: row.id,
    day: row.day,
    fields: JSON.stringify(write({}, row)).slice(1, -1),
    others:
      row.day === '' ? Object.fromEntries(others.map((name) => [name, row[name as keyof SeriesRow]])) : {},
  });
}

/** The series of the items of one response as JSON text, complete unless there are too many points. */
export class SeriesBuilder {
  readonly #report: ReportParams;
  readonly #sparse: boolean;
  /** The fields of a period without deliveries. */
  readonly #empty: string;
  readonly #points: Map<string, string[]>;

  constructor(report: ReportParams, ids: readonly string[]) {
    this.#report = report;
    this.#sparse = isSparse(report, ids.length);
    this.#empty = rowPrinter(report.metrics)({ id: '', day: '' }).fields;
    this.#points = new Map(ids.map((id) => [id, []]));
  }

  /** Appends the points of one part of the range; parts come in ascending order. Yields to the event loop. */
  async append(range: DateRange, rows: readonly PrintedRow[], signal?: AbortSignal): Promise<void> {
    const { granularity, lastFinalDay } = this.#report;
    const slice = new TimeSlice();
    const fieldsOf = new Map(Array.from(this.#points.keys(), (id) => [id, new Map<string, string>()]));
    for (const { id, day, fields } of rows) {
      fieldsOf.get(id)?.set(periodOf(day, granularity), fields);
      if (slice.shouldYield()) await slice.yieldToEventLoop(signal);
    }
    const periods = periodsOf(range, granularity).map(({ period, start, end }) => ({
      period,
      head: `{"period":"${period}","start_date":"${start}","end_date":"${end}","provisional":${end > lastFinalDay},`,
    }));
    for (const [id, points] of this.#points) {
      const fields = fieldsOf.get(id);
      for (const { period, head } of periods) {
        const found = fields?.get(period) ?? (this.#sparse ? undefined : this.#empty);
        if (found !== undefined) points.push(`${head}${found}}`);
        if (slice.shouldYield()) await slice.yieldToEventLoop(signal);
      }
    }
  }

  seriesOf(id: string): Json<Point[]> {
    return `[${(this.#points.get(id) ?? []).join(',')}]`;
  }
}
