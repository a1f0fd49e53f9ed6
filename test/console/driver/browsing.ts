/** Steps that only read: views, filters, orders and ranges, with responses that are late, fail or are cut off. */
import { viewOf } from './checks.js';
import { Deck } from './deck.js';
import { type Driver, NotPossible } from './driver.js';
import type { Fault } from './proxy.js';
import { LONG_RANGE } from './world.js';

const VIEWS = ['Contacts', 'Audiences', 'Visits', 'Advertising'];
const READS = /\/search|\/network_a\/|\/sql/;

type Step = (driver: Driver) => Promise<unknown>;

/** Views in the menu of those who operate. */
const IN_MENU = ['SQL', 'API keys'];

export async function goTo(driver: Driver, view: string): Promise<void> {
  const links = driver.page.getByRole('navigation', { name: 'Views' });
  if (IN_MENU.includes(view)) await links.locator('summary').click();
  await links.getByRole('link', { name: view, exact: true }).click();
}

export async function addFilter({ page }: Driver, label: string, value: string): Promise<void> {
  const open = page.locator('main summary', { hasText: '+ Filter' });
  await open.click();
  try {
    await page.getByLabel('Field', { exact: true }).selectOption({ label });
    const box = page.getByRole('textbox', { name: label, exact: true });
    if ((await box.count()) > 0) {
      await box.fill(value);
      await box.press('Enter');
    } else
      await page
        .getByRole('list', { name: `Values of ${label}` })
        .getByRole('button', { name: value })
        .click();
  } catch (error) {
    await page.keyboard.press('Escape');
    throw error;
  }
}

const choose =
  (label: string, options: readonly string[]): Step =>
  async ({ page, random }) => {
    const option = random.pick(options);
    // The accessible name of a select contains the texts of its options too.
    const select = page.locator('main').getByLabel(label).and(page.locator('select:enabled'));
    if ((await select.count()) === 0) throw new NotPossible(`no ${label}`);
    await select.first().selectOption({ label: option });
    return `${label}: ${option}`;
  };

const filter =
  (label: string, values: readonly string[]): Step =>
  async (driver) => {
    const value = driver.random.pick(values);
    await addFilter(driver, label, value);
    return `${label}: ${value}`;
  };

const search =
  (words: readonly string[]): Step =>
  async ({ page, random }) => {
    const word = random.pick(words);
    await page.getByRole('searchbox').fill(word);
    return JSON.stringify(word);
  };

const removeChip: Step = async ({ page, random }) => {
  const remove = page.locator('main').getByRole('button', { name: /^Remove (?!from)/ });
  const count = await remove.count();
  if (count === 0) throw new NotPossible('no chip');
  await remove.nth(random.below(count)).click();
};

const segment =
  (list: string, names: readonly string[]): Step =>
  async ({ page, random }) => {
    const name = random.pick(names);
    await page.getByRole('navigation', { name: list }).getByRole('link', { name, exact: true }).click();
    return name;
  };

type NamedStep = readonly [name: string, step: Step];

/** What one can do in each view without writing. */
const STEPS: Record<string, readonly NamedStep[]> = {
  '/contacts': [
    ['filter contacts', filter('Country', ['FR', 'US', 'GB', 'DE', 'IT'])],
    ['filter contacts', filter('Company', ['Works 1', 'Works 2'])],
    ['sort contacts', choose('Sort', ['newest', 'oldest', 'last name', 'company'])],
    ['search contacts', search(['manager', 'buyer', 'Ada', ''])],
    [
      'tick rows',
      async ({ page, random }) => {
        const boxes = page.getByRole('table', { name: 'Contacts' }).locator('tbody').getByRole('checkbox');
        const count = Math.min(8, await boxes.count());
        if (count === 0) throw new NotPossible('no rows');
        const some = [...new Set([random.below(count), random.below(count)])];
        for (const index of some) await boxes.nth(index).click();
        return some.join(', ');
      },
    ],
    [
      'tick all rows',
      async ({ page }) => {
        await page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).click();
      },
    ],
  ],
  '/visits': [
    ['filter visits', filter('Country', ['FR', 'US', 'DE'])],
    ['filter visits', filter('Browser', ['Chrome', 'Firefox'])],
    ['search visits', search(['pricing', 'docs', ''])],
    [
      'choose a day',
      async ({ page, random }) => {
        const days = page.getByRole('list', { name: 'Visits a day' }).getByRole('link');
        await days.nth(2 + random.below(10)).click();
      },
    ],
  ],
  '/audiences': [['search audiences', search(['trial', 'news', ''])]],
  '/advertising': [
    ['currency', choose('Currency', ['EUR', 'GBP', 'USD', 'of each campaign'])],
    [
      'compare',
      choose('Compare with', ['nothing', 'the days before', 'the month before', 'the year before']),
    ],
    ['range', choose('Range', ['Last 30 days', 'Last 90 days', 'Last month'])],
    ['granularity', segment('Granularity', ['Daily', 'Monthly'])],
    ['list', segment('Table', ['Campaigns', 'Creatives'])],
    ['filter campaigns', filter('Status', ['Active', 'Paused'])],
    [
      'sort campaigns',
      async ({ page, random }) => {
        const name = random.pick(['Spend', 'Impressions', 'Clicks']);
        await page.getByRole('columnheader', { name }).getByRole('button').click();
        return name;
      },
    ],
    [
      'three years',
      async ({ page }) => {
        await page.getByLabel('From', { exact: true }).fill(LONG_RANGE.start);
      },
    ],
  ],
};

