import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { type HealthServer, startHealthServer } from '../../ingest/worker/health-server.js';
import { loadConfig, settingNames } from '../../services/shared/config.js';
import { packageRoot } from '../../services/shared/package-root.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const read = (name: string) => readFileSync(join(packageRoot, name), 'utf8');
const compose = read('docker-compose.yml');
const dockerfile = read('Dockerfile');
const example = read('.env.example');
const nginx = read('deploy/nginx.conf');

/** The first group of every match. */
const all = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, group]) => group as string);

describe('docker-compose.yml', () => {
  it('gives the gateways settings that exist', () => {
    const [block = ''] = /environment: &environment\n(?: {4}\S.*\n)+/.exec(compose) ?? [];
    const names = all(block, /^ {4}(\w+):/gm);
    expect(names).to.include.members(['ELASTICSEARCH_URL', 'CLICKHOUSE_URL']);
    expect(names.filter((name) => !settingNames.has(name))).to.deep.equal([]);
  });

  it('takes every password from the environment, and refuses to start without', () => {
    const values = all(compose, /^ +\w*PASSWORD\w*: (.*)$/gm);
    expect(values).to.have.length.above(3);
    for (const value of values) expect(value).to.match(/^\$\{\w+:\?[^}]+\}$/);
  });

  it('asks for the variables that .env.example lists', () => {
    const used = new Set(all(compose, /(?<!\$)\$\{(\w+)/g));
    const listed = new Set(all(example, /^#?(\w+)=/gm));
    expect([...used].sort()).to.deep.equal([...listed].sort());
    expect(all(example, /^\w+PASSWORD=(.*)$/gm)).to.deep.equal(['', '']);
  });

  it('pins every image', () => {
    const images = [...all(compose, /^ +image: (.*)$/gm), ...all(dockerfile, /^FROM (\S+:\S+)/gm)];
    expect(images).to.have.length.above(5);
    for (const image of images.filter((name) => name !== 'reachline:slim')) {
      expect(image).to.match(/:\d+\.\d+\.\d+/);
    }
  });

  it('has nginx send requests to gateways that it starts', () => {
    const services = all(compose, /^ {2}(gateway-\d+):/gm);
    expect(all(nginx, /server (\S+):8080 /g)).to.deep.equal(services);
    expect(dockerfile).to.match(/PORT=8080\b/);
  });

  it('gives the gateways Kafka with the profile that starts it, and not without', () => {
    const [profile, ...others] = new Set(all(compose, /^ +profiles: \[(\w+)\]$/gm));
    expect(others).to.deep.equal([]);
    expect(all(example, /^#COMPOSE_PROFILES=(\w+)$/gm)).to.deep.equal([profile]);
    const [address] = all(compose, /KAFKA_ADVERTISED_LISTENERS: PLAINTEXT:\/\/(\S+)$/gm);
    const given = all(compose, /^ +KAFKA_BROKERS: (.*)$/gm);
    expect(given).to.deep.equal([`\${COMPOSE_PROFILES:+${address}}`, address]);
  });
});

describe('the health check of the worker', () => {
  let worker: HealthServer;
  let answers: boolean;
  before(async () => {
    const ping = () => (answers ? Promise.resolve() : Promise.reject(new Error('away')));
    const checks = { kafka: { ping } };
    const health = { registry: new Registry(), checks, failing: () => [], stopping: () => false };
    worker = await startHealthServer({ host: '127.0.0.1', port: 0 }, health);
  });
  after(() => worker.close());

  it('asks for what it answers, where it answers', async () => {
    const [port, ...others] = new Set(all(compose, /127\.0\.0\.1:(808[1-9])\//g));
    expect(others).to.deep.equal([]);
    expect(Number(port)).to.equal(loadConfig({}).workerPort);
    const [path] = all(compose, new RegExp(`127\\.0\\.0\\.1:${port}(/\\w+)`, 'g'));
    for (const [isThere, status] of [
      [true, 200],
      [false, 503],
    ] as const) {
      answers = isThere;
      expect((await fetch(worker.url + path)).status).to.equal(status);
    }
  });
});

describe('the health checks of the gateway', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  for (const [file, text] of Object.entries({ 'docker-compose.yml': compose, Dockerfile: dockerfile })) {
    it(`of ${file} ask the gateway for what it answers`, async () => {
      const paths = new Set(all(text, /127\.0\.0\.1:(?:8080|\$\{process\.env\.PORT\})(\/\w+)/g));
      expect(paths).not.to.have.lengthOf(0);
      for (const path of paths)
        expect((await gateway.call(path, null, { method: 'GET' })).status).to.equal(200);
    });
  }
});
