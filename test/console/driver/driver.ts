/** Acts in tabs of a browser as chance says, and judges after each step what every tab shows. */
import type { Page } from 'playwright-core';
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
  periodsOf,
  viewOf,
} from './checks.js';
import type { Deck } from './deck.js';
import type { Exchange, RecordingProxy } from './proxy.js';
import { drawn, type Progress, readCharts, readProgress, readScreen, type Screen } from './screen.js';
import { SIZE, type Stage } from './stage.js';
import { type Organization, pause, type World } from './world.js';

/** Time without a request, after something was drawn. */
const QUIET_MS = 40;
/** A wait that is longer than the console waits for the end of typing. */
const TYPING_MS = 150;
const QUIET_TIMEOUT_MS = 6000;
/** Charts of a long range are drawn so wide that each of its days can be pointed at. */
const WIDE = { ...SIZE, width: 4200 };
/** Timeout for an action on a control that is there already. */
const CONTROL_TIMEOUT_MS = 3000;
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
  readonly #stage: Stage;
  tabs: Tab[] = [];
  faults: string[] = [];
  /** Another client has written since, so a list may be older than the store. */
  isChangedElsewhere = false;
  /** Reading the charts takes about a second each time. */
  readsCharts = false;
  #suite: number;
  #firstCard: number;
  #dealt = new Map<unknown, number>();
  #errors: string[] = [];
  #judged = 0;
  #active = 0;

  /** Begins in a browser that knows nothing. Decks are shuffled by `suite`; cards that earlier episodes were dealt are left out. */
  constructor(stage: Stage, seed: number, suite: number, firstCard: number) {
    this.#suite = suite;
    this.#firstCard = firstCard;
    this.world = stage.world;
    this.proxy = stage.proxy;
    this.random = new Random(seed);
    this.#stage = stage;
    stage.proxy.exchanges.length = 0;
    stage.context.on('page', this.#watch);
  }

  #watch = (page: Page) => {
    page.setDefaultTimeout(CONTROL_TIMEOUT_MS);
    page.setDefaultNavigationTimeout(LOAD_TIMEOUT_MS);
    // The driver loses unsaved input on purpose.
    page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined));
    page.on('pageerror', (error) => this.#errors.push(`the page failed: ${error.message}`));
  };

  async end(): Promise<void> {
    this.proxy.disarm();
    this.proxy.release();
    this.#stage.context.off('page', this.#watch);
    await this.#stage.clear();
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

  /** Returns the next card of a deck. */
  deal<Card>(deck: Deck<Card>): Card {
    const index = this.#dealt.get(deck) ?? this.#firstCard;
    this.#dealt.set(deck, index + 1);
    return deck.at(index, this.#suite);
  }

  note(text: string): void {
    this.log.push(text);
  }

  activate(tab: Tab): void {
    this.#active = this.tabs.indexOf(tab);
  }

  async openTab(path: string, of: Organization | undefined): Promise<Tab> {
    const page = await this.#stage.context.newPage();
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

  /** Waits until no request except held requests is in progress, nothing waits for the end of typing, and the page has drawn. */
  async settle(): Promise<void> {
    const { proxy } = this;
    const deadline = performance.now() + QUIET_TIMEOUT_MS;
    while (performance.now() < deadline) {
      // What was clicked is sent at the latest after it was drawn.
      const typed = await Promise.all(this.tabs.map(({ page }) => drawn(page)));
      const isQuiet = proxy.running === 0 && performance.now() - proxy.changedAt > QUIET_MS;
      if (isQuiet && typed.every((ms) => ms > TYPING_MS)) break;
      await pause(10);
    }
    await Promise.all(this.tabs.map(({ page }) => drawn(page)));
  }

  screen(tab = this.tab): Promise<Screen> {
    return readScreen(
      tab.page,
      this.world.organizations.map(({ marker }) => marker),
    );
  }

  progress(): Promise<Progress> {
    return readProgress(this.page);
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
      // Other tabs do not know what this tab wrote.
      if (list.isCurrent && list.shown && this.proxy.held === 0 && this.tabs.length === 1)
        this.faults.push(...(await this.#newest(screen, list.shown)));
      if (this.readsCharts && viewOf(screen) === '/advertising' && list.shown)
        this.faults.push(...(await this.#charts(tab, list.shown)));
    }
    const asked = exchanges.slice(this.#judged);
    this.#judged = exchanges.length;
    this.faults.push(...judgeRequests(asked, this.world.organizations));
    this.faults.push(...this.#errors.splice(0));
  }

  /**
   * Judges charts by the figures that are shown both before and after the pointer went through all periods. The periods are those of the
   * response that is shown, which may be older than the range in the address.
   */
  async #charts(tab: Tab, { body }: Exchange): Promise<string[]> {
    const periods = periodsOf(
      String(body.start_date),
      String(body.end_date),
      body.granularity === 'monthly' ? 'monthly' : 'daily',
    );
    const isLong = periods.length > 200;
    if (isLong) await tab.page.setViewportSize(WIDE);
    if (isLong) await this.settle();
    const before = await this.screen(tab);
    const charts = await readCharts(tab.page, periods.length);
    const after = await this.screen(tab);
    if (isLong) await tab.page.setViewportSize(SIZE);
    const figures = ({ totals, comparisons }: Screen) => JSON.stringify([totals, comparisons]);
    return figures(before) === figures(after) ? judgeCharts(before, charts, periods) : [];
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
    // While a tab asks the others for their key, it shows nothing.
    if (!tab.of && screen.organization !== undefined) return ['a tab is signed in that nobody signed in'];
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
