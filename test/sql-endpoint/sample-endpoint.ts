import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STREAMS } from '../../ingest/streams/index.js';
import { issueKey } from '../../services/accounts/keys.js';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { demoRecords } from '../../services/demo/load.js';
import { startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import { openStores } from '../../services/stores/open-stores.js';
import { accepted } from '../support/accepted.js';
import { closedWithFile } from '../support/opened.js';

export const PASSWORD = 'analysts';

/** The endpoint over the sample data. */
export interface SampleEndpoint {
  url: string;
  /** API key of the sample's organization, which a client gives as the password. */
  key: string;
  store: AnalyticsStore;
  /** Asks with the key. */
  ask<Row>(query: string, parameters?: Record<string, string>): Promise<Row[]>;
  close(): Promise<void>;
}

/** The sample ends with the day before `day` (`YYYY-MM-DD`). Contacts, audiences and visits are loaded only where they are wanted. */
export const openSampleEndpoint = (
  day: string,
  { withRecords = false }: { withRecords?: boolean } = {},
): Promise<SampleEndpoint> => closedWithFile(open(day, withRecords));

async function open(day: string, withRecords: boolean): Promise<SampleEndpoint> {
  const dataDir = mkdtempSync(join(tmpdir(), 'reachline-sample-endpoint-'));
  const stores = await openStores({ dataDir, searchThreads: 1 });
  const { search, analytics: store, engine } = stores;
  if (!engine) throw new Error('the store is not embedded');
  for (const [name, records] of demoRecords(day)) {
    const { store: kept, write } = STREAMS[name];
    if (withRecords || kept === 'analytics')
      await write(stores, accepted(records as never[], Date.parse(day)));
  }
  const key = await issueKey(search, { organizationId: DEMO_ORGANIZATION });
  const endpoint = await startSqlEndpoint({ engine, search, port: 0, password: PASSWORD });
  return {
    url: endpoint.url,
    key,
    store,
    async ask<Row>(query: string, parameters: Record<string, string> = {}) {
      const address = `${endpoint.url}/?${new URLSearchParams({
        default_format: 'JSON',
        output_format_json_quote_64bit_integers: '0',
        ...parameters,
      })}`;
      const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': key };
      const answer = await fetch(address, { method: 'POST', body: query, headers });
      if (answer.status !== 200) throw new Error(`${query}\n${await answer.text()}`);
      return ((await answer.json()) as { data: Row[] }).data;
    },
    async close() {
      await endpoint.close();
      await stores.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
