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

const networkCut = (store: 'elasticsearch' | 'clickhouse' | 'kafka'): Scenario => ({
  name: `The network to ${store} cut`,
  done: `\`docker network disconnect\` of ${store} under traffic until a gateway or the worker is unhealthy, then connected again`,
  async run(stack) {
    const network = `${PROJECT}_stores`;
    const container = await stack.containerOf(store);
    const restarts = () =>
      Promise.all(['gateway-1', 'gateway-2', 'worker'].map((name) => restartsOf(stack, name)));
    const before = await restarts();
    const result = await Traffic.during(stack, `cut-${store}`, async () => {
      await docker('network', 'disconnect', network, container);
      try {
        await stack.becomes('worker', 'unhealthy');
        // Without Kafka, everything but ingest is served.
        if (store !== 'kafka') await stack.becomes('gateway-1', 'unhealthy');
      } finally {
        await docker('network', 'connect', '--alias', store, network, container);
      }
      await stack.allHealthy();
    });
    expect(await restarts(), 'containers that Docker had to start again').to.deep.equal(before);
    return { seen: `${summarize(result)}; health checks followed`, lost: NOTHING };
  },
});

export const networkCuts = (['elasticsearch', 'clickhouse', 'kafka'] as const).map(networkCut);

const restartsOf = async (stack: ContainerStack, service: string) =>
  stack.inspect<number>(await stack.containerOf(service), '.RestartCount');
