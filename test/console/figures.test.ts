import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { until } from '../support/until.js';
import { daysAgo, useConsole } from './browser.js';
import { readCharts } from './driver/screen.js';

describe('What the console adds up, saves and takes from a person', function () {
  this.timeout(60_000);
  const c = useConsole();
  const alert = () => c.page.getByRole('alert');
  const money = (text = '') => Number(text.replace(/[^\d.-]/g, ''));

  /** The text that the chart of a label shows for each of its periods, read with a simulated pointer at every fourth pixel. */
  async function readChart(label: string): Promise<Map<string, string>> {
    const chart = c.page.locator('.chart').filter({ hasText: label }).first();
    await chart.locator('.u-over').waitFor();
    const charts = await readCharts(c.page, 300);
    const { values = [] } = charts.find((each) => each.label.includes(label)) ?? {};
    return new Map(
      values.filter((said) => said !== '').map((said) => said.split(': ', 2) as [string, string]),
    );
  }

  /** An organization whose campaigns spend 100 on some days. Ids that begin with `us` are campaigns in dollars, the others in euros. */
  async function campaigns(
    organization_id: string,
    spend: readonly (readonly [campaign: string, date: string, others?: object])[],
  ) {
    const key = await c.gateway.keyFor(organization_id);
    const ids = [...new Set(spend.map(([campaign_id]) => campaign_id))];
    await c.gateway.ingest(
      'network-a-campaigns',
      ids.map((id) => ({
        ...{ organization_id, id, name: id, status: 'ACTIVE', start_date: '2026-10-14' },
        currency: id.startsWith('us') ? 'USD' : 'EUR',
      })),
      { key },
    );
    await c.gateway.ingest(
      'network-a-creatives',
      ids.map((id) => ({ organization_id, id: `${id}_ad`, campaign_id: id })),
      { key },
    );
    const sent = await c.gateway.ingest(
      'network-a-deliveries',
      spend.map(([campaign_id, date, others]) => ({
        organization_id,
        campaign_id,
        creative_id: `${campaign_id}_ad`,
        date,
        impressions: 1000,
        clicks: 10,
        ad_spend: '100.00',
        ...others,
      })),
      { key },
    );
    expect(sent.status, sent.text).to.equal(200);
    return key;
  }

  it('compares a month with as many days before it, also where these are of two months', async () => {
    const key = await campaigns('org_before', [
      ['one', '2026-08-31'],
      ['one', '2026-09-01'],
      ['one', '2026-09-30'],
      ['one', '2026-10-10'],
    ]);
    await c.open(
      '/advertising/campaign?campaign_id=one&start=2026-10-01&end=2026-10-31&granularity=monthly&chart=ad_spend',
      key,
    );
    await c.page.getByText('from €300.00').waitFor();
    await c.page.locator('.previous-key').waitFor();
    expect([...(await readChart('Spend'))]).to.deep.equal([['2026-10', '€100.00, before €300.00']]);
  });

  it('compares each day with the same weekday, names both days, and has the values as a table', async () => {
    const key = await campaigns('org_weekdays', [
      ['one', '2026-09-16'],
      ['one', '2026-10-14'],
    ]);
    await c.open(
      '/advertising/campaign?campaign_id=one&start=2026-10-01&end=2026-10-31&compare=previous_month&chart=ad_spend',
      key,
    );
    await c.page.getByText('the same weekdays, 4 weeks back').waitFor();
    await c.page.getByText('Starts on 2026-10-14.').waitFor();
    const days = await readChart('Spend');
    expect(days.get('2026-10-14')).to.equal('€100.00, before €100.00 on 2026-09-16');
    expect(days.get('2026-10-15')).to.equal('€0.00, before €0.00 on 2026-09-17');
    await c.page.getByText('Values as a table').press('Enter');
    const rows = c.page.getByRole('table', { name: 'Values of the charts' }).getByRole('row');
    expect(await rows.nth(0).locator('th').allTextContents()).to.deep.equal([
      'Period',
      'Spend',
      'Spend before',
    ]);
    expect(await rows.nth(14).locator('td').allTextContents()).to.deep.equal([
      '2026-10-14',
      '€100.00',
      '€100.00',
    ]);
    expect(await rows.count()).to.equal(32);
  });

  it('says of each total whether its change is better or worse, and of spend neither', async () => {
    const key = await campaigns('org_judged', [
      ['one', '2026-09-16', { leads: 4, ad_spend: '100.00', clicks: 10 }],
      ['one', '2026-10-14', { leads: 3, ad_spend: '150.00', clicks: 30 }],
    ]);
    await c.open(
      '/advertising?start=2026-10-01&end=2026-10-31&compare=previous_month&chart=cpc,cost_per_lead,conversions',
      key,
    );
    await c.page.getByText('Against 1 Sep – 30 Sep 2026.').waitFor();
    const texts = await c.page.locator('.totals > div').allTextContents();
    const cards = new Map(texts.map((text) => text.split(/(?<=[a-z])(?=[€\d–])/, 2) as [string, string]));
    expect(Object.fromEntries(cards)).to.deep.include({
      Spend: '€150.00 +50% more from €100.00',
      Clicks: '30 +200% better from 10',
      Leads: '3 −25% worse from 4',
      'Cost per lead': '€50.00 +100% worse from €25.00',
      Impressions: '1,000 unchanged from 1,000',
      Conversions: '0 unchanged from 0',
    });
    expect(texts).to.include('CPC€5.00 −50% better from €10.00');
    await c.expectAccessible();
  });

  it('leaves money in the currency of each campaign if the rates for the most used currency are missing', async () => {
    const key = await campaigns('org_unrated', [
      ['us_one', '2026-10-14'],
      ['us_two', '2026-10-14'],
      ['one', '2026-10-14'],
    ]);
    await c.open('/advertising?start=2026-10-01&end=2026-10-31', key);
    await c.page.locator('.totals', { hasText: 'All inUSD' }).getByText('$200.00').waitFor();
    await c.page.locator('.totals', { hasText: 'All inEUR' }).getByText('€100.00').waitFor();
    expect(await c.page.getByLabel('Currency').inputValue()).to.equal('own');
    expect(await alert().count()).to.equal(0);
    c.forgetFailedRequests();
  });

  it('draws the days of every campaign where empty ones are left out of the answer', async () => {
    const spend = Array.from({ length: 20 }, (_, number) =>
      [['2025-03-01', '2026-03-01'], ['2026-03-02']]
        .flat()
        .map((date) => [`many_${number}`, number === 0 ? date : '2025-03-01'] as const),
    ).flat();
    const key = await campaigns('org_sparse', [
      ...new Map(spend.map((each) => [each.join(), each])).values(),
    ]);
    await c.open('/advertising?start=2023-12-01&end=2026-11-20&granularity=daily&chart=ad_spend', key);
    const total = money((await c.page.locator('.totals dd').first().textContent()) ?? '');
    expect(total).to.equal(2200);
    await c.page.locator('.chart .u-over').waitFor();
    // With more days than pixels, the pointer reaches only some days; the months of the same series contain all.
    const daily = await readChart('Spend');
    expect([...daily.keys()].some((day) => day.startsWith('2026'))).to.equal(true);
    await c.page.getByRole('link', { name: 'Monthly' }).click();
    await c.page.getByText('by month').waitFor();
    const monthly = [...(await readChart('Spend')).values()].map(money);
    expect(monthly.reduce((sum, value) => sum + value, 0)).to.equal(total);
  });

  it('groups the digits of amounts of a result but not of years and ids, and draws days without rows as gaps', async () => {
    const statement = `SELECT toDate('2026-11-01') + [0, 1, 24][number + 1] AS day, 2026 AS year, 1000000 + number AS id,
      toDecimal64('1234567.5', 2) AS spend FROM numbers(3)`;
    await c.open(`/sql?statement=${encodeURIComponent(statement)}`);
    const table = c.page.getByRole('table', { name: 'Result' });
    await table.getByText('1000002').waitFor();
    expect((await table.textContent())?.replaceAll('1,234,567.5', '')).not.to.contain(',');
    await table.getByText('1,234,567.5').first().waitFor();
    const days = [...(await readChart('year')).keys()];
    expect(days).to.have.length(25);
  });

  it('keeps a long statement in the address, also through a reload', async () => {
    const statement = `SELECT '${'é'.repeat(3000)}' AS text`;
    await c.open('/sql');
    await c.page.getByLabel('Statement').fill(statement);
    await c.page.getByRole('button', { name: 'Run' }).click();
    await c.page.getByRole('table', { name: 'Result' }).waitFor();
    await c.page.reload();
    await c.page.getByRole('table', { name: 'Result' }).waitFor();
    expect(await c.page.getByLabel('Statement').inputValue()).to.equal(statement);
  });

  it('saves every campaign of a page that is compared', async () => {
    await c.open('/advertising?compare=previous_month');
    await c.page.locator('.previous-key').waitFor();
    await c.page.locator('summary', { hasText: 'Export' }).click();
    await Promise.all([
      c.page.waitForEvent('download'),
      c.page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    await c.page.getByText(/^\d+ rows saved\.$/).waitFor();
  });

  it('counts what an export wrote', async () => {
    await c.open('/contacts');
    await c.page.getByRole('table', { name: 'Contacts' }).locator('tbody a').first().waitFor();
    const row = 'contact_id,name\r\na,"two\r\nlines, and ""quotes"""\r\n';
    await c.page.route('**/api/contacts/search', (route) =>
      route.fulfill({
        headers: { 'Content-Type': 'text/csv; end=count', 'X-Total-Count': '94' },
        body: `${row}# 1 rows, ${row.length} bytes\r\n`,
      }),
    );
    await c.page.locator('summary', { hasText: 'Export' }).click();
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      c.page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    await c.page.getByText('1 row saved. 94 rows matched when the export began.').waitFor();
    expect(readFileSync(await download.path(), 'utf8')).to.equal(row);
  });

  it('stops an export that sends nothing more, by a button and after two minutes', async () => {
    await c.page.addInitScript(`
      const send = window.fetch;
      window.fetch = (url, options) => {
        if (!String(options?.headers?.Accept).includes('csv')) return send(url, options);
        const body = new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('contact_id\\r\\na\\r\\n'));
            options.signal.addEventListener('abort', () => controller.error(options.signal.reason));
          },
        });
        return Promise.resolve(new Response(body, { headers: { 'X-Total-Count': '94' } }));
      };
    `);
    await c.open('/contacts');
    await c.page.getByRole('table', { name: 'Contacts' }).locator('tbody a').first().waitFor();
    await c.page.locator('summary', { hasText: 'Export' }).click();
    const csv = c.page.getByRole('button', { name: 'CSV', exact: true });
    await csv.click();
    await c.page.getByText('1 KiB of 94 rows').waitFor();
    await c.page.getByRole('button', { name: 'Stop' }).click();
    await c.page.getByText('Stopped. Nothing was saved.').waitFor();
    await c.page.clock.install();
    await csv.click();
    await c.page.getByText('1 KiB of 94 rows').waitFor();
    await c.page.clock.runFor(121_000);
    await c.page.getByText('The file ended too early, after 1 KiB. Nothing was saved.').waitFor();
  });

  it('asks once for a day that is typed, and once more for one that is picked', async () => {
    await c.open('/advertising');
    await c.page.locator('tbody td.figure').first().waitFor();
    const field = c.page.getByLabel('From', { exact: true });
    const length = () => c.page.evaluate('history.length') as Promise<number>;
    const before = await length();
    const asked: string[] = [];
    c.page.on('request', (request) => {
      if (request.url().includes('/advertising/')) asked.push(String(request.postDataJSON().start_date));
    });
    await field.focus();
    const [year, month, day] = daysAgo(20).split('-');
    await c.page.keyboard.type(`${month}${day}${year}`, { delay: 30 });
    await c.page.keyboard.press('Tab');
    await until(
      async () => new URL(c.page.url()).searchParams.get('start') === daysAgo(20),
      'the day is taken',
    );
    await until(() => asked.length > 0, 'the day is asked for');
    await c.page.waitForLoadState('networkidle');
    expect([...new Set(asked)]).to.deep.equal([daysAgo(20)]);
    expect(await length()).to.equal(before + 1);
    await field.fill(daysAgo(10));
    await until(async () => asked.at(-1) === daysAgo(10), 'the day that was picked is asked for');
  });

  it('drops a search that was typed when another table is chosen at once', async () => {
    await c.open('/advertising');
    await c.page.locator('tbody td.figure').first().waitFor();
    await c.page.getByRole('searchbox').fill('nothing has this name');
    await c.page.evaluate(
      `[...document.querySelectorAll('a')].find((a) => a.textContent === 'Companies').click()`,
    );
    await c.page.getByRole('table', { name: 'Companies' }).locator('tbody a').first().waitFor();
    await c.page.waitForTimeout(300);
    expect(new URL(c.page.url()).searchParams.get('query')).to.equal(null);
  });

  it('leads from a new contact to a new audience where there is none, and lists the contact at once', async () => {
    const key = await c.gateway.keyFor('org_first');
    await c.open('/contacts?new=true', key);
    const panel = c.page.getByRole('complementary', { name: 'New contact' });
    await panel.getByRole('link', { name: 'New audience' }).click();
    await c.page.getByRole('complementary', { name: 'New audience' }).getByLabel('Name').fill('First');
    await c.page.getByRole('button', { name: 'Create' }).click();
    await c.page.locator('.notice').getByText('The audience First was created.').waitFor();
    await c.page
      .getByRole('navigation', { name: 'Views' })
      .getByRole('link', { name: 'Contacts', exact: true })
      .click();
    await c.page.getByRole('link', { name: 'New contact' }).click();
    await panel.getByLabel('Audience').selectOption('First');
    await panel.getByLabel('First name').fill('Ada');
    await panel.getByLabel('Work email').fill('ada@first.example');
    await panel.getByRole('button', { name: 'Check' }).click();
    await panel.getByRole('button', { name: 'Create' }).click();
    await c.page
      .getByRole('table', { name: 'Contacts' })
      .getByRole('link', { name: 'Ada', exact: true })
      .waitFor();
  });

  it('edits each of several phones in a field of its own, and keeps the focus', async () => {
    const contact_id = 'demo_contact_0007';
    await c.read('/api/contacts/update', { contact_id, phones: ['+49 1, ext 5'] });
    await c.open(`/contacts?contact=${contact_id}`);
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('Phones, 2').fill('+49 2');
    await card.getByRole('button', { name: 'Save' }).press('Enter');
    await c.page.locator('.notice').getByText('was saved').waitFor();
    const { contact } = await c.read<{ contact: { phones: string[] } }>('/api/contacts/get', { contact_id });
    expect(contact.phones).to.deep.equal(['+49 1, ext 5', '+49 2']);
    const focused = () => c.page.evaluate('document.activeElement.textContent') as Promise<string>;
    await until(async () => (await focused()) === 'Edit', 'the focus is where the form was opened from');
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('Phones, 2').fill('+49 3');
    // Another client writes first.
    await c.read('/api/contacts/update', { contact_id, job_title: 'Somebody else wrote this' });
    await card.getByRole('button', { name: 'Save' }).press('Enter');
    await c.page.locator('.notice').getByText('Somebody else changed it meanwhile').waitFor();
    expect(await c.page.locator('.notice').textContent()).not.to.contain('if_updated_at');
    await until(async () => (await focused()) === 'Save', 'the focus stays in the form');
    c.forgetFailedRequests();
  });

  it('finds campaigns that wait for their deletion', async () => {
    await c.open('/advertising');
    await c.page.locator('summary', { hasText: '+ Filter' }).click();
    await c.page.getByRole('button', { name: 'Pending deletion' }).click();
    await c.page.getByRole('table', { name: 'Campaigns' }).getByText('Hiring – data team').waitFor();
  });

  it('shows words of a thousand letters inside the panel', async () => {
    const contact_id = 'demo_contact_0008';
    const word = 'x'.repeat(100);
    await c.read('/api/contacts/update', {
      contact_id,
      job_title: word,
      company_name: word,
      first_name: word,
    });
    await c.open(`/contacts?contact=${contact_id}`);
    await c.page.getByRole('complementary').getByRole('heading', { name: word }).waitFor();
    expect(await c.page.evaluate(`document.querySelector('.panel').getBoundingClientRect().width`)).to.equal(
      400,
    );
    expect(await c.page.evaluate('document.querySelector(".panel").scrollWidth')).to.be.at.most(400);
  });

  for (const [what, draw] of [
    ['prints every row that is loaded', () => c.page.pdf()],
    [
      'has every row that is loaded for a search of the browser',
      () => c.page.keyboard.press('ControlOrMeta+f'),
    ],
  ] as const)
    it(what, async () => {
      await c.open('/contacts');
      const rows = c.page.getByRole('table', { name: 'Contacts' }).locator('tbody a[href*=contact]');
      await rows.first().waitFor();
      const loaded = () =>
        c.page.evaluate(`[...document.querySelectorAll('main tbody tr')].length`) as Promise<number>;
      const last = c.page.getByRole('button', { name: /Load more|Loading/ });
      // The list is drawn in parts of 50 rows.
      const all = async () => 50 * (await c.page.locator('main tbody').count());
      while ((await all()) < 500) {
        await last.scrollIntoViewIfNeeded();
        await c.page.waitForTimeout(50);
      }
      await c.page.evaluate('scrollTo(0, 0)');
      await c.page.getByRole('button', { name: 'Load more' }).waitFor();
      await until(async () => (await loaded()) < 150, 'only the rows near to what is shown are drawn');
      const expected = await all();
      await draw();
      expect(await rows.count()).to.be.at.least(expected);
    });

  it('asks an overloaded server again only when it said that it would answer', async () => {
    await c.open('/status');
    await c.page.clock.install();
    let asked = 0;
    await c.page.route('**/api/audiences/search', (route) => {
      asked++;
      return route.fulfill({
        status: 429,
        headers: { 'Retry-After': '60' },
        body: JSON.stringify({ code: 'rate_limited', title: 'Too many requests' }),
      });
    });
    await c.page.getByRole('link', { name: 'Audiences', exact: true }).click();
    await alert().getByText('Trying again in 60 seconds.').waitFor();
    await c.page.clock.runFor(50_000);
    expect(asked).to.equal(1);
    const again = c.page.waitForResponse('**/api/audiences/search');
    await c.page.clock.runFor(11_000);
    await again;
    // The browser reports the error after the response.
    await c.page.waitForTimeout(200);
    c.forgetFailedRequests();
  });

  it('is no wider than a small phone where a file is chosen', async () => {
    await c.page.setViewportSize({ width: 320, height: 700 });
    await c.open('/import');
    await c.page.getByText('Drop a file here').waitFor();
    expect(await c.page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
  });

  it('takes no half intent, and says so', async () => {
    await c.open('/visits');
    await c.page.locator('summary', { hasText: '+ Filter' }).click();
    await c.page.getByLabel('Field').selectOption('Intent from');
    await c.page.getByRole('spinbutton', { name: 'Intent from' }).fill('5.5');
    await c.page.getByRole('button', { name: 'Apply' }).click();
    expect(
      await c.page
        .getByRole('spinbutton')
        .evaluate((field: never) => !(field as { checkValidity(): boolean }).checkValidity()),
    ).to.equal(true);
    await c.page.getByRole('spinbutton', { name: 'Intent from' }).fill('5');
    await c.page.getByRole('button', { name: 'Apply' }).click();
    await c.page.getByText('Intent from: 5').waitFor();
  });
});
