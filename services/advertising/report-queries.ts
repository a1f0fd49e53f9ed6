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
import {
  type Point,
  type PrintedRow,
  parsePrintedRow,
  rowPrinter,
  SeriesBuilder,
  type SeriesRow,
  seriesParts,
} from './series.js';
import { printedSeries } from './series-query.js';

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

/** Sums by period that the store prints itself, or as its rows where it cannot print one of them. */
async function printedRows(
  { services, signal }: AdvertisingContext,
  part: ReportParams,
  ids: readonly string[],
  query: AnalyticsQuery,
): Promise<PrintedRow[]> {
  const lines = await services.analytics.queryLines(printedSeries(query, part), signal);
  const printed: PrintedRow[] = [];
  for (const line of lines) {
    const row = parsePrintedRow(line, ids);
    if (row === null) {
      const { rows } = await services.analytics.query<SeriesRow>(query, signal);
      return rows.map(rowPrinter(part.metrics));
    }
    printed.push(row);
  }
  return printed;
}

/** The series of the items of a page; an empty page queries nothing. */
export async function pageSeries(
  call: AdvertisingContext,
  report: ReportParams,
  ids: string[],
  query: (part: ReportParams) => AnalyticsQuery,
): Promise<(id: string) => Json<Point[]>> {
  const series = new SeriesBuilder(report, ids);
  for (const part of ids.length === 0 ? [] : seriesParts(report, ids.length)) {
    await series.append(part.range, await printedRows(call, part, ids, query(part)), call.signal);
  }
  return (id) => series.seriesOf(id);
}
