import { Client } from '@elastic/elasticsearch';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import { loadConfig } from '../../../services/shared/config.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { afterFile, closedWithFile } from '../../support/opened.js';

/** Indices with a unique prefix on the cluster of `ELASTICSEARCH_URL`, which are deleted at the end of the test file. */
export interface TestIndices {
  config: ElasticsearchConfig;
  /** Makes a write that waits for a refresh cause one, for tests that write one record after another. */
  refreshAtOnce(): Promise<void>;
  client(): Client;
  remove(): Promise<void>;
}

let count = 0;

/** Throws if `ELASTICSEARCH_URL` is not set. */
export function testIndices(): TestIndices {
  const url = process.env.ELASTICSEARCH_URL;
  if (!url) throw new Error('ELASTICSEARCH_URL names no cluster; npm run test:stack starts one');
  count += 1;
  const prefix = `t${process.pid}_${count}_${Date.now().toString(36)}`;
  const { elasticsearch } = loadConfig({ ELASTICSEARCH_URL: url, ELASTICSEARCH_INDEX_PREFIX: prefix });
  if (!elasticsearch) throw new Error('ELASTICSEARCH_URL names no cluster');
  const open = () => new Client({ nodes: elasticsearch.nodes });
  const withClient = async (work: (client: Client) => Promise<unknown>) => {
    const client = open();
    await work(client).finally(() => client.close());
  };
  const remove = () =>
    withClient(async (client) => {
      const names = Object.keys(await client.indices.get({ index: `${prefix}-*` }));
      if (names.length > 0) await client.indices.delete({ index: names });
    });
  afterFile(remove);
  return {
    config: elasticsearch,
    remove,
    client() {
      const client = open();
      afterFile(() => client.close());
      return client;
    },
    refreshAtOnce: () =>
      withClient((client) =>
        client.indices.putSettings({ index: `${prefix}-*`, settings: { max_refresh_listeners: 0 } }),
      ),
  };
}

/** A store that is closed at the end of the test file. */
export const openStore: typeof openElasticsearchStore = (...args) =>
  closedWithFile(openElasticsearchStore(...args));
