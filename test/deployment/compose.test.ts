import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { startHealthServer } from '../../ingest/worker/health-server.js';
import { loadConfig } from '../../services/shared/config.js';
import { packageRoot } from '../../services/shared/fs.js';
import { createLogger } from '../../services/shared/logger.js';
import type { OperationalServer } from '../../services/shared/operational-server.js';
import { settingNames } from '../../services/shared/settings.js';
import { systemClock } from '../../services/shared/time.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  networks: string[] | Record<string, { ipv4_address?: string }>;
  extra_hosts?: string[];
  ports?: string[];
  volumes?: string[];
  profiles?: string[];
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  mem_limit?: string;
  cpus?: number;
  pids_limit?: number;
  privileged?: boolean;
  healthcheck?: { test?: string[]; disable?: boolean };
}
interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
}

const read = (name: string) => readFileSync(join(packageRoot, name), 'utf8');
const text = read('docker-compose.yml');
const compose = parse(text, { merge: true }) as Compose;
const tlsText = read('deploy/tls/docker-compose.yml');
const tls = parse(tlsText) as Compose;
const cluster = parse(read('deploy/cluster/docker-compose.yml'), { merge: true }) as Compose;
const dockerfile = read('Dockerfile');
const example = read('.env.example');
const nginx = read('deploy/nginx/nginx.conf');
const services = Object.entries(compose.services);
const networksOf = ({ networks }: Service) => (Array.isArray(networks) ? networks : Object.keys(networks));
const own = services.filter(([, { image }]) => image === 'reachline:slim');

/** The first group of every match. */
const all = (from: string, pattern: RegExp) =>
  [...from.matchAll(pattern)].map(([, group]) => group as string);

const FRONT = `\${FRONT_NETWORK:-172.31.250}`;

