import { expect } from 'chai';
import { REPOSITORY } from '../docker.js';
import { failuresOf, summarize, Traffic } from '../traffic.js';
import { NOTHING, type Scenario } from './scenario.js';

/** The image of the commit before. */
export const BEFORE = `${REPOSITORY}:before`;

/** On a stack that was brought up with the image of the commit before; the commands are those of docs/operating/upgrade.md. */
export const rollingUpgrade: Scenario = {
  name: 'Rolling upgrade',
  done: 'from the image of the commit before, under traffic: migrate, gateway-1, gateway-2, worker',
  async run(stack) {
    const result = await Traffic.during(stack, 'upgrade', async () => {
      await stack.compose(['run', '--rm', '--no-deps', 'migrate']);
      for (const service of ['gateway-1', 'gateway-2', 'worker']) {
        await stack.compose(['up', '--detach', '--no-build', '--no-deps', '--wait', service]);
        const image = await stack.inspect<string>(await stack.containerOf(service), '.Config.Image');
        expect(image).not.to.equal(BEFORE);
      }
    });
    expect(failuresOf(result), summarize(result)).to.equal(0);
    return { seen: summarize(result), lost: NOTHING };
  },
};
