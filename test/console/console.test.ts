import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { startGateway } from '../../services/gateway/server.js';
import { loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { until } from '../support/until.js';
import { useConsole } from './browser.js';

describe('The console in Chromium', function () {
  this.timeout(60_000);
  const c = useConsole();
  const { open, read } = c;
  /** The request that the view shows. */
  const curl = async () => {
    await c.page.getByText('curl', { exact: true }).first().click();
    return (await c.page.getByLabel('Request as curl').first().textContent()) ?? '';
  };

  it('signs in by a link, removes the key from the address, and keeps it in this tab only', async () => {
    await c.page.goto(`${c.gateway.url}/console#key=${c.key}`);
    await c.page.getByRole('link', { name: 'Contacts', exact: true }).waitFor();
    await c.page.waitForURL(`${c.gateway.url}/console/overview`);
    const stored = await c.page.evaluate(
      'JSON.stringify([{ ...localStorage }, document.cookie, history.length])',
    );
    expect(stored).not.to.contain(c.key);
    await c.page.reload();
    await c.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await c.page.getByRole('button', { name: 'Sign out' }).click();
    await c.page.getByLabel('API key').waitFor();
    expect(await c.page.evaluate('sessionStorage.length')).to.equal(0);
  });

  it('asks before a link with another key replaces the session, in the same tab and in another one', async () => {
    const other = await c.gateway.keyFor('org_of_a_link');
    const link = `${c.gateway.url}/console/import#key=${other}`;
    const organization = (page: typeof c.page, name: string) =>
      page.locator('.organization', { hasText: name });
    await open('/contacts');
    await organization(c.page, 'org_demo').waitFor();
    await c.page.evaluate(`location.hash = ${JSON.stringify(`key=${other}`)}`);
    const question = (page: typeof c.page) => page.getByRole('alert', { name: 'Link with another key' });
    await question(c.page).waitFor();
    expect(c.page.url()).not.to.contain(other);
    await organization(c.page, 'org_demo').waitFor();
    await c.expectAccessible();
    await question(c.page).getByRole('button', { name: 'Stay signed in' }).click();
    await question(c.page).waitFor({ state: 'detached' });

    const tab = await c.context.newPage();
    await tab.goto(link);
    await question(tab).waitFor();
    await organization(tab, 'org_demo').waitFor();
    await question(tab).getByRole('button', { name: 'Use the key of the link' }).click();
    await organization(tab, 'org_of_a_link').waitFor();
    await organization(c.page, 'org_demo').waitFor();
  });

  it('says that a wrong key is wrong, and signs in with a right one', async () => {
    await c.page.goto(`${c.gateway.url}/console`);
    await c.page.getByLabel('API key').fill('rl_live_wrong');
    await c.page.getByRole('button', { name: 'Sign in' }).click();
    await c.page.getByRole('alert').getByText('A valid API key is required').waitFor();
    c.forgetFailedRequests();
    await c.expectAccessible();
    await c.page.getByLabel('API key').fill(c.key);
    await c.page.getByRole('button', { name: 'Sign in' }).click();
    for (const name of [
      'Contacts',
      'Audiences',
      'Companies',
      'Visits',
      'Advertising',
      'Import',
      'Overview',
    ]) {
      await c.page
        .getByRole('navigation', { name: 'Views' })
        .getByRole('link', { name, exact: true })
        .click();
      await c.page.locator('nav [aria-current=page]', { hasText: name }).waitFor();
      await until(async () => (await c.page.title()) === `${name} · Reachline`, name);
    }
  });

  it('says which word nobody matches, and shows who matches the rest', async () => {
    await open('/contacts?query=marketing%20zzyzx');
    const note = 'Nobody matches zzyzx; showing people who match the rest.';
    await c.page.locator('output', { hasText: note }).waitFor();
    await c.page
      .locator('tbody mark', { hasText: /marketing/i })
      .first()
      .waitFor();
    await open('/contacts?query=zzyzx');
    await c.page.locator('output', { hasText: 'Nobody matches zzyzx.' }).waitFor();
  });

  it('finds a contact by a typo, marks it, adds it to an audience and shows it there', async () => {
    const { contacts } = await read<{
      contacts: { contact_id: string; first_name: string; last_name: string }[];
    }>('/api/contacts/search', { country: 'US' });
    const found = contacts.find(({ last_name }) => /^[A-Z][a-z]{5,}$/.test(last_name));
    const { first_name, last_name } = found as (typeof contacts)[number];
    const name = `${first_name} ${last_name}`;
    const misspelt = `${first_name} ${last_name.slice(0, 3)}${last_name.slice(4)}`;
    await open('/contacts');
    await c.page.locator('tbody a').first().waitFor();
    await c.page.keyboard.press('/');
    await c.page.keyboard.type(misspelt);
    // A page for the beginning of the name may come first.
    await until(
      () => new URL(c.page.url()).searchParams.get('query') === misspelt,
      'the query is in the address',
    );
    await c.page.locator('mark', { hasText: last_name }).first().waitFor();
    await c.page.locator(`tbody a[href*="contact=${found?.contact_id}"]`).click();
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('heading', { name }).waitFor();
    // The ids of its audiences arrive with the contact, their names later.
    await card.getByRole('button', { name: 'Remove from aud_' }).first().waitFor({ state: 'detached' });
    for (const audience of ['Customers', 'Trial users']) {
      const remove = card.getByRole('button', { name: `Remove from ${audience}` });
      if (await remove.isVisible()) {
        await remove.click();
        await remove.waitFor({ state: 'detached' });
      }
    }
    await card.getByLabel('Add to an audience').fill('trial usrs');
    await card.getByRole('button', { name: 'Add to Trial users' }).click();
    await card.getByRole('button', { name: 'Remove from Trial users' }).waitFor();
    await card.getByRole('link', { name: 'Trial users' }).click();
    const members = c.page.getByRole('table', { name: 'Members' });
    await members.waitFor();
    const { total_count } = await read<{ total_count: number }>('/api/audiences/contacts/search', {
      audience_id: 'aud_trial-users',
    });
    await c.page.locator('output.total', { hasText: `${total_count} members` }).waitFor();
    const inAudience = await read<{ contact: { audience_ids: string[] } }>('/api/contacts/get', {
      contact_id: found?.contact_id,
    });
    expect(inAudience.contact.audience_ids).to.include('aud_trial-users');
    for (let scrolled = 0; !(await members.getByRole('link', { name }).first().isVisible()); scrolled++) {
      expect(scrolled).to.be.below(200);
      await c.page.evaluate('scrollTo(0, 1e6)');
      await c.page.waitForTimeout(50);
    }
  });

  it('shows price and duplicates of a new contact before it is created', async () => {
    const { credit_balance } = await read<{ credit_balance: number }>(
      '/api/contacts/create?dry_run=true&required_credits=0',
      { audience_id: 'aud_customers' },
    );
    const { contact } = await read<{ contact: { work_emails: string[] } }>('/api/contacts/get', {
      contact_id: 'demo_contact_0001',
    });
    await open('/contacts');
    await c.page.getByRole('link', { name: 'New contact' }).click();
    const panel = c.page.getByRole('complementary', { name: 'New contact' });
    await panel.getByLabel('Audience').selectOption('aud_customers');
    await panel.getByLabel('First name').fill('Ada');
    await panel.getByLabel('Work email').fill(contact.work_emails[0] ?? '');
    await panel.getByRole('button', { name: 'Check price and duplicates' }).click();
    await panel.getByText(`This costs 1 credit, which leaves ${credit_balance - 1} credits.`).waitFor();
    await panel.getByRole('button', { name: 'Add this one instead' }).waitFor();
    await c.expectAccessible();
    await panel.getByLabel('Work email').fill('ada@analytical.example');
    await panel.getByRole('button', { name: 'Check price and duplicates' }).click();
    await panel.getByText('No duplicate was found.').waitFor();
    await panel.getByRole('button', { name: 'Create', exact: true }).click();
    await c.page
      .getByRole('complementary', { name: 'Contact' })
      .getByText('ada@analytical.example')
      .waitFor();
    const after = await read<{ credit_balance: number }>('/api/contacts/create?dry_run=true', {
      audience_id: 'aud_customers',
    });
    expect(after.credit_balance).to.equal(credit_balance - 2);
  });

  it('orders creatives by engagement rate on the server and pages to the end', async () => {
    await open('/advertising?tab=creatives');
    await c.page.getByRole('columnheader', { name: 'Engagement rate' }).getByRole('button').click();
    await c.page.locator('th[aria-sort=descending]', { hasText: 'Engagement rate' }).waitFor();
    const shown: string[] = [];
    const next = c.page.getByRole('link', { name: 'Next' });
    for (let number = 1; ; number++) {
      await c.page.getByText(`Page ${number} of`).waitFor();
      await c.page.locator('table[aria-busy=false]').waitFor();
      shown.push(...(await c.page.locator('tbody td:first-child').allTextContents()));
      if (!(await next.isVisible())) break;
      await next.click();
    }
    const params = new URL(c.page.url()).searchParams;
    expect(params.get('sort')).to.equal('engagement_rate');
    const request = JSON.parse((/-d '(.*)'/s.exec(await curl()) as RegExpExecArray)[1] as string) as object;
    const { items } = await read<{ items: { name: string }[] }>('/api/advertising/network_a/creatives', {
      ...request,
      page: 1,
      page_size: 200,
      granularity: 'monthly',
    });
    expect(shown).to.have.length.above(50);
    expect(shown).to.deep.equal(items.map(({ name }) => name));
  });

  it('draws charts by day and by month with the chosen metrics, and marks provisional periods', async () => {
    await open('/advertising');
    await c.page.locator('.chart canvas').nth(1).waitFor();
    await c.page.getByText('The network may still restate days after').waitFor();
    await c.page.locator('.provisional-key').waitFor();
    await c.page.getByText('Metrics', { exact: true }).click();
    await c.page.getByLabel('Clicks', { exact: true }).check();
    await c.page.locator('.chart canvas').nth(2).waitFor();
    const [request] = await Promise.all([
      c.page.waitForRequest((sent) => sent.postData()?.includes('"granularity":"monthly"') ?? false),
      c.page.getByRole('link', { name: 'Monthly' }).click(),
    ]);
    expect(request.postDataJSON()).to.have.property('metrics').that.includes.members(['clicks', 'ad_spend']);
    await c.page.getByText('by month.').waitFor();
    expect(new URL(c.page.url()).searchParams.get('granularity')).to.equal('monthly');
    expect(new URL(c.page.url()).searchParams.get('chart')).to.equal('ad_spend,engagement_rate,clicks');
  });

  it('adds up money of each currency alone, in charts and in totals', async () => {
    const [response] = await Promise.all([
      c.page.waitForResponse((answer) => answer.url().endsWith('/campaigns')),
      open('/advertising?currency=own'),
    ]);
    interface Campaign {
      currency: string;
      timeseries: { period: string; ad_spend: string }[];
    }
    const { items, totals } = (await response.json()) as {
      items: Campaign[];
      totals: { currency: string; ad_spend: string }[];
    };
    const written = (amount: number, currency: string) =>
      new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount);
    expect(totals.map(({ currency }) => currency)).to.have.members(['USD', 'EUR']);
    for (const { currency, ad_spend } of totals) {
      await c.page
        .locator('.totals', { hasText: currency })
        .getByText(written(Number(ad_spend), currency))
        .waitFor();
      const chart = c.page.locator('.chart', { hasText: `Spend, ${currency}` });
      await chart.locator('.u-over').hover();
      const [period, amount] = ((await chart.locator('.chart-value').textContent()) ?? '').split(': ');
      const spent = items
        .filter((item) => item.currency === currency)
        .flatMap(({ timeseries }) => timeseries)
        .filter((point) => point.period === period)
        .reduce((sum, point) => sum + Number(point.ad_spend), 0);
      expect(amount, period).to.equal(written(spent, currency));
    }
    expect(await c.page.locator('.chart', { hasText: 'Engagement rate' }).count()).to.equal(1);
  });

  it('opens a company by its domain', async () => {
    await open('/companies');
    await c.page.locator('tbody tr:first-child a').waitFor();
    await c.expectAccessible();
    const domain = (await c.page.locator('tbody tr:first-child td:nth-child(3)').textContent()) ?? '';
    const name = (await c.page.locator('tbody tr:first-child a').textContent()) ?? '';
    await c.page.goto(`${c.gateway.url}/console/companies/company?domain=www.${domain.toUpperCase()}`);
    await c.page.getByRole('heading', { name, level: 1 }).waitFor();
    await c.page.locator('.chart canvas').first().waitFor();
    await c.page.getByRole('table', { name: 'Campaigns' }).waitFor();
  });

  it('shows the request of the screen as curl, which answers the same', async () => {
    await open('/visits?country=US&browser=chrome');
    const shown = await c.page.locator('output.total', { hasText: 'visits' }).textContent();
    const env = { ...process.env, REACHLINE_API_KEY: c.key };
    // The call is asynchronous, because the gateway runs in this process.
    const { stdout } = await promisify(execFile)('sh', ['-c', await curl()], { env });
    const answer = JSON.parse(stdout) as { total_count: number };
    expect(shown).to.equal(`${answer.total_count.toLocaleString('en')} visits`);
  });

  it('keeps filters of advertising under a name in the browser, and forgets them', async () => {
    await open('/advertising?status=ACTIVE&page=2');
    await c.page.getByText('Saved', { exact: true }).click();
    await c.page.getByLabel('Name of the filters').fill('Running');
    await c.page.getByRole('button', { name: 'Save these filters' }).click();
    await c.page.getByRole('link', { name: 'Running' }).waitFor();
    await c.page.goto(`${c.gateway.url}/console/advertising`);
    await c.page.getByText('Saved', { exact: true }).click();
    await c.page.getByRole('link', { name: 'Running' }).click();
    await c.page.waitForURL(`${c.gateway.url}/console/advertising?status=ACTIVE`);
    await c.page.getByRole('button', { name: 'Forget Running' }).click();
    await c.page.getByText('No saved filters in this view.').waitFor();
  });

  it('saves as CSV and NDJSON every row that matches', async () => {
    await open('/contacts?job_title=marketing');
    const filters = { job_title: 'marketing', limit: 1000 };
    const { contacts } = await read<{ contacts: { id: string }[] }>('/api/contacts/search', filters);
    await c.page.getByText('Export', { exact: true }).click();
    const save = async (name: string) => {
      const [download] = await Promise.all([
        c.page.waitForEvent('download'),
        c.page.getByRole('button', { name, exact: true }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    const lines = (await save('NDJSON')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).to.deep.equal(contacts);
    const rows = parse(await save('CSV'), { columns: true }) as { id: string }[];
    expect(rows.map(({ id }) => id)).to.deep.equal(contacts.map(({ id }) => id));
  });

  it('disables what the scopes of the key do not allow, and says which one is missing', async () => {
    const readOnly = await c.gateway.keyFor(DEMO_ORGANIZATION, ['contacts:read', 'audiences:read']);
    await open('/contacts?contact=demo_contact_0001', readOnly);
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByText('audiences:write').waitFor();
    await c.page.getByText('needs contacts:write').first().waitFor();
    expect(await c.page.getByRole('button', { name: 'New contact' }).isDisabled()).to.equal(true);
    expect(await card.getByLabel('Add to an audience').isDisabled()).to.equal(true);
    for (const button of await card.getByRole('button', { name: /^Remove from/ }).all()) {
      expect(await button.isDisabled()).to.equal(true);
    }
    const links = c.page.getByRole('navigation', { name: 'Views' });
    expect(await links.locator('.locked').allTextContents()).to.deep.equal([
      'Companies',
      'Visits',
      'Advertising',
      'Import',
      'SQL',
      'API keys',
      'Rejected records',
      'Erasures',
    ]);
    for (const [name, scope] of [
      ['Visits', 'visits:read'],
      ['Advertising', 'advertising:read'],
    ] as const) {
      const link = c.page.getByRole('link', { name, exact: true });
      expect(await link.getAttribute('title')).to.contain(scope);
      await link.click();
      await c.page.getByText(scope).waitFor();
    }
  });

  it('says in every view of an empty organization how data comes in, and that a stopped server is not reached', async () => {
    const config = loadConfig({ PORT: '0', REACHLINE_DATA_DIR: c.gateway.dataDir });
    const stopped = await startGateway(config, c.gateway.stores, createLogger('silent'));
    try {
      c.page.removeAllListeners('request');
      await open('', c.gateway.key, stopped.url);
      for (const name of ['Contacts', 'Audiences', 'Visits', 'Companies', 'Advertising']) {
        await c.page.getByRole('link', { name, exact: true }).click();
        await c.page.locator('.state code', { hasText: 'reachline' }).waitFor();
      }
      await c.page.getByRole('link', { name: 'Contacts', exact: true }).click();
      await c.page.getByRole('searchbox').fill('nobody');
      await c.page.getByText('No contacts match.').waitFor();
      await c.page.getByRole('button', { name: 'Clear the filters' }).click();
      await c.page.getByText('no contacts yet').waitFor();
    } finally {
      await stopped.stop();
    }
    await c.page.getByRole('searchbox').fill('anybody');
    await c.page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    await c.page.getByRole('button', { name: 'Retry' }).waitFor();
    await c.page.getByText('Operate', { exact: true }).click();
    await c.page.getByRole('link', { name: 'Status', exact: true }).click();
    await c.page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    c.forgetFailedRequests();
  });

  it('counts the visits of each day, and narrows the list to a day', async () => {
    await open('/visits?country=US');
    const bars = c.page.getByRole('list', { name: 'Visits a day' }).getByRole('link');
    const bar = bars.nth(12);
    await bar.and(c.page.getByTitle(/: \d/)).waitFor();
    await c.expectAccessible();
    const [, day, visits] = /^(.*): ([\d,]+) visit/.exec((await bar.getAttribute('title')) ?? '') ?? [];
    const { total_count } = await read<{ total_count: number }>('/api/website-visits/search', {
      country: 'US',
      created_after: `${day}T00:00:00Z`,
      created_before: new Date(Date.parse(day ?? '') + 86_400_000).toISOString(),
    });
    expect(visits).to.equal(total_count.toLocaleString('en'));
    expect(total_count).to.be.above(0);
    await bar.click();
    await c.page.locator('output.total', { hasText: new RegExp(`^${visits} visit`) }).waitFor();
    expect(new URL(c.page.url()).search).to.equal(`?country=US&from=${day}&to=${day}`);
    await bar.click();
    await c.page.waitForURL(`${c.gateway.url}/console/visits?country=US`);
  });

  for (const width of [1280, 390]) {
    it(`offers the values of a filter with their counts, and takes filters out by their chips, at ${width} pixels`, async () => {
      await c.page.setViewportSize({ width, height: 800 });
      await open('/contacts?query=marketing');
      const counted = async (filters: object, field: string) => {
        const body = { query: 'marketing', ...filters, facets: [field] };
        const { facets } = await read<{ facets: Record<string, { value: string; count: number }[]> }>(
          '/api/contacts/search',
          body,
        );
        return (facets[field] ?? []).map(({ value, count }) => [value, count] as const);
      };
      const button = c.page.locator('summary', { hasText: '+ Filter' });
      const total = (contacts = 0) =>
        c.page
          .locator('output.total', { hasText: new RegExp(`^${contacts.toLocaleString('en')} contacts?$`) })
          .waitFor();
      const chips = c.page.getByRole('list', { name: 'Filters in force' }).getByRole('listitem');

      await button.click();
      const countries = await counted({}, 'country');
      const values = c.page.getByRole('list', { name: 'Values of Country' }).getByRole('button');
      await values.first().waitFor();
      expect(await values.allInnerTexts()).to.deep.equal(
        countries.map(([country, contacts]) => `${country}\n${contacts.toLocaleString('en')}`),
      );
      if (width > 800) await c.expectAccessible();
      const [country = '', contacts] = countries[0] ?? [];
      await values.first().click();
      await total(contacts);
      expect(new URL(c.page.url()).searchParams.get('country')).to.equal(country);

      // The facets count within the active filters, and keys operate the facets.
      await button.press('Enter');
      await c.page.getByLabel('Field').selectOption('Seniority');
      const [seniority, ofSeniority] = (await counted({ country }, 'seniority'))[0] ?? [];
      const first = c.page.getByRole('list', { name: 'Values of Seniority' }).getByRole('button').first();
      await first.press('Enter');
      await total(ofSeniority);
      expect(new URL(c.page.url()).searchParams.get('seniority')).to.equal(seniority);
      expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).to.equal(
        true,
      );
      expect(await chips.first().textContent()).to.contain(`Country: ${country}`);
      expect(await c.page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);

      await c.page.getByRole('button', { name: 'Remove Seniority' }).press('Enter');
      await total(contacts);
      expect(await button.evaluate((element) => element === element.ownerDocument.activeElement)).to.equal(
        true,
      );
      await c.page.getByRole('button', { name: 'Remove Country' }).press('Enter');
      await c.page.waitForURL(`${c.gateway.url}/console/contacts?query=marketing`);
      await chips.first().waitFor({ state: 'detached' });
    });
  }

  for (const width of [1440, 390]) {
    it(`makes a segment of several values, excluded values and fields that contacts have, at ${width} pixels`, async () => {
      await open('/contacts');
      await c.page.setViewportSize({ width, height: 800 });
      const button = c.page.locator('summary', { hasText: '+ Filter' });
      const values = (label: string) =>
        c.page.getByRole('list', { name: `Values of ${label}` }).getByRole('button');
      const counted = async (filters: object) => {
        const { total_count } = await read<{ total_count: number }>('/api/contacts/search', filters);
        const text = `${total_count.toLocaleString('en')} contact${total_count === 1 ? '' : 's'}`;
        await c.page.locator('output.total', { hasText: new RegExp(`^${text}$`) }).waitFor();
        return total_count;
      };
      await counted({});

      // Several values, by keys alone; the popover stays open.
      await button.press('Enter');
      await c.page.getByLabel('Condition').selectOption('is any of');
      for (const country of ['Germany', 'Spain', 'Japan'])
        await values('Country').filter({ hasText: country }).press('Enter');
      await values('Country').filter({ hasText: 'Spain' }).press('Enter');
      const any_of = [{ country: 'Germany' }, { country: 'Japan' }];
      await counted({ any_of });
      expect(await values('Country').filter({ hasText: 'Japan' }).getAttribute('aria-pressed')).to.equal(
        'true',
      );
      // The check sets the size of the page.
      await c.expectAccessible();
      await c.page.setViewportSize({ width, height: 800 });

      // Counts of the next field are counts within the segment.
      await c.page.getByLabel('Field').selectOption('Seniority');
      await c.page.getByLabel('Condition').selectOption('is not');
      await values('Seniority').filter({ hasText: 'Manager' }).press('Enter');
      const none_of = [{ seniority: 'manager' }];
      await counted({ any_of, none_of });
      await c.page.getByLabel('Field').selectOption('Has');
      await values('Has').filter({ hasText: 'work email' }).click();
      await values('Has').filter({ hasText: 'phone' }).click();
      const segment = { any_of, none_of, has: ['work_emails', 'phones'] };
      expect(await counted(segment)).to.be.above(0);
      await c.page.keyboard.press('Escape');
      const chips = c.page.getByRole('list', { name: 'Filters in force' }).getByRole('listitem');
      const texts = async () => (await chips.allInnerTexts()).map((text) => text.replace(/\s*×$/, ''));
      const expected = ['Country: Germany or Japan', 'Seniority is not: Manager', 'Has: work email, phone'];
      await until(async () => (await texts()).join() === expected.join(), 'the chips');
      expect(await c.page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);

      // The address is the segment.
      await c.page.reload();
      await counted(segment);
      expect(await texts()).to.deep.equal(expected);
      expect(await curl()).to.contain('"none_of"');
      await c.page.keyboard.press('Escape');
      await c.page.getByRole('button', { name: 'Remove Seniority is not' }).click();
      await counted({ any_of, has: segment.has });
      await c.page.getByRole('button', { name: 'Clear', exact: true }).click();
      await c.page.waitForURL(`${c.gateway.url}/console/contacts`);
      await counted({});
    });
  }

  it('takes filters of days, numbers and two values, which hold for the list and its chips', async () => {
    await open('/visits?to=2026-13-45&has_recording=maybe');
    const add = async (field: string) => {
      await c.page.locator('summary', { hasText: '+ Filter' }).click();
      await c.page.getByLabel('Field').selectOption(field);
    };
    await add('Intent from');
    await c.page.getByLabel('Intent from').fill('60');
    await c.page.getByLabel('Intent from').press('Enter');
    await add('Recording');
    await c.page.getByRole('button', { name: 'without', exact: true }).click();
    const { total_count } = await read<{ total_count: number }>('/api/website-visits/search', {
      min_intent_score: 60,
      has_recording: false,
    });
    await c.page.locator('output.total', { hasText: `${total_count.toLocaleString('en')} visits` }).waitFor();
    const chips = c.page.getByRole('list', { name: 'Filters in force' }).getByRole('listitem');
    expect((await chips.allInnerTexts()).map((text) => text.replace(/\s*×$/, ''))).to.deep.equal([
      'Intent from: 60',
      'Recording: without',
    ]);
    await c.page.getByRole('button', { name: 'Clear', exact: true }).click();
    await c.page.getByRole('button', { name: 'Clear', exact: true }).waitFor({ state: 'detached' });
    // The chips of the shown response stay, dimmed, until the next response comes.
    await chips.first().waitFor({ state: 'detached' });
    expect(await chips.count()).to.equal(0);
  });

  it('shows some values of a long filter, whose button stays in sight', async () => {
    const domains = Array.from({ length: 16 }, (_, index) => `company-with-a-long-name-${index}.example`);
    await open(`/contacts?company_domain=${encodeURIComponent(domains.join('\n'))}`);
    const chip = c.page.getByRole('list', { name: 'Filters in force' }).getByRole('listitem');
    await chip.getByText(', 13 more').waitFor();
    await chip.getByRole('button').click();
    await chip.waitFor({ state: 'detached' });
  });

  it('shows the columns that were chosen, also after a reload, and the standard ones again', async () => {
    await open('/contacts');
    const headings = () =>
      c.page.getByRole('table', { name: 'Contacts' }).locator('thead th').allInnerTexts();
    const standard = ['', 'Name', 'Job title', 'Company', 'Email', 'Place'];
    await until(async () => (await headings()).join() === standard.join(), 'the standard columns');
    await c.page.getByText('Columns', { exact: true }).click();
    await c.page.getByText('Kept in this browser.').waitFor();
    await c.page.getByLabel('Place').uncheck();
    await c.page.getByLabel('Seniority').check();
    const chosen = ['', 'Name', 'Job title', 'Company', 'Email', 'Seniority'];
    await until(async () => (await headings()).join() === chosen.join(), 'the chosen columns');
    const { contact } = await read<{ contact: { seniority: string } }>('/api/contacts/get', {
      contact_id: 'demo_contact_0001',
    });
    await open('/contacts?contact=demo_contact_0001');
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.locator(`a[href$="seniority=${contact.seniority}"]`).click();
    await c.page.getByRole('button', { name: 'Remove Seniority' }).waitFor();
    expect(await headings()).to.deep.equal(chosen);
    await c.page.getByText('Columns', { exact: true }).click();
    await c.page.getByRole('button', { name: 'Standard columns' }).click();
    await until(async () => (await headings()).join() === standard.join(), 'the standard columns again');
    await c.page.evaluate("localStorage.setItem('reachline.columns', '{\"contacts\":7}')");
    await c.page.reload();
    await c.page.getByRole('table', { name: 'Contacts' }).waitFor();
    expect(await headings()).to.deep.equal(standard);
  });

  it('shows how fresh each stream is, and asks again', async () => {
    await open('/status');
    const table = c.page.getByRole('table', { name: 'Streams' });
    const { streams, version } = await read<{
      streams: Record<string, { records: number }>;
      version: string;
    }>('/api/status', {});
    for (const [label, name] of [
      ['Contacts', 'contacts'],
      ['Deliveries', 'network-a-deliveries'],
    ] as const) {
      const row = table.getByRole('row', { name: new RegExp(`^${label}`) });
      await row
        .getByRole('cell', { name: (streams[name]?.records ?? 0).toLocaleString('en'), exact: true })
        .waitFor();
    }
    await c.page.getByText(version, { exact: true }).waitFor();
    await c.expectAccessible();
    await Promise.all([
      c.page.waitForRequest((sent) => sent.url().endsWith('/api/status')),
      c.page.getByRole('button', { name: 'Refresh' }).click(),
    ]);
  });

  it('loads an endless list to its end, each contact once, draws only the rows near to what is shown, and takes every key', async () => {
    const many = await c.gateway.keyFor('org_many');
    const records = Array.from({ length: 500 }, (_, number) => ({
      contact_id: `many_${number}`,
      first_name: 'Grace',
      last_name: `Number${number}`,
      job_title: 'Analyst',
      work_emails: [`grace${number}@many.example`],
    }));
    await c.gateway.ingest('contacts', records, { key: many });
    await open('/contacts', many);
    const table = c.page.getByRole('table', { name: 'Contacts' });
    await table.locator('tbody a').first().waitFor();
    const toEnd = () => c.page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const loadMore = c.page.getByRole('button', { name: /^Load/ });
    while (await loadMore.isVisible()) await toEnd();
    const height = await c.page.evaluate<number>("document.querySelector('main .list').offsetHeight");
    await c.page.evaluate(`
      window.seen = new Set();
      window.most = 0;
      const look = () => {
        const links = document.querySelectorAll('main tbody a[href*=contact]');
        for (const { href } of links) seen.add(href);
        most = Math.max(most, links.length);
        requestAnimationFrame(look);
      };
      look();
    `);
    await c.page.mouse.move(640, 500);
    const scroll = async () => {
      for (let up = 0; up < height; up += 800) {
        await c.page.mouse.wheel(0, -800);
        await c.page.waitForTimeout(20);
      }
    };
    await scroll();
    await until(() => c.page.evaluate('seen.size === 500'), 'each contact was drawn');
    // The list draws the rows of the 800-pixel viewport, of 1200 pixels above and below it, and of the parts that overlap the edges.
    expect(await c.page.evaluate('most')).to.be.within(50, 250);
    expect(await c.page.evaluate("document.querySelector('main .list').offsetHeight")).to.equal(height);
    // The focus stays, and the next row is the next in the list.
    const row = (number: number) => table.getByRole('row', { name: `Grace Number${number} ` });
    await row(450).getByRole('link').first().focus();
    expect(await row(450).getAttribute('aria-rowindex')).to.equal('51');
    expect(await table.getAttribute('aria-rowcount')).to.equal('501');
    await toEnd();
    await row(0).waitFor();
    await c.page.keyboard.press('j');
    await row(449).waitFor();
    await c.page.keyboard.press('j');
    expect(await c.page.evaluate('document.activeElement.textContent')).to.equal('Grace Number449');
    await toEnd();
    const box = c.page.getByRole('searchbox');
    await box.click();
    await Promise.all([c.page.keyboard.type('grace number7', { delay: 30 }), scroll()]);
    expect(await box.inputValue()).to.equal('grace number7');
    await c.page.locator('output.total', { hasText: '11 contacts' }).waitFor();
  });
});
