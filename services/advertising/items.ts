/** Maps rows of the store to items of the responses. The functions have no side effects. */
import { type Json, JsonText, toJson } from '../shared/json.js';
import { type MetricSums, metricPrinter } from './metric-values.js';
import type { ReportParams } from './report-params.js';
import { type CompanyListItem, type CompanyResponse, companyFields, type MetricValues } from './responses.js';
import type { Point } from './series.js';

/** A row of attributes: the fields of the item, in order. */
export type Attributes = { id: string };
export type CompanyAttributes = CompanyResponse['company'];
type Reach = Pick<CompanyListItem, 'campaigns_reached' | 'campaigns_engaged'>;
type Seen = Pick<CompanyListItem, 'first_seen' | 'last_seen'>;
export type CompanyTotals = MetricSums & Reach & Seen;
export type CompanyCampaignRow = MetricSums & CompanyResponse['campaigns'][number];

/** The values of the metrics of a summed row, or zeros. */
export const metricValues = ({ metrics }: ReportParams, sums: MetricSums = {}) =>
  JSON.parse(`{${metricPrinter(metrics)(sums)}}`) as MetricValues;

/** Whether the network may still restate some days of the range. */
export const isProvisional = ({ range, lastFinalDay }: ReportParams) => range.end > lastFinalDay;

/** An item with its series as the last field. */
export const withSeries = <Item extends object>(item: Item, timeseries: Json<Point[]>) =>
  new JsonText<Item & { timeseries: Point[] }>(`${toJson(item).slice(0, -1)},"timeseries":${timeseries}}`);

/** A campaign or creative without its series. */
export const adItem = (report: ReportParams, attributes: Attributes, totals: MetricSums | undefined) => ({
  ...attributes,
  ...metricValues(report, totals),
  provisional: isProvisional(report),
});

const UNKNOWN = Object.fromEntries(
  Object.keys(companyFields).map((name) => [name, null]),
) as object as CompanyAttributes;

/** A company without a record. */
export const unknownCompany = (id: string): CompanyAttributes => ({ ...UNKNOWN, id });

const UNSEEN: Reach & Seen = {
  campaigns_reached: 0,
  campaigns_engaged: 0,
  first_seen: null,
  last_seen: null,
};

/** A company without its series. The attributes are null if the company has no record. */
export const companyItem = (
  report: ReportParams,
  id: string,
  attributes: Attributes | undefined,
  totals: CompanyTotals = UNSEEN,
) => ({
  ...(attributes ?? unknownCompany(id)),
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
  campaign_id: row.campaign_id,
  name: row.name,
  status: row.status,
  objective_type: row.objective_type,
  ...metricValues(report, row),
  first_seen: row.first_seen,
  last_seen: row.last_seen,
});
