/** Builds the statements about companies by domain. The functions have no side effects. */
import type { AnalyticsQuery } from '../advertising/analytics-store.js';
import { companySource } from '../advertising/company-queries.js';
import type { SummedMetric } from '../advertising/metrics.js';
import type { Filters, ReportParams } from '../advertising/report-params.js';
import { deliverySource } from '../advertising/rollups.js';
import {
  containsAny,
  IN_ORGANIZATION,
  inList,
  joinLines,
  list,
  sumColumns,
  where,
  withoutAccents,
} from '../advertising/sql.js';
import { EMPTY_SQL, identifier, type Sql, sql } from '../shared/sql.js';
import type { CompanySort } from './schema.js';

/** The metrics that operations about domains show. */
export const SUMS = ['impressions', 'clicks', 'engagements'] as const satisfies SummedMetric[];
export type Sums = Record<(typeof SUMS)[number], number>;

const sumOf = (name: SummedMetric) => sql`ifNull(sum(metrics.${identifier(name)}), 0)`;
const sumsOfMetrics = SUMS.map((name) => sql`${sumOf(name)} AS ${identifier(name)}`);
const IS_ACTIVE = sql`ifNull(metrics.active, false)`;
/** The largest impressions first, then the smallest id. */
const BY_IMPRESSIONS = sql`(-toInt64(ifNull(metrics.impressions, 0)), company.id)`;

const OF_DOMAINS = sql`domain IN {domains:Array(String)}`;

const records = (condition?: Sql) =>
  sql`(SELECT id, domain, name, name_key, domain_key FROM companies FINAL ${where(IN_ORGANIZATION, condition)})`;

/** A domain with activity of ads. The row of companies without a domain has an empty domain. */
export interface DomainRow {
  domain: string;
  /** Number of companies with activity. */
  companies: number;
  /** Sum or name by which items are ordered; null if visits order them. */
  sort_value: number | string | null;
}

/** Domains with activity that the filters match. With `search` or in the order of names, their records without activity count for the name too. */
export function domainsQuery(
  report: ReportParams,
  { campaign_ids, domains, search }: Filters,
  sort: CompanySort,
  limit: number,
): AnalyticsQuery {
  const named = sort === 'name';
  const metric = SUMS.find((name) => name === sort);
  const sums = metric ? [metric] : named ? (['impressions'] as const) : [];
  const delivery = deliverySource(companySource({ campaign_ids }), report, sums, [
    inList(sql`campaign_id`, 'campaign_ids', campaign_ids),
  ]);
  const metrics = sql`(
  SELECT ${list([sql`company_id`, ...sumColumns(sums), sql`max(delivery.active) AS active`])}
  ${delivery.from}
  GROUP BY company_id
  HAVING active
) AS metrics`;
  const domain = sql`ifNull(company.domain, '')`;
  const found = containsAny([sql`company.name_key`, sql`company.domain_key`], search);
  const value = metric
    ? sumOf(metric)
    : named
      ? sql`argMin(${withoutAccents(sql`company.name_key`)}, ${BY_IMPRESSIONS})`
      : sql`NULL`;
  const columns = [
    sql`${domain} AS domain`,
    sql`countIf(${IS_ACTIVE}) AS companies`,
    sql`${value} AS sort_value`,
  ];
  return {
    name: 'companies_by_domain',
    sql: joinLines(
      sql`SELECT ${list(columns)}`,
      sql`FROM ${metrics} ${named || found ? sql`FULL` : sql`LEFT`} JOIN ${records()} AS company ON company.id = metrics.company_id`,
      domains ? sql`WHERE ${domain} = '' OR ${OF_DOMAINS}` : EMPTY_SQL,
      sql`GROUP BY ${domain}`,
      sql`HAVING max(${IS_ACTIVE}) AND (${domain} = '' OR ${found ? sql`max(${found})` : sql`true`})`,
      // Keeps the row of companies without a domain.
      sql`ORDER BY ${domain} LIMIT {limit:UInt32}`,
    ),
    params: {
      organization_id: report.organizationId,
      ...(campaign_ids && { campaign_ids }),
      ...(domains && { domains }),
      ...(search !== undefined && { search }),
      ...delivery.params,
      limit,
    },
  };
}

/** Name of a domain to order by, if the domain matches the search. */
export type NameRow = Pick<DomainRow, 'domain' | 'sort_value'>;

