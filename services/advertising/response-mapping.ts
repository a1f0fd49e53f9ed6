/** Rows of the store as items of the answers. Pure. */

import type { MetricSums } from './derived-metrics.js';
import { metricWriter } from './metric-values.js';
import type { ReportParams } from './report-params.js';
import type { CampaignItem, CompanyListItem, CompanyResponse, CreativeItem } from './responses.js';
import type { Point } from './series.js';

export type CampaignRow = MetricSums & Omit<CampaignItem, keyof MetricSums | 'provisional' | 'timeseries'>;
export type CreativeRow = MetricSums & Omit<CreativeItem, keyof MetricSums | 'provisional' | 'timeseries'>;
export type CompanyAttributes = CompanyResponse['company'];
export type Reach = Pick<CompanyListItem, 'campaigns_reached' | 'campaigns_engaged'>;
export type CompanyRow = MetricSums & Omit<CompanyListItem, keyof MetricSums | keyof Reach | 'timeseries'>;
export type CompanyCampaignRow = MetricSums & Omit<CompanyResponse['campaigns'][number], keyof MetricSums>;

export function campaignItem(report: ReportParams, row: CampaignRow, timeseries: Point[]): CampaignItem {
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
    ...metricWriter(report.metrics)({}, row),
    provisional: report.range.end > report.lastFinalDay,
    timeseries,
  };
}

export function creativeItem(report: ReportParams, row: CreativeRow, timeseries: Point[]): CreativeItem {
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
    ...metricWriter(report.metrics)({}, row),
    provisional: report.range.end > report.lastFinalDay,
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
  report: ReportParams,
  row: CompanyRow,
  reach: Reach | undefined,
  timeseries: Point[],
): CompanyListItem {
  return {
    ...companyAttributes(row),
    ...metricWriter(report.metrics)({}, row),
    campaigns_reached: reach?.campaigns_reached ?? 0,
    campaigns_engaged: reach?.campaigns_engaged ?? 0,
    first_seen: row.first_seen,
    last_seen: row.last_seen,
    timeseries,
  };
}

export function companyCampaign(
  report: ReportParams,
  row: CompanyCampaignRow,
): CompanyResponse['campaigns'][number] {
  return {
    campaign_id: row.campaign_id,
    name: row.name,
    status: row.status,
    objective_type: row.objective_type,
    ...metricWriter(report.metrics)({}, row),
    first_seen: row.first_seen,
    last_seen: row.last_seen,
  };
}
