import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { until } from '../../support/until.js';
import { type ContainerStack, SERVICES } from '../container-stack.js';
import { docker, logsOf, PROJECT } from '../docker.js';
import { summarize, Traffic } from '../traffic.js';
import { NOTHING, type Scenario } from './scenario.js';

const LOG_LINES = 400;
const OWN = ['gateway-1', 'gateway-2', 'worker'];
const STORES = ['elasticsearch', 'clickhouse', 'kafka'];

export const wholeRequest: Scenario = {
  name: 'A whole request',
  done: 'records sent through nginx, taken by a worker, read through nginx',
  async run(stack) {
    const result = await Traffic.during(stack, 'whole', async () => undefined);
    const gateways = await Promise.all(['gateway-1', 'gateway-2'].map((name) => stack.containerOf(name)));
    const logs = await Promise.all(gateways.map((name) => logsOf(name, LOG_LINES)));
    const clients = new Set(
      logs
        .flatMap((log) => log.split('\n'))
        .filter((line) => line.includes('"/api/contacts/search"'))
        .map((line) => (JSON.parse(line) as { client: string }).client),
    );
    const nginx = await addressesOf(stack, 'nginx');
    expect([...clients]).to.have.length.above(0);
    for (const client of clients)
      expect(nginx, 'the log has the address of the client').not.to.include(client);
    expect(result.failures.size, summarize(result)).to.equal(0);
    return {
      seen: `${summarize(result)}; the log of the gateways has the address of the client`,
      lost: NOTHING,
    };
  },
};

async function addressesOf(stack: ContainerStack, service: string): Promise<string[]> {
  const networks = await stack.inspect<Record<string, { IPAddress: string }>>(
    await stack.containerOf(service),
    '.NetworkSettings.Networks',
  );
  return Object.values(networks).map(({ IPAddress }) => IPAddress);
}

export const confinement: Scenario = {
  name: 'Confinement',
  done: 'users, root file systems, capabilities, limits and networks read from the running containers, and tried in them',
  async run(stack) {
    for (const service of SERVICES) {
      const container = await stack.containerOf(service);
      const host = await stack.inspect<Record<string, unknown>>(container, '.HostConfig');
      expect(host, service).to.deep.include({ CapDrop: ['ALL'], CapAdd: null, Privileged: false });
      expect(host.SecurityOpt, service).to.deep.equal(['no-new-privileges:true']);
      for (const limit of ['Memory', 'NanoCpus', 'PidsLimit']) {
        expect(host[limit], `${limit} of ${service}`).to.be.a('number').above(0);
      }
      expect(Number(await stack.exec(service, 'id', '-u')), `the user of ${service}`).to.be.above(0);
      const capabilities = /^CapEff:\s*(\w+)$/m.exec(await stack.exec(service, 'cat', '/proc/1/status'))?.[1];
      expect(Number(capabilities), `the capabilities of ${service}`).to.equal(0);
    }
    for (const service of [...OWN, 'nginx']) {
      const rejected = await stack.exec(service, 'touch', '/written').catch((error: Error) => error.message);
      expect(rejected, service).to.match(/Read-only file system/);
    }
    const networksOf = async (service: string) =>
      Object.keys(await stack.inspect(await stack.containerOf(service), '.NetworkSettings.Networks')).sort();
    const ofStores = STORES.map((store) => `${PROJECT}_${store}`).sort();
    expect(await networksOf('worker')).to.deep.equal(ofStores);
    for (const store of STORES) {
      const network = `${PROJECT}_${store}`;
      expect(await networksOf(store), store).to.deep.equal([network]);
      expect(await docker('network', 'inspect', '--format', '{{.Internal}}', network), store).to.equal(
        'true',
      );
    }
    return {
      seen: 'no process of root, no capability, limits of memory, processors and processes everywhere; nothing written outside of volumes and /tmp; each store on an internal network of its own, the worker on those alone',
      lost: NOTHING,
    };
  },
};

export const tls: Scenario = {
  name: 'TLS at the door',
  done: 'nginx replaced by that of deploy/tls, with a certificate made for the test',
  async run(stack) {
    const certificates = join(stack.folder, 'certificates');
    mkdirSync(certificates);
    const subject = ['-subj', '/CN=localhost', '-days', '2', '-newkey', 'rsa:2048', '-nodes'];
    const [key, chain] = ['privkey.pem', 'fullchain.pem'].map((name) => join(certificates, name)) as [
      string,
      string,
    ];
    execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', chain], { stdio: 'pipe' });
    execFileSync('chmod', ['-R', 'a+rX', certificates]);
    const own = join(stack.folder, 'tls.yml');
    const volume = `${certificates}:/etc/nginx/tls:ro`;
    writeFileSync(own, JSON.stringify({ services: { nginx: { volumes: [volume] } } }));
    const files = ['deploy/tls/docker-compose.yml', relative(packageRoot, own)];
    await stack.compose(['up', '--detach', '--no-build', '--no-deps', '--wait', 'nginx'], { files });
    try {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const options = { host: '127.0.0.1', port: stack.tlsPort, path: '/livez', rejectUnauthorized: false };
        request(options, (answer) => resolve(answer.resume().statusCode))
          .once('error', reject)
          .end();
      });
      expect(status).to.equal(200);
      const clear = await stack.call('/api/contacts/search', {});
      expect(clear.body).to.include({ status: 403, code: 'tls_required' });
    } finally {
      await stack.compose(['up', '--detach', '--no-build', '--no-deps', '--wait', 'nginx']);
    }
    return { seen: 'https answered; a request in the clear was answered 403 `tls_required`', lost: NOTHING };
  },
};

const STARTS = ['nginx', 'gateway-2', 'worker', 'gateway-1', 'kafka', 'clickhouse', 'elasticsearch'];

export const anyOrder: Scenario = {
  name: 'Start in any order',
  done: `everything stopped, then started with 3 s between: ${STARTS.join(', ')}`,
  async run(stack) {
    const traffic = Traffic.start(stack, 'order', 2);
    await until(async () => traffic.acknowledged > 100, 'records were acknowledged', { timeoutMs: 60_000 });
    await traffic.stop();
    await stack.compose(['stop', '--timeout', '20', ...SERVICES]);
    const begun = performance.now();
    for (const service of STARTS) {
      for (const container of await stack.containersOf(service)) await docker('start', container);
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }
    await stack.allHealthy();
    const seconds = Math.round((performance.now() - begun) / 1000);
    await traffic.expectNothingLost();
    return { seen: `everything healthy ${seconds} s after the first start, without a hand`, lost: NOTHING };
  },
};
