/** Acts at random in tabs of a browser, and judges after each step what every tab shows. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { DAY_MS } from '../../../services/shared/time.js';
import { Random } from '../../support/random.js';
import { until } from '../../support/until.js';
import {
  judgeCharts,
  judgeDays,
  judgeList,
  judgeRequests,
  judgeSelection,
  judgeSession,
  meaningOf,
  viewOf,
} from './checks.js';
import type { Exchange, RecordingProxy } from './proxy.js';
import { readCharts, readScreen, type Screen } from './screen.js';
import { type Organization, pause, type World } from './world.js';

/** Longer than the console waits for a pause in typing. */
const QUIET_MS = 170;
const SIZE = { width: 1280, height: 900 };
const QUIET_TIMEOUT_MS = 6000;
/** Timeout for a control that is already on the page. */
const CONTROL_TIMEOUT_MS = 1500;
const LOAD_TIMEOUT_MS = 30_000;

export interface Tab {
  page: Page;
  /** The organization that the tab is signed in to. */
  of: Organization | undefined;
}

/** A step that cannot be done now. */
export class NotPossible extends Error {}

export class Driver {
  readonly log: string[] = [];
  readonly random: Random;
  readonly world: World;
  readonly proxy: RecordingProxy;
  tabs: Tab[] = [];
  faults: string[] = [];
  /** Another client has written since, so a list may be older than the store. */
  isChangedElsewhere = false;
  /** Reading the charts takes about a second each time. */
  readsCharts = false;
  #context: BrowserContext;
  #errors: string[] = [];
  #judged = 0;
  #active = 0;

