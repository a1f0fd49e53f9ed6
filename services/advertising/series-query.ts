/** Figures of entities as statements. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { countPeriods } from './calendar.js';
import { requiredSums } from './metric-values.js';
import type { ReportParams } from './report-params.js';
import { deliverySource, type SourceName } from './rollups.js';
import { joinLines, type QueryParams, sumColumns } from './sql.js';

/** Which rows of an entity a statement answers: one per period, one of the whole range, whose day is empty, or both. */
export interface FigureRows {
  points: boolean;
  totals: boolean;
}

export interface FigureSource {
  name: string;
  by: 'campaign_id' | 'creative_id' | 'company_id';
  source: SourceName;
  /** Aggregates besides the metrics, by their names; `isSummed` where sums take the place of deliveries. */
  others?: (isSummed: boolean) => Readonly<Record<string, string>>;
  /** In addition to those on organization and range. */
  conditions: (string | undefined)[];
  params?: QueryParams;
}

/**
 * Figures of the entities with these ids; periods and entities without deliveries have no row. Limited to the rows there can be, whatever a
 * store may answer.
 */
export function figuresQuery(
  { name, by, source, others, conditions, params }: FigureSource,
  report: ReportParams,
  ids: readonly string[],
  { points, totals }: FigureRows,
): AnalyticsQuery {
  const { metrics, granularity, range } = report;
  const isDaily = granularity === 'daily';
  const sums = requiredSums(metrics);
  // Sums of months have no days.
  const delivery = deliverySource(source, points && isDaily ? { range } : report, sums, conditions);
  const period = isDaily ? 'date' : 'toStartOfMonth(date)';
  const both = points && totals;
  const day = both ? `if(grouping(${period}) = 1, '', toString(${period}))` : points ? period : "''";
  const selected = [
    `${by} AS id`,
    `${day} AS day`,
    ...sumColumns(sums, 'delivery'),
    ...Object.entries(others?.(delivery.isSummed) ?? {}).map(([column, value]) => `${value} AS ${column}`),
  ];
  return {
    name,
    sql: joinLines(
      `SELECT ${selected.join(', ')}`,
      delivery.from,
      `GROUP BY ${points ? `${by}, ${period}` : by}${both ? ' WITH ROLLUP' : ''}`,
      // The row of all entities.
      both ? "HAVING id != ''" : '',
      'LIMIT {limit:UInt32}',
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