/** Names of domains without activity, because the name of a company counts for its visits too. */
export function namesQuery(
  { organizationId }: ReportParams,
  domains: readonly string[],
  search: string | undefined,
): AnalyticsQuery {
  const found = containsAny([sql`company.name_key`, sql`company.domain_key`], search);
  return {
    name: 'names_of_domains',
    sql: joinLines(
      sql`SELECT domain, argMin(${withoutAccents(sql`company.name_key`)}, company.id) AS sort_value`,
      sql`FROM ${records(OF_DOMAINS)} AS company`,
      sql`GROUP BY domain`,
      found ? sql`HAVING max(${found})` : EMPTY_SQL,
    ),
    params: { organization_id: organizationId, domains, ...(search !== undefined && { search }) },
  };
}

/** Everything about the companies of a domain; a domain without a company record has no row. */
export type CompanyRow = Sums & {
  domain: string;
  name: string | null;
  company_ids: string[];
  campaigns_reached: number;
  first_seen: string | null;
  last_seen: string | null;
};

const OF_THEIR_COMPANIES = sql`company_id IN (SELECT id FROM companies FINAL ${where(IN_ORGANIZATION, OF_DOMAINS)})`;

export function companyRowsQuery(
  report: ReportParams,
  campaign_ids: string[] | undefined,
  domains: readonly string[],
): AnalyticsQuery {
  const source = companySource({ campaign_ids });
  const delivery = deliverySource(source, report, SUMS, [
    inList(sql`campaign_id`, 'campaign_ids', campaign_ids),
    OF_THEIR_COMPANIES,
  ]);
  const [first, last] = delivery.isSummed
    ? [sql`delivery.first_seen`, sql`delivery.last_seen`]
    : [sql`date`, sql`date`];
  const reached =
    delivery.isSummed && source === 'company'
      ? sql`groupUniqArrayArray(delivery.reached)`
      : sql`groupUniqArrayIf(campaign_id, delivery.impressions > 0)`;
  const metrics = [
    sql`company_id`,
    ...sumColumns(SUMS),
    sql`max(delivery.active) AS active`,
    sql`${reached} AS reached`,
    sql`minIf(${first}, delivery.active) AS first_seen`,
    sql`maxIf(${last}, delivery.active) AS last_seen`,
  ];
  const columns = [
    sql`company.domain AS domain`,
    sql`argMin(company.name, ${BY_IMPRESSIONS}) AS name`,
    sql`arraySort(groupArray(company.id)) AS company_ids`,
    ...sumsOfMetrics,
    sql`uniqExactArray(metrics.reached) AS campaigns_reached`,
    sql`minOrNullIf(metrics.first_seen, ${IS_ACTIVE}) AS first_seen`,
    sql`maxOrNullIf(metrics.last_seen, ${IS_ACTIVE}) AS last_seen`,
  ];
  return {
    name: 'companies_of_domains',
    sql: joinLines(
      sql`SELECT ${list(columns)}`,
      sql`FROM ${records(OF_DOMAINS)} AS company`,
      sql`LEFT JOIN (SELECT ${list(metrics)}\n${delivery.from}\nGROUP BY company_id) AS metrics ON metrics.company_id = company.id`,
      sql`GROUP BY company.domain`,
    ),
    params: {
      organization_id: report.organizationId,
      domains,
      ...(campaign_ids && { campaign_ids }),
      ...delivery.params,
    },
  };
}

/** Sums of the companies of a domain in one period, which begins on `day`. */
export type PeriodRow = Sums & { day: string };

export function domainSeriesQuery(report: ReportParams, domain: string): AnalyticsQuery {
  const isDaily = report.granularity === 'daily';
  const delivery = deliverySource('company', isDaily ? { ...report, sealed: [] } : report, SUMS, [
    OF_THEIR_COMPANIES,
  ]);
  const period = isDaily ? sql`date` : sql`toStartOfMonth(date)`;
  return {
    name: 'series_of_domain',
    sql: joinLines(
      sql`SELECT toString(${period}) AS day, ${list(sumColumns(SUMS))}`,
      delivery.from,
      sql`GROUP BY ${period}`,
    ),
    params: { organization_id: report.organizationId, domains: [domain], ...delivery.params },
  };
}
