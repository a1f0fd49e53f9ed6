import { runs, SEED } from '../support/random.js';
import { PROPERTIES, playEpisode, seedOf } from './driver/properties.js';
import { openStage, type Stage } from './driver/stage.js';

/** The nightly suite `planted` plays more. */
const EPISODES = 1;
/** The seed of one episode, which the suite then plays alone. */
const ONLY_SEED = process.env.REACHLINE_DRIVER_SEED;

describe('The console, whatever one does in it', function () {
  this.timeout(600_000);
  let stage: Stage;

  before(async function () {
    stage = await openStage(this);
  });
  after(() => stage?.close());

  for (const property of Object.values(PROPERTIES))
    it(property.title, async () => {
      const count = ONLY_SEED === undefined ? runs(EPISODES) : 1;
      const found: string[] = [];
      for (let episode = 0; episode < count; episode++) {
        const seed = Number(ONLY_SEED ?? seedOf(SEED, episode));
        found.push(...[(await playEpisode(stage, property, seed)) ?? []].flat());
      }
      if (found.length > 0)
        throw new Error(`${found.length} of ${count} episodes failed.\n${found.join('\n\n')}`);
    });
});
