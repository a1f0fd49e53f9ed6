import type { AnalyticsStore } from '../analytics-store.js';
import type { Fence } from '../fence.js';
import { type ClickHouse, type ClickHouseOptions, openClickHouse, type Rows } from './client.js';
import type { Engine } from './engine.js';
import { insertError } from './errors.js';
import { migrate } from './migrate.js';
import { campaignRows, companyRows, creativeRows, deliveryRows } from './rows.js';

/** A month of each has a part of its own to be written, so that many at once cost little more than a few. */
const BATCH_RECORDS = 25_000;

/** Opens and migrates the analytics store. Throws `FolderInUse` when another process has the folder. */
export async function openAnalyticsStore(
  options: ClickHouseOptions,
): Promise<{ store: AnalyticsStore; engine: Engine | null }> {
  const clickhouse = await openClickHouse(options);
  try {
    await migrate(clickhouse);
  } catch (error) {
    await clickhouse.close();
    throw error;
  }
  return { store: analyticsStore(clickhouse), engine: clickhouse.engine };
}

function analyticsStore(clickhouse: ClickHouse): AnalyticsStore {
  const insert = async (rows: Rows, fence?: Fence) => {
    const until = fence?.();
    if (rows.text === '') return;
    await clickhouse.insert(`insert_${rows.table}`, rows, until).catch((error: unknown) => {
      throw insertError(error);
    });
  };
  return {
    batchRecords: BATCH_RECORDS,
    query: (query, signal) => clickhouse.query(query, signal),
    insertCampaigns: (records, acceptedAt, fence) => insert(campaignRows(records, acceptedAt), fence),
    insertCreatives: (records, acceptedAt, fence) => insert(creativeRows(records, acceptedAt), fence),
    insertCompanies: (records, acceptedAt, fence) => insert(companyRows(records, acceptedAt), fence),
    insertDeliveries: (records, acceptedAt, fence) => insert(deliveryRows(records, acceptedAt), fence),
    // Reads a table, not a constant: a store that lost its schema cannot answer either.
    async ping() {
      await clickhouse.query({ name: 'ping', sql: 'SELECT 1 FROM deliveries LIMIT 1', params: {} });
    },
    close: () => clickhouse.close(),
  };
}