describe('docker-compose.yml', () => {
  it('gives gateways, worker and migrate settings that exist', () => {
    expect(own.map(([name]) => name)).to.deep.equal(['gateway-1', 'gateway-2', 'migrate', 'worker']);
    for (const [name, { environment = {} }] of own) {
      expect(environment, name).to.include.keys('ELASTICSEARCH_URL', 'CLICKHOUSE_URL');
      expect(
        Object.keys(environment).filter((variable) => !settingNames.has(variable)),
        name,
      ).to.deep.equal([]);
    }
  });

  it('takes every password from the environment, and does not start without', () => {
    const values = all(text, /^ +\w*PASSWORD\w*: (.*)$/gm);
    expect(values).to.have.length.above(5);
    for (const value of values) expect(value).to.match(/^\$\{\w+:\?[^}]+\}$/);
  });

  it('asks for the variables that .env.example lists', () => {
    const used = new Set(all(text + tlsText, /(?<!\$)\$\{(\w+)/g));
    const listed = new Set(all(example, /^#?(\w+)=/gm));
    expect([...used].sort()).to.deep.equal([...listed].sort());
    expect(all(example, /^\w+PASSWORD=(.*)$/gm)).to.deep.equal(['', '', '', '']);
  });

  it('pins every image', () => {
    const images = [...services.map(([, { image }]) => image), ...all(dockerfile, /^FROM (\S+:\S+)/gm)];
    expect(images).to.have.length.above(5);
    for (const image of images.filter((name) => name !== 'reachline:slim')) {
      expect(image).to.match(/:\d+\.\d+\.\d+/);
    }
  });

  it('bounds memory, processors and processes of every service, and leaves none a capability', () => {
    for (const [name, service] of services) {
      expect(service.mem_limit, name).to.match(/^(\$\{\w+:-)?\d+[mg]\}?$/);
      expect(service.cpus, name).to.be.within(0.1, 4);
      expect(service.pids_limit, name).to.be.within(32, 4096);
      expect(service.cap_drop, name).to.deep.equal(['ALL']);
      expect(service.cap_add, name).to.equal(undefined);
      expect(service.security_opt, name).to.deep.equal(['no-new-privileges:true']);
      expect(service.privileged, name).to.equal(undefined);
    }
  });

  it('gives each store a network of its own without a way out, and lets only nginx be reached', () => {
    const membersOf = (network: string) =>
      services.filter(([, service]) => networksOf(service).includes(network)).map(([name]) => name);
    const { front, ...others } = compose.networks;
    expect(front?.internal).to.equal(undefined);
    expect(membersOf('front')).to.deep.equal(['nginx', 'gateway-1', 'gateway-2']);
    expect(Object.keys(others)).to.deep.equal(['elasticsearch', 'clickhouse', 'kafka']);
    for (const [store, network] of Object.entries(others)) {
      expect(network, store).to.deep.equal({ internal: true });
      expect(membersOf(store)).to.deep.equal(['gateway-1', 'gateway-2', 'migrate', 'worker', store]);
    }
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).to.deep.equal(['nginx']);
    expect(compose.services.nginx?.ports).to.deep.equal([`\${LISTEN:-127.0.0.1:8080}:8080`]);
  });

  it('gives the passwords of superusers to migrate alone', () => {
    const holders = own.filter(([, { environment = {} }]) =>
      Object.keys(environment).some((name) => /_ADMIN_/.test(name)),
    );
    expect(holders.map(([name]) => name)).to.deep.equal(['migrate']);
    expect(compose.services.migrate?.command).to.deep.equal(['migrate', '--bootstrap']);
    for (const [name, { environment = {} }] of own) {
      expect(environment.ELASTICSEARCH_USERNAME, name).to.equal('reachline');
      expect(environment.CLICKHOUSE_USERNAME, name).to.equal('reachline');
    }
  });

  it('has the gateways believe nginx, and nobody else, about addresses of clients', () => {
    const subnet = `${FRONT}.0/24`;
    expect(compose.networks.front).to.deep.equal({ ipam: { config: [{ subnet }] } });
    for (const name of ['gateway-1', 'gateway-2']) {
      expect(compose.services[name]?.environment?.REACHLINE_TRUSTED_PROXIES).to.equal(subnet);
    }
  });

  it('has nginx send requests to gateways that it starts', () => {
    const gateways = services.map(([name]) => name).filter((name) => name.startsWith('gateway-'));
    expect(all(nginx, /server (\S+):8080 max_fails=1 /g)).to.deep.equal(gateways);
    expect(all(nginx, /server (\S+):8080 max_fails=0 backup;/g)).to.deep.equal(gateways);
    expect(dockerfile).to.match(/PORT=8080\b/);
  });

  it('lets nginx start while a gateway is down, and a gateway be replaced behind it', () => {
    const nginxService = compose.services.nginx;
    const addresses = all(nginx, /server (\S+):8080 max_fails=1 /g).map((name) => {
      const { networks } = compose.services[name] as Service;
      return `${name}:${(networks as Record<string, { ipv4_address?: string }>).front?.ipv4_address}`;
    });
    expect(nginxService?.extra_hosts).to.deep.equal(addresses);
    expect(addresses).to.deep.equal([`gateway-1:${FRONT}.11`, `gateway-2:${FRONT}.12`]);
  });

  it('mounts files that are there, where nginx looks for them', () => {
    const mounted = new Map(
      (compose.services.nginx?.volumes ?? []).map((volume) => {
        const [from = '', to = ''] = volume.split(':');
        return [to, read(from)];
      }),
    );
    expect([...mounted.keys()]).to.have.members([
      '/etc/nginx/nginx.conf',
      '/etc/nginx/locations.conf',
      '/etc/nginx/servers/server.conf',
    ]);
    expect(nginx).to.contain('include /etc/nginx/servers/*.conf;');
    const replaced = tls.services.nginx?.volumes?.[0]?.split(':');
    expect(mounted.has(replaced?.[1] ?? '')).to.equal(true);
    for (const server of [read(replaced?.[0] ?? ''), mounted.get('/etc/nginx/servers/server.conf')]) {
      expect(server).to.contain('include /etc/nginx/locations.conf;');
    }
    expect(tls.services.nginx?.ports).to.deep.equal([`\${LISTEN_TLS:-0.0.0.0:443}:8443`]);
  });

  it('gives the gateways Kafka with the profile that starts it, and not without', () => {
    const [profile, ...others] = new Set(services.flatMap(([, { profiles = [] }]) => profiles));
    expect(others).to.deep.equal([]);
    expect(all(example, /^#COMPOSE_PROFILES=(\w+)$/gm)).to.deep.equal([profile]);
    const [address] = all(text, /KAFKA_ADVERTISED_LISTENERS: PLAINTEXT:\/\/(\S+)$/gm);
    for (const [name, { environment }] of own) {
      const expected = name === 'worker' ? address : `\${COMPOSE_PROFILES:+${address}}`;
      expect(environment?.KAFKA_BROKERS, name).to.equal(expected);
    }
  });
});

describe('deploy/cluster/docker-compose.yml', () => {
  /** As Compose merges the two files. */
  const merged = (name: string): Service => {
    const [base, over] = [compose.services[name], cluster.services[name]];
    return { ...base, ...over, environment: { ...base?.environment, ...over?.environment } } as Service;
  };
  /** What only one member has. */
  const common = ({ environment, volumes: _, ...rest }: Service, names: readonly string[]) => ({
    ...rest,
    environment: Object.fromEntries(
      Object.entries(environment ?? {}).filter(([name]) => !names.includes(name)),
    ),
  });

  for (const [first, members, own] of [
    ['elasticsearch', 'discovery.seed_hosts', ['node.name']],
    ['kafka', 'KAFKA_CONTROLLER_QUORUM_VOTERS', ['KAFKA_NODE_ID', 'KAFKA_ADVERTISED_LISTENERS']],
  ] as const) {
    it(`gives each member of ${first} the same settings, and names all three to the others and to clients`, () => {
      const names = [first, `${first}-2`, `${first}-3`];
      const [one, ...others] = names.map((name) => merged(name));
      for (const other of others) expect(common(other, own)).to.deep.equal(common(one as Service, own));
      for (const name of own) {
        expect(new Set([one, ...others].map((member) => member?.environment?.[name])).size, name).to.equal(3);
      }
      const known = one?.environment?.[members]?.split(',').map((each) => each.replace(/^\d@|:9093$/g, ''));
      expect(known).to.deep.equal(names);
      for (const client of ['gateway-1', 'gateway-2', 'worker', 'migrate']) {
        const { ELASTICSEARCH_URL = '', KAFKA_BROKERS = '' } = merged(client).environment ?? {};
        expect(all(`${ELASTICSEARCH_URL} ${KAFKA_BROKERS}`, /([\w-]+):9\d{2}2?/g)).to.include.members(names);
      }
    });
  }

  it('keeps a record that was acknowledged when a broker is lost', () => {
    const { environment } = merged('kafka');
    expect(environment).to.include({ KAFKA_DEFAULT_REPLICATION_FACTOR: '3', KAFKA_MIN_INSYNC_REPLICAS: '2' });
    expect(merged('migrate').environment).to.include({ REACHLINE_TOPIC_REPLICAS: '3' });
  });
});

/** Runs a health check as Docker does, with the settings of its container. */
async function exitCodeOf(test: string[], environment: Record<string, string>): Promise<number> {
  const [, ...args] = test;
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...environment } });
  const [code] = (await once(child, 'close')) as [number];
  return code;
}

