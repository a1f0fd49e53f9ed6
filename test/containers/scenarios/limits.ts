import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { docker } from '../docker.js';
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

const STRANGERS = 200;
const BODY_BYTES = 16 * 1024 * 1024;

export const hostileClients: Scenario = {
  name: 'Hostile clients',
  done: `${STRANGERS} connections of one address that announce 16 MiB to /api/ingest/ without a key and send as fast as is taken, then a body of 2 MiB to an operation`,
  async run(stack) {
    const nginx = await stack.containerOf('nginx');
    const { hostname, port } = new URL(stack.url);
    const statuses = new Map<string, number>();
    let most = 0;
    let sampling = true;
    const sampled = (async () => {
      while (sampling) {
        most = Math.max(most, await memoryOf(nginx));
        await pause(500);
      }
    })();
    const strangers = Array.from({ length: STRANGERS }, () => {
      const socket = connect(Number(port), hostname);
      let answer = '';
      socket.on('error', () => undefined).on('data', (chunk) => (answer += chunk));
      socket.on('close', () => {
        const status = answer.slice(9, 12) || 'no answer';
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      socket.write(
        `POST /api/ingest/contacts HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nX-Api-Key: rl_live_stranger\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`,
      );
      const chunk = Buffer.alloc(64 * 1024, 10);
      const fill = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', fill);
      fill();
      return socket;
    });
    await pause(10_000);
    for (const socket of strangers) socket.destroy();
    await pause(1000);
    sampling = false;
    await sampled;
    const large = await stack.call('/api/contacts/search', `"${'x'.repeat(2 * 1024 * 1024)}"`);
    expect(large.body).to.include({ status: 413, code: 'body_too_large' });
    expect(statuses.get('429'), 'connections beyond the limit').to.be.above(0);
    const spooled = await docker('exec', nginx, 'du', '-sk', '/tmp');
    expect(Number(spooled.split(/\s/)[0]), 'KiB that nginx keeps').to.be.below(1024);
    const result = await Traffic.during(stack, 'hostile', async () => undefined);
    expect(failuresOf(result), summarize(result)).to.equal(0);
    const seen = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
    return {
      seen: `strangers: ${seen}; nginx at most ${Math.round(most / 1024 / 1024)} MiB; afterwards ${summarize(result)}`,
      lost: NOTHING,
    };
  },
};

/** Bytes that a container uses, without what the system would give up. */
async function memoryOf(container: string): Promise<number> {
  const text = await docker('stats', '--no-stream', '--format', '{{.MemUsage}}', container).catch(() => '0B');
  const [, value = '0', unit = 'B'] = /^([\d.]+)(\w+)/.exec(text) ?? [];
  const factors: Record<string, number> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
  return Number(value) * (factors[unit] ?? 1);
}

const fullVolume = (store: 'clickhouse' | 'elasticsearch', folder: string): Scenario => ({
  name: `The volume of ${store} full`,
  done: `a file written until the volume has no space, for 60 s under traffic, then removed`,
  async run(stack) {
    const result = await Traffic.during(stack, `full-${store}`, async () => {
      const fill = `cat /dev/zero > ${folder}/filler`;
      await stack.exec(store, 'sh', '-c', fill).catch(() => undefined);
      await pause(60_000);
      await stack.exec(store, 'rm', `${folder}/filler`);
      await stack.allHealthy();
    });
    return { seen: summarize(result), lost: NOTHING };
  },
});

export const fullVolumes = [
  fullVolume('clickhouse', '/var/lib/clickhouse'),
  fullVolume('elasticsearch', '/usr/share/elasticsearch/data'),
];
