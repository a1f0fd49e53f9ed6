/** Reads a page of a list step by step (ids, attributes and metrics, items, series), and an export page by page. */
import type { ExportFormat, HandlerContext, MatchPage } from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import { firstFew } from '../shared/text.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { hasForeignQuery } from './campaign-queries.js';
import { type ContextRow, contextQuery } from './context-query.js';
import { type ConvertedReport, isConverted, MAX_AGE_DAYS, type UsedRates } from './conversion.js';
import { type Attributes, metricValues, withSeries } from './items.js';
import type { MetricSums } from './metric-values.js';
import type { Metric } from './metrics.js';
import type { AdvertisingContext, AdvertisingServices } from './operation.js';
import {
  type Filters,
  type Page,
  parseReportParams,
  type ReportParams,
  type SealedMonth,
} from './report-params.js';
import { type SourceName, sealedMonthsQuery, wholeMonths } from './rollups.js';
import { completeItems, type MetricRows, SeriesBuilder, type SeriesRow, seriesParts } from './series.js';

export function reportParamsOf<Body extends Parameters<typeof parseReportParams>[0]>(
  { body, organizationId, services }: HandlerContext<Body, unknown, AdvertisingServices>,
  metrics: readonly Metric[],
  problems?: Parameters<typeof parseReportParams>[4],
): ReportParams {
  const { clock, provisionalDays } = services;
  return parseReportParams(body, metrics, organizationId, { now: clock.now(), provisionalDays }, problems);
}

export const run = <Row>({ services, signal }: AdvertisingContext, query: AnalyticsQuery) =>
  services.analytics.query<Row>(query, signal);

/** The report, with the months whose sums may replace their deliveries. */
export async function withSealedMonths(
  call: AdvertisingContext,
  report: ReportParams,
  source: SourceName,
): Promise<ReportParams> {
  const months = wholeMonths(report.range);
  // Returns early: sums of months have no days, but money is converted by daily rates.
  if (months.length === 0 || report.currency) return report;
  const { rows } = await run<SealedMonth>(call, sealedMonthsQuery(report.organizationId, source, months));
  return { ...report, sealed: rows };
}

/** The report, extended by whether some creatives have deliveries in a currency that is not their own. */
export async function withForeign(call: AdvertisingContext, report: ReportParams): Promise<ReportParams> {
  if (report.currency) return report;
  const { rows } = await run<{ found: number }>(call, hasForeignQuery(report.organizationId));
  return { ...report, hasForeign: Boolean(rows[0]?.found) };
}

export async function contextOf(
  call: AdvertisingContext,
  { today }: ReportParams,
  filters: Filters,
): Promise<ContextRow> {
  const { rows } = await run<ContextRow>(call, contextQuery(call.organizationId, today, filters));
  return rows[0] as ContextRow;
}

/** Ids that an export has read but not sent yet. */
export interface UnsentIds {
  ids: string[];
  /** Number of ids read so far. */
  read: number;
  total: number;
}

/** The queries of a list request, and the mapping of their rows to items. */
export interface EntityList {
  report: ReportParams;
  idsQuery(page: Page): AnalyticsQuery;
  /** The sums of all matches: one row per currency, or a single row for lists without money. */
  totalsQuery(report: ReportParams): AnalyticsQuery;
  /** The rates with which the money of all matches is converted; absent for lists without money. */
  ratesQuery?(report: ConvertedReport): AnalyticsQuery;
  attributesQuery(ids: string[]): AnalyticsQuery;
  metricsQuery(part: ReportParams, ids: string[], rows: MetricRows): AnalyticsQuery;
  /** An item without its series. */
  toItem(id: string, attributes: Attributes | undefined, totals: SeriesRow | undefined): object;
}

/** The ids of a page, and the number of matches. */
export async function readIds(call: AdvertisingContext, query: AnalyticsQuery) {
  const { rows, total } = await run<Attributes>(call, query);
  return { ids: rows.map(({ id }) => id), total };
}

/**
 * The metrics of a page, with its series if the request wants series. An empty page needs no query. One statement reads both if the
 * statement is short enough.
 */
async function readMetrics(
  call: AdvertisingContext,
  { report, metricsQuery }: Pick<EntityList, 'report' | 'metricsQuery'>,
  ids: string[],
  hasSeries: boolean,
) {
  const series = new SeriesBuilder(report, ids);
  const totals = new Map<string, SeriesRow>();
  const read = async (part: ReportParams, rows: MetricRows) => {
    const { rows: found } = await run<SeriesRow>(call, metricsQuery(part, ids, rows));
    for (const row of found) if (row.day === '') totals.set(row.id, row);
    if (rows.points) await series.append(part.range, found, call.signal);
  };
  const parts = hasSeries && ids.length > 0 ? seriesParts(report, ids.length) : [];
  const isTogether = parts.length === 1;
  if (!isTogether && ids.length > 0) await read(report, { totals: true, points: false });
  for (const part of parts) await read(part, { totals: isTogether, points: true });
  return { totals, series };
}

