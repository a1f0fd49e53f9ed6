/** Records by domain. The index by domain of each table answers without reading a row. */
import type {
  DomainDay,
  DomainDaysQuery,
  DomainRecords,
  OldestQuery,
  PlacedCounts,
  TimeSpan,
} from '../../search/domain-activity.js';
import { identifier, sql } from '../../shared/sql.js';
import { DAY_MS } from '../../shared/time.js';
import type { Connection } from './connection.js';
import { findOrganizationKey } from './organizations.js';

const TABLES = {
  contacts: { table: identifier('contacts'), domain: identifier('domain') },
  visits: { table: identifier('visits'), domain: identifier('company_domain') },
} as const;

/** Before every time that a record may have; a multiple of a day. */
const EARLIEST = -100_000_000 * DAY_MS;

export function countDomainDays(
  connection: Connection,
  kind: DomainRecords,
  { organizationId, windows, countsEarlier, limit }: DomainDaysQuery,
): DomainDay[] {
  const organization = findOrganizationKey(connection, organizationId);
  if (organization === undefined) return [];
  const { table, domain } = TABLES[kind];
  const least = countsEarlier ? sql`${EARLIEST}` : sql`w.value ->> 1`;
  return connection
    .rows<[string, bigint, bigint, bigint]>(
      // A remainder has the sign of its dividend, so days are counted from a day before all others.
      sql`SELECT r.${domain}, max(r.created_ms - (r.created_ms - ${EARLIEST}) % ${DAY_MS}, w.value ->> 1) AS day, count(*), min(r.created_ms)
        FROM json_each(?) w CROSS JOIN ${table} r ON r.organization = ? AND r.${domain} = w.value ->> 0
        WHERE r.created_ms >= ${least} AND r.created_ms < w.value ->> 2 GROUP BY 1, 2 LIMIT ?`,
      JSON.stringify(windows.map(({ domain: name, from, before }) => [name, from, before])),
      organization,
      limit,
    )
    .map(([name, day, count, first]) => ({
      domain: name,
      day: Number(day),
      count: Number(count),
      first: Number(first),
    }));
}

export function findOldest(
  connection: Connection,
  kind: DomainRecords,
  { organizationId, windows, limit }: OldestQuery,
): string[][] {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, organizationId);
    if (organization === undefined) return windows.map(() => []);
    const { table, domain } = TABLES[kind];
    return windows.map(({ domain: name, from, before }) =>
      connection
        .rows<[string]>(
          sql`SELECT id FROM ${table} WHERE organization = ? AND ${domain} = ? AND created_ms >= ? AND created_ms < ?
            ORDER BY created_ms, id LIMIT ?`,
          organization,
          name,
          from,
          before,
          limit,
        )
        .map(([id]) => id),
    );
  });
}

export function countPlaced(
  connection: Connection,
  kind: DomainRecords,
  organizationId: string,
  { from, before }: TimeSpan,
): PlacedCounts {
  return connection.readTransaction(() => {
    const organization = findOrganizationKey(connection, organizationId);
    if (organization === undefined) return { all: 0, withoutDomain: 0 };
    const { table, domain } = TABLES[kind];
    const inSpan = sql`organization = ? AND created_ms >= ? AND created_ms < ?`;
    const values = [organization, from, before];
    return {
      all: connection.number(sql`SELECT count(*) FROM ${table} WHERE ${inSpan}`, ...values) as number,
      withoutDomain: connection.number(
        sql`SELECT count(*) FROM ${table} WHERE ${domain} IS NULL AND ${inSpan}`,
        ...values,
      ) as number,
    };
  });
}
