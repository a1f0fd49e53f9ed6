import type { AnalyticsStore } from '../../advertising/analytics-store.js';
import { FULL_DISK_BYTES } from '../../shared/health.js';
import { firstDayOf, type Month, monthAt, monthFrom, partsOfMonth } from '../../shared/month.js';
import { identifier, type Sql, sql, textLiteral } from '../../shared/sql.js';
import { DiskFullError } from '../../shared/store-errors.js';
import {
  logDrops,
  MAX_COUNTED_VISITS,
  planDrops,
  type RetentionLog,
  type StoredMonth,
  type VisitMonth,
} from '../../visits/retention.js';
import type { VisitTable } from '../../visits/visit-store.js';
import type { SqlCopy } from '../common/sql-copy.js';
import type { ClickHouse, ClickHouseOptions } from './client.js';
import type { Engine } from './engine.js';
import { migrate, requireMigrations } from './migrations/migrate.js';
import { openClickHouse } from './open.js';
import { insertRows } from './refusals.js';
import { RollupBuilder, type RollupBuilderOptions } from './rollup-builder.js';
import {
  campaignRows,
  companyRows,
  creativeRows,
  currencyRateRows,
  deliveryRows,
  partitionOfDelivery,
  partitionOfVisit,
  type Rows,
  splitByMonths,
  visitRows,
} from './rows.js';
import { BATCH_RECORDS, MAX_MONTHS_PER_INSERT } from './settings.js';
import { sqlCopy } from './sql-copy.js';

/** Fails if a table or view of the schema is missing: without a view, an insert of deliveries would succeed and be lost. */
const PING = sql`SELECT throwIf(count() < 4, 'views of deliveries are missing'), filesystemAvailable() AS free FROM system.tables
WHERE database = currentDatabase() AND engine = 'MaterializedView' AND (SELECT count() FROM creative_deliveries WHERE 0) = 0`;

export interface OpenedAnalyticsStore {
  store: AnalyticsStore & VisitTable;
  engine: (() => Promise<Engine>) | null;
  builder: RollupBuilder | null;
  pauseInserts: ClickHouse['pauseInserts'];
  /** Tables of contacts, audiences and visits that SQL reads, on each server. */
  sqlCopies: readonly SqlCopy[];
}

/**
 * Opens and migrates the analytics store. Builds sums of months if `rollups` is given. Throws `FolderInUseError` if another process uses
 * the folder, `BrokenPartsError`, and `MigrationNeededError` for replicas, which only `migrateReplicas` migrates.
 */
export async function openAnalyticsStore(
  options: ClickHouseOptions,
  rollups?: RollupBuilderOptions,
  log?: RetentionLog,
): Promise<OpenedAnalyticsStore> {
  const onEnded = (err: Error) => log?.warn({ err }, 'the process of the engine ended and starts again');
  const clickhouse = await openClickHouse('path' in options ? { onEnded, ...options } : options);
  try {
    if (clickhouse.layout.isReplicated) await requireMigrations(clickhouse);
    else await migrate(clickhouse);
  } catch (error) {
    await clickhouse.close();
    throw error;
  }
  // Replicas have no builder: rows that are older than the last mark may become visible after this mark.
  const builder = rollups && !clickhouse.layout.isReplicated ? new RollupBuilder(clickhouse, rollups) : null;
  builder?.start();
  const { engine, pauseInserts } = clickhouse;
  return {
    store: analyticsStore(clickhouse, builder, log),
    engine: engine && (async () => engine),
    builder,
    pauseInserts,
    sqlCopies: (engine ? [clickhouse] : clickhouse.servers).map(sqlCopy),
  };
}

const DELIVERY_TABLES = ['creative_deliveries', 'company_deliveries'] as const;

/** Months that the date column of deliveries can hold. */
const DATES = { first: monthAt(0), last: monthAt(Date.UTC(2149, 5)) };

/** First day of a month, limited to what the date column can hold. */
const firstDate = (month: Month): string =>
  firstDayOf(Math.min(Math.max(month, DATES.first), DATES.last) as Month);

