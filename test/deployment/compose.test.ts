import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { startHealthServer } from '../../ingest/worker/health-server.js';
import { loadConfig } from '../../services/shared/config.js';
import { packageRoot } from '../../services/shared/fs.js';
import { createLogger } from '../../services/shared/logger.js';
import { settingNames } from '../../services/shared/settings.js';
import { useGateway } from '../support/gateway.js';
import { useOpened } from '../support/opened.js';

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  networks: string[] | Record<string, { ipv4_address?: string }>;
  extra_hosts?: string[];
  ports?: string[];
  volumes?: string[];
  profiles?: string[];
  mem_limit?: string;
  cpus?: number;
  pids_limit?: number;
  healthcheck?: { test?: string[] };
  logging?: { driver: string; options: Record<string, string> };
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
      expect([...settingNames], name).to.include.members(Object.keys(environment));
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
      expect(service, name).to.deep.include({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(service, name).not.to.have.any.keys('cap_add', 'privileged');
    }
  });

  it('rotates the log of every service, so that logs never fill the disk', () => {
    for (const [name, { logging }] of services) {
      expect(logging, name).to.deep.equal({
        driver: 'local',
        options: { 'max-size': '50m', 'max-file': '5' },
      });
    }
  });

  it('keeps the log tables of ClickHouse for 14 days, or has none', () => {
    const path = 'deploy/clickhouse/system-tables.xml';
    const mounts = compose.services.clickhouse?.volumes ?? [];
    expect(mounts).to.include(`./${path}:/etc/clickhouse-server/config.d/system-tables.xml:ro`);
    const content = read(path)
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .trim();
    const [, tables = ''] = /^<clickhouse>([\s\S]*)<\/clickhouse>$/.exec(content) ?? [];
    const kept = all(tables, /<(\w+_log)><ttl>event_date \+ INTERVAL 14 DAY DELETE<\/ttl><\/\1>/g);
    const removed = all(tables, /<(\w+_log) remove="1"\/>/g);
    expect(kept).to.include.members(['query_log', 'part_log', 'metric_log', 'asynchronous_metric_log']);
    expect(removed).to.include.members(['text_log', 'trace_log']);
    expect(tables.match(/<\w+_log/g)).to.have.lengthOf(kept.length + removed.length);
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
    expect(compose.services.migrate?.command).to.deep.equal(['migrate', '--bootstrap']);
    for (const [name, { environment = {} }] of own) {
      const isHolder = Object.keys(environment).some((variable) => /_ADMIN_/.test(variable));
      expect(isHolder, name).to.equal(name === 'migrate');
      const account = { ELASTICSEARCH_USERNAME: 'reachline', CLICKHOUSE_USERNAME: 'reachline' };
      expect(environment, name).to.include(account);
    }
  });

  it('has nginx and the gateways know each other by addresses that are there before either starts', () => {
    const subnet = `${FRONT}.0/24`;
    expect(compose.networks.front).to.deep.equal({ ipam: { config: [{ subnet }] } });
    const gateways = { 'gateway-1': `${FRONT}.11`, 'gateway-2': `${FRONT}.12` };
    for (const [name, ipv4_address] of Object.entries(gateways)) {
      const { networks, environment } = compose.services[name] as Service;
      expect(networks).to.deep.include({ front: { ipv4_address } });
      expect(environment?.REACHLINE_TRUSTED_PROXIES).to.equal(subnet);
    }
    const hosts = Object.entries(gateways).map(([name, address]) => `${name}:${address}`);
    expect(compose.services.nginx?.extra_hosts).to.deep.equal(hosts);
    for (const use of ['max_fails=1 fail_timeout=5s', 'max_fails=0 backup']) {
      const named = all(nginx, new RegExp(`server (\\S+):8080 ${use};`, 'g'));
      expect(named, use).to.deep.equal(Object.keys(gateways));
    }
    expect(dockerfile).to.match(/PORT=8080\b/);
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
  it('rotates the log of every member', () => {
    for (const [name, { image, logging }] of Object.entries(cluster.services)) {
      if (image !== undefined) expect(logging, name).to.deep.equal(compose.services.nginx?.logging);
    }
  });

  /** The service as Compose merges it from the two files. */
  const merged = (name: string): Service => {
    const [base, over] = [compose.services[name], cluster.services[name]];
    return { ...base, ...over, environment: { ...base?.environment, ...over?.environment } } as Service;
  };
  /** The service without the parts that only some members have. */
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

/** Exit code of a health check, which runs a text as a Node.js program with the variables of its container. */
const exitCodeOf = ([program, flag, source = '', ...others]: string[], env: Record<string, string> = {}) =>
  new Promise<number>((exit) => {
    expect([program, flag, ...others]).to.deep.equal(['node', '-e']);
    runInNewContext(source, { fetch, process: { env, exit } });
  });

describe('The health checks', () => {
  const imageCheck = JSON.parse(/HEALTHCHECK[^[]*(\[.*\])/.exec(dockerfile)?.[1] ?? '[]') as string[];
  /** Nothing listens on it. */
  const nowhere = '1';
  let answers = true;
  const worker = useOpened(async () => {
    const ping = () => (answers ? Promise.resolve() : Promise.reject(new Error('away')));
    const logger = createLogger('silent');
    const checks = { kafka: { ping } };
    const health = { registry: new Registry(), checks, failing: () => [], stopping: () => false, logger };
    const { url, close } = await startHealthServer({ host: '127.0.0.1', port: 0 }, health);
    return { url, close: async () => close() };
  });
  const gateway = useGateway();

  it('of docker-compose.yml ask what the services answer, where they answer', async () => {
    const codeOf = (name: string, port: number, { url }: { url: string }) => {
      const [, ...test] = compose.services[name]?.healthcheck?.test ?? [];
      expect(test.join(' '), name).to.contain(`127.0.0.1:${port}/`);
      return exitCodeOf(test.map((part) => part.replace(`127.0.0.1:${port}`, new URL(url).host)));
    };
    for (const name of ['gateway-1', 'gateway-2']) expect(await codeOf(name, 8080, gateway)).to.equal(0);
    const { workerPort } = loadConfig({});
    expect(await codeOf('worker', workerPort, worker)).to.equal(0);
    answers = false;
    expect(await codeOf('worker', workerPort, worker)).to.equal(1);
  });

  it('of the image fit a gateway without a worker, and a worker without a gateway', async () => {
    for (const [variable, { url }] of [
      ['PORT', gateway],
      ['REACHLINE_WORKER_PORT', worker],
    ] as const) {
      const none = { PORT: nowhere, REACHLINE_WORKER_PORT: nowhere };
      expect(await exitCodeOf(imageCheck, { ...none, [variable]: new URL(url).port })).to.equal(0);
      expect(await exitCodeOf(imageCheck, none)).to.equal(1);
    }
  });
});
