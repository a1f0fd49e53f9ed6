/** What a second gateway process adds on one machine, whose cores the stores use as well. */

import { join } from 'node:path';
import autocannon from 'autocannon';
import { issueKey } from '../services/accounts/keys.js';
import { loadConfig } from '../services/shared/config.js';
import { inOrder } from '../services/shared/record-order.js';
import { openStores } from '../services/stores/open-stores.js';
import { startClickHouse } from '../test/stack/clickhouse.js';
import { startElasticsearch } from '../test/stack/elasticsearch.js';
import { type ServerProcess, startServer } from '../test/support/server-process.js';
import { type Comparison, compare } from './measure.js';
import { syntheticContacts } from './synthetic-contacts.js';

const ORGANIZATION = 'org_0';
const CONTACTS = 1000;
const ROUNDS = 5;
const ROUND_SECONDS = 4;
const CONNECTIONS = 32;

export async function benchProcesses(folder: string, note: (text: string) => void): Promise<Comparison> {
  note('two gateway processes beside one …');
  const servers = await Promise.all([startElasticsearch(), startClickHouse()]);
  const [elasticsearch, clickhouse] = servers.map(({ address }) => address) as [string, string];
  const environment = { ELASTICSEARCH_URL: elasticsearch, CLICKHOUSE_URL: clickhouse };
  const gateways: ServerProcess[] = [];
  try {
    const stores = await openStores(loadConfig({ ...environment, REACHLINE_DATA_DIR: folder }));
    const contacts = [...syntheticContacts(CONTACTS, 1)];
    await stores.search.upsertContacts(inOrder(contacts, Date.now()));
    await stores.search.refresh();
    const key = await issueKey(stores.search, { organizationId: ORGANIZATION, scopes: ['*'] });
    await stores.close();
    for (const processes of ['1', '2']) {
      gateways.push(
        await startServer({
          dataDir: join(folder, processes),
          environment: { ...environment, REACHLINE_PROCESSES: processes },
        }),
      );
    }
    const [one, two] = gateways as [ServerProcess, ServerProcess];
    return await compare(
      'contacts by id, two gateway processes ÷ one',
      'requests/s',
      {},
      ROUNDS,
      () => requestsPerSecond(two.url, key),
      () => requestsPerSecond(one.url, key),
    );
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await Promise.all(servers.map((server) => server.remove()));
  }
}

async function requestsPerSecond(url: string, key: string): Promise<number> {
  const requests = Array.from({ length: 100 }, (_, index) => ({
    method: 'POST' as const,
    path: '/api/contacts/get',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ organization_id: ORGANIZATION, contact_id: `con_${index}` }),
  }));
  const result = await autocannon({ url, requests, connections: CONNECTIONS, duration: ROUND_SECONDS });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} answers were not 2xx, ${result.errors} connections failed`);
  }
  return result.requests.average;
}
