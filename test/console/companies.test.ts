import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { byKeyboard, expectAccessible, useConsole } from './browser.js';

const PAGE = 25;
type Companies = { items: { domain: string; name: string }[]; total_count: number };

describe('Companies that engaged, and the people known there, by keyboard alone', function () {
  this.timeout(120_000);
  const c = useConsole();

  const { press, type, reach, enter, button, sees } = byKeyboard(c);
  const adding = () => c.page.locator('summary', { hasText: 'Add the people known there to an audience' });
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const WEEK = { start_date: daysAgo(7), end_date: daysAgo(1) };

  for (const [width, scheme] of [
    [390, 'dark'],
    [1440, 'light'],
  ] as const) {
    it(`“Companies engaged this week; you know people there; make them an audience” at ${width} pixels`, async () => {
      const looksRight = () => expectAccessible(c.page, [[width, scheme, '']]);
      const { items } = await c.read<Companies>('/api/companies/search', { ...WEEK, page_size: PAGE });
      const filter = { company_domains: items.map(({ domain }) => domain) };
      const { total_count: people } = await c.read<Companies>('/api/contacts/search', filter);
      const name = `Engaged ${width}`;
      await c.page.setViewportSize({ width, height: 800 });
      await c.open('/visits');
      await enter(c.page.getByRole('link', { name: 'Companies', exact: true }));
      await c.page.locator('main:focus').waitFor();
      await reach(c.page.getByRole('combobox', { name: 'Range' }));
      await type('Last 7');
      await c.page.getByRole('link', { name: items[0]?.name ?? '', exact: true }).waitFor();
      await looksRight();
      await reach(c.page.getByRole('checkbox', { name: 'Select the rows of this page' }));
      await press('Space');
      await sees(`${PAGE} companies selected`);
      await press('a');
      await enter(adding());
      await sees(`You know ${people} people at ${PAGE} companies.`);
      await reach(c.page.getByLabel('Add to an audience, or name a new one'));
      await type(name);
      await button(`New audience “${name}”`).waitFor();
      await looksRight();
      await enter(button(`New audience “${name}”`));
      await sees(`Audience created: ${people} contacts added to ${name}.`);
      await press('ControlOrMeta+z');
      await sees(`The audience ${name} was deleted.`);
    });

    it(`a company has its ads, visits and people on one page at ${width} pixels`, async () => {
      const [company] = (await c.read<Companies>('/api/companies/search', { ...WEEK, sort_by: 'visits' }))
        .items;
      await c.page.setViewportSize({ width, height: 800 });
      await c.open(`/companies?start=${WEEK.start_date}&end=${WEEK.end_date}&sort=visits`);
      await c.page.getByRole('link', { name: company?.name ?? '', exact: true }).waitFor();
      await press('j', 'Enter');
      await c.page.getByRole('heading', { name: company?.name ?? '', level: 1 }).waitFor();
      await c.page.locator('.chart canvas').nth(2).waitFor();
      for (const name of ['Visits', 'People', 'Campaigns'])
        await c.page.getByRole('table', { name }).waitFor();
      await adding().waitFor();
      await expectAccessible(c.page, [[width, scheme, '']]);
    });
  }

  it('all that match are selected, and taken together', async () => {
    const { total_count: total, items } = await c.read<Companies>('/api/companies/search', {
      ...WEEK,
      search: 'northwind',
      page_size: 200,
    });
    const filter = { company_domains: items.map(({ domain }) => domain) };
    const { total_count: people } = await c.read<Companies>('/api/contacts/search', filter);
    await c.open(`/companies?start=${WEEK.start_date}&end=${WEEK.end_date}&query=northwind`);
    await c.page.locator('tbody input[type=checkbox]').first().check();
    if (total > 1) await button(`Select all ${total} that match`).click();
    await sees(`${total} companies selected`);
    expect(await c.page.locator('.notice').count()).to.equal(0);
    await adding().click();
    await sees(`You know ${people} people at ${total} companies.`);
  });

  it('a selection that is read while the filters change is not of the new filters', async () => {
    const { total_count: total } = await c.read<Companies>('/api/companies/search', WEEK);
    await c.open(`/companies?start=${WEEK.start_date}&end=${WEEK.end_date}`);
    await c.page.locator('tbody input[type=checkbox]').first().check();
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isHeld = c.page.waitForRequest(
      (request) => request.postData()?.includes('"page_size":200') ?? false,
    );
    await c.page.route('**/api/companies/search', async (route) => {
      if (route.request().postData()?.includes('"page_size":200')) await isReleased;
      await route.continue();
    });
    await button(/^Select (all|the first)/).click();
    await isHeld;
    await c.page.getByLabel('Search companies').fill('northwind');
    await c.page.waitForURL(/query=northwind/);
    const last = Math.ceil(Math.min(total, 1000) / 200);
    const isRead = c.page.waitForResponse((response) => {
      const asked = response.request().postData() ?? '';
      return asked.includes('"page_size":200') && asked.includes(`"page":${last}`);
    });
    release();
    await (await isRead).finished();
    await c.page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
    expect(await c.page.locator('.selection').count()).to.equal(0);
    await c.page.unroute('**/api/companies/search');
  });

  it('people who are known only by an email are counted and added', async () => {
    const domain = 'only-by-email.example';
    const records = {
      'website-visits': [
        {
          organizationId: DEMO_ORGANIZATION,
          id: 'v_email',
          createdAt: `${daysAgo(2)}T00:00:00Z`,
          companyDomain: domain,
        },
      ],
      contacts: [
        { organization_id: DEMO_ORGANIZATION, contact_id: 'con_email', work_emails: [`ann@${domain}`] },
      ],
    };
    for (const [stream, all] of Object.entries(records)) {
      const answer = await c.gateway.ingest(stream, all, { key: c.key });
      expect(answer.body, answer.text).to.include({ accepted: 1 });
    }
    await c.gateway.stores.records.refresh();
    await c.open(`/companies/company?domain=${domain}&start=${WEEK.start_date}&end=${WEEK.end_date}`);
    await adding().click();
    await sees('You know 1 person at 1 company.');
    await c.page.getByLabel('Add to an audience, or name a new one').fill('By email');
    await button('New audience “By email”').click();
    await sees('Audience created: 1 contact added to By email.');
  });

  it('a campaign leads to the companies that it reached, and to no others', async () => {
    const { items: campaigns } = await c.read<{ items: { id: string }[] }>(
      '/api/advertising/network_a/campaigns',
      { ...WEEK, sort_by: 'impressions' },
    );
    const id = campaigns[0]?.id ?? '';
    const { total_count: total } = await c.read<Companies>('/api/advertising/network_a/companies', {
      ...{ ...WEEK, campaign_ids: [id] },
    });
    expect(total).to.be.above(10);
    await c.open(`/advertising/campaign?campaign_id=${id}&start=${WEEK.start_date}&end=${WEEK.end_date}`);
    await c.page.getByRole('link', { name: `Show all ${total} companies` }).click();
    await c.page.locator('output.total', { hasText: `${total} companies` }).waitFor();
  });

  it('a key for advertising alone has the list and the pages of companies with their ads', async () => {
    const key = await c.gateway.keyFor(DEMO_ORGANIZATION, ['advertising:read']);
    const range = `start=${WEEK.start_date}&end=${WEEK.end_date}`;
    await c.open(`/advertising?tab=companies&${range}`, key);
    const link = c.page.getByRole('table', { name: 'Companies' }).locator('tbody a').first();
    const name = (await link.textContent()) ?? '';
    await link.click();
    await c.page.getByRole('heading', { name, level: 1 }).waitFor();
    await c.page.getByRole('table', { name: 'Campaigns' }).waitFor();
    await c.page.getByRole('link', { name: '← Companies' }).click();
    await c.page.getByRole('table', { name: 'Companies' }).waitFor();
  });

  it('an SQL result with contacts or domains offers the same', async () => {
    const statement = (sql: string) => `/sql?statement=${encodeURIComponent(sql)}`;
    await c.open(statement('SELECT contact_id FROM contacts ORDER BY contact_id LIMIT 3'));
    await c.page.locator('summary', { hasText: 'Add 3 contacts to an audience' }).click();
    await c.page.getByLabel('Add to an audience, or name a new one').fill('From SQL');
    await button('New audience “From SQL”').click();
    await sees('Audience created: 3 contacts added to From SQL.');
    await c.open(statement('SELECT domain FROM companies ORDER BY domain LIMIT 2'));
    await adding().click();
    await sees(/^You know \d+ people at 2 companies/);
  });

  it('opens by the address that companies had before', async () => {
    const [company] = (await c.read<Companies>('/api/companies/search', WEEK)).items;
    await c.open(`/advertising/company?domain=www.${company?.domain.toUpperCase()}`);
    await c.page.getByRole('heading', { name: company?.name ?? '', level: 1 }).waitFor();
    await c.open('/advertising?tab=companies');
    await c.page.getByRole('table', { name: 'Companies' }).waitFor();
    expect(await c.page.getByRole('checkbox', { name: 'Select the rows of this page' }).count()).to.equal(1);
  });
});
