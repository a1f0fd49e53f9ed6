import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kafkaDistribution } from './distributions.js';
import { freePort, freePorts } from './free-port.js';
import { findJava, javaProgram } from './java.js';
import { answersTo, type Server, type ServerPlan, startServer } from './server.js';
import { makeServerFolder } from './server-folder.js';
import { unprivilegedUser } from './unprivileged-user.js';

export interface KafkaOptions {
  heapMegabytes?: number;
  /** Additional port to listen on. Clients learn another address for it: the address of a proxy in front. */
  proxied?: { port: number; address: string };
  /** Additional settings of the broker. */
  settings?: Record<string, string | number | boolean>;
  /** Absent for a cluster of one broker. */
  member?: Member;
}

/** A broker of a cluster: its number among the ports of all controllers. */
interface Member {
  number: number;
  controllerPorts: readonly number[];
  clusterId: string;
}

/** A broker that ends with this process. Throws `MissingPrerequisite` if it cannot be installed. */
export const startKafka = async (options?: KafkaOptions): Promise<Server> =>
  startServer(await planKafka(options));

/**
 * Small brokers of one cluster, each a controller too; start them at the same time. Every broker has all records, two in sync are enough.
 */
export async function planKafkaBrokers(count: number): Promise<ServerPlan[]> {
  const controllerPorts = await freePorts(count);
  const clusterId = newClusterId();
  const settings = {
    'default.replication.factor': count,
    'min.insync.replicas': 2,
    'offsets.topic.replication.factor': count,
    'transaction.state.log.replication.factor': count,
    'transaction.state.log.min.isr': 2,
  };
  return Promise.all(
    controllerPorts.map((_, number) =>
      planKafka({ heapMegabytes: 384, settings, member: { number, controllerPorts, clusterId } }),
    ),
  );
}

const newClusterId = () => Buffer.concat([Buffer.from([0]), randomBytes(15)]).toString('base64url');

/** A broker that is a controller too. */
export async function planKafka(options: KafkaOptions = {}): Promise<ServerPlan> {
  const { heapMegabytes = 512, proxied } = options;
  const { number, controllerPorts, clusterId }: Member = options.member ?? {
    number: 0,
    controllerPorts: [await freePort()],
    clusterId: newClusterId(),
  };
  const java = join(findJava(17), 'bin/java');
  const classPath = join(await kafkaDistribution(), '*');
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const folder = makeServerFolder('kafka', ['data']);
  const properties = join(folder, 'server.properties');
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': number + 1,
    listeners: [
      `PLAINTEXT://${address}`,
      `CONTROLLER://127.0.0.1:${controllerPorts[number]}`,
      ...(proxied ? [`PROXIED://127.0.0.1:${proxied.port}`] : []),
    ],
    'advertised.listeners': [`PLAINTEXT://${address}`, ...(proxied ? [`PROXIED://${proxied.address}`] : [])],
    'listener.security.protocol.map': ['PLAINTEXT', 'CONTROLLER', 'PROXIED'].map(
      (name) => `${name}:PLAINTEXT`,
    ),
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.voters': controllerPorts.map((each, index) => `${index + 1}@127.0.0.1:${each}`),
    'log.dirs': join(folder, 'data'),
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    ...options.settings,
  };
  writeFileSync(
    properties,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const user = unprivilegedUser();
  const format = javaProgram(
    classPath,
    'kafka.tools.StorageTool',
    'format',
    '-t',
    clusterId,
    '-c',
    properties,
  );
  await promisify(execFile)(java, format, { ...user });
  return {
    name: 'kafka',
    address,
    folder,
    command: java,
    args: [
      `-Xms${heapMegabytes}m`,
      `-Xmx${heapMegabytes}m`,
      ...javaProgram(classPath, 'kafka.Kafka', properties),
    ],
    environment: {},
    user,
    answers: () => answersTo(port, API_VERSIONS),
  };
}

/**
 * Length, API key 18, version 0, correlation id 1, no client id. A broker accepts connections before it serves, but responds only when it
 * serves.
 */
const API_VERSIONS = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);
