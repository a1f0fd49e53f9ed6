/** Test environment of the console driver: a browser and a gateway with two organizations, shared by consecutive episodes. */
import type { RequestListener } from 'node:http';
import type { BrowserContext } from 'playwright-core';
import { launchBrowser } from '../browser.js';
import { RecordingProxy } from './proxy.js';
import { installReader } from './screen.js';
import { startWorld, type World } from './world.js';

export const SIZE = { width: 1280, height: 900 };

export interface Stage {
  world: World;
  proxy: RecordingProxy;
  context: BrowserContext;
  /** Closes what an episode opened, and forgets what it kept in the browser. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** `console` serves another console than the one that is built. Skips the suite where the machine has no Chromium. */
export async function openStage(suite: Mocha.Context, console?: RequestListener): Promise<Stage> {
  const browser = await launchBrowser(suite);
  const world = await startWorld();
  const proxy = new RecordingProxy(world.gateway.url, console);
  await proxy.start();
  const context = await browser.newContext({ viewport: SIZE, acceptDownloads: true });
  await installReader(context);
  // Each context has a process of its own, in which nothing is compiled yet; the page that stays open keeps it.
  const cdp = await context.newCDPSession(await context.newPage());
  return {
    world,
    proxy,
    context,
    async clear() {
      for (const page of context.pages().slice(1)) await page.close();
      await cdp.send('Storage.clearDataForOrigin', { origin: proxy.url, storageTypes: 'all' });
    },
    async close() {
      await browser.close();
      await proxy.close();
      await world.gateway.close();
    },
  };
}