/** What one can do in every view. */
const EVERYWHERE: readonly NamedStep[] = [
  ['remove a filter', removeChip],
  [
    'go to',
    async (driver) => {
      const view = driver.random.pick(VIEWS);
      await goTo(driver, view);
      return view;
    },
  ],
  [
    'back',
    async ({ page, log }) => {
      if (log.length < 4) throw new NotPossible('no history');
      await page.evaluate('history.back()');
    },
  ],
  [
    'type a search and leave at once',
    async (driver) => {
      const { page, random } = driver;
      const here = viewOf(await driver.progress());
      const view = random.pick(VIEWS.filter((each) => here !== `/${each.toLowerCase()}`));
      if ((await page.getByRole('searchbox').count()) === 0) throw new NotPossible('no search');
      // In one task, like a user who types faster than the pause that the console waits for.
      await page.evaluate(`(() => {
        const box = document.querySelector('main input[type=search]');
        box.value = 'trial';
        box.dispatchEvent(new InputEvent('input', { bubbles: true }));
        [...document.querySelectorAll('nav[aria-label=Views] a')].find((link) => link.textContent === '${view}').click();
      })()`);
      await pause(200);
      const screen = await driver.screen();
      if (screen.query)
        driver.fault(`what was typed in the view before is searched in ${view}: ${screen.query}`);
      return view;
    },
  ],
];

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What happens to responses: to all responses, or to the first response whose request matches a pattern. */
type Trouble = readonly [fault: Fault, only?: RegExp];
const TROUBLES: readonly (Trouble | undefined)[] = [
  undefined,
  undefined,
  ['fail'],
  ['cut before'],
  ['hold after'],
  ['hold before'],
  ['fail', /"facets"/],
  ['hold after', /"facets"/],
  ['hold after', /\/search|network_a/],
];

/** Every step of a view, combined with every fault that may happen to its responses. */
const DECKS = Object.fromEntries(
  Object.entries(STEPS).map(([view, steps]) => [
    view,
    new Deck(steps.flatMap((step) => TROUBLES.map((trouble) => [step, trouble] as const))),
  ]),
);

const run = (driver: Driver, name: string, [step, act]: NamedStep) =>
  driver.step(name, async () => `${step} ${(await act(driver)) ?? ''}`);

/** Returns mostly a step that the view offers, because such a step keeps what was chosen in the view. */
async function nextStep(driver: Driver): Promise<readonly [NamedStep, Trouble | undefined]> {
  const deck = DECKS[viewOf(await driver.progress())];
  if (deck && driver.random.chance(0.8)) return driver.deal(deck);
  return [driver.random.pick(EVERYWHERE), driver.random.pick(TROUBLES)];
}

/** Takes a reading step, sometimes with a response that fails, is cut off, or arrives after the response of the next step. */
export async function browse(driver: Driver): Promise<void> {
  const { random, proxy } = driver;
  const [step, trouble] = await nextStep(driver);
  if (trouble === undefined) return void (await run(driver, 'look', step));
  const [fault, only] = trouble;
  proxy.arm(only ?? READS, fault, only && 1);
  await run(driver, `look while ${only ? 'one answer' : 'answers'} ${fault}`, step);
  if (random.chance(0.5)) await run(driver, 'look again meanwhile', (await nextStep(driver))[0]);
  proxy.disarm();
  proxy.release();
  await driver.step('answers come again', async () => undefined);
  const retry = driver.page.locator('main').getByRole('button', { name: 'Retry' });
  if ((await retry.count()) > 0) await driver.step('retry', () => retry.first().click());
  await driver.comesToRest();
}

/** The view in which an episode begins. */
export const FIRST_VIEWS = new Deck([
  '/contacts',
  '/contacts?country=DE',
  '/visits',
  '/audiences',
  '/advertising',
  '/advertising?compare=previous_period',
  '/advertising?currency=EUR&compare=previous_year',
]);

const FIGURES = new Deck([
  ...['currency', 'compare', 'range', 'granularity', 'filter campaigns', 'three years'].flatMap((name) => {
    const step = STEPS['/advertising']?.find(([each]) => each === name) as NamedStep;
    return [true, false, false].map((isPartial) => [step, isPartial] as const);
  }),
  [['remove a filter', removeChip] as NamedStep, false] as const,
]);

/** Shows figures, their charts and the comparison with the previous period. */
export async function compareFigures(driver: Driver): Promise<void> {
  driver.readsCharts = true;
  if (viewOf(await driver.progress()) !== '/advertising')
    await driver.step('go to Advertising', () => goTo(driver, 'Advertising'));
  const [step, isPartial] = driver.deal(FIGURES);
  // The response about the earlier range comes second.
  if (isPartial) driver.proxy.arm(/network_a/, 'fail', 1, 1);
  await run(driver, isPartial ? 'look while the second answer fails' : 'look', step);
  driver.proxy.disarm();
}
