import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { PROPERTIES, type Property, playEpisode, seedOf } from '../console/driver/properties.js';
import { openStage } from '../console/driver/stage.js';
import { SEED } from '../support/random.js';
import { buildPlanted } from './build.js';
import { PLANTED_FAULTS } from './faults.js';

/** After which a fault counts as not found: as many as deal every act, and every trace with every way to another session. */
const EPISODES = { request: 14, act: 17, session: 30, sum: 8 };

/** What the first episode that finds something says; undefined where none does. */
async function findFault(
  suite: Mocha.Context,
  breaks: keyof typeof PROPERTIES,
  first = 0,
  console?: RequestListener,
): Promise<string | undefined> {
  const stage = await openStage(suite, console);
  const property: Property = PROPERTIES[breaks];
  try {
    for (let played = 0; played < EPISODES[breaks]; played++) {
      const episode = (first + played) % EPISODES[breaks];
      const found = await playEpisode(stage, property, seedOf(SEED, episode));
      if (found !== undefined) return `episode ${played + 1}, ${found}`;
    }
    return undefined;
  } finally {
    await stage.close();
  }
}

describe('The driver of the console', function () {
  this.timeout(1_200_000);

  for (const fault of PLANTED_FAULTS)
    it(`finds that ${fault.name}`, async function () {
      const found = await findFault(this, fault.breaks, fault.episode, await buildPlanted(fault));
      if (process.env.REACHLINE_DRIVER_TRACE) console.error(found);
      expect(found, `${EPISODES[fault.breaks]} episodes`).to.be.a('string');
    });

  for (const breaks of Object.keys(PROPERTIES) as (keyof typeof PROPERTIES)[])
    it(`finds nothing in the console as it is: ${PROPERTIES[breaks].title}`, async function () {
      expect(await findFault(this, breaks)).to.equal(undefined);
    });
});
