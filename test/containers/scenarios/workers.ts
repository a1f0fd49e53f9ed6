import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { ContainerStack } from '../container-stack.js';
import { docker, PROJECT } from '../docker.js';
import { failuresOf, summarize, Traffic } from '../traffic.js';
import { NOTHING, type Scenario } from './scenario.js';

/** Longer than KAFKA_SESSION_TIMEOUT_MS. */
const PAUSE_MS = 40_000;

async function scaleWorkers(stack: ContainerStack, count: number): Promise<void> {
  const scale = ['--scale', `worker=${count}`];
  await stack.compose([
    'up',
    '--detach',
    '--no-build',
    '--no-deps',
    '--no-recreate',
    '--wait',
    ...scale,
    'worker',
  ]);
}

export const workerPaused: Scenario = {
  name: 'A worker paused beyond its session',
  done: `three workers, one paused (\`docker pause\`) for ${PAUSE_MS / 1000} s under traffic, another killed meanwhile`,
  async run(stack) {
    await scaleWorkers(stack, 3);
    const [paused, killed] = (await stack.containersOf('worker')) as [string, string];
    const result = await Traffic.during(stack, 'paused', async () => {
      await docker('pause', paused);
      await pause(PAUSE_MS / 2);
      await docker('kill', killed);
      await pause(PAUSE_MS / 2);
      await docker('unpause', paused);
      await docker('start', killed);
    });
    await stack.becomes('worker', 'healthy');
    await scaleWorkers(stack, 1);
    expect(failuresOf(result), summarize(result)).to.equal(0);
    return { seen: summarize(result), lost: NOTHING };
  },
};

const STORES = ['elasticsearch', 'clickhouse', 'kafka'] as const;
type Store = (typeof STORES)[number];

const networkOf = (store: Store) => `${PROJECT}_${store}`;

const cutFromAll = (store: Store): Scenario => ({
  name: `The network to ${store} cut`,
  done: `\`docker network disconnect\` of ${store} under traffic until ${store === 'kafka' ? 'the worker is' : 'worker and gateway are'} unhealthy, then connected again`,
  async run(stack) {
    const container = await stack.containerOf(store);
    const result = await withoutRestarts(stack, () =>
      Traffic.during(stack, `cut-${store}`, async () => {
        await docker('network', 'disconnect', networkOf(store), container);
        try {
          await stack.becomes('worker', 'unhealthy');
          // Without Kafka, everything but ingest is served.
          if (store !== 'kafka') await stack.becomes('gateway-1', 'unhealthy');
        } finally {
          await docker('network', 'connect', '--alias', store, networkOf(store), container);
        }
        await stack.allHealthy();
      }),
    );
    return { seen: summarize(result), lost: NOTHING };
  },
});

const cutFromWorker = (store: Store): Scenario => ({
  name: `The network between the worker and ${store} cut`,
  done: `\`docker network disconnect\` of the worker alone under traffic until it is unhealthy, then connected again`,
  async run(stack) {
    const worker = await stack.containerOf('worker');
    const result = await withoutRestarts(stack, () =>
      Traffic.during(stack, `worker-cut-${store}`, async () => {
        await docker('network', 'disconnect', networkOf(store), worker);
        try {
          await stack.becomes('worker', 'unhealthy');
          for (const gateway of ['gateway-1', 'gateway-2']) {
            expect(await stack.isHealthy(await stack.containerOf(gateway)), gateway).to.equal(true);
          }
        } finally {
          await docker('network', 'connect', networkOf(store), worker);
        }
        await stack.allHealthy();
      }),
    );
    expect(failuresOf(result), summarize(result)).to.equal(0);
    return { seen: `gateways stay healthy; ${summarize(result)}`, lost: NOTHING };
  },
});

export const networkCuts = [...STORES.map(cutFromAll), ...STORES.map(cutFromWorker)];

/** Throws when Docker had to start a container of ours again. */
async function withoutRestarts<Result>(stack: ContainerStack, work: () => Promise<Result>): Promise<Result> {
  const restarts = () =>
    Promise.all(['gateway-1', 'gateway-2', 'worker'].map((name) => stack.restartsOf(name)));
  const before = await restarts();
  const result = await work();
  expect(await restarts(), 'containers that Docker had to start again').to.deep.equal(before);
  return result;
}
