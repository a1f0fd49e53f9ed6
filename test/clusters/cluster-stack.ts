/** Three nodes of Elasticsearch, three brokers, ClickHouse's protocol, two gateways and two workers on one machine. */
import { Client } from '@elastic/elasticsearch';
import { issueKey } from '../../services/accounts/keys.js';
import type { ElasticsearchConfig, KafkaConfig } from '../../services/shared/config.js';
import { loadConfig } from '../../services/shared/config.js';
import { openElasticsearchStore } from '../../services/stores/elasticsearch/store.js';
import { planClickHouse } from '../stack/clickhouse.js';
import { planElasticsearchNodes } from '../stack/elasticsearch.js';
import { planKafkaBrokers } from '../stack/kafka.js';
import { type Server, type ServerPlan, startServer } from '../stack/server.js';
import { accepted } from '../support/accepted.js';
import { type ServerProcess, startServer as startProcess } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import type { Member } from './partition.js';

export const ORGANIZATION = 'acme';
/** The organization whose contacts clients follow by `contacts/changes`. */
export const FEED_ORGANIZATION = 'feed';
export const AUDIENCE = 'aud';
export const BALANCE = 1_000_000;
const SIZE = 3;
const PROCESSES = 2;
const HEALING = { pollMs: 250, timeoutMs: 300_000 };

export interface ClusterStack {
  nodes: readonly Server[];
  brokers: readonly Server[];
  gateways: readonly ServerProcess[];
  workers: readonly ServerProcess[];
  /** Environment of its processes. */
  environment: Record<string, string>;
  search: Client;
  elasticsearch: ElasticsearchConfig;
  kafka: KafkaConfig;
  /** API key of `FEED_ORGANIZATION`. */
  feedKey: string;
  /** The node that has the primary of the followed contacts. */
  primary(): Promise<Server>;
  /** The node that is the elected master. */
  master(): Promise<Server>;
  /** The nodes in order, with the ports on which they reach each other. */
  members(): Promise<Member[]>;
  /** Resolves when every node, broker and process is up and every shard has its copies. */
  healed(): Promise<void>;
  stop(): Promise<void>;
}

export async function startClusterStack(): Promise<ClusterStack> {
  const servers: Server[] = [];
  const start = async (plans: readonly ServerPlan[]) => {
    const started = await Promise.allSettled(plans.map((plan) => startServer(plan)));
    servers.push(...started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
    const failed = started.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    return servers.slice(-plans.length);
  };
  const processes: ServerProcess[] = [];
  const stop = async () => {
    for (const server of servers) server.thaw();
    await Promise.all(processes.map((each) => each.kill()));
    await Promise.all(servers.map((each) => each.remove()));
  };
  try {
    const nodes = await start(await planElasticsearchNodes(SIZE));
    const brokers = await start(await planKafkaBrokers(SIZE));
    const [clickhouse] = await start([await planClickHouse()]);
    const addresses = (list: readonly Server[]) => list.map(({ address }) => address).join(',');
    const environment = {
      ELASTICSEARCH_URL: addresses(nodes),
      KAFKA_BROKERS: addresses(brokers),
      CLICKHOUSE_URL: (clickhouse as Server).address,
    };
    const { elasticsearch, kafka } = loadConfig(environment);
    if (!elasticsearch || !kafka) throw new Error('the clusters have no address');
    const search = new Client({ nodes: elasticsearch.nodes, requestTimeout: 3000, maxRetries: 5 });
    const { key, feedKey } = await prepare(elasticsearch);
    const run = async (args: string[], more: Record<string, string>) => {
      const options = { key, args, dataDir: tempFolder(), environment: { ...environment, ...more } };
      const process = await startProcess(options);
      void process.ended.then(({ code }) => {
        if (code !== null) console.error(`a process ended: ${code}\n${process.output().slice(-5000)}`);
      });
      return process;
    };
    for (let index = 0; index < PROCESSES; index++) processes.push(await run(['serve'], {}));
    for (let index = 0; index < PROCESSES; index++) {
      processes.push(await run(['worker'], { REACHLINE_WORKER_PORT: '0' }));
    }
    const stack: ClusterStack = {
      nodes,
      brokers,
      gateways: processes.slice(0, PROCESSES),
      workers: processes.slice(PROCESSES),
      environment,
      search,
      elasticsearch,
      kafka,
      feedKey,
      async primary() {
        const index = `${elasticsearch.indexPrefix}-contacts`;
        const { nodes: infos, shards } = await search.searchShards({ index, routing: FEED_ORGANIZATION });
        const shard = shards.flat().find(({ primary }) => primary);
        const { name = '' } = infos[shard?.node ?? ''] ?? {};
        return nodes[Number(name.replace('node-', ''))] as Server;
      },
      async master() {
        const [found] = (await search.cat.master({ format: 'json' })) as { node?: string }[];
        return nodes[Number(found?.node?.replace('node-', ''))] as Server;
      },
      async members() {
        const { nodes: infos } = await search.nodes.info({ metric: 'transport' });
        return Object.values(infos)
          .sort((one, other) => (one.name < other.name ? -1 : 1))
          .map(({ transport }, number) => ({
            server: nodes[number] as Server,
            port: Number(transport?.publish_address.split(':').at(-1)),
          }));
      },
      async healed() {
        const isGreen = async () => {
          const { status, number_of_nodes } = await search.cluster.health();
          return status === 'green' && number_of_nodes === SIZE;
        };
        await until(() => isGreen().catch(() => false), 'every shard has its copies', HEALING);
        const isReady = async () => {
          const responses = await Promise.all(processes.map(({ url }) => fetch(`${url}/readyz`)));
          return responses.every(({ status }) => status === 200);
        };
        await until(() => isReady().catch(() => false), 'every process is ready', HEALING);
      },
      async stop() {
        await search.close();
        await stop();
      },
    };
    await stack.healed();
    return stack;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A metered organization and the followed one, each with an audience. */
async function prepare(config: ElasticsearchConfig): Promise<{ key: string; feedKey: string }> {
  const store = await openElasticsearchStore(config);
  const keyOf = async (organizationId: string) => {
    const audience = { organization_id: organizationId, id: AUDIENCE, name: 'Audience' };
    await store.upsertAudiences(accepted([audience], Date.now()));
    return issueKey(store, { organizationId, scopes: ['*'] });
  };
  try {
    await store.setCredits(ORGANIZATION, BALANCE);
    return { key: await keyOf(ORGANIZATION), feedKey: await keyOf(FEED_ORGANIZATION) };
  } finally {
    await store.close();
  }
}
