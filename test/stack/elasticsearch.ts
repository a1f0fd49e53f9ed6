import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { elasticsearchDistribution } from './distributions.js';
import { freePort, freePorts } from './free-port.js';
import { findJava } from './java.js';
import { quickJavaOptions } from './quick.js';
import { type Server, type ServerPlan, startServer } from './server.js';
import { makeServerFolder } from './server-folder.js';
import { type User, unprivilegedUser } from './unprivileged-user.js';

export interface ElasticsearchOptions {
  heapMegabytes?: number;
  /** Absent for a cluster of one node. */
  member?: Member;
}

/** A node of a cluster: its number among the ports of all nodes for each other. */
interface Member {
  number: number;
  transportPorts: readonly number[];
}

/** A node that ends with this process. Throws `MissingPrerequisite` if it cannot be installed. */
export const startElasticsearch = async (options?: ElasticsearchOptions): Promise<Server> =>
  startServer(await planElasticsearch(options));

/** Small nodes of one cluster, which respond once they have elected a master; start them at the same time. */
export async function planElasticsearchNodes(count: number): Promise<ServerPlan[]> {
  const transportPorts = await freePorts(count);
  return Promise.all(
    transportPorts.map((_, number) =>
      planElasticsearch({ heapMegabytes: 768, member: { number, transportPorts } }),
    ),
  );
}

export async function planElasticsearch({
  heapMegabytes = 1024,
  member,
}: ElasticsearchOptions = {}): Promise<ServerPlan> {
  const java = findJava(21);
  const distribution = await elasticsearchDistribution();
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const user = member ? memberUser(member) : unprivilegedUser();
  const folder = makeServerFolder('elasticsearch', ['config', 'data', 'logs', 'tmp', 'snapshots'], user);
  const config = join(folder, 'config');
  copyFileSync(join(distribution, 'config/jvm.options'), join(config, 'jvm.options'));
  writeFileSync(join(config, 'log4j2.properties'), LOGGING);
  writeFileSync(
    join(config, 'elasticsearch.yml'),
    settings({
      'cluster.name': 'reachline-stack',
      'path.data': join(folder, 'data'),
      'path.repo': join(folder, 'snapshots'),
      'path.logs': join(folder, 'logs'),
      'network.host': '127.0.0.1',
      'http.port': port,
      ...(member ? memberSettings(member) : { 'transport.port': await freePort(), ...SINGLE }),
      'xpack.security.enabled': false,
      'cluster.routing.allocation.disk.threshold_enabled': false,
    }),
  );
  return {
    name: 'elasticsearch',
    address,
    folder,
    command: join(distribution, 'bin/elasticsearch'),
    args: [],
    environment: {
      ES_JAVA_HOME: java,
      ES_PATH_CONF: config,
      ES_TMPDIR: join(folder, 'tmp'),
      ES_JAVA_OPTS: [`-Xms${heapMegabytes}m`, `-Xmx${heapMegabytes}m`, ...quickJavaOptions()].join(' '),
    },
    user,
    async answers() {
      const health = await fetch(`${address}/_cluster/health?wait_for_status=yellow&timeout=1s`);
      return health.ok;
    },
  };
}

/** Root runs each node as a user of its own, so that a firewall rule can tell their packets apart. */
const memberUser = ({ number }: Member): User | null => {
  const user = unprivilegedUser();
  return user && { ...user, uid: FIRST_MEMBER_UID + number };
};

const FIRST_MEMBER_UID = 64_101;
const SINGLE = { 'node.name': 'elasticsearch', 'discovery.type': 'single-node' };

const memberSettings = ({ number, transportPorts }: Member) => ({
  'node.name': `node-${number}`,
  'node.processors': 1,
  'transport.port': transportPorts[number] as number,
  'discovery.seed_hosts': transportPorts.map((port) => `127.0.0.1:${port}`),
  'cluster.initial_master_nodes': transportPorts.map((_, each) => `node-${each}`),
});

const settings = (values: Record<string, string | number | boolean | string[]>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('');

const LOGGING = `
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %-5p %c{1.} %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
`;