/** The time as SQL, limited to the range of the column of visits. */
function moment(milliseconds: number): Sql {
  const ms = Math.trunc(Math.min(Math.max(milliseconds, FIRST_MOMENT_MS), LAST_MOMENT_MS));
  return sql`fromUnixTimestamp64Milli(${ms}, 'UTC')`;
}
const FIRST_MOMENT_MS = Date.UTC(1900, 0, 1);
const LAST_MOMENT_MS = Date.UTC(2299, 0, 1);

const partitionOf = (month: Month): number => {
  const { year, month: number } = partsOfMonth(month);
  return year * 100 + number;
};

/** The month that `YYYYMM` means; null for other numbers. */
const monthOfNumber = (yearAndMonth: number): Month | null =>
  monthFrom(Math.floor(Number(yearAndMonth) / 100), Number(yearAndMonth) % 100);

/** Partition 0 holds visits that are not stored by month. */
function monthOfPartition(partition: number): VisitMonth {
  const month = monthOfNumber(partition);
  return month === null ? { kind: 'other' } : { kind: 'month', month };
}

interface OldMonth {
  table: (typeof DELIVERY_TABLES)[number] | 'website_visits';
  month: Month;
}

/** Drops the partition of a month. By default, a server refuses to drop more than 50 GB at once. */
const dropPartition = ({ table, month }: OldMonth): Sql =>
  sql`ALTER TABLE ${identifier(table)} DROP PARTITION ${partitionOf(month)} SETTINGS max_partition_size_to_drop = 0`;

/** Months of a table that have days before a given month: their rows, and the month of their newest day. */
async function deliveryMonths(
  clickhouse: ClickHouse,
  table: (typeof DELIVERY_TABLES)[number],
  before: Month,
): Promise<{ month: Month; rows: number; newest: Month }[]> {
  const { rows } = await clickhouse.query<{ partition: number; rows: number; newest_month: number }>({
    name: 'old_months',
    sql: sql`SELECT _partition_value.1 AS partition, count() AS rows, toYYYYMM(max(date)) AS newest_month FROM ${identifier(table)}
WHERE _partition_value.1 IN (SELECT _partition_value.1 FROM ${identifier(table)} WHERE date < {day:Date}) GROUP BY partition ORDER BY partition`,
    params: { day: firstDate(before) },
  });
  return rows.map((row) => ({
    month: monthOfNumber(row.partition) as Month,
    rows: Number(row.rows),
    newest: monthOfNumber(row.newest_month) as Month,
  }));
}

