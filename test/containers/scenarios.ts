/** Facts that only real containers show: images, networks, users and limits, and gateways that are replaced behind nginx. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../support/until.js';
import { type ContainerStack, SERVICES } from './container-stack.js';
import { docker, logsOf } from './docker.js';
import { Traffic } from './traffic.js';

/** A test on the containers. It leaves them as it found them, and throws if a promise does not hold. */
export interface Scenario {
  name: string;
  /** Description of the finished test. */
  done: string;
  /** Resolves with a text that says what clients saw. */
  run(stack: ContainerStack): Promise<string>;
}

const LOG_LINES = 400;
const GATEWAYS = ['gateway-1', 'gateway-2'];
/** Most requests that may fail when a gateway dies: one per client and one per connection that nginx keeps. */
const IN_FLIGHT = 8;
const STARTS = ['nginx', 'gateway-2', 'worker', 'gateway-1', 'kafka', 'clickhouse', 'elasticsearch'];

const startGateway = async (stack: ContainerStack) => {
  await docker('start', await stack.containerOf('gateway-1'));
  await stack.healthy('gateway-1');
};

const wholeRequest: Scenario = {
  name: 'A whole request',
  done: 'records sent through nginx, taken by a worker, read through nginx',
  async run(stack) {
    const seen = await Traffic.during(stack, 'whole');
    const containers = await Promise.all(GATEWAYS.map((name) => stack.containerOf(name)));
    const logs = await Promise.all(containers.map((name) => logsOf(name, LOG_LINES)));
    const clients = logs
      .flatMap((log) => log.split('\n'))
      .filter((line) => line.includes('"/api/contacts/search"'))
      .map((line) => (JSON.parse(line) as { client: string }).client);
    const networks = await stack.inspect<Record<string, { IPAddress: string }>>(
      await stack.containerOf('nginx'),
      '.NetworkSettings.Networks',
    );
    expect(clients).to.have.length.above(0);
    for (const { IPAddress } of Object.values(networks)) {
      expect(clients, 'the log has the address of the client').not.to.include(IPAddress);
    }
    return `${seen}; the log of the gateways has the address of the client`;
  },
};

/** `compose.test.ts` checks that the file confines each service. */
const confinement: Scenario = {
  name: 'Confinement',
  done: 'users, capabilities and root file systems tried in the running containers',
  async run(stack) {
    for (const service of SERVICES) {
      expect(Number(await stack.exec(service, 'id', '-u')), `the user of ${service}`).to.be.above(0);
      const capabilities = /^CapEff:\s*(\w+)$/m.exec(await stack.exec(service, 'cat', '/proc/1/status'))?.[1];
      expect(Number(capabilities), `the capabilities of ${service}`).to.equal(0);
    }
    for (const service of [...GATEWAYS, 'worker', 'nginx']) {
      const rejected = await stack.exec(service, 'touch', '/written').catch((error: Error) => error.message);
      expect(rejected, service).to.match(/Read-only file system/);
    }
    return 'no process of root, no capability, nothing written outside of volumes and /tmp';
  },
};

const gatewayKilled: Scenario = {
  name: 'A gateway killed',
  done: '`docker kill gateway-1` under traffic, started again after 10 s',
  async run(stack) {
    const kill = async () => {
      await docker('kill', await stack.containerOf('gateway-1'));
      await pause(10_000);
      await startGateway(stack);
    };
    return Traffic.during(stack, 'killed', kill, IN_FLIGHT);
  },
};

const gatewayStopped: Scenario = {
  name: 'A gateway stopped',
  done: '`docker stop gateway-1` (SIGTERM) under traffic, started again, three times',
  async run(stack) {
    const gateway = await stack.containerOf('gateway-1');
    return Traffic.during(stack, 'stopped', async () => {
      for (let round = 0; round < 3; round++) {
        await docker('stop', '--time', '20', gateway);
        expect(await stack.inspect<number>(gateway, '.State.ExitCode')).to.equal(0);
        await startGateway(stack);
      }
    });
  },
};

const nginxWithOneGateway: Scenario = {
  name: 'nginx started with a gateway down',
  done: '`docker stop gateway-1`, then `docker restart nginx`',
  async run(stack) {
    await docker('stop', await stack.containerOf('gateway-1'));
    try {
      await docker('restart', await stack.containerOf('nginx'));
      await stack.healthy('nginx');
      return await Traffic.during(stack, 'half');
    } finally {
      await startGateway(stack);
    }
  },
};

const anyOrder: Scenario = {
  name: 'Start in any order',
  done: `everything stopped, then started with 3 s between: ${STARTS.join(', ')}`,
  async run(stack) {
    const traffic = new Traffic(stack, 'order', 2);
    await until(async () => traffic.acknowledged > 100, 'records were acknowledged', { timeoutMs: 60_000 });
    await traffic.stop();
    await stack.compose(['stop', '--timeout', '20', ...SERVICES]);
    const begun = performance.now();
    for (const service of STARTS) {
      await docker('start', await stack.containerOf(service));
      await pause(3000);
    }
    await stack.healthy(...SERVICES);
    const seconds = Math.round((performance.now() - begun) / 1000);
    await traffic.expectNothingLost();
    return `everything healthy ${seconds} s after the first start, without a hand`;
  },
};

export interface EarlierImage {
  /** Short name of the commit. */
  commit: string;
  /** Commit of the image under test. */
  current: string;
  image: string;
}

/** Upgrades a stack that runs the earlier image, with the commands of docs/operating/upgrade.md. */
export const rollingUpgrade = ({ commit, current, image }: EarlierImage): Scenario => ({
  name: 'Rolling upgrade',
  done: `from the image of commit ${commit} to that of ${current}, under traffic: migrate, then gateway-1, gateway-2 and worker replaced one by one`,
  async run(stack) {
    await stack.compose(['build']);
    return Traffic.during(stack, 'upgrade', async () => {
      await stack.compose(['run', '--rm', '--no-deps', 'migrate']);
      for (const service of [...GATEWAYS, 'worker']) {
        const imageOf = async () => stack.inspect<string>(await stack.containerOf(service), '.Config.Image');
        expect(await imageOf()).to.equal(image);
        await stack.compose(['up', '--detach', '--no-build', '--no-deps', '--wait', service]);
        expect(await imageOf()).not.to.equal(image);
      }
    });
  },
});

/** Run after the rolling upgrade, on one stack. */
export const SCENARIOS = [
  wholeRequest,
  confinement,
  gatewayKilled,
  gatewayStopped,
  nginxWithOneGateway,
  anyOrder,
];
