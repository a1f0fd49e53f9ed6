/** What warnings depend on apart from the metrics, in one statement. Pure. */
import type { AnalyticsQuery } from './analytics-store.js';
import { isKnownObjective, isKnownStatus } from './normalization.js';
import type { Filters, ListFilter } from './report-params.js';
import { IN_ORGANIZATION, inList, type QueryParams, where } from './sql.js';

/** First day with deliveries and the last one up to today, null without any; and those of the values of filters that exist. */
export type ContextRow = { first_date: string | null; last_date: string | null } & {
  [Name in ListFilter]?: string[];
};

/** Where a value exists; those that are known need not. */
const SOURCES: Record<
  ListFilter,
  { columns: [column: string, table: string][]; isKnown?(value: string): boolean }
> = {
  campaign_ids: {
    columns: [
      ['id', 'campaigns'],
      ['campaign_id', 'delivery_names'],
    ],
  },
  creative_ids: {
    columns: [
      ['id', 'creatives'],
      ['creative_id', 'delivery_names'],
    ],
  },
  company_ids: {
    columns: [
      ['id', 'companies'],
      ['company_id', 'company_deliveries'],
    ],
  },
  network_a_company_ids: { columns: [['network_a_company_id', 'companies FINAL']] },
  domains: { columns: [['domain', 'companies FINAL']] },
  statuses: {
    columns: [
      ['status_key', 'campaigns FINAL'],
      ['status_key', 'creatives FINAL'],
    ],
    isKnown: isKnownStatus,
  },
  objective_types: { columns: [['objective_type_key', 'campaigns FINAL']], isKnown: isKnownObjective },
};

export function contextQuery(organizationId: string, today: string, filters: Filters): AnalyticsQuery {
  const parts = ['minOrNull(date) AS first_date', 'maxOrNullIf(date, date <= {today:Date}) AS last_date'];
  const params: QueryParams = { organization_id: organizationId, today };
  for (const [name, { columns, isKnown }] of Object.entries(SOURCES)) {
    const values = filters[name as ListFilter]?.filter((value) => !isKnown?.(value)) ?? [];
    if (values.length === 0) continue;
    const selects = columns.map(
      ([column, table]) =>
        `SELECT ${column} AS value FROM ${table} ${where(IN_ORGANIZATION, inList(column, name, values))}`,
    );
    parts.push(`(SELECT groupUniqArray(value) FROM (${selects.join(' UNION ALL ')})) AS ${name}`);
    params[name] = values;
  }
  const sql = `SELECT\n  ${parts.join(',\n  ')}\nFROM delivery_days ${where(IN_ORGANIZATION)}`;
  return { name: 'warnings_context', sql, params };
}
