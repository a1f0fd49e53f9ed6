/** Rows of the store → items of the responses. Pure. */
import type { Static, TSchema, TString } from 'typebox';
import { type Json, JsonText, toJson } from '../shared/json.js';
import { type MetricSums, metricPrinter } from './metric-values.js';
import type { ReportParams } from './report-params.js';
import {
  type CompanyListItem,
  type CompanyResponse,
  companyCampaignFields,
  companyFields,
  type MetricValues,
} from './responses.js';
import type { Point } from './series.js';

type Fields = Record<string, TSchema>;
type Values<F extends Fields> = { [Name in keyof F]: Static<F[Name]> };
type Row<F extends Fields> = MetricSums & Values<F>;
export type AdFields = Fields & { id: TString };
export type AdAttributes<F extends AdFields> = Values<F> & { id: string };
export type CompanyAttributes = Values<typeof companyFields>;
type Reach = Pick<CompanyListItem, 'campaigns_reached' | 'campaigns_engaged'>;
type Seen = Pick<CompanyListItem, 'first_seen' | 'last_seen'>;
export type CompanyTotals = MetricSums & Reach & Seen;
export type CompanyCampaignRow = Row<typeof companyCampaignFields> & Seen;

/** The named fields of a row, and nothing else of it. */
const pick = <F extends Fields>(fields: F, row: Values<F>) =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, row[name]])) as Values<F>;

/** The values of the metrics of a summed row, or zeros. */
export const metricValues = ({ metrics }: ReportParams, sums: MetricSums = {}) =>
  JSON.parse(`{${metricPrinter(metrics)(sums)}}`) as MetricValues;

/** Whether the network may still restate some days of the range. */
export const isProvisional = ({ range, lastFinalDay }: ReportParams) => range.end > lastFinalDay;

/** An item with its series, its last field. */
export const withSeries = <Item extends object>(item: Item, timeseries: Json<Point[]>) =>
  new JsonText<Item & { timeseries: Point[] }>(`${toJson(item).slice(0, -1)},"timeseries":${timeseries}}`);

/** A campaign or creative, without its series. */
export const adItem = <F extends AdFields>(
  fields: F,
  report: ReportParams,
  attributes: AdAttributes<F>,
  totals: MetricSums | undefined,
) => ({ ...pick(fields, attributes), ...metricValues(report, totals), provisional: isProvisional(report) });

export const companyIdentity = (row: CompanyAttributes) => pick(companyFields, row);

const UNKNOWN = Object.fromEntries(
  Object.keys(companyFields).map((name) => [name, null]),
) as object as CompanyAttributes;
const UNSEEN: Reach & Seen = {
  campaigns_reached: 0,
  campaigns_engaged: 0,
  first_seen: null,
  last_seen: null,
};

/** A company, without its series; its attributes are null where nothing describes it. */
export const companyItem = (
  report: ReportParams,
  id: string,
  attributes: CompanyAttributes | undefined,
  totals: CompanyTotals = UNSEEN,
): Omit<CompanyListItem, 'timeseries'> => ({
  ...companyIdentity({ ...(attributes ?? UNKNOWN), id }),
  ...metricValues(report, totals),
  campaigns_reached: totals.campaigns_reached,
  campaigns_engaged: totals.campaigns_engaged,
  first_seen: totals.first_seen,
  last_seen: totals.last_seen,
});

export const companyCampaign = (
  report: ReportParams,
  row: CompanyCampaignRow,
): CompanyResponse['campaigns'][number] => ({
  ...pick(companyCampaignFields, row),
  ...metricValues(report, row),
  first_seen: row.first_seen,
  last_seen: row.last_seen,
});
