import { issueKey } from '../../services/accounts/keys.js';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import { openStores } from '../../services/stores/open-stores.js';
import { closedWithFile } from '../support/opened.js';
import { sampleFolder } from '../support/sample.js';

/** The endpoint over the sample data. */
export interface SampleEndpoint {
  url: string;
  /** API key of the sample's organization, which a client gives as the password. */
  key: string;
  store: AnalyticsStore;
  /** Sends a query with the key. */
  ask<Row>(query: string, parameters?: Record<string, string>): Promise<Row[]>;
  close(): Promise<void>;
}

/** Opens an endpoint whose sample ends on the day before `day` (`YYYY-MM-DD`). */
export const openSampleEndpoint = (day: string): Promise<SampleEndpoint> => closedWithFile(open(day));

async function open(day: string): Promise<SampleEndpoint> {
  const stores = await openStores({
    dataDir: await sampleFolder(Date.parse(`${day}T12:00:00Z`)),
    searchProcesses: 1,
  });
  const { records, analytics: store } = stores;
  const engine = await stores.engine?.();
  if (!engine) throw new Error('the store is not embedded');
  const key = await issueKey(records, { organizationId: DEMO_ORGANIZATION });
  await stores.follower?.run();
  const endpoint = await startSqlEndpoint({ engine, records, port: 0 });
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
    },
  };
}
