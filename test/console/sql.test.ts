import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { useConsole } from './browser.js';

describe('SQL in the console', function () {
  this.timeout(60_000);
  const c = useConsole();

  it('answers a question of the documentation as a table and as CSV, for the range that is chosen', async () => {
    await c.open('/sql?start=2026-11-01&end=2026-11-10');
    const question = c.page.getByLabel('Question');
    await question.locator('option').nth(20).waitFor({ state: 'attached' });
    expect(await question.locator('option').count()).to.equal(21);
    const [request] = await Promise.all([
      c.page.waitForRequest('**/api/sql'),
      question.selectOption('What was spent per week and currency?'),
    ]);
    const body = request.postDataJSON() as { parameters: object };
    expect(body.parameters).to.deep.equal({ from: '2026-11-01', to: '2026-11-10' });
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
      rows.map(([, , spend]) => spend),
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
    await c.page.getByRole('cell', { name: total_count.toLocaleString('en'), exact: true }).waitFor();
    await c.page.reload();
    await c.page.getByRole('cell', { name: total_count.toLocaleString('en'), exact: true }).waitFor();
    await statement.fill('DROP TABLE contacts');
    await c.page.getByRole('button', { name: 'Run' }).click();
    await c.page.getByRole('alert').getByText('readonly').waitFor();
    c.forgetFailedRequests();
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
