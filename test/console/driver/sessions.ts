/** Leaves traces of one organization in tabs, and continues in another organization, in each way that the console has. */
import { readFileSync } from 'node:fs';
import { addFilter, goTo } from './browsing.js';
import { Deck } from './deck.js';
import type { Driver } from './driver.js';
import type { Organization } from './world.js';

type Step = (driver: Driver) => Promise<unknown>;

const SQL = 'SELECT contact_id, last_name FROM contacts ORDER BY contact_id LIMIT 5';

const rows = ({ page }: Driver) => page.getByRole('table', { name: 'Contacts' }).locator('tbody');

/** State that stays in a tab unless signing out removes it. */
const TRACES: readonly (readonly [name: string, step: Step])[] = [
  [
    'delete a contact, which can be undone',
    async (driver) => {
      const { page } = driver;
      await goTo(driver, 'Contacts');
      await rows(driver).locator('a').first().click();
      const card = page.getByRole('complementary', { name: 'Contact' });
      await card.getByRole('button', { name: 'Delete', exact: true }).click();
      await card.getByRole('button', { name: 'Delete the contact' }).click();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
    },
  ],
  [
    'select contacts',
    async (driver) => {
      await goTo(driver, 'Contacts');
      for (const index of [0, 1, 2]) await rows(driver).getByRole('checkbox').nth(index).click();
    },
  ],
  [
    'run a statement',
    async (driver) => {
      const { page, of } = driver;
      await goTo(driver, 'SQL');
      await page.getByLabel('Statement').fill(`${SQL} -- ${of.marker}`);
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByRole('table', { name: 'Result' }).waitFor({ timeout: 8000 });
    },
  ],
  [
    'run a statement that names nobody',
    async (driver) => {
      const { page } = driver;
      await goTo(driver, 'SQL');
      await page.getByLabel('Statement').fill(SQL);
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByRole('table', { name: 'Result' }).waitFor({ timeout: 8000 });
    },
  ],
  [
    'save the filters',
    async (driver) => {
      const { page, of } = driver;
      await goTo(driver, 'Contacts');
      await page.locator('main summary', { hasText: 'Saved' }).click();
      await page.getByLabel('Name of the filters').fill(`Filters of ${of.marker}`);
      await page.getByRole('button', { name: 'Save these filters' }).click();
    },
  ],
  [
    'type into a form',
    async (driver) => {
      const { page, of } = driver;
      await goTo(driver, 'Audiences');
      await page.getByRole('link', { name: 'New audience' }).click();
      await page.getByLabel('Name', { exact: true }).fill(`Draft of ${of.marker}`);
    },
  ],
  [
    'open a card',
    async (driver) => {
      await goTo(driver, 'Contacts');
      await rows(driver).locator('a').nth(3).click();
    },
  ],
  [
    'filter and search',
    async (driver) => {
      await goTo(driver, 'Contacts');
      await addFilter(driver, 'Company', `${driver.of.marker} Works 1`);
      await driver.page.getByRole('searchbox').fill(driver.of.marker);
    },
  ],
  [
    'make a key, which is shown once',
    async (driver) => {
      const { page, of } = driver;
      await goTo(driver, 'API keys');
      await page.getByRole('link', { name: 'New key' }).click();
      const form = page.getByRole('complementary', { name: 'New key' });
      await form.getByLabel('What it is for').fill(`Key of ${of.marker}`);
      await form.getByRole('checkbox', { name: 'Read contacts' }).check();
      await form.getByRole('button', { name: 'Create the key' }).click();
    },
  ],
  [
    'change members, which is still on its way',
    async (driver) => {
      const { page, proxy } = driver;
      await goTo(driver, 'Contacts');
      await rows(driver).getByRole('checkbox').first().click();
      proxy.arm(/-many/, 'hold after', 1);
      const bar = page.getByRole('region', { name: 'Selection' });
      await bar.locator('summary', { hasText: 'Add to' }).click();
      await bar.getByRole('button', { name: / blocked$/ }).click();
    },
  ],
  [
    'wait for a slow answer',
    async (driver) => {
      driver.proxy.arm(/\/search/, 'hold after');
      await goTo(driver, driver.random.pick(['Contacts', 'Audiences', 'Visits']));
    },
  ],
  ['go to Advertising', async (driver) => goTo(driver, 'Advertising')],
];

