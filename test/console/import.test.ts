import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { useConsole } from './browser.js';

const HEADER =
  'Record ID,First Name,Last Name,Email,Phone Number,Job Title,Company Name,Website URL,City,Country/Region,Create Date,Notes';

/** An export of HubSpot whose dates, but for the first, do not say whether the day or the month comes first; every 250th email is none. */
const hubspotExport = (rows: number, firstDate = '05/10/2024') =>
  [
    HEADER,
    ...Array.from({ length: rows }, (_, number) => {
      const email = number % 250 === 249 ? 'nobody' : `ada${number}@acme.example`;
      return `${number + 1},Ada,Number${number},${email},,Analyst,"Acme, Inc.",https://www.acme.example/en,London,United Kingdom,${number === 0 ? firstDate : '05/10/2024'},"two
lines, ""quoted"""`;
    }),
  ].join('\r\n');

describe('Importing a file in the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  const choose = async (name: string, text: string) => {
    const buffer = Buffer.from(text);
    await c.page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
  };

  it('leads from an empty organization to the contacts of a HubSpot export', async () => {
    await c.open('/contacts', await c.gateway.keyFor('org_hubspot'));
    await c.page.getByRole('link', { name: 'Import a file' }).click();
    const dataTransfer = await c.page.evaluateHandle(
      `(() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([${JSON.stringify(hubspotExport(1004))}], 'hubspot-crm-exports.csv'));
        return transfer;
      })()`,
    );
    await c.page.locator('.drop').dispatchEvent('drop', { dataTransfer });
    await c.page.getByRole('heading', { name: 'Which comes first in dates?' }).waitFor();
    await c.page.getByText('2024-10-05 with the day first, and 2024-05-10 with the month first').waitFor();
    await c.page.getByRole('button', { name: 'The day comes first' }).click();
    const preview = c.page.getByRole('region', { name: 'Preview' });
    await preview.getByText('Recognized as hubspot/contacts.').waitFor();
    await preview.getByText('1,000 rows').first().waitFor();
    await preview.getByText('Left out: Notes.').waitFor();
    const first = preview.getByRole('table', { name: 'Rejected rows' }).getByRole('row').nth(1);
    // The notes of each row have two lines.
    expect(await first.getByRole('cell').allTextContents()).to.deep.equal([
      '500',
      'Email',
      'Must be an email address.',
    ]);
    await c.expectAccessible();
    const becomes = preview.getByRole('table', { name: 'First rows' }).getByRole('row').nth(1);
    await becomes.getByText('acme.example', { exact: true }).waitFor();
    await becomes.getByText(/^2024-10-05/).waitFor();
    c.forgetFailedRequests();
    await preview.getByRole('button', { name: 'Load 1,000 rows' }).click();
    const result = c.page.getByRole('region', { name: 'Result' });
    await result.getByRole('heading', { name: '1,000 contacts loaded, 4 rejected' }).waitFor();
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      result.getByRole('button', { name: 'Download 4 rejected rows' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('hubspot-crm-exports-rejected.csv');
    const rejected = parse(readFileSync(await download.path()), { columns: true }) as Record<
      string,
      string
    >[];
    expect(rejected.map((row) => row['Record ID'])).to.deep.equal(['250', '500', '750', '1000']);
    expect(rejected[0]).to.include({ Email: 'nobody', Notes: 'two\nlines, "quoted"' });
    expect(rejected[0]?.['rejected because']).to.equal('Email: Must be an email address.');
    await result.getByRole('link', { name: 'Show contacts' }).click();
    await c.page.locator('output.total', { hasText: '1,000 contacts' }).waitFor();
  });

  it('asks where a later part leaves open what the first one settled, and goes on from there', async () => {
    await c.open('/import', await c.gateway.keyFor('org_parts'));
    await choose('parts.csv', hubspotExport(5004, '25/10/2024'));
    const preview = c.page.getByRole('region', { name: 'Preview' });
    await preview.getByRole('button', { name: /^Load / }).click();
    await c.page.getByRole('heading', { name: 'Which comes first in dates?' }).waitFor();
    c.forgetFailedRequests();
    await c.page.getByRole('button', { name: 'The day comes first' }).click();
    const result = c.page.getByRole('region', { name: 'Result' });
    await result.getByRole('heading', { name: '4,984 contacts loaded, 20 rejected' }).waitFor();
    const { body } = await c.gateway.call(
      '/api/contacts/search',
      { organization_id: 'org_parts', query: 'number5003' },
      { key: await c.gateway.keyFor('org_parts') },
    );
    expect(body).to.nested.include({ total_count: 1, 'contacts[0].created_at': '2024-10-05T00:00:00.000Z' });
  });

  it('lists rejected rows beyond those of one response, and loads a large file in parts', async () => {
    const key = await c.gateway.keyFor('org_large');
    await c.open('/import', key);
    const rows = Array.from({ length: 11_000 }, (_, n) =>
      JSON.stringify(n % 20 === 0 ? { contact_id: '' } : { contact_id: `large_${n}`, last_name: 'Large' }),
    );
    await choose('large.ndjson', rows.join('\n'));
    await c.page.getByText('550 would be rejected').waitFor();
    c.forgetFailedRequests();
    await c.page.getByRole('button', { name: 'Load 10,450 rows' }).click();
    await c.page.getByRole('heading', { name: '10,450 contacts loaded, 550 rejected' }).waitFor();
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      c.page.getByRole('button', { name: 'Download 550 rejected rows' }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).to.equal('{"contact_id":""}\n'.repeat(550));
  });

  it('goes on where the server was away', async () => {
    const key = await c.gateway.keyFor('org_interrupted');
    await c.open('/import', key);
    const rows = Array.from({ length: 6000 }, (_, n) => JSON.stringify({ contact_id: `row_${n}` }));
    await choose('rows.jsonl', rows.join('\n'));
    await c.page.getByRole('button', { name: 'Load 6,000 rows' }).waitFor();
    await c.page.route('**/api/ingest/**', (route) =>
      (route.request().postData() ?? '').includes('"row_5999"') ? route.abort() : route.continue(),
    );
    await c.page.getByRole('button', { name: 'Load 6,000 rows' }).click();
    await c.page.getByText('Stopped: 5,000 accepted, 0 rejected.').waitFor();
    await c.page.unroute('**/api/ingest/**');
    c.forgetFailedRequests();
    await c.page.getByRole('button', { name: 'Continue' }).click();
    await c.page.getByRole('heading', { name: '6,000 contacts loaded' }).waitFor();
  });

  it('says what is wrong with a file that it cannot read', async () => {
    await c.open('/import');
    await choose('people.xlsx', 'PK');
    await c.page.getByRole('alert').getByText('Save it as CSV in UTF-8').waitFor();
    await choose('people.csv', '');
    await c.page.getByRole('alert').getByText('The file is empty.').waitFor();
  });
});
