import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STREAMS } from '../../ingest/streams/index.js';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { demoRecords } from '../../services/demo/load.js';
import { startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import { openAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import type { SearchStore } from '../../services/stores/common/search-store.js';
import { accepted } from '../support/accepted.js';

export const PASSWORD = 'analysts';

/** The endpoint over the advertising of the sample data. */
export interface SampleEndpoint {
  url: string;
  store: AnalyticsStore;
  ask<Row>(query: string, parameters?: Record<string, string>): Promise<Row[]>;
  close(): Promise<void>;
}

/** The sample ends with the day before `day` (`YYYY-MM-DD`). */
export async function openSampleEndpoint(day: string): Promise<SampleEndpoint> {
  const path = mkdtempSync(join(tmpdir(), 'reachline-sample-endpoint-'));
  const { store, engine } = await openAnalyticsStore({ path });
  if (!engine) throw new Error('the store is not embedded');
  // Streams of advertising never touch the other store.
  const stores = { analytics: store, search: undefined as unknown as SearchStore };
  for (const [name, records] of demoRecords(day)) {
    const { store: kept, write } = STREAMS[name];
    if (kept === 'analytics') await write(stores, accepted(records as never[], Date.parse(day)));
  }
  const endpoint = await startSqlEndpoint({ engine, port: 0, password: PASSWORD });
  return {
    url: endpoint.url,
    store,
    async ask<Row>(query: string, parameters: Record<string, string> = {}) {
      const address = `${endpoint.url}/?${new URLSearchParams({
        default_format: 'JSON',
        output_format_json_quote_64bit_integers: '0',
        ...parameters,
      })}`;
      const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': PASSWORD };
      const answer = await fetch(address, { method: 'POST', body: query, headers });
      if (answer.status !== 200) throw new Error(`${query}\n${await answer.text()}`);
      return ((await answer.json()) as { data: Row[] }).data;
    },
    async close() {
      await endpoint.close();
      await store.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
