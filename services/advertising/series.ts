/**
 * Metrics of a page and their time series. They are read in parts of the range: this bounds the size of a result, and the time for which
 * the event loop is blocked.
 */
import { TimeSlice } from '../shared/async.js';
import type { Json } from '../shared/json.js';
import { checkedIdentifier, EMPTY_SQL, identifier, type Sql, sql } from '../shared/sql.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { countPeriods, type DateRange, periodOf, periodsOf, splitByMonths } from './calendar.js';
import { reportSource } from './conversion.js';
import { type MetricSums, metricPrinter, requiredSums } from './metric-values.js';
import type { SummedMetric } from './metrics.js';
import type { ReportParams } from './report-params.js';
import type { CampaignItem } from './responses.js';
import type { SourceName } from './rollups.js';
import { joinLines, list, type QueryParams, sumColumns } from './sql.js';

/** Maximum points of a response in which every period is present (contract 5.4). */
export const MAX_COMPLETE_POINTS = 20_000;

/** Maximum rows per series statement. A single month of a full page has 6 200 rows. */
const ROWS_PER_STATEMENT = 10_000;

/** Sums of one item in one period, which begins on `day`; an empty `day` means the whole range. */
export type SeriesRow = MetricSums & { id: string; day: string };

export type Point = CampaignItem['timeseries'][number];

/** Whether a response with this many items leaves out empty periods. */
export function isSparse({ range, granularity }: ReportParams, items: number): boolean {
  return items * countPeriods(range, granularity) > MAX_COMPLETE_POINTS;
}

/** Number of items whose series can have every period. */
export const completeItems = ({ range, granularity }: ReportParams): number =>
  Math.floor(MAX_COMPLETE_POINTS / countPeriods(range, granularity));

/** The parts of the range to query in sequence, divided at months like the partitions of the tables. */
export function seriesParts(report: ReportParams, items: number): ReportParams[] {
  const maxPeriods = Math.floor(ROWS_PER_STATEMENT / Math.max(1, items));
  return splitByMonths(report.range, report.granularity, maxPeriods).map((range) => ({ ...report, range }));
}

/** Which rows a statement returns for an entity: one row per period, one row for the whole range (with an empty day), or both. */
export interface MetricRows {
  points: boolean;
  totals: boolean;
}

export interface MetricSource {
  name: string;
  by: 'campaign_id' | 'creative_id' | 'company_id';
  source: SourceName;
  /** Aggregates other than metrics, by name. `isSummed` is true if sums replace deliveries. */
  others?: (isSummed: boolean) => Readonly<Record<string, Sql>>;
  /** Metrics that the other aggregates read, which the report need not request. */
  reads?: readonly SummedMetric[];
  /** Conditions other than organization and range. */
  conditions: (Sql | false | undefined)[];
  params?: QueryParams;
}

/**
 * Metrics of the entities with the given ids. Periods and entities without deliveries have no row. The statement limits the number of rows,
 * whatever a store may return.
 */
export function metricsQuery(
  { name, by, source, others, reads = [], conditions, params }: MetricSource,
  report: ReportParams,
  ids: readonly string[],
  { points, totals }: MetricRows,
): AnalyticsQuery {
  const { metrics, granularity, range } = report;
  const isDaily = granularity === 'daily';
  const sums = requiredSums(metrics);
  // Daily points need deliveries, because sums of months have no days.
  const summed = points && isDaily ? { ...report, sealed: [] } : report;
  const delivery = reportSource(source, by, summed, [...new Set([...sums, ...reads])], conditions);
  const period = isDaily ? sql`date` : sql`toStartOfMonth(date)`;
  const id = identifier(by);
  const both = points && totals;
  const day = both ? sql`if(grouping(${period}) = 1, '', toString(${period}))` : points ? period : sql`''`;
  const selected = [
    sql`${id} AS id`,
    sql`${day} AS day`,
    ...sumColumns(sums),
    ...Object.entries(others?.(delivery.isSummed) ?? {}).map(
      ([column, value]) => sql`${value} AS ${checkedIdentifier(column)}`,
    ),
  ];
  return {
    name,
    sql: joinLines(
      sql`SELECT ${list(selected)}`,
      delivery.from,
      sql`GROUP BY ${points ? sql`${id}, ${period}` : id}${both ? sql` WITH ROLLUP` : EMPTY_SQL}`,
      // Excludes the row over all entities.
      both ? sql`HAVING id != ''` : EMPTY_SQL,
      sql`LIMIT {limit:UInt32}`,
    ),
    params: {
      organization_id: report.organizationId,
      ids,
      limit: ids.length * ((points ? countPeriods(range, granularity) : 0) + (totals ? 1 : 0)),
      ...params,
      ...delivery.params,
    },
  };
}

/** The series of the items of one response, as JSON text, complete unless there are too many points. */
export class SeriesBuilder {
  readonly #report: ReportParams;
  readonly #sparse: boolean;
  /** The fields of a period without deliveries. */
  readonly #empty: string;
  readonly #points: Map<string, string[]>;
  readonly #print: (sums: MetricSums) => string;

  constructor(report: ReportParams, ids: readonly string[]) {
    this.#report = report;
    this.#sparse = isSparse(report, ids.length);
    this.#print = metricPrinter(report.metrics);
    this.#empty = this.#print({});
    this.#points = new Map(ids.map((id) => [id, []]));
  }

  /** Appends the points of one part of the range. Parts must be in ascending order. Yields to the event loop. */
  async append(range: DateRange, rows: readonly SeriesRow[], signal?: AbortSignal): Promise<void> {
    const { granularity, lastFinalDay } = this.#report;
    const slice = new TimeSlice();
    const fieldsOf = new Map(Array.from(this.#points.keys(), (id) => [id, new Map<string, string>()]));
    for (const row of rows) {
      // A row without a day covers the whole range.
      if (row.day !== '') fieldsOf.get(row.id)?.set(periodOf(row.day, granularity), this.#print(row));
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
