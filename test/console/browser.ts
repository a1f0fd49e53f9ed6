import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { expect } from 'chai';
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { DAY_MS, utcDate } from '../../services/shared/time.js';
import { startSampleGateway, type TestGateway } from '../support/gateway.js';

/** Usual paths of Chromium. The headless shell comes first, because it needs half the processor time. */
const USUAL_PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The system's Chromium, or the one that `CHROMIUM_PATH` names. */
export const chromiumPath = process.env.CHROMIUM_PATH ?? USUAL_PATHS.find((path) => existsSync(path));

/** Skips the suite if the machine has no Chromium. */
export async function launchBrowser(context: Mocha.Context): Promise<Browser> {
  if (chromiumPath === undefined) return context.skip();
  // One process for the pages of all tests: starting a process per page, with a spare one, takes longer than showing the page.
  return chromium.launch({ executablePath: chromiumPath, args: ['--renderer-process-limit=1'] });
}

/** The sample ends yesterday. */
export const daysAgo = (days: number) => utcDate(Date.now() - days * DAY_MS);

const COLOUR_RULES = "runOnly: ['color-contrast', 'link-in-text-block']";
export type Appearance = readonly [width: number, colorScheme: 'light' | 'dark', rules: string];
/** The page once it has taken the colour scheme: the console, or the documentation. */
const THEMED = {
  dark: 'html[data-theme=dark], html.dark',
  light: 'html[data-theme=light], html:not([data-theme], .dark)',
};

/** Every axe rule runs once for each width and once for each colour scheme. The other two combinations need only the rules about colour. */
export const APPEARANCES: readonly Appearance[] = [
  [1280, 'dark', COLOUR_RULES],
  [390, 'light', COLOUR_RULES],
  [390, 'dark', ''],
  // This appearance comes last, because the test continues in it.
  [1280, 'light', ''],
];

/** Expects that axe finds no serious fault, and nothing is too wide, for each width and colour scheme, alone or combined. */
export async function expectAccessible(
  page: Page,
  appearances: readonly Appearance[] = APPEARANCES.slice(2),
  excluded: readonly string[] = [],
): Promise<void> {
  // Rows of a table are alike, so some represent all.
  const context = JSON.stringify({ exclude: ['tbody tr:nth-child(n + 7)', ...excluded] });
  if (!(await page.evaluate('typeof globalThis.axe === "object"'))) await page.evaluate(axe.source);
  for (const [width, colorScheme, rules] of appearances) {
    await page.setViewportSize({ width, height: 800 });
    // Colours that change slowly would be measured half-way.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(THEMED[colorScheme]).waitFor();
    await page.waitForLoadState('networkidle');
    // A list is dimmed until its next answer comes, and a dimmed text has too little contrast.
    await page.locator('.list[aria-busy=true]').first().waitFor({ state: 'detached' });
    const faults = await page.evaluate(
      `axe.run(${context}, { resultTypes: ['violations'], ${rules} }).then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ' ' + html + ' ' + (any[0]?.message ?? ''))))`,
    );
    expect(faults, `${page.url()} ${width} ${colorScheme}`).to.deep.equal([]);
    await expectFits(page, `${width} ${colorScheme}`);
  }
}

/** Expects that nothing is wider than the window. */
export async function expectFits(page: Page, appearance: string): Promise<void> {
  const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  expect(excess, `${page.url()} ${appearance}`).to.be.at.most(0);
}

/** Chromium reports each response of 4xx and 5xx, and each rejected connection, as an error of the page. */
const FAILED_REQUEST = /^Failed to load resource/;

export interface ConsoleTest {
  gateway: TestGateway;
  /** API key of the sample data, with every scope. */
  key: string;
  context: BrowserContext;
  page: Page;
  /** Opens a view, signed in by its address. */
  open(view: string, key?: string, url?: string): Promise<void>;
  /** The response of an operation over the sample data. */
  read<T>(path: string, body: object): Promise<T>;
  /** Expects that axe finds no serious fault, and nothing is too wide, once for each width and colour scheme. */
  expectAccessible(): Promise<void>;
  /** Use this in tests that provoke failed requests. */
  forgetFailedRequests(): void;
}

/**
 * A browser and a gateway over the sample data for a suite, and a page for each test. Errors of the page, and requests to other hosts, fail
 * the test.
 */
export function useConsole(): ConsoleTest {
  let browser: Browser;
  let context: BrowserContext;
  let cdp: CDPSession;
  let errors: string[] = [];
  let elsewhere: string[] = [];
  const test = {
    async open(view, key = test.key, url = test.gateway.url) {
      await test.page.goto(`${url}/console${view}#key=${key}`);
      await test.page.getByRole('navigation', { name: 'Views' }).waitFor();
    },
    async read<T>(path: string, body: object) {
      const { gateway, key } = test;
      return (await gateway.call(path, { organization_id: DEMO_ORGANIZATION, ...body }, { key })).body as T;
    },
    expectAccessible: () => expectAccessible(test.page),
    forgetFailedRequests() {
      errors = errors.filter((error) => !FAILED_REQUEST.test(error));
    },
  } as ConsoleTest;
  before(async function () {
    browser = await launchBrowser(this);
    test.gateway = await startSampleGateway();
    test.key = await test.gateway.keyFor(DEMO_ORGANIZATION);
    // Each context has its own process, in which nothing is compiled yet. The page that stays open keeps the process.
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    cdp = await context.newCDPSession(page);
    context.on('page', (page) => {
      // This timeout is below the timeout of a test, whose message would not say what was awaited.
      page.setDefaultTimeout(50_000);
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('request', (request) => {
        const { origin, protocol } = new URL(request.url());
        if (protocol !== 'blob:' && origin !== test.gateway.url) elsewhere.push(request.url());
      });
    });
    test.context = context;
  });
  after(async () => {
    await browser?.close();
    await test.gateway?.close();
  });
  beforeEach(async () => {
    errors = [];
    elsewhere = [];
    test.page = await test.context.newPage();
  });
  afterEach(async () => {
    await cdp.send('Storage.clearDataForOrigin', { origin: test.gateway.url, storageTypes: 'all' });
    for (const page of context.pages().slice(1)) await page.close();
    expect(errors).to.deep.equal([]);
    expect(elsewhere).to.deep.equal([]);
  });
  return test;
}

/** Steps of a story that is told by keyboard alone. */
export function byKeyboard(c: ConsoleTest) {
  const press = async (...keys: string[]) => {
    for (const key of keys) await c.page.keyboard.press(key);
  };
  /** Moves the focus to the element by Tab. */
  const reach = async (target: Locator) => {
    await target.waitFor();
    for (let tabs = 0; tabs < 60; tabs++) {
      if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
      await press('Tab');
    }
    throw new Error(`60 times Tab do not lead to ${target}`);
  };
  return {
    press,
    reach,
    type: (text: string) => c.page.keyboard.type(text),
    enter: async (target: Locator) => {
      await reach(target);
      await press('Enter');
    },
    button: (name: string | RegExp) => c.page.getByRole('button', { name, exact: true }),
    sees: (text: string | RegExp) => c.page.locator('main, .notice').getByText(text).first().waitFor(),
  };
}
