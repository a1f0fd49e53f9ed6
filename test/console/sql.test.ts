import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { daysAgo, useConsole } from './browser.js';

const [FROM, TO] = [daysAgo(25), daysAgo(6)];

describe('SQL in the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  // Nothing follows the contacts of a gateway of tests.
  before(() => c.gateway.stores.follower?.run());

  it('answers a question of the documentation as a table and as CSV, for the range that is chosen', async () => {
    await c.open(`/sql?start=${FROM}&end=${TO}`);
    const question = c.page.getByLabel('Question');
    await question.locator('option').nth(20).waitFor({ state: 'attached' });
    expect(await question.locator('option').count()).to.equal(22);
    const [request] = await Promise.all([
      c.page.waitForRequest('**/api/sql'),
      question.selectOption('What was spent per week and currency?'),
    ]);
    const body = request.postDataJSON() as { parameters: object };
    expect(body.parameters).to.deep.equal({ from: FROM, to: TO });
    const { rows } = await c.read<{ rows: string[][] }>('/api/sql', body);
    const table = c.page.getByRole('table', { name: 'Result' });
    await table.locator('tbody tr').first().waitFor();
    expect(await table.locator('thead th').allTextContents()).to.deep.equal([
      'week',
      'currency',
      'spend',
      'leads',
    ]);
    expect(await table.locator('tbody td:nth-child(3)').allTextContents()).to.deep.equal(
      rows.map(([, , spend = '']) => spend.replace(/\B(?=(\d{3})+\.)/g, ',')),
    );
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      c.page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    const saved = parse(readFileSync(await download.path()), { from_line: 2 }) as string[][];
    expect(saved).to.deep.equal(rows.map((row) => row.map(String)));
  });

  it('runs a statement by keys, keeps it in the address, and says what is wrong with one', async () => {
    await c.open('/sql');
    const statement = c.page.getByLabel('Statement');
    await statement.fill('SELECT count() AS people FROM contacts');
    await statement.press('ControlOrMeta+Enter');
    const { total_count } = await c.read<{ total_count: number }>('/api/contacts/search', { limit: 1 });
    await c.page.getByRole('cell', { name: String(total_count), exact: true }).waitFor();
    await c.page.reload();
    await c.page.getByRole('cell', { name: String(total_count), exact: true }).waitFor();
    await statement.fill('DROP TABLE contacts');
    await c.page.getByRole('button', { name: 'Run' }).click();
    await c.page.getByRole('alert').getByText('readonly').waitFor();
    c.forgetFailedRequests();
  });

  it('runs no statement again after something was written', async () => {
    await c.open('/contacts');
    await c.page.locator('tbody a').first().click();
    await c.page.getByRole('button', { name: 'Delete', exact: true }).click();
    await c.page.getByRole('button', { name: 'Delete the contact' }).click();
    await c.page.getByText('was deleted.').waitFor();
    await c.page.getByText('Operate', { exact: true }).click();
    await c.page.getByRole('link', { name: 'SQL', exact: true }).click();
    let statements = 0;
    c.page.on('request', (request) => {
      if (request.url().endsWith('/api/sql')) statements++;
    });
    await c.page.getByLabel('Statement').fill('SELECT 41 + 1 AS answer');
    await c.page.getByRole('button', { name: 'Run' }).click();
    await c.page.getByRole('cell', { name: '42', exact: true }).waitFor();
    await c.page.getByRole('heading', { name: 'SQL' }).click();
    await c.page.keyboard.press('ControlOrMeta+z');
    await c.page.getByText('is back.').waitFor();
    await c.page.waitForLoadState('networkidle');
    expect(statements).to.equal(1);
  });

  it('draws lines of a result by day, one of each name, and bars of a result by name', async () => {
    const ask = async (statement: string) => {
      await c.page.getByLabel('Statement').fill(statement);
      await c.page.getByLabel('Statement').press('ControlOrMeta+Enter');
    };
    await c.open(`/sql?start=${FROM}&end=${TO}`);
    await ask(`SELECT date, currency, sum(ad_spend) AS spend, sum(clicks) AS clicks
      FROM campaign_daily INNER JOIN campaigns USING (organization_id, campaign_id)
      WHERE date BETWEEN {from:Date} AND {to:Date} GROUP BY date, currency ORDER BY date DESC`);
    await c.page.locator('.chart canvas').nth(3).waitFor();
    expect(new Set(await c.page.locator('.chart strong').allTextContents())).to.deep.equal(
      new Set(['spend, EUR', 'spend, USD', 'clicks, EUR', 'clicks, USD']),
    );
    // The days ascend whatever the order of the rows.
    const chart = c.page.locator('.chart', { hasText: 'clicks, USD' });
    const { rows } = await c.read<{ rows: [string][] }>('/api/sql', {
      statement: `SELECT sum(clicks) FROM campaign_daily INNER JOIN campaigns USING (organization_id, campaign_id)
        WHERE date = '${FROM}' AND currency = 'USD'`,
    });
    await chart.locator('.u-over').hover({ position: { x: 8, y: 40 } });
    await chart.getByText(`${FROM}: ${Number(rows[0]?.[0]).toLocaleString('en')}`).waitFor();

    await ask('SELECT country, count() AS people FROM contacts GROUP BY country ORDER BY people DESC');
    const bars = c.page.getByRole('list', { name: 'people' }).getByRole('listitem');
    const cells = c.page.getByRole('table', { name: 'Result' }).locator('tbody tr:nth-child(-n + 10)');
    await bars.first().waitFor();
    expect(await bars.allTextContents()).to.deep.equal(await cells.allTextContents());
    await c.page.getByText(/^The first 10 of \d+ rows\.$/).waitFor();
    await c.expectAccessible();

    // Losses are drawn to the left of the point where gains begin.
    await ask("SELECT arrayJoin(['up', 'down']) AS name, if(name = 'up', 3, -1) AS change");
    const rects = c.page.getByRole('list', { name: 'change' }).locator('rect');
    await rects.first().waitFor();
    const places = await rects.evaluateAll((all) =>
      all.map((rect) => [rect.getAttribute('x'), rect.getAttribute('width')]),
    );
    expect(places).to.deep.equal([
      ['25', '75'],
      ['0', '25'],
    ]);

    for (const statement of [
      "SELECT 'one', 1",
      'SELECT number, number FROM numbers(3)',
      "SELECT 'same', number FROM numbers(3)",
    ]) {
      await ask(statement);
      await c.page.getByRole('table', { name: 'Result' }).getByRole('columnheader').nth(1).waitFor();
      await c.page.locator('.chart').first().waitFor({ state: 'detached' });
    }
  });

  it('leads from an id to its page, also from that of the network, which says where a range has no figures', async () => {
    const statement =
      'SELECT company_id, name, network_a_company_id FROM companies ORDER BY company_id LIMIT 1';
    await c.open(`/sql?statement=${encodeURIComponent(statement)}`);
    const cells = c.page.getByRole('table', { name: 'Result' }).locator('tbody td');
    const name = (await cells.nth(1).textContent()) ?? '';
    await cells.nth(2).getByRole('link').click();
    await c.page.getByRole('heading', { name, level: 1 }).waitFor();
    await c.page.goto(`${c.page.url()}&start=2020-01-01&end=2020-01-31`);
    await c.page.getByText('It has no figures in this range.').waitFor();
  });

  it('saves lists, tuples and maps as CSV, and numbers below zero as numbers', async () => {
    const statement =
      "SELECT [[1], [2, 3]] AS l, map('a', (1, 'x')) AS m, toDecimal32(-1.5, 1) AS d, '-1+1' AS f";
    await c.open(`/sql?statement=${encodeURIComponent(statement)}`);
    await c.page.getByRole('table', { name: 'Result' }).waitFor();
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      c.page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(parse(readFileSync(await download.path()))[1]).to.deep.equal([
      '[1];[2,3]',
      '{"a":[1,"x"]}',
      '-1.5',
      "'-1+1",
    ]);
  });

  it('runs a statement that took too long again only when it is told to', async () => {
    let asked = 0;
    const body = JSON.stringify({ code: 'timeout', title: 'The request took too long' });
    await c.page.route('**/api/sql', (route) => {
      asked++;
      return route.fulfill({ status: 504, body });
    });
    await c.page.clock.install();
    await c.open('/sql?statement=SELECT+1');
    await c.page.getByRole('button', { name: 'Retry' }).waitFor();
    await c.page.clock.runFor(60_000);
    await c.page.waitForTimeout(300);
    expect(asked).to.equal(1);
    c.forgetFailedRequests();
  });
});
