/** What warnings depend on apart from the metrics, in one statement. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { definedParams, IN_ORGANIZATION, inList, type QueryParams, where } from './sql.js';

/** Values of filters that a request names. */
export interface RequestedIds {
  campaignIds?: string[];
  creativeIds?: string[];
  companyIds?: string[];
  networkIds?: string[];
  domains?: string[];
  /** Normalized; only those that are not known anyway. */
  statuses?: string[];
  objectiveTypes?: string[];
}

/** First day with deliveries and the last one up to today, null without any; and those of the requested values that exist. */
export interface ContextRow {
  first_date: string | null;
  last_date: string | null;
  campaign_ids?: string[];
  creative_ids?: string[];
  company_ids?: string[];
  network_ids?: string[];
  domains?: string[];
  statuses?: string[];
  objective_types?: string[];
}

export function contextQuery(organizationId: string, today: string, requested: RequestedIds): AnalyticsQuery {
  const { campaignIds, creativeIds, companyIds, networkIds, domains, statuses, objectiveTypes } = requested;
  const parts = ['minOrNull(date) AS first_date', 'maxOrNullIf(date, date <= {today:Date}) AS last_date'];
  const exists = (
    name: string,
    values: string[] | undefined,
    ...sources: [column: string, table: string][]
  ) => {
    if (values === undefined) return;
    const selects = sources.map(
      ([column, table]) =>
        `SELECT ${column} AS value FROM ${table} ${where(IN_ORGANIZATION, inList(column, `requested_${name}`, values))}`,
    );
    parts.push(`(SELECT groupUniqArray(value) FROM (${selects.join(' UNION ALL ')})) AS ${name}`);
  };
  exists('campaign_ids', campaignIds, ['id', 'campaigns'], ['campaign_id', 'delivery_names']);
  exists('creative_ids', creativeIds, ['id', 'creatives'], ['creative_id', 'delivery_names']);
  exists('company_ids', companyIds, ['id', 'companies'], ['company_id', 'company_deliveries']);
  exists('network_ids', networkIds, ['network_a_company_id', 'companies FINAL']);
  exists('domains', domains, ['domain', 'companies FINAL']);
  exists('statuses', statuses, ['status_key', 'campaigns FINAL'], ['status_key', 'creatives FINAL']);
  exists('objective_types', objectiveTypes, ['objective_type_key', 'campaigns FINAL']);
  const params: QueryParams = definedParams({
    organization_id: organizationId,
    today,
    requested_campaign_ids: campaignIds,
    requested_creative_ids: creativeIds,
    requested_company_ids: companyIds,
    requested_network_ids: networkIds,
    requested_domains: domains,
    requested_statuses: statuses,
    requested_objective_types: objectiveTypes,
  });
  const sql = `SELECT\n  ${parts.join(',\n  ')}\nFROM delivery_days ${where(IN_ORGANIZATION)}`;
  return { name: 'warnings_context', sql, params };
}
