/** What the operations ask the analytics store for a report. */
import type { HandlerContext } from '../http/endpoint.js';
import type { Json } from '../shared/json.js';
import type { FieldError } from '../shared/validation.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { type ContextRow, contextQuery, type RequestedIds } from './context-query.js';
import type { METRIC_NAMES } from './metrics.js';
import type { AdvertisingContext, AdvertisingServices } from './operation.js';
import { parseReportParams, type ReportParams, type SealedMonth } from './report-params.js';
import { type SourceName, sealedMonthsQuery, wholeMonths } from './rollups.js';
import { type Point, SeriesBuilder, type SeriesRow, seriesParts } from './series.js';
import type { FigureRows } from './series-query.js';

export function reportParamsOf<Body extends Parameters<typeof parseReportParams>[0]>(
  { body, organizationId, services }: HandlerContext<Body, unknown, AdvertisingServices>,
  metrics: readonly (typeof METRIC_NAMES)[number][],
  problems?: FieldError[],
): ReportParams {
  const { clock, provisionalDays } = services;
  return parseReportParams(body, metrics, organizationId, { now: clock.now(), provisionalDays }, problems);
}

export const run = <Row>({ services, signal }: AdvertisingContext, query: AnalyticsQuery) =>
  services.analytics.query<Row>(query, signal);

/** The report with the months whose sums may stand for their deliveries. */
export async function withSealedMonths(
  call: AdvertisingContext,
  report: ReportParams,
  source: SourceName,
): Promise<ReportParams> {
  const months = wholeMonths(report.range);
  if (months.length === 0) return report;
  const { rows } = await run<SealedMonth>(call, sealedMonthsQuery(report.organizationId, source, months));
  return { ...report, sealed: rows };
}

export async function contextOf(
  call: AdvertisingContext,
  { today }: ReportParams,
  requested: RequestedIds,
  currencies?: AnalyticsQuery,
): Promise<ContextRow> {
  const { rows } = await run<ContextRow>(
    call,
    contextQuery(call.organizationId, today, requested, currencies),
  );
  return rows[0] as ContextRow;
}

/** Figures of the items of a page. */
interface PageFigures {
  /** Undefined without deliveries. */
  totalsOf(id: string): SeriesRow | undefined;
  seriesOf(id: string): Json<Point[]>;
}

export interface FigureList {
  report: ReportParams;
  figuresQuery(part: ReportParams, ids: string[], rows: FigureRows): AnalyticsQuery;
}

/** The figures of a page with their series, if wanted; an empty page queries nothing. One statement answers both where it is short enough. */
export async function pageFigures(
  call: AdvertisingContext,
  list: FigureList,
  ids: string[],
  hasSeries: boolean,
): Promise<PageFigures> {
  const { report } = list;
  const series = new SeriesBuilder(report, ids);
  const totals = new Map<string, SeriesRow>();
  const read = async (part: ReportParams, rows: FigureRows) => {
    const { rows: found } = await run<SeriesRow>(call, list.figuresQuery(part, ids, rows));
    for (const row of found) if (row.day === '') totals.set(row.id, row);
    if (rows.points) await series.append(part.range, found, call.signal);
  };
  const parts = hasSeries && ids.length > 0 ? seriesParts(report, ids.length) : [];
  const isTogether = parts.length === 1;
  if (!isTogether && ids.length > 0) await read(report, { totals: true, points: false });
  for (const part of parts) await read(part, { totals: isTogether, points: true });
  return {
    totalsOf: (id) => totals.get(id),
    seriesOf: (id) => series.seriesOf(id),
  };
}

/** The rows of some ids, by id. */
export async function rowsById<Row extends { id: string }>(
  call: AdvertisingContext,
  ids: readonly string[],
  query: AnalyticsQuery,
): Promise<Map<string, Row>> {
  if (ids.length === 0) return new Map();
  const { rows } = await run<Row>(call, query);
  return new Map(rows.map((row) => [row.id, row]));
}
