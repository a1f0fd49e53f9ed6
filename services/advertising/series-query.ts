/** Sums by period as statements. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { countPeriods } from './calendar.js';
import { requiredSums } from './metric-values.js';
import type { ReportParams } from './report-params.js';
import { deliverySource, type SourceName } from './rollups.js';
import { joinLines, type QueryParams, reportQueryParams, selectPrinted, sumColumns } from './sql.js';

export interface SeriesSource {
  name: string;
  by: 'campaign_id' | 'creative_id' | 'company_id';
  source: SourceName;
  columns?: string[];
  /** In addition to those on organization and range. */
  conditions: (string | undefined)[];
  params?: QueryParams;
}

/**
 * Sums by period of the entities with these ids; periods without deliveries have no row. Limited to one row per id and period,
 * whatever a store may answer.
 */
export function seriesQuery(
  { name, by, source, columns = [], conditions, params }: SeriesSource,
  report: ReportParams,
  ids: readonly string[],
): AnalyticsQuery {
  const { metrics, granularity, range } = report;
  const isDaily = granularity === 'daily';
  const sums = requiredSums(metrics);
  const delivery = deliverySource(source, isDaily ? { range } : report, sums, conditions);
  const selected = [
    `${by} AS id`,
    `${isDaily ? 'date' : 'toStartOfMonth(date)'} AS day`,
    ...sumColumns(sums, 'delivery'),
    ...columns,
  ];
  return {
    name,
    sql: joinLines(
      `SELECT ${selected.join(', ')}`,
      delivery.from,
      'GROUP BY id, day',
      'LIMIT {limit:UInt32}',
    ),
    params: {
      ...reportQueryParams(report),
      ids,
      limit: ids.length * countPeriods(range, granularity),
      ...params,
      ...delivery.params,
    },
  };
}

/**
 * The same rows as arrays: the number of the id in `ids`, from 1, or 0 where the values cannot be printed; the day; and the metrics as
 * an object.
 */
export function printedSeries(
  { name, sql, params }: AnalyticsQuery,
  { metrics }: ReportParams,
): AnalyticsQuery {
  const number = 'indexOf({ids:Array(String)}, id)';
  const select = selectPrinted(metrics, requiredSums(metrics), number, ['day']);
  return { name, sql: `${select}\nFROM (\n${sql}\n)`, params };
}