async function readAttributes(
  call: AdvertisingContext,
  { attributesQuery }: EntityList,
  ids: string[],
): Promise<Map<string, Attributes>> {
  if (ids.length === 0) return new Map();
  const { rows } = await run<Attributes>(call, attributesQuery(ids));
  return new Map(rows.map((row) => [row.id, row]));
}

async function itemsOf(call: AdvertisingContext, list: EntityList, ids: string[], hasSeries: boolean) {
  const [attributes, { totals, series }] = await Promise.all([
    readAttributes(call, list, ids),
    readMetrics(call, list, ids, hasSeries),
  ]);
  const items = ids.map((id) => list.toItem(id, attributes.get(id), totals.get(id)));
  return { items, series };
}

/** Adds the metrics of an earlier range, if one is given. */
export async function itemsWithSeries(
  call: AdvertisingContext,
  list: EntityList,
  ids: string[],
  previous?: ReportParams,
) {
  const [{ items, series }, earlier] = await Promise.all([
    itemsOf(call, list, ids, true),
    previous && readMetrics(call, { ...list, report: previous }, ids, false),
  ]);
  return items.map((item, index) => {
    const id = ids[index] as string;
    const compared = previous && { previous: metricValues(previous, earlier?.totals.get(id)) };
    return withSeries({ ...item, ...compared }, series.seriesOf(id));
  });
}

/**
 * The totals of all matches, by currency if there is money. `foreignId` is a creative with deliveries in a currency that is not its own.
 */
export async function readTotals(call: AdvertisingContext, list: EntityList, report: ReportParams) {
  const { rows } = await run<MetricSums & { currency?: string | null; foreign_id?: string }>(
    call,
    list.totalsQuery(report),
  );
  const totals = rows.map(({ currency, foreign_id: _, ...sums }) => ({
    ...(currency === undefined ? {} : { currency }),
    ...metricValues(report, sums),
  }));
  return { totals, foreignId: rows.find(({ foreign_id }) => foreign_id)?.foreign_id };
}

/** Fields that a response with converted money adds. Throws a `Problem` 422 `missing_rates`. */
export async function readRates(
  call: AdvertisingContext,
  { ratesQuery }: EntityList,
  reports: readonly ReportParams[],
): Promise<{ converted?: true; rates?: { from: string | null; to: string | null } }> {
  const used = await Promise.all(
    reports
      .filter(isConverted)
      .map(async (report) => ratesQuery && (await run<UsedRates>(call, ratesQuery(report))).rows[0]),
  );
  if (used.length === 0) return {};
  const found = used.filter((rates) => rates !== undefined);
  const days = [...new Set(found.flatMap((rates) => rates.days))].sort();
  if (days.length > 0) throw missingRates(days, [...new Set(found.flatMap(({ currencies }) => currencies))]);
  const all = found.flatMap(({ from, to }) => [from, to]).filter((day) => day !== null);
  return { converted: true, rates: { from: all.sort()[0] ?? null, to: all.at(-1) ?? null } };
}

function missingRates(days: string[], currencies: string[]): Problem {
  const known = currencies.filter((currency) => currency !== '');
  const reasons = [
    ...(known.length > 0
      ? [`there is no rate of ${known.join(', ')} of that day or the ${MAX_AGE_DAYS} days before`]
      : []),
    ...(known.length < currencies.length ? ['the campaign has no currency'] : []),
  ];
  const detail = `Money of ${firstFew(days)} cannot be converted: ${reasons.join(', or ')}.`;
  return new Problem('missing_rates', detail, {
    days,
    errors: [{ pointer: '/currency', code: 'missing_rates', detail }],
  });
}

/** Number of ids that an export reads per statement. The number is high, because every statement computes and orders all ids. */
const EXPORT_IDS = 2000;

/** The next items of a list with their series. Their number is limited, so that each series can have every period (contract 5.4). */
export async function readNext(
  call: AdvertisingContext,
  list: EntityList,
  unsent: UnsentIds | undefined,
  format: ExportFormat,
): Promise<MatchPage> {
  let { ids, read, total } = unsent ?? { ids: [], read: 0, total: 0 };
  if (ids.length === 0) {
    ({ ids, total } = await readIds(call, list.idsQuery({ page: read / EXPORT_IDS + 1, size: EXPORT_IDS })));
    read += EXPORT_IDS;
  }
  const count = format === 'csv' ? ids.length : completeItems(list.report);
  const some = ids.slice(0, count);
  const rest = ids.slice(count);
  return {
    // CSV has no columns for series.
    items:
      format === 'csv'
        ? (await itemsOf(call, list, some, false)).items
        : (await itemsWithSeries(call, list, some)).map(({ text }) => text),
    total,
    next: rest.length > 0 || read < total ? { ids: rest, read, total } : null,
  };
}
