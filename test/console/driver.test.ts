import type { Browser } from 'playwright-core';
import { runs, SEED } from '../support/random.js';
import { launchBrowser } from './browser.js';
import { actOnce } from './driver/acting.js';
import { browse, compareFigures } from './driver/browsing.js';
import { Driver } from './driver/driver.js';
import { exportRows } from './driver/exporting.js';
import { RecordingProxy } from './driver/proxy.js';
import { switchSession } from './driver/sessions.js';
import { startWorld, type World } from './driver/world.js';

type Step = (driver: Driver) => Promise<void>;

describe('The console, whatever one does in it', function () {
  this.timeout(600_000);
  let browser: Browser;
  let world: World;
  let proxy: RecordingProxy;

  before(async function () {
    browser = await launchBrowser(this);
    world = await startWorld();
    proxy = new RecordingProxy(world.gateway.url);
    await proxy.start();
  });
  after(async () => {
    await browser?.close();
    await proxy?.close();
    await world?.gateway.close();
  });

  /** Each episode begins in a fresh browser, and ends at its first fault, with its seed and its steps. */
  async function play(number: number, steps: number, step: Step, view?: string): Promise<void> {
    const found: string[] = [];
    for (let episode = 0; episode < runs(number); episode++) {
      const seed = Number(process.env.REACHLINE_DRIVER_SEED ?? SEED * 1000 + episode);
      const driver = await Driver.start(world, proxy, browser, seed);
      try {
        await driver.signIn(world.organizations[0], view);
        await driver.judge();
        for (let count = 0; count < steps && driver.faults.length === 0 && driver.tab.of; count++)
          await step(driver);
        if (driver.faults.length > 0)
          found.push(
            `seed ${seed}:\n${driver.fails()}\n  after the steps:\n${driver.log.map((each, at) => `    ${at + 1}. ${each}`).join('\n')}`,
          );
      } finally {
        await driver.end();
      }
      if (process.env.REACHLINE_DRIVER_SEED) break;
    }
    if (found.length > 0)
      throw new Error(`${found.length} of ${runs(number)} episodes failed.\n${found.join('\n\n')}`);
  }

  it('shows what belongs to the request of its labels, or says that it is old', () => play(3, 10, browse));

  it('undoes exactly what it did, and says how much that was', () => play(3, 3, actOnce));

  it('has nothing of another session in any tab, file or request', () => play(3, 2, switchSession));

  it('draws and saves what adds up', () =>
    play(
      3,
      5,
      (driver) => (driver.random.chance(0.35) ? exportRows(driver) : compareFigures(driver)),
      '/advertising',
    ));
});