async function typeKey(driver: Driver, of: Organization): Promise<void> {
  const { page } = driver;
  await page.getByLabel('API key').fill(of.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Views' }).waitFor({ timeout: 30_000 });
  // Tabs that ask for a key use the key of a tab that is signed in.
  for (const tab of driver.tabs) tab.of ??= of;
}

/** Signs out; tabs with the same key follow. */
async function signOut(driver: Driver): Promise<void> {
  const { of } = driver;
  await driver.page.getByRole('button', { name: 'Sign out' }).click();
  for (const tab of driver.tabs) if (tab.of === of) tab.of = undefined;
  await Promise.all(
    driver.tabs
      .filter((tab) => !tab.of)
      .map(({ page }) =>
        page
          .getByLabel('API key')
          .waitFor({ timeout: 1000 })
          .catch(() => undefined),
      ),
  );
}

const WAYS: readonly (readonly [name: string, step: Step])[] = [
  [
    'sign out, and sign in to the other organization',
    async (driver) => {
      const { other } = driver;
      await signOut(driver);
      await driver.settle();
      await driver.judge();
      await typeKey(driver, other);
      return other.id;
    },
  ],
  [
    'sign out in a second tab, and sign in to the other organization there',
    async (driver) => {
      const { other, of } = driver;
      await driver.openTab(driver.random.pick(['/contacts', '/visits']), of);
      await driver.page.getByRole('navigation', { name: 'Views' }).waitFor({ timeout: 30_000 });
      await signOut(driver);
      await driver.settle();
      await driver.judge();
      await typeKey(driver, other);
      return other.id;
    },
  ],
  [
    'open a link with the key of the other organization, and use it',
    async (driver) => {
      const { page, other, proxy, tab } = driver;
      // The address differs in its fragment alone, so that the page stays with all that it has. A link that has a statement of the
      // organization in its address gives the statement away by itself.
      const { pathname, search } = new URL(page.url());
      const asked = search.includes(driver.of.marker) ? '' : search;
      await page.goto(`${proxy.url}${pathname}${asked}#key=${other.key}`);
      await driver.settle();
      await driver.judge();
      await page.getByRole('button', { name: 'Use the key of the link' }).click();
      tab.of = other;
      return other.id;
    },
  ],
  [
    'open a link with the key of the other organization, and stay',
    async (driver) => {
      const { page, other, proxy } = driver;
      await page.goto(`${proxy.url}/console/contacts#key=${other.key}`);
      await driver.settle();
      await page.getByRole('button', { name: 'Stay signed in' }).click();
    },
  ],
  [
    'sign out where the server cannot confirm the key',
    async (driver) => {
      const { proxy, page, of, other } = driver;
      await driver.openTab('/visits', of);
      driver.activate(driver.tabs.find((tab) => tab.page === page) as (typeof driver.tabs)[number]);
      proxy.arm(/^\/api\/key$/, driver.random.pick(['cut before', 'fail', 'hold before']));
      await page.reload();
      await driver.settle();
      await signOut(driver);
      proxy.disarm();
      proxy.release();
      await driver.settle();
      await driver.judge();
      await page.reload();
      await driver.settle();
      await driver.judge();
      await typeKey(driver, other);
      return other.id;
    },
  ],
];

/** Reads, undoes and saves whatever the console offers in the session that is open now. */
async function use(driver: Driver): Promise<void> {
  const { page, random } = driver;
  const views = random
    .shuffled(['Contacts', 'Audiences', 'Visits', 'SQL', 'API keys', 'Advertising'])
    .slice(0, 3);
  const press = async (name: string) => {
    const button = page.getByRole('button', { name, exact: true });
    if ((await button.count()) === 0 || !(await button.first().isEnabled())) return;
    await driver.step(`press ${name}`, async () => {
      const download = name === 'Undo' ? undefined : page.waitForEvent('download', { timeout: 1500 });
      await button.first().click();
      const path = await (await download)?.path();
      const text = path === undefined ? '' : readFileSync(path, 'utf8');
      for (const { marker } of driver.world.organizations)
        if (marker !== driver.of.marker && new RegExp(marker, 'i').test(text))
          driver.fault(`a file saved in the session of ${driver.of.id} has ${marker}: ${text.slice(0, 120)}`);
    });
  };
  await press('Undo');
  await press('Save as CSV');
  await press('Export CSV');
  for (const view of views) {
    await driver.step('go to', async () => {
      await goTo(driver, view);
      return view;
    });
    if (view === 'SQL') await press('Save as CSV');
    if (view === 'Contacts') {
      const saved = page.locator('main summary', { hasText: 'Saved' });
      if ((await saved.count()) > 0) await driver.step('look at the saved filters', () => saved.click());
    }
  }
}

/** Every trace, combined with every way to switch the session; an earlier step may leave another trace before it. */
const SWITCHES = new Deck(TRACES.flatMap((trace) => WAYS.map((way) => [trace, way] as const)));

export async function switchSession(driver: Driver): Promise<void> {
  const { random, proxy } = driver;
  const [trace, [name, step]] = driver.deal(SWITCHES);
  const traces = random.chance(0.5) ? [random.pick(TRACES), trace] : [trace];
  for (const [left, leave] of traces)
    if (driver.faults.length === 0) await driver.step(left, () => leave(driver));
  if (driver.faults.length > 0) return;
  await driver.step(name, () => step(driver));
  proxy.disarm();
  proxy.release();
  await driver.step('what was on its way comes', async () => undefined);
  if (driver.faults.length === 0 && driver.tab.of) await use(driver);
  while (driver.tabs.length > 2) await driver.closeTab(driver.tabs[1] as (typeof driver.tabs)[number]);
}
