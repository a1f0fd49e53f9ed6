import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { docker, LABEL, PROJECT, REPOSITORY } from '../docker.js';
import { failuresOf, summarize, Traffic } from '../traffic.js';
import { NOTHING, type Scenario } from './scenario.js';

const HOG = 'const kept = []; for (;;) kept.push(Buffer.alloc(16 * 1024 * 1024, 1));';

export const memoryLimit: Scenario = {
  name: 'The memory limit reached',
  done: 'a process that takes memory without end in gateway-1 and in the worker, under traffic',
  async run(stack) {
    const ended: string[] = [];
    const result = await Traffic.during(stack, 'memory', async () => {
      for (const service of ['gateway-1', 'worker']) {
        const container = await stack.containerOf(service);
        const failed = await docker('exec', container, 'node', '-e', HOG).catch((error: Error) => error);
        expect(failed, 'the end of the process').to.be.instanceOf(Error);
        const running = await stack.inspect<boolean>(container, '.State.Running');
        ended.push(`${service} ${running ? 'went on' : 'was started again'}`);
        await stack.becomes(service, 'healthy');
      }
    });
    return {
      seen: `the process was killed at the limit, ${ended.join(', ')}; ${summarize(result)}`,
      lost: NOTHING,
    };
  },
};

const ATTACK_SECONDS = 30;

export const hostileClients: Scenario = {
  name: 'Hostile clients',
  done: `from one address, for ${ATTACK_SECONDS} s and each again as soon as it is closed: 200 connections that announce 16 MiB to /api/ingest/ without a key and send as fast as is taken, and 50 whose headers never end; others send requests meanwhile; then a body of 2 MiB to an operation`,
  async run(stack) {
    const nginx = await stack.containerOf('nginx');
    const calm = await Traffic.during(stack, 'calm', () => pause(ATTACK_SECONDS * 500));
    let mostBytes = 0;
    let answers = '';
    const others = await Traffic.during(stack, 'hostile', async () => {
      let attacking = true;
      const sampled = (async () => {
        while (attacking) mostBytes = Math.max(mostBytes, await memoryOf(nginx));
      })();
      try {
        answers = await attack();
      } finally {
        attacking = false;
        await sampled;
      }
    });
    const large = await stack.call('/api/contacts/search', `"${'x'.repeat(2 * 1024 * 1024)}"`);
    expect(large.body).to.include({ status: 413, code: 'body_too_large' });
    const counts = JSON.parse(answers) as Record<string, number>;
    expect(counts['401'], 'rejected by a gateway').to.be.above(0);
    expect(counts['429'], 'rejected by nginx').to.be.above(0);
    const spooled = await docker('exec', nginx, 'du', '-sk', '/tmp');
    expect(Number(spooled.split(/\s/)[0]), 'KiB that nginx keeps').to.be.below(1024);
    expect(failuresOf(others), summarize(others)).to.equal(0);
    const strangers = Object.entries(counts).map(([kind, count]) => `${count} × ${kind}`);
    return {
      seen: `strangers: ${strangers.join(', ')}; nginx at most ${Math.round(mostBytes / 1024 / 1024)} MiB; others meanwhile: ${summarize(others)}; before: ${summarize(calm)}`,
      lost: NOTHING,
    };
  },
};

/** How many connections ended how, as JSON. In a container, because limits are for each address, and bounded, to leave the machine to the others. */
function attack(): Promise<string> {
  const program = join(packageRoot, 'dist/test/containers/strangers.js');
  const bounds = ['--memory', '512m', '--cpus', '0.5', '--read-only', '--no-healthcheck'];
  const network = ['--network', `${PROJECT}_front`];
  const mounted = ['--volume', `${program}:/strangers.mjs:ro`, '--entrypoint', 'node'];
  const command = [`${REPOSITORY}:slim`, '/strangers.mjs', 'nginx', String(ATTACK_SECONDS)];
  return docker('run', '--rm', '--label', LABEL, ...bounds, ...network, ...mounted, ...command);
}

/** Bytes that a container uses, without what the system would give up. */
async function memoryOf(container: string): Promise<number> {
  const text = await docker('stats', '--no-stream', '--format', '{{.MemUsage}}', container).catch(() => '0B');
  const [, value = '0', unit = 'B'] = /^([\d.]+)(\w+)/.exec(text) ?? [];
  const factors: Record<string, number> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
  return Number(value) * (factors[unit] ?? 1);
}

const FULL_MS = 60_000;

const fullVolume = (store: 'clickhouse' | 'elasticsearch' | 'kafka'): Scenario => ({
  name: `The volume of ${store} full`,
  done: `a file written until the 300 MB have no space, for ${FULL_MS / 1000} s under traffic, then removed`,
  async run(stack) {
    const seen: string[] = [];
    const before = await stack.restartsOf(store);
    const result = await Traffic.during(stack, `full-${store}`, async () => {
      const file = `/${store}/filler`;
      await stack.exec('volumes', 'sh', '-c', `cat /dev/zero > ${file}`).catch(() => undefined);
      await pause(FULL_MS);
      for (const service of [store, 'gateway-1', 'worker']) {
        const healthy = await stack.isHealthy(await stack.containerOf(service));
        seen.push(`${service} ${healthy ? 'healthy' : 'unhealthy'}`);
      }
      await stack.exec('volumes', 'rm', file);
      await stack.allHealthy();
    });
    const restarts = (await stack.restartsOf(store)) - before;
    return {
      seen: `${seen.join(', ')}; ${store} started again ${restarts} times; ${summarize(result)}`,
      lost: NOTHING,
    };
  },
});

export const fullVolumes = (['clickhouse', 'elasticsearch', 'kafka'] as const).map(fullVolume);
