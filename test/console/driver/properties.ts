/** What must be true of the console whatever one does in it, each with the steps that try to break it. */
import { actOnce } from './acting.js';
import { browse, compareFigures, FIRST_VIEWS } from './browsing.js';
import { Deck } from './deck.js';
import { Driver } from './driver.js';
import { exportRows } from './exporting.js';
import { switchSession } from './sessions.js';
import type { Stage } from './stage.js';

export interface Property {
  title: string;
  steps: number;
  step(driver: Driver): Promise<void>;
  /** The view in which episodes begin. */
  views?: Deck<string>;
}

export const PROPERTIES = {
  request: {
    title: 'shows what belongs to the request of its labels, or says that it is old',
    steps: 10,
    step: browse,
    views: FIRST_VIEWS,
  },
  act: {
    title: 'undoes exactly what it did, and says how much that was',
    steps: 3,
    step: actOnce,
  },
  session: {
    title: 'has nothing of another session in any tab, file or request',
    steps: 2,
    step: switchSession,
  },
  sum: {
    title: 'draws and saves what adds up',
    steps: 5,
    step: (driver) => (driver.random.chance(0.35) ? exportRows(driver) : compareFigures(driver)),
    views: new Deck(['/advertising', '/advertising?compare=previous_period']),
  },
} satisfies Record<string, Property>;

const EPISODES_PER_SUITE = 1000;

/** The seed of an episode of a suite, as it is printed. */
export const seedOf = (suite: number, episode: number) => suite * EPISODES_PER_SUITE + episode;

/** Plays an episode until its first fault. Returns the fault with the seed and the steps; undefined if the episode has no fault. */
export async function playEpisode(
  stage: Stage,
  property: Property,
  seed: number,
): Promise<string | undefined> {
  const episode = seed % EPISODES_PER_SUITE;
  const suite = (seed - episode) / EPISODES_PER_SUITE;
  const driver = new Driver(stage, seed, suite, episode * property.steps);
  try {
    await driver.signIn(stage.world.organizations[0], property.views?.at(episode, suite));
    await driver.judge();
    for (let count = 0; count < property.steps && driver.faults.length === 0 && driver.tab.of; count++)
      await property.step(driver);
    if (driver.faults.length === 0) return undefined;
    const steps = driver.log.map((each, at) => `    ${at + 1}. ${each}`).join('\n');
    return `seed ${seed}:\n${driver.fails()}\n  after the steps:\n${steps}`;
  } finally {
    await driver.end();
  }
}