  private constructor(world: World, proxy: RecordingProxy, context: BrowserContext, seed: number) {
    this.world = world;
    this.proxy = proxy;
    this.random = new Random(seed);
    this.#context = context;
    context.on('page', (page) => {
      page.setDefaultTimeout(CONTROL_TIMEOUT_MS);
      page.setDefaultNavigationTimeout(LOAD_TIMEOUT_MS);
      // The dialog warns of lost changes, which this test loses on purpose.
      page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined));
      page.on('pageerror', (error) => this.#errors.push(`the page failed: ${error.message}`));
    });
  }

  static async start(world: World, proxy: RecordingProxy, browser: Browser, seed: number): Promise<Driver> {
    proxy.exchanges.length = 0;
    const context = await browser.newContext({ viewport: SIZE, acceptDownloads: true });
    return new Driver(world, proxy, context, seed);
  }

  async end(): Promise<void> {
    this.proxy.disarm();
    this.proxy.release();
    await this.#context.close();
  }

  get tab(): Tab {
    return this.tabs[this.#active] as Tab;
  }

  get page(): Page {
    return this.tab.page;
  }

  get of(): Organization {
    if (!this.tab.of) throw new NotPossible('nobody is signed in');
    return this.tab.of;
  }

  /** The organization that the active tab is not signed in to. */
  get other(): Organization {
    const [first, second] = this.world.organizations;
    return this.tab.of === first ? second : first;
  }

  note(text: string): void {
    this.log.push(text);
  }

  activate(tab: Tab): void {
    this.#active = this.tabs.indexOf(tab);
  }

  async openTab(path: string, of: Organization | undefined): Promise<Tab> {
    const page = await this.#context.newPage();
    const tab = { page, of };
    this.tabs.push(tab);
    this.#active = this.tabs.length - 1;
    await page.goto(`${this.proxy.url}/console${path}`);
    await this.settle();
    return tab;
  }

  async closeTab(tab: Tab): Promise<void> {
    this.tabs = this.tabs.filter((each) => each !== tab);
    this.#active = 0;
    await tab.page.close();
  }

  /** Opens a first tab and signs it in by its address. */
  async signIn(of: Organization, view = '/contacts'): Promise<void> {
    this.note(`sign in to ${of.id} at ${view}`);
    await this.openTab(`${view}#key=${of.key}`, of);
    await this.page.getByRole('navigation', { name: 'Views' }).waitFor({ timeout: LOAD_TIMEOUT_MS });
    await this.settle();
  }

  /** Waits until the only requests in progress are held ones, and the page has drawn. */
  async settle(): Promise<void> {
    const { proxy } = this;
    const deadline = performance.now() + QUIET_TIMEOUT_MS;
    // A request caused by a click or by typing is sent after this task, or after a pause in typing.
    let from = performance.now();
    while (performance.now() < deadline) {
      if (proxy.running > 0) from = performance.now();
      if (performance.now() - Math.max(from, proxy.changedAt) > QUIET_MS) break;
      await pause(15);
    }
    for (const { page } of this.tabs)
      await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
  }

  screen(tab = this.tab): Promise<Screen> {
    return readScreen(
      tab.page,
      this.world.organizations.map(({ marker }) => marker),
    );
  }

  fault(text: string): void {
    this.faults.push(text);
  }

  /** Does a step, if it is possible, and judges what is shown. */
  async step(name: string, run: () => Promise<unknown>): Promise<boolean> {
    const times = [performance.now()];
    try {
      const said = await run();
      this.note(typeof said === 'string' ? `${name}: ${said}` : name);
    } catch (error) {
      const isMissing = error instanceof NotPossible || (error as Error).name === 'TimeoutError';
      if (!isMissing) throw error;
      if (process.env.REACHLINE_DRIVER_TRACE)
        console.error(`  (${name}: ${(error as Error).message.split('\n')[0]})`);
      return false;
    }
    times.push(performance.now());
    await this.settle();
    times.push(performance.now());
    await this.judge();
    times.push(performance.now());
    if (process.env.REACHLINE_DRIVER_TRACE) {
      const ms = times.slice(1).map((time, at) => Math.round(time - (times[at] as number)));
      console.error(`  ${this.log.at(-1)} (${ms.join(' + ')} ms)`);
    }
    return true;
  }

  async judge(): Promise<void> {
    const { exchanges } = this.proxy;
    for (const tab of this.tabs) {
      const screen = await this.screen(tab);
      this.faults.push(...judgeSession(screen, tab.of, this.world.organizations));
      this.faults.push(...this.#sessionFaults(tab, screen));
      if (!tab.of) continue;
      const list = judgeList(screen, exchanges, tab.of.key);
      this.faults.push(...list.faults);
      this.faults.push(...judgeDays(screen, exchanges, tab.of.key));
      this.faults.push(...judgeSelection(screen));
      // Another tab does not know what this tab wrote.
      if (list.isCurrent && list.shown && this.proxy.held === 0 && this.tabs.length === 1)
        this.faults.push(...(await this.#newest(screen, list.shown)));
      if (this.readsCharts && viewOf(screen) === '/advertising')
        this.faults.push(...(await this.#charts(tab)));
    }
    const asked = exchanges.slice(this.#judged);
    this.#judged = exchanges.length;
    this.faults.push(...judgeRequests(asked, this.world.organizations));
    this.faults.push(...this.#errors.splice(0));
  }

  /** Judges charts by the figures that are shown both before and after the pointer went through all periods. */
  async #charts(tab: Tab): Promise<string[]> {
    const { from = '', to = '' } = await this.screen(tab);
    const isLong = Date.parse(to) - Date.parse(from) > 200 * DAY_MS;
    // With more than a pixel for each period, the pointer can reach every one.
    if (isLong) await tab.page.setViewportSize({ ...SIZE, width: 5600 });
    if (isLong) await this.settle();
    const before = await this.screen(tab);
    const charts = await readCharts(tab.page);
    const after = await this.screen(tab);
    if (isLong) await tab.page.setViewportSize(SIZE);
    const figures = ({ totals, comparisons }: Screen) => JSON.stringify([totals, comparisons]);
    return figures(before) === figures(after) ? judgeCharts(before, charts) : [];
  }

  #sessionFaults(tab: Tab, screen: Screen): string[] {
    if (
      tab.of &&
      screen.organization !== undefined &&
      screen.organization !== '' &&
      screen.organization !== tab.of.id
    )
      return [`a tab of ${tab.of.id} is signed in to ${screen.organization}`];
    if (tab.of && screen.asksForKey) return [`a tab of ${tab.of.id} is signed out`];
    if (!tab.of && !screen.asksForKey) return ['a tab is signed in that nobody signed in'];
    return [];
  }

  /** A list at rest shows the newest response, unless another client has written. */
  async #newest(screen: Screen, shown: Exchange): Promise<string[]> {
    const meaning = meaningOf(screen);
    if (this.isChangedElsewhere || !meaning || !this.tab.of) return [];
    const { limit: _, explain: __, ...body } = shown.body;
    const size = meaning.path.includes('advertising') ? { page_size: 1 } : { limit: 1 };
    const { page: ___, page_size: ____, include_counts: _____, ...request } = body;
    const true_ = await this.world.read<{ total_count: number }>(this.of, meaning.path, {
      ...request,
      ...size,
    });
    const total = shown.answer?.total_count;
    if (true_.total_count === undefined || true_.total_count === total) return [];
    return [`the list says ${total} and there are ${true_.total_count}, though only this console wrote`];
  }

  /** A change that another client makes by the API. */
  async elsewhere(path: string, body: object, of = this.of): Promise<void> {
    this.note(`somebody else: ${path} ${JSON.stringify(body)}`);
    this.isChangedElsewhere = true;
    await this.world.read(of, path, body);
  }

  /** Once responses arrive again, the page matches its labels, and pressing Retry is enough to get there. */
  async comesToRest(): Promise<void> {
    const isAtRest = async () => {
      const screen = await this.screen();
      const { isCurrent } = judgeList(screen, this.proxy.exchanges, this.of.key);
      return (
        isCurrent ||
        !screen.tables.some(({ rows }) => rows.length > 0) ||
        screen.buttons.includes('Reset this view')
      );
    };
    // The console retries some seconds after a temporary failure.
    if (!(await this.comes(isAtRest, 15_000))) this.fault('answers come again, and the list stays old');
  }

  /** Waits for the effect of a step; returns whether it occurred. */
  async comes(condition: () => Promise<boolean>, timeoutMs = 10_000): Promise<boolean> {
    try {
      await until(condition, '', { pollMs: 40, timeoutMs });
      return true;
    } catch {
      return false;
    }
  }

  fails(): string {
    return [...new Set(this.faults)].map((fault) => `  - ${fault}`).join('\n');
  }
}
