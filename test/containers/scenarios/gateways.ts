import { expect } from 'chai';
import { docker } from '../docker.js';
import { failuresOf, summarize, Traffic } from '../traffic.js';
import { NOTHING, type Scenario } from './scenario.js';

/** At most one request in flight per client, and connection that nginx keeps, when a gateway dies. */
const IN_FLIGHT = 8;

export const gatewayKilled: Scenario = {
  name: 'A gateway killed',
  done: '`docker kill gateway-1` under traffic, started again after 10 s',
  async run(stack) {
    const gateway = await stack.containerOf('gateway-1');
    const result = await Traffic.during(stack, 'killed', async () => {
      await docker('kill', gateway);
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      await docker('start', gateway);
      await stack.becomes('gateway-1', 'healthy');
    });
    expect(failuresOf(result), summarize(result)).to.be.at.most(IN_FLIGHT);
    return { seen: summarize(result), lost: NOTHING };
  },
};

export const gatewayStopped: Scenario = {
  name: 'A gateway stopped',
  done: '`docker stop gateway-1` (SIGTERM) under traffic, started again, three times',
  async run(stack) {
    const gateway = await stack.containerOf('gateway-1');
    const codes: number[] = [];
    const result = await Traffic.during(stack, 'stopped', async () => {
      for (let round = 0; round < 3; round++) {
        await docker('stop', '--time', '20', gateway);
        codes.push(await stack.inspect<number>(gateway, '.State.ExitCode'));
        await docker('start', gateway);
        await stack.becomes('gateway-1', 'healthy');
      }
    });
    expect(codes, 'exit codes').to.deep.equal([0, 0, 0]);
    expect(failuresOf(result), summarize(result)).to.equal(0);
    return { seen: summarize(result), lost: NOTHING };
  },
};

export const nginxWithOneGateway: Scenario = {
  name: 'nginx started with a gateway down',
  done: '`docker stop gateway-1`, then `docker restart nginx`',
  async run(stack) {
    const [gateway, nginx] = await Promise.all([stack.containerOf('gateway-1'), stack.containerOf('nginx')]);
    await docker('stop', gateway);
    try {
      await docker('restart', nginx);
      await stack.becomes('nginx', 'healthy');
      const result = await Traffic.during(stack, 'half', async () => undefined);
      expect(failuresOf(result), summarize(result)).to.equal(0);
      return { seen: summarize(result), lost: NOTHING };
    } finally {
      await docker('start', gateway);
      await stack.becomes('gateway-1', 'healthy');
    }
  },
};
