import { randomBytes } from 'node:crypto';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import type { ClickHouseConfig } from '../../../services/shared/config.js';
import { openAnalyticsStore } from '../../../services/stores/clickhouse/store.js';
import type { TemporaryStore } from '../../advertising/helper.js';
import { afterFile } from '../../support/opened.js';

const url = process.env.CLICKHOUSE_URL ?? '';
const username = process.env.CLICKHOUSE_USERNAME ?? 'default';
const password = process.env.CLICKHOUSE_PASSWORD ?? '';

export interface TestDatabase {
  config: ClickHouseConfig;
  /** Connected outside any database. */
  client: ClickHouseClient;
}

/** A database for one test file, which is dropped at its end. Throws if `CLICKHOUSE_URL` is not set. */
export function testDatabase(server = url): TestDatabase {
  if (server === '') throw new Error('CLICKHOUSE_URL names no server; npm run test:stack starts one');
  const database = `test_${randomBytes(6).toString('hex')}`;
  const client = createClient({ url: server, username, password });
  afterFile(async () => {
    for (const name of [database, `${database}_tables`, `${database}_copies`]) {
      await client.command({ query: `DROP DATABASE IF EXISTS ${name}` });
    }
    await client.close();
  });
  return { config: { urls: [server], username, password, database, cluster: null }, client };
}

export async function openHttpStore(timeoutMs?: number): Promise<TemporaryStore> {
  const { store } = await openAnalyticsStore({ ...testDatabase().config, timeoutMs });
  return { store, dispose: () => store.close() };
}
