import { expect } from 'chai';
import type { Request, Route } from 'playwright-core';
import { daysAgo, useConsole } from './browser.js';

const RANGE = `start=${daysAgo(25)}&end=${daysAgo(6)}`;
const FAILURE = { status: 500, body: JSON.stringify({ code: 'internal', title: 'The server failed' }) };

describe('What the console shows while an answer is late or fails', function () {
  this.timeout(60_000);
  const c = useConsole();
  const alert = () => c.page.getByRole('alert');
  const main = () => c.page.locator('main').textContent();

  type Body = Record<string, unknown> & { facets?: string[]; start_date?: string };
  const bodyOf = (request: Request) => JSON.parse(request.postData() ?? '{}') as Body;

  /** Requests of a path fail if their body matches; the others reach the server. */
  const fail = (path: string, isSuch: (body: Body) => boolean = () => true) =>
    c.page.route(`**/api/${path}`, (route) =>
      isSuch(bodyOf(route.request())) ? route.fulfill(FAILURE) : route.continue(),
    );

  /** Blocks matching requests until the returned function is called. */
  async function hold(path: string, isSuch: (body: Body) => boolean): Promise<() => Promise<void>> {
    const held: Route[] = [];
    await c.page.route(`**/api/${path}`, (route) => {
      if (isSuch(bodyOf(route.request()))) held.push(route);
      else void route.continue();
    });
    return async () => {
      await c.page.unroute(`**/api/${path}`);
      // `continue` fails for requests that the page has cancelled meanwhile.
      for (const route of held.splice(0)) await route.continue().catch(() => undefined);
    };
  }

  it('leaves amounts in the currency that they are in when the one that is chosen has no rates', async () => {
    await c.open(`/advertising?${RANGE}`);
    await c.page.locator('tbody td.figure').first().waitFor();
    await c.page.getByLabel('Currency').selectOption('GBP');
    await alert().getByText('cannot be converted').waitFor();
    await c.page.getByText('These figures are for').waitFor();
    expect(await main()).not.to.contain('£');
    c.forgetFailedRequests();
  });

  it('takes currency, granularity and order of a table from its answer while the next one is on its way', async () => {
    await c.open(`/advertising?${RANGE}`);
    await c.page.locator('tbody td.figure').first().waitFor();
    const drawn = async () => [
      await c.page.getByRole('table', { name: 'Campaigns' }).textContent(),
      await c.page.locator('.totals').allTextContents(),
      await c.page.locator('.charts figcaption').textContent(),
    ];
    await c.page.waitForLoadState('networkidle');
    const before = await drawn();
    const release = await hold('advertising/**', () => true);
    await c.page.getByLabel('Currency').selectOption('EUR');
    await c.page.getByRole('link', { name: 'Monthly' }).click();
    await c.page.getByRole('button', { name: 'Campaign', exact: true }).click();
    await c.page.getByText('These figures are for').waitFor();
    expect(await drawn()).to.deep.equal(before);
    await release();
    await c.page.locator('tbody td.figure:has-text("€")').first().waitFor();
    await c.page.getByText('by month').waitFor();
  });

  it('draws no figures of before when those of another range fail', async () => {
    await c.open(`/advertising?${RANGE}&compare=previous_month`);
    await c.page.locator('.previous-key').waitFor();
    await fail('advertising/**', ({ start_date }) => String(start_date) < daysAgo(300));
    await c.page.getByLabel('Compare with').selectOption('previous_year');
    await c.page.locator('.totals').getByText('none before').first().waitFor();
    await alert().getByText('The server failed').waitFor();
    await c.page.locator('.previous-key').waitFor({ state: 'detached' });
    await c.page.unroute('**/api/advertising/**');
    await alert().getByRole('button', { name: 'Retry' }).click();
    await alert().waitFor({ state: 'detached' });
    c.forgetFailedRequests();
  });

  it('draws no bars of days when they cannot be counted under the filter', async () => {
    await c.open('/visits');
    const bars = c.page.getByRole('list', { name: 'Visits a day' });
    await bars.getByText(/^\d+$/).first().waitFor();
    await fail('website-visits/search', ({ facets, country }) => Boolean(facets && country));
    await c.page.goto(`${c.page.url()}?country=Germany`);
    await alert().getByText('The server failed').waitFor();
    await bars.waitFor({ state: 'detached' });
    c.forgetFailedRequests();
  });

  it('counts no bars of other filters as those of the chips', async () => {
    await c.open('/visits');
    const bars = c.page.getByRole('list', { name: 'Visits a day' });
    await bars.getByText(/^\d+$/).first().waitFor();
    await fail('website-visits/search', ({ facets, browser }) => Boolean(facets && browser));
    await c.page.locator('summary', { hasText: '+ Filter' }).click();
    await c.page.getByLabel('Field').selectOption('Browser');
    await c.page.getByRole('textbox', { name: 'Browser' }).fill('Firefox');
    await c.page.getByRole('button', { name: 'Apply' }).click();
    await c.page.getByText('Browser: Firefox').waitFor();
    await alert().getByText('The server failed').waitFor();
    await bars.waitFor({ state: 'detached' });
    c.forgetFailedRequests();
  });

  it('says that rows are old when those of a filter fail, and offers none of them as what matches it', async () => {
    await c.open('/contacts');
    const total = c.page.locator('output.total');
    await total.getByText(/\d contacts$/).waitFor();
    const before = await total.textContent();
    await fail('contacts/search', ({ country, facets }) => country !== undefined && !facets);
    await c.page.locator('summary', { hasText: '+ Filter' }).click();
    await c.page.getByRole('list', { name: 'Values of Country' }).getByRole('button').first().click();
    await alert().getByText('The server failed').waitFor();
    await c.page.getByText('These are the earlier rows.').waitFor();
    expect(await total.textContent()).to.equal(before);
    const chip = c.page.getByRole('list', { name: 'Filters in force' }).getByRole('listitem');
    expect(await chip.getAttribute('aria-busy')).to.equal('true');
    await c.page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).check();
    const bar = c.page.getByRole('region', { name: 'Selection' });
    await bar.getByText('selected').waitFor();
    expect(await bar.getByRole('button', { name: 'Select all' }).count()).to.equal(0);
    c.forgetFailedRequests();
  });

  for (const [what, view, path, open] of [
    ['values of a filter', '/contacts', 'contacts/search', '+ Filter'],
    ['audiences of a new contact', '/contacts?new=true', 'audiences/search', null],
    ['credits', '/operate', 'credits/get', null],
  ] as const) {
    it(`says that the ${what} cannot be read`, async () => {
      await fail(path, ({ limit }) => path !== 'contacts/search' || limit === 1);
      await c.open(view);
      if (open) await c.page.locator('summary', { hasText: open }).click();
      await alert().getByText('The server failed').waitFor();
      await c.page.unroute(`**/api/${path}`);
      await alert().getByRole('button', { name: 'Retry' }).click();
      await alert().waitFor({ state: 'detached' });
      c.forgetFailedRequests();
    });
  }
});