export function analyticsStore(
  clickhouse: ClickHouse,
  builder: RollupBuilder | null,
  log?: RetentionLog,
): AnalyticsStore & VisitTable {
  const ping = async () => {
    const { rows } = await clickhouse.query<{ free: string }>({ name: 'ping', sql: PING, params: {} });
    if (Number(rows[0]?.free) < FULL_DISK_BYTES) throw new DiskFullError('analytics');
  };
  const insert = async (rows: Rows, grouped = false) => {
    if (rows.text !== '') await insertRows({ clickhouse, ping, log }, rows, grouped);
  };
  /**
   * Drops the months one by one. Continues after a failed month, and throws if the engine does not respond. Resolves with the first
   * failure, otherwise with null.
   */
  const dropMonths = async (months: readonly OldMonth[]): Promise<{ error: unknown } | null> => {
    let first: { error: unknown } | null = null;
    for (const each of months) {
      try {
        await clickhouse.command('drop_month', dropPartition(each), true);
      } catch (error) {
        await ping();
        log?.warn(
          { err: error, table: each.table, month: firstDayOf(each.month) },
          'a month older than the retention could not be dropped',
        );
        first ??= { error };
      }
    }
    return first;
  };
  return {
    preferredBatchSize: BATCH_RECORDS,
    query: (query, signal) => clickhouse.query(query, signal),
    insertCampaigns: (records) => insert(campaignRows(records)),
    insertCreatives: (records) => insert(creativeRows(records)),
    insertCompanies: (records) => insert(companyRows(records)),
    insertCurrencyRates: (records) => insert(currencyRateRows(records)),
    // Inserts part by part, so that other writes run in between.
    async insertDeliveries(records) {
      for (const part of splitByMonths(records, partitionOfDelivery, MAX_MONTHS_PER_INSERT))
        await insert(deliveryRows(part));
    },
    async insertVisits(records) {
      for (const part of splitByMonths(records, partitionOfVisit, MAX_MONTHS_PER_INSERT))
        await insert(visitRows(part), true);
    },
    async countDeliveriesBefore(month) {
      const rows = new Map<Month, number>();
      for (const table of DELIVERY_TABLES) {
        for (const part of await deliveryMonths(clickhouse, table, month))
          rows.set(part.month, (rows.get(part.month) ?? 0) + part.rows);
      }
      return [...rows]
        .map(([month, rows]) => ({ month, rows }))
        .sort((one, other) => one.month - other.month);
    },
    async dropDeliveriesBefore(before) {
      const old: OldMonth[] = [];
      for (const table of DELIVERY_TABLES) {
        for (const { month, newest } of await deliveryMonths(clickhouse, table, before)) {
          // The partition is only dropped if both its name and its dates are older.
          if (newest >= before) {
            log?.warn(
              { refused: `${table} ${firstDayOf(month)}`, newest: firstDayOf(newest) },
              'a month of deliveries is not dropped: its name says that it is older than the retention, its days are not',
            );
            continue;
          }
          old.push({ table, month });
        }
      }
      const failure = await dropMonths(old);
      // Rollups are deleted separately: an interrupted run has dropped the months, but not their rollups.
      const day = firstDate(before);
      for (const [table, column] of [
        ['rollups', 'month'],
        ['delivery_days', 'date'],
      ] as const) {
        const { rows } = await clickhouse.query<{ old: number }>({
          name: 'old_months',
          sql: sql`SELECT count() AS old FROM ${identifier(table)} WHERE ${identifier(column)} < {day:Date}`,
          params: { day },
        });
        const old = Number(rows[0]?.old);
        if (old === 0) continue;
        log?.info({ table, rows: old, before: day }, 'deletes rows about months that the retention dropped');
        const remove = sql`ALTER TABLE ${identifier(table)} DELETE WHERE ${identifier(column)} < ${textLiteral(day)}`;
        await clickhouse.command('drop_month', remove, true);
      }
      if (failure) throw failure.error;
      return [...new Set(old.map(({ month }) => month))].sort((one, other) => one - other);
    },
    async countVisitsBefore(createdMs) {
      const { rows } = await clickhouse.query<{ old: number }>({
        name: 'old_visits',
        sql: sql`SELECT least(count(), ${MAX_COUNTED_VISITS}) AS old FROM website_visits WHERE created_at < ${moment(createdMs)}`,
        params: {},
      });
      return Number(rows[0]?.old);
    },
    async deleteVisitsBefore(createdMs) {
      const { rows } = await clickhouse.query<{ partition: number; newest_ms: number; visits: number }>({
        name: 'old_visits',
        sql: sql`SELECT _partition_value.1 AS partition, toUnixTimestamp64Milli(max(created_at)) AS newest_ms, count() AS visits
FROM website_visits WHERE _partition_value.1 IN (SELECT _partition_value.1 FROM website_visits WHERE created_at < ${moment(createdMs)})
GROUP BY partition`,
        params: {},
      });
      const months = rows.map(
        (row): StoredMonth => ({
          name: String(Number(row.partition)),
          month: monthOfPartition(row.partition),
          visits: Number(row.visits),
          newestMs: Number(row.newest_ms),
        }),
      );
      const plan = planDrops(months, createdMs);
      logDrops(log, plan);
      const failure = await dropMonths(
        plan.dropped.flatMap(({ month }): OldMonth[] =>
          month.kind === 'month' ? [{ table: 'website_visits', month: month.month }] : [],
        ),
      );
      if (months.length > plan.dropped.length) {
        await clickhouse.command(
          'delete_visits',
          sql`DELETE FROM website_visits WHERE created_at < ${moment(createdMs)}`,
          true,
        );
      }
      if (failure) throw failure.error;
    },
    ping,
    async close() {
      await builder?.stop();
      await clickhouse.close();
    },
  };
}
