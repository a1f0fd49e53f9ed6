/** Rows of the store as items and points of the answers. Pure. */
import { type Period, periodOf, periodsOf } from './calendar.js';
import { figureWriter } from './figures.js';
import type { Scope } from './plan.js';
import type { Sums } from './rates.js';
import type { CampaignItem, CompanyListItem, CompanyResponse, CreativeItem } from './responses.js';

/** Points of one response up to which every period is present (contract 5.4). */
export const MAX_COMPLETE_POINTS = 20_000;

/** Sums of one item in one period, which `day` begins. */
export type SeriesRow = Sums & { id: string; day: string };

export type Point = CampaignItem['timeseries'][number];

/** Whether a response with this many items leaves out empty periods. */
export function isSparse(scope: Scope, items: number): boolean {
  return items * periodsOf(scope.range, scope.granularity).length > MAX_COMPLETE_POINTS;
}

/** The series of each id, complete unless there are too many points. */
export function seriesOf(
  scope: Scope,
  ids: readonly string[],
  rows: readonly SeriesRow[],
): Map<string, Point[]> {
  const periods = periodsOf(scope.range, scope.granularity);
  const sparse = ids.length * periods.length > MAX_COMPLETE_POINTS;
  const write = figureWriter(scope.metrics);
  const rowsOf = new Map<string, Map<string, Sums>>(ids.map((id) => [id, new Map()]));
  for (const row of rows) rowsOf.get(row.id)?.set(periodOf(row.day, scope.granularity), row);
  // Every point is a copy of one with all fields: the engine copies such an object at once, but grows one field by field.
  const empty: Point = write({ period: '', start_date: '', end_date: '', provisional: false }, {});
  const point = ({ period, start, end }: Period, sums: Sums | undefined): Point => {
    const copy = { ...empty };
    copy.period = period;
    copy.start_date = start;
    copy.end_date = end;
    copy.provisional = end > scope.lastFinalDay;
    return sums ? write(copy, sums) : copy;
  };
  return new Map(
    Array.from(rowsOf, ([id, sums]) => {
      const points: Point[] = [];
      for (const period of periods) {
        const row = sums.get(period.period);
        if (row || !sparse) points.push(point(period, row));
      }
      return [id, points];
    }),
  );
}

export type CampaignRow = Sums & Omit<CampaignItem, keyof Sums | 'provisional' | 'timeseries'>;
export type CreativeRow = Sums & Omit<CreativeItem, keyof Sums | 'provisional' | 'timeseries'>;
export type CompanyAttributes = CompanyResponse['company'];
export type Reach = Pick<CompanyListItem, 'campaigns_reached' | 'campaigns_engaged'>;
export type CompanyRow = Sums & Omit<CompanyListItem, keyof Sums | keyof Reach | 'timeseries'>;
export type CompanyCampaignRow = Sums & Omit<CompanyResponse['campaigns'][number], keyof Sums>;

export function campaignItem(scope: Scope, row: CampaignRow, timeseries: Point[]): CampaignItem {
  return {
    id: row.id,
    network_a_campaign_id: row.network_a_campaign_id,
    name: row.name,
    account_id: row.account_id,
    campaign_group_id: row.campaign_group_id,
    campaign_group_name: row.campaign_group_name,
    status: row.status,
    objective_type: row.objective_type,
    format: row.format,
    cost_type: row.cost_type,
    currency: row.currency,
    daily_budget: row.daily_budget,
    total_budget: row.total_budget,
    start_date: row.start_date,
    end_date: row.end_date,
    creatives_count: row.creatives_count,
    ...figureWriter(scope.metrics)({}, row),
    provisional: scope.range.end > scope.lastFinalDay,
    timeseries,
  };
}

export function creativeItem(scope: Scope, row: CreativeRow, timeseries: Point[]): CreativeItem {
  return {
    id: row.id,
    network_a_creative_id: row.network_a_creative_id,
    campaign_id: row.campaign_id,
    campaign_name: row.campaign_name,
    name: row.name,
    status: row.status,
    review_status: row.review_status,
    format: row.format,
    headline: row.headline,
    landing_page_url: row.landing_page_url,
    image_url: row.image_url,
    currency: row.currency,
    ...figureWriter(scope.metrics)({}, row),
    provisional: scope.range.end > scope.lastFinalDay,
    timeseries,
  };
}

/** The attributes of a company, and nothing else of the row. */
export function companyAttributes(row: CompanyAttributes): CompanyAttributes {
  return {
    id: row.id,
    network_a_company_id: row.network_a_company_id,
    name: row.name,
    domain: row.domain,
    network_a_url: row.network_a_url,
    industry: row.industry,
    employee_range: row.employee_range,
    country: row.country,
    logo_url: row.logo_url,
  };
}

export function companyItem(
  scope: Scope,
  row: CompanyRow,
  reach: Reach | undefined,
  timeseries: Point[],
): CompanyListItem {
  return {
    ...companyAttributes(row),
    ...figureWriter(scope.metrics)({}, row),
    campaigns_reached: reach?.campaigns_reached ?? 0,
    campaigns_engaged: reach?.campaigns_engaged ?? 0,
    first_seen: row.first_seen,
    last_seen: row.last_seen,
    timeseries,
  };
}

export function companyCampaign(scope: Scope, row: CompanyCampaignRow): CompanyResponse['campaigns'][number] {
  return {
    campaign_id: row.campaign_id,
    name: row.name,
    status: row.status,
    objective_type: row.objective_type,
    ...figureWriter(scope.metrics)({}, row),
    first_seen: row.first_seen,
    last_seen: row.last_seen,
  };
}
