import type { AnalyticsStore } from '../../advertising/analytics-store.js';
import { FULL_DISK_BYTES } from '../../shared/health.js';
import { DiskFullError } from '../../shared/store-errors.js';
import type { VisitTable } from '../../visits/visit-store.js';
import type { RecordCopy } from '../common/record-copy.js';
import { literal } from './bind.js';
import type { ClickHouse, ClickHouseOptions, Rows } from './client.js';
import type { Engine } from './engine.js';
import { insertError } from './errors.js';
import { migrate, requireMigrations } from './migrations/migrate.js';
import { openClickHouse } from './open.js';
import { requireWholeParts } from './parts.js';
import { copyOnServers } from './record-copy.js';
import { RollupBuilder, type RollupBuilderOptions } from './rollup-builder.js';
import {
  campaignRows,
  companyRows,
  creativeRows,
  currencyRateRows,
  deliveryRows,
  splitByMonths,
  visitRows,
} from './rows.js';
import { BATCH_RECORDS, MAX_MONTHS_PER_INSERT } from './settings.js';

/** Fails without a table of the schema, and without a view: an insert of deliveries would succeed and be lost. */
const PING = `SELECT throwIf(count() < 4, 'views of deliveries are missing'), filesystemAvailable() AS free FROM system.tables
WHERE database = currentDatabase() AND engine = 'MaterializedView' AND (SELECT count() FROM creative_deliveries WHERE 0) = 0`;

export interface OpenedAnalyticsStore {
  store: AnalyticsStore & VisitTable;
  engine: (() => Promise<Engine>) | null;
  builder: RollupBuilder | null;
  pauseInserts: ClickHouse['pauseInserts'];
  /** Null in process. */
  copy: RecordCopy | null;
}

/**
 * Opens and migrates the analytics store, which builds sums of months where `rollups` is given. Throws `FolderInUseError` when another
 * process has the folder, `BrokenPartsError`, and `MigrationNeededError` for replicas, which `migrateReplicas` alone migrates.
 */
export async function openAnalyticsStore(
  options: ClickHouseOptions,
  rollups?: RollupBuilderOptions,
): Promise<OpenedAnalyticsStore> {
  const clickhouse = await openClickHouse(options);
  try {
    if ('path' in options) await requireWholeParts(clickhouse, options.path);
    if (clickhouse.layout.isReplicated) await requireMigrations(clickhouse);
    else await migrate(clickhouse);
  } catch (error) {
    await clickhouse.close();
    throw error;
  }
  // On replicas the mark that was inserted last may be older than rows that became visible after it.
  const builder = rollups && !clickhouse.layout.isReplicated ? new RollupBuilder(clickhouse, rollups) : null;
  builder?.start();
  const { engine, pauseInserts } = clickhouse;
  const copy = engine ? null : copyOnServers(clickhouse.servers);
  return {
    store: analyticsStore(clickhouse, builder),
    engine: engine && (async () => engine),
    builder,
    pauseInserts,
    copy,
  };
}

export function analyticsStore(
  clickhouse: ClickHouse,
  builder: RollupBuilder | null,
): AnalyticsStore & VisitTable {
  const insert = async (rows: Rows, grouped = false) => {
    if (rows.text === '') return;
    await clickhouse.insert(`insert_${rows.table}`, rows, { grouped }).catch((error: unknown) => {
      throw insertError(error);
    });
  };
  return {
    preferredBatchSize: BATCH_RECORDS,
    query: (query, signal) => clickhouse.query(query, signal),
    insertCampaigns: (records) => insert(campaignRows(records)),
    insertCreatives: (records) => insert(creativeRows(records)),
    insertCompanies: (records) => insert(companyRows(records)),
    insertCurrencyRates: (records) => insert(currencyRateRows(records)),
    // One insert at a time, so that other writes run in between.
    async insertDeliveries(records) {
      for (const part of splitByMonths(records, ({ date }) => date, MAX_MONTHS_PER_INSERT))
        await insert(deliveryRows(part));
    },
    async insertVisits(records) {
      if (clickhouse.engine) return;
      for (const part of splitByMonths(records, ({ createdAt }) => createdAt, MAX_MONTHS_PER_INSERT))
        await insert(visitRows(part), true);
    },
    async dropDeliveriesBefore(month) {
      const tables = ['creative_deliveries', 'company_deliveries'];
      const months = new Set<string>();
      for (const table of tables) {
        const { rows } = await clickhouse.query<{ month: number }>({
          name: 'old_months',
          sql: `SELECT DISTINCT toYYYYMM(date) AS month FROM ${table} WHERE date < {month:Date} ORDER BY month`,
          params: { month },
        });
        for (const row of rows) {
          const drop = `ALTER TABLE ${table} DROP PARTITION ${Number(row.month)}`;
          await clickhouse.command('drop_month', drop, true);
          months.add(String(row.month));
        }
      }
      // Each by itself: an interrupted run has dropped the months, but not their rollups.
      for (const [table, column] of [
        ['rollups', 'month'],
        ['delivery_days', 'date'],
      ]) {
        const { rows } = await clickhouse.query({
          name: 'old_months',
          sql: `SELECT 1 FROM ${table} WHERE ${column} < {month:Date} LIMIT 1`,
          params: { month },
        });
        if (rows.length === 0) continue;
        // Dates come from this program alone.
        const remove = `ALTER TABLE ${table} DELETE WHERE ${column} < ${literal(month)}`;
        await clickhouse.command('drop_month', remove, true);
      }
      return [...months].sort();
    },
    async deleteVisitsBefore(createdMs) {
      if (clickhouse.engine) return;
      const moment = `fromUnixTimestamp64Milli(${Math.trunc(createdMs)}, 'UTC')`;
      const { rows } = await clickhouse.query<{ month: number; is_whole: number | boolean }>({
        name: 'old_visits',
        sql: `SELECT _partition_value.1 AS month, month > 0 AND month < toYYYYMM(${moment}) AS is_whole
FROM website_visits WHERE created_at < ${moment} GROUP BY month`,
        params: {},
      });
      for (const { month, is_whole } of rows) {
        const drop = `ALTER TABLE website_visits DROP PARTITION ${Number(month)}`;
        if (is_whole) await clickhouse.command('drop_month', drop, true);
      }
      if (rows.some(({ is_whole }) => !is_whole)) {
        await clickhouse.command(
          'delete_visits',
          `DELETE FROM website_visits WHERE created_at < ${moment}`,
          true,
        );
      }
    },
    async ping() {
      const { rows } = await clickhouse.query<{ free: string }>({ name: 'ping', sql: PING, params: {} });
      if (Number(rows[0]?.free) < FULL_DISK_BYTES) throw new DiskFullError('analytics');
    },
    async close() {
      await builder?.stop();
      await clickhouse.close();
    },
  };
}
