/** Builds the one statement that reads everything on which warnings depend, except metrics. The functions have no side effects. */
import { identifier, joinSql, type Sql, sql } from '../shared/sql.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { isKnownObjective, isKnownStatus } from './normalization.js';
import type { Filters, ListFilter } from './report-params.js';
import { IN_ORGANIZATION, inList, type QueryParams, where } from './sql.js';

/** First and last day with deliveries up to today (null if there are no deliveries), and the filter values that exist. */
export type ContextRow = { first_date: string | null; last_date: string | null } & {
  [Name in ListFilter]?: string[];
};

/** Tables in which to look up the values of a filter. Values for which `isKnown` is true need no look-up. */
const SOURCES: Record<
  ListFilter,
  { columns: [column: Sql, table: Sql][]; isKnown?(value: string): boolean }
> = {
  campaign_ids: {
    columns: [
      [sql`id`, sql`campaigns`],
      [sql`campaign_id`, sql`delivery_names`],
    ],
  },
  creative_ids: {
    columns: [
      [sql`id`, sql`creatives`],
      [sql`creative_id`, sql`delivery_names`],
    ],
  },
  company_ids: {
    columns: [
      [sql`id`, sql`companies`],
      [sql`company_id`, sql`company_deliveries`],
    ],
  },
  network_a_company_ids: { columns: [[sql`network_a_company_id`, sql`companies FINAL`]] },
  domains: { columns: [[sql`domain`, sql`companies FINAL`]] },
  statuses: {
    columns: [
      [sql`status_key`, sql`campaigns FINAL`],
      [sql`status_key`, sql`creatives FINAL`],
    ],
    isKnown: isKnownStatus,
  },
  objective_types: { columns: [[sql`objective_type_key`, sql`campaigns FINAL`]], isKnown: isKnownObjective },
};

export function contextQuery(organizationId: string, today: string, filters: Filters): AnalyticsQuery {
  const parts = [
    sql`minOrNull(date) AS first_date`,
    sql`maxOrNullIf(date, date <= {today:Date}) AS last_date`,
  ];
  const params: QueryParams = { organization_id: organizationId, today };
  for (const [key, { columns, isKnown }] of Object.entries(SOURCES)) {
    const name = key as ListFilter;
    const values = filters[name]?.filter((value) => !isKnown?.(value)) ?? [];
    if (values.length === 0) continue;
    const selects = columns.map(
      ([column, table]) =>
        sql`SELECT ${column} AS value FROM ${table} ${where(IN_ORGANIZATION, inList(column, name, values))}`,
    );
    parts.push(
      sql`(SELECT groupUniqArray(value) FROM (${joinSql(selects, ' UNION ALL ')})) AS ${identifier(name)}`,
    );
    params[name] = values;
  }
  const statement = sql`SELECT\n  ${joinSql(parts, ',\n  ')}\nFROM delivery_days ${where(IN_ORGANIZATION)}`;
  return { name: 'warnings_context', sql: statement, params };
}
