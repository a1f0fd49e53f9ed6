/** Steps that only read: views, filters, orders and ranges, with responses that are late, fail or are cut off. */
import { viewOf } from './checks.js';
import { type Driver, NotPossible } from './driver.js';
import type { Fault } from './proxy.js';
import { LONG_RANGE } from './world.js';

const VIEWS = ['Contacts', 'Audiences', 'Visits', 'Advertising'];
const READS = /\/search|\/network_a\/|\/sql/;

type Step = (driver: Driver) => Promise<unknown>;

export async function goTo(driver: Driver, view: string): Promise<void> {
  await driver.page
    .getByRole('navigation', { name: 'Views' })
    .getByRole('link', { name: view, exact: true })
    .click();
}

const inView =
  (view: string, step: Step): Step =>
  async (driver) => {
    if (viewOf(await driver.screen()) !== view) throw new NotPossible(`it is not ${view}`);
    return step(driver);
  };

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

/** Contacts, visits and audiences, and what a user can do there without writing. */
const STEPS: readonly (readonly [name: string, weight: number, step: Step])[] = [
  [
    'go to',
    3,
    async (driver) => {
      const view = driver.random.pick(VIEWS);
      await goTo(driver, view);
      return view;
    },
  ],
  [
    'back',
    2,
    async ({ page, log }) => {
      if (log.length < 4) throw new NotPossible('no history');
      await page.evaluate('history.back()');
    },
  ],
  ['filter contacts', 5, inView('/contacts', filter('Country', ['FR', 'US', 'GB', 'DE', 'IT']))],
  ['filter contacts', 2, inView('/contacts', filter('Company', ['Works 1', 'Works 2']))],
  ['sort contacts', 4, inView('/contacts', choose('Sort', ['newest', 'oldest', 'last name', 'company']))],
  ['search contacts', 2, inView('/contacts', search(['manager', 'buyer', 'Ada', '']))],
  ['remove a filter', 3, removeChip],
  [
    'tick rows',
    4,
    inView('/contacts', async ({ page, random }) => {
      const boxes = page.getByRole('table', { name: 'Contacts' }).locator('tbody').getByRole('checkbox');
      const count = Math.min(8, await boxes.count());
      if (count === 0) throw new NotPossible('no rows');
      const some = [...new Set([random.below(count), random.below(count)])];
      for (const index of some) await boxes.nth(index).click();
      return some.join(', ');
    }),
  ],
  [
    'tick all rows',
    1,
    inView('/contacts', async ({ page }) => {
      await page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).click();
    }),
  ],
  ['filter visits', 4, inView('/visits', filter('Country', ['FR', 'US', 'DE']))],
  ['filter visits', 2, inView('/visits', filter('Browser', ['Chrome', 'Firefox']))],
  ['search visits', 2, inView('/visits', search(['pricing', 'docs', '']))],
  [
    'choose a day',
    3,
    inView('/visits', async ({ page, random }) => {
      await page
        .getByRole('list', { name: 'Visits a day' })
        .getByRole('link')
        .nth(2 + random.below(10))
        .click();
    }),
  ],
  ['search audiences', 2, inView('/audiences', search(['trial', 'news', '']))],
  ['currency', 5, inView('/advertising', choose('Currency', ['EUR', 'GBP', 'USD', 'of each campaign']))],
  [
    'compare',
    5,
    inView(
      '/advertising',
      choose('Compare with', ['nothing', 'the days before', 'the month before', 'the year before']),
    ),
  ],
  ['range', 4, inView('/advertising', choose('Range', ['Last 30 days', 'Last 90 days', 'Last month']))],
  ['granularity', 4, inView('/advertising', segment('Granularity', ['Daily', 'Monthly']))],
  ['list', 2, inView('/advertising', segment('Table', ['Campaigns', 'Creatives']))],
  ['filter campaigns', 2, inView('/advertising', filter('Status', ['Active', 'Paused']))],
  [
    'sort campaigns',
    2,
    inView('/advertising', async ({ page, random }) => {
      const name = random.pick(['Spend', 'Impressions', 'Clicks']);
      await page.getByRole('columnheader', { name }).getByRole('button').click();
      return name;
    }),
  ],
  [
    'three years',
    2,
    inView('/advertising', async ({ page }) => {
      await page.getByLabel('From', { exact: true }).fill(LONG_RANGE.start);
    }),
  ],
  [
    'type a search and leave at once',
    2,
    async (driver) => {
      const { page, random } = driver;
      const here = viewOf(await driver.screen());
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

/** Takes a step that is possible now, drawn by its weight. */
async function anyStep(driver: Driver, steps = STEPS): Promise<string> {
  const { random } = driver;
  const pool = steps.flatMap((step) => Array.from({ length: step[1] }, () => step));
  for (let attempt = 0; attempt < 30; attempt++) {
    const [name, , step] = random.pick(pool);
    try {
      const said = await step(driver);
      return said ? `${name} ${said}` : name;
    } catch (error) {
      if (!(error instanceof NotPossible) && (error as Error).name !== 'TimeoutError') throw error;
    }
  }
  throw new NotPossible('nothing can be done');
}

/** Takes a reading step, sometimes with a response that fails, is cut off, or arrives after the response of the next step. */
export async function browse(driver: Driver): Promise<void> {
  const { random, proxy } = driver;
  const fault = random.pick<Fault | undefined>([
    undefined,
    undefined,
    'fail',
    'cut before',
    'hold after',
    'hold before',
  ]);
  if (fault === undefined) return void (await driver.step('look', () => anyStep(driver)));
  const isOne = random.chance(0.4);
  const only = isOne ? random.pick([/"facets"/, /\/search/, /network_a/]) : READS;
  proxy.arm(only, fault, isOne ? 1 : undefined);
  await driver.step(`look while answers ${fault}`, () => anyStep(driver));
  if (random.chance(0.5)) await driver.step('look again meanwhile', () => anyStep(driver));
  proxy.disarm();
  proxy.release();
  await driver.step('answers come again', async () => undefined);
  const retry = driver.page.locator('main').getByRole('button', { name: 'Retry' });
  if ((await retry.count()) > 0) await driver.step('retry', () => retry.first().click());
  await driver.comesToRest();
}

const FIGURES = STEPS.filter(([name]) =>
  [
    'currency',
    'compare',
    'range',
    'granularity',
    'filter campaigns',
    'three years',
    'remove a filter',
  ].includes(name),
);

/** Figures, their charts and the comparison with the previous period. */
export async function compareFigures(driver: Driver): Promise<void> {
  driver.readsCharts = true;
  if (viewOf(await driver.screen()) !== '/advertising')
    await driver.step('go to Advertising', () => goTo(driver, 'Advertising'));
  const isPartial = driver.random.chance(0.4);
  // The request for the previous period comes second.
  if (isPartial) driver.proxy.arm(/network_a/, 'fail', 1, 1);
  await driver.step(isPartial ? 'look while the second answer fails' : 'look', () =>
    anyStep(driver, FIGURES),
  );
  driver.proxy.disarm();
}
