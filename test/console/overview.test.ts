import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { until } from '../support/until.js';
import { daysAgo, useConsole } from './browser.js';

const BLOCKS = [
  /^Spend from/,
  'Visits a day',
  'Newly engaged companies',
  'Audiences',
  'Last imports',
  'How fresh the data is',
] as const;

describe('The overview of the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  const block = (name: string | RegExp) => c.page.getByRole('region', { name });
  const figure = (name: string | RegExp, value: number) =>
    block(name).locator('dd', { hasText: new RegExp(`^${value.toLocaleString('en')}\\D`) });

  it('is the first page, and its figures are those of the API', async () => {
    await c.open('');
    await c.page.waitForURL('**/console/overview');
    const yesterday = daysAgo(1);
    const range = { start_date: `${yesterday.slice(0, 7)}-01`, end_date: yesterday };
    const { totals } = await c.read<{ totals: { ad_spend: string; leads: number }[] }>(
      '/api/advertising/network_a/campaigns',
      { ...range, currency: 'USD', metrics: ['ad_spend', 'leads'] },
    );
    const [total] = totals;
    const spend = Number(total?.ad_spend).toLocaleString('en', { style: 'currency', currency: 'USD' });
    await block(/^Spend from/)
      .getByText(spend)
      .waitFor();
    await figure(/^Spend from/, Number(total?.leads)).waitFor();
    await block(/^Spend from/)
      .getByText('The network may still restate days after')
      .waitFor();

    const { total_count: visits } = await c.read<{ total_count: number }>('/api/website-visits/search', {
      created_after: `${daysAgo(7)}T00:00:00Z`,
      created_before: `${daysAgo(0)}T00:00:00Z`,
      limit: 1,
    });
    await figure('Visits a day', visits).waitFor();

    const { audiences } = await c.read<{ audiences: { name: string; member_count: number }[] }>(
      '/api/audiences/search',
      { include_counts: true, limit: 1 },
    );
    const [audience] = audiences;
    await block('Audiences')
      .getByRole('listitem')
      .filter({ hasText: audience?.name ?? '' })
      .getByText(`${audience?.member_count} members`)
      .waitFor();
    await c.expectAccessible();
  });

  it('names companies that engaged in the last week and not in the week before, and who is known there', async () => {
    await c.open('/overview');
    const row = block('Newly engaged companies').getByRole('listitem').first();
    await row.waitFor();
    const [name = '', known = ''] = await row.locator('> *').allTextContents();
    const engaged = async (from: number, to: number) => {
      const { items } = await c.read<{ items: { name: string; network_a: { engagements: number } }[] }>(
        '/api/companies/search',
        { start_date: daysAgo(from), end_date: daysAgo(to), search: name },
      );
      return items.find((item) => item.name === name)?.network_a.engagements ?? 0;
    };
    expect(await engaged(7, 1)).to.be.above(0);
    expect(await engaged(14, 8)).to.equal(0);
    await row.getByRole('link').click();
    const people = c.page.locator('.totals div', { hasText: 'People known' }).locator('dd');
    expect(`${await people.textContent()} known`).to.equal(known);
  });

  it('leads from each block to the view that it comes from', async () => {
    for (const [name, view] of [
      [/^Spend from/, /\/advertising\?start=.*&compare=previous_month&currency=USD/],
      ['Visits a day', /\/visits$/],
      ['Newly engaged companies', /\/companies\?start=/],
      ['Audiences', /\/audiences$/],
      ['Last imports', /\/imports$/],
      ['How fresh the data is', /\/status$/],
    ] as const) {
      await c.open('/overview');
      await block(name).locator('.skeleton').first().waitFor({ state: 'detached' });
      await block(name).getByRole('heading').getByRole('link').click();
      await c.page.waitForURL(view);
    }
  });

  it('keeps every block in its place while responses come one after another', async () => {
    const places = () =>
      c.page.evaluate<string>(
        "JSON.stringify([...document.querySelectorAll('.block')].map((block) => Object.values(block.getBoundingClientRect().toJSON())))",
      );
    const held: (() => void)[] = [];
    await c.page.route('**/api/**', async (route) => {
      if (!route.request().url().endsWith('/api/key')) await new Promise<void>((free) => held.push(free));
      await route.continue();
    });
    await c.open('/overview');
    await until(() => held.length >= BLOCKS.length, 'each block has asked');
    const before = await places();
    expect(JSON.parse(before)).to.have.length(BLOCKS.length);
    while ((await c.page.locator('.skeleton').count()) > 0) {
      held.shift()?.();
      await c.page.waitForLoadState();
      expect(await places()).to.equal(before);
      await until(async () => held.length > 0 || (await c.page.locator('.skeleton').count()) === 0, 'more');
    }
    await c.page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const free of held) free();
    expect(await places()).to.equal(before);
  });

  it('shows each block by itself: one fails, one may not be read, and the others are there', async () => {
    const key = await c.gateway.keyFor(DEMO_ORGANIZATION, ['audiences:read', 'advertising:read']);
    await c.page.route('**/api/audiences/search', (route) =>
      route.fulfill({
        status: 503,
        body: JSON.stringify({ code: 'overloaded', title: 'Service overloaded' }),
      }),
    );
    await c.open('/overview', key);
    await block('Audiences').getByText('Service overloaded').waitFor();
    await block(/^Spend from/)
      .getByText('Cost per lead')
      .waitFor();
    for (const [name, scope] of [
      ['Visits a day', 'visits:read'],
      ['Newly engaged companies', 'visits:read'],
      ['Last imports', 'contacts:read'],
    ] as const)
      await block(name).getByText(scope).waitFor();
    await c.page.unroute('**/api/audiences/search');
    await block('Audiences').getByRole('button', { name: 'Retry' }).click();
    await block('Audiences').getByText('12 audiences').waitFor();
    c.forgetFailedRequests();
  });

  it('shows three steps to an empty organization, and which of them are done', async () => {
    const key = await c.gateway.keyFor('org_new');
    await c.open('/overview', key);
    const steps = c.page.getByRole('list', { name: 'First steps' }).getByRole('listitem');
    await steps.getByText('○ Not yet').nth(2).waitFor();
    await c.expectAccessible();
    expect(await c.page.getByRole('region', { name: 'Audiences' }).count()).to.equal(0);
    await c.gateway.ingest('contacts', [{ contact_id: 'first' }], { key });
    await until(async () => {
      await c.page.reload();
      await steps.first().waitFor();
      return ((await steps.first().textContent()) ?? '').includes('Import contacts: done');
    }, 'the first step is done');
    expect(await steps.nth(1).textContent()).to.contain('Load ad reports: not yet');
    await block('Audiences').waitFor();
    await steps.nth(1).getByRole('link').click();
    await c.page.waitForURL('**/import?stream=network-a-deliveries');
  });

  it('opens what only operators need by a menu, with the keyboard alone', async () => {
    await c.open('/overview');
    const menu = c.page.getByRole('navigation', { name: 'Views' }).locator('summary');
    const focused = () => c.page.evaluate<string>('document.activeElement.textContent');
    await menu.focus();
    await c.page.keyboard.press('Enter');
    await c.page.getByRole('link', { name: 'SQL', exact: true }).waitFor();
    await c.expectAccessible();
    await menu.focus();
    await c.page.keyboard.press('ArrowDown');
    expect(await focused()).to.equal('SQL');
    await c.page.keyboard.press('Tab');
    expect(await focused()).to.equal('API keys');
    await c.page.keyboard.press('Escape');
    expect(await focused()).to.equal('Operate');
    await c.page.getByRole('link', { name: 'SQL', exact: true }).waitFor({ state: 'hidden' });
    await c.page.keyboard.press('ArrowUp');
    expect(await focused()).to.equal('Documentation and API');
    await c.page.keyboard.press('ArrowUp');
    expect(await focused()).to.equal('Status');
    await c.page.keyboard.press('Enter');
    await c.page.waitForURL('**/console/status');
    await c.page.getByRole('link', { name: 'SQL', exact: true }).waitFor({ state: 'hidden' });
    await c.page.getByRole('heading', { name: 'Status' }).waitFor();
  });
});
