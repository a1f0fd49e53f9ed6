import { expect } from 'chai';
import { failuresOf, summarize, Traffic } from '../traffic.js';
import { NOTHING, type Scenario } from './scenario.js';

export interface EarlierImage {
  /** Short name of the commit. */
  commit: string;
  /** That of the image under test. */
  current: string;
  image: string;
}

/** On a stack that was brought up with the earlier image; the commands are those of docs/operating/upgrade.md. */
export const rollingUpgrade = ({ commit, current, image }: EarlierImage): Scenario => ({
  name: 'Rolling upgrade',
  done: `from the image of commit ${commit} to that of ${current}, under traffic: migrate, then gateway-1, gateway-2 and worker replaced one by one`,
  async run(stack) {
    await stack.compose(['build']);
    const result = await Traffic.during(stack, 'upgrade', async () => {
      await stack.compose(['run', '--rm', '--no-deps', 'migrate']);
      for (const service of ['gateway-1', 'gateway-2', 'worker']) {
        const imageOf = async () => stack.inspect<string>(await stack.containerOf(service), '.Config.Image');
        expect(await imageOf()).to.equal(image);
        await stack.compose(['up', '--detach', '--no-build', '--no-deps', '--wait', service]);
        expect(await imageOf()).not.to.equal(image);
      }
    });
    expect(failuresOf(result), summarize(result)).to.equal(0);
    return { seen: summarize(result), lost: NOTHING };
  },
});