const imageCheck = JSON.parse(/HEALTHCHECK[^[]*(\[.*\])/.exec(dockerfile)?.[1] ?? '[]') as string[];
/** Nothing listens on it. */
const NOWHERE = '1';

describe('The health checks of the worker', () => {
  let worker: OperationalServer;
  let answers: boolean;
  before(async () => {
    const ping = () => (answers ? Promise.resolve() : Promise.reject(new Error('away')));
    const checks = { kafka: { ping } };
    const logger = createLogger('silent');
    const health = { registry: new Registry(), checks, failing: () => [], stopping: () => false, logger };
    worker = await startHealthServer({ host: '127.0.0.1', port: 0 }, health);
  });
  after(() => worker.close());

  it('of docker-compose.yml asks for what it answers, where it answers', async () => {
    const [, ...test] = compose.services.worker?.healthcheck?.test ?? [];
    const [port, ...others] = new Set(all(test.join(' '), /127\.0\.0\.1:(\d+)\//g));
    expect(others).to.deep.equal([]);
    expect(Number(port)).to.equal(loadConfig({}).workerPort);
    const here = test.map((part) => part.replace(`127.0.0.1:${port}`, new URL(worker.url).host));
    for (const [isThere, code] of [
      [true, 0],
      [false, 1],
    ] as const) {
      answers = isThere;
      expect(await exitCodeOf(here, {})).to.equal(code);
    }
  });

  it('of the image fits a worker, which has no gateway', async () => {
    const { port } = new URL(worker.url);
    expect(await exitCodeOf(imageCheck, { PORT: NOWHERE, REACHLINE_WORKER_PORT: port })).to.equal(0);
    expect(await exitCodeOf(imageCheck, { PORT: NOWHERE, REACHLINE_WORKER_PORT: NOWHERE })).to.equal(1);
  });
});

describe('The health checks of the gateway', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({}, systemClock, { analyticsOnDemand: false });
  });
  after(() => gateway.close());

  it('of docker-compose.yml ask for what it answers', async () => {
    for (const name of ['gateway-1', 'gateway-2']) {
      const [, ...test] = compose.services[name]?.healthcheck?.test ?? [];
      const here = test.map((part) => part.replace('127.0.0.1:8080', new URL(gateway.url).host));
      expect(here.join(' ')).to.contain(gateway.url);
      expect(await exitCodeOf(here, {})).to.equal(0);
    }
  });

  it('of the image fits a gateway, which has no worker', async () => {
    const { port } = new URL(gateway.url);
    expect(await exitCodeOf(imageCheck, { PORT: port, REACHLINE_WORKER_PORT: NOWHERE })).to.equal(0);
  });
});
