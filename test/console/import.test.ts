import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { useConsole } from './browser.js';

/** Saves a picture of each step if a folder is named. */
const PICTURES = process.env.TEST_PICTURES;

const HEADER =
  'Record ID,First Name,Last Name,Email,Phone Number,Job Title,Company Name,Website URL,City,Country/Region,Create Date,Notes';

/** An export of HubSpot in which only the first date shows whether the day or the month comes first; every 250th email is invalid. */
const hubspotExport = (rows: number, firstDate = '05/10/2024') =>
  [
    HEADER,
    ...Array.from({ length: rows }, (_, number) => {
      const email = number % 250 === 249 ? 'nobody@@acme' : `ada${number}@acme.example`;
      return `${number + 1},Ada,Number${number},${email},,Analyst,"Acme, Inc.",https://www.acme.example/en,London,United Kingdom,${number === 0 ? firstDate : '05/10/2024'},"two
lines, ""quoted"""`;
    }),
  ].join('\r\n');

describe('Importing a file in the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  const choose = async (name: string, text: string | Buffer) => {
    const buffer = Buffer.from(text);
    await c.page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
  };
  const preview = () => c.page.getByRole('region', { name: 'Preview' });
  const result = () => c.page.getByRole('region', { name: 'Result' });
  const load = async (button: string | RegExp) => {
    await preview().getByRole('button', { name: button }).click();
  };
  let pictures = 0;
  const picture = async (name: string) => {
    if (PICTURES === undefined) return;
    pictures++;
    await c.page.screenshot({ path: join(PICTURES, `${String(pictures).padStart(2, '0')}-${name}.png`) });
  };
  const contact = async (organization: string, contact_id: string) => {
    const key = await c.gateway.keyFor(organization);
    const { body } = await c.gateway.call(
      '/api/contacts/get',
      { organization_id: organization, contact_id },
      { key },
    );
    return body.contact as Record<string, unknown> | undefined;
  };

  it('is done by a marketer with six files and no terminal', async () => {
    const organization = 'org_story';
    await c.open('/import', await c.gateway.keyFor(organization));
    await picture('empty');

    // This file is an ordinary list.
    await choose(
      'customers.csv',
      'ID,First Name,Last Name,Email,Company,Country,Remark\n17,Ada,Lovelace,ada@acme.example,Acme,Germany,met in Bern\n18,Bo,Berg,bo@acme.example,Acme,Sweden,\n',
    );
    await preview().getByText('2 rows can be loaded').waitFor();
    await preview().getByText('This column is left out: Remark.').waitFor();
    await picture('ordinary-list');
    await c.expectAccessible();
    await load('Load 2 rows');
    await result().getByRole('heading', { name: '2 contacts loaded' }).waitFor();
    await picture('ordinary-list-loaded');
    expect(await contact(organization, '17')).to.include({ company_name: 'Acme', country: 'Germany' });

    // This file is a list of a fair: it has a title above the header, German names, dates with points.
    await c.page.getByRole('button', { name: 'Import another file' }).click();
    await choose(
      'messe.csv',
      'Kontakte Messe Köln;;;;\n\nVorname;Nachname;Firma;Ort;E-Mail\nJürgen;Groß;Müller GmbH;Köln;juergen@mueller.example\nZoë;Weiß;Café AG;Zürich;zoe@cafe.example\n',
    );
    await preview().getByText('2 rows can be loaded').waitFor();
    await picture('german-list');
    await load('Load 2 rows');
    await result().getByRole('heading', { name: '2 contacts loaded' }).waitFor();
    expect(await contact(organization, 'juergen_40mueller.example')).to.include({
      first_name: 'Jürgen',
      city: 'Köln',
    });

    // Registrations of a webinar: one name, and dates that can be read in two ways.
    await c.page.getByRole('button', { name: 'Import another file' }).click();
    await choose(
      'webinar.csv',
      'Full Name,Work Email,Created\nGrace Brewster Hopper,grace@navy.example,05/10/2026\n',
    );
    await c.page.getByRole('heading', { name: 'Which comes first in dates?' }).waitFor();
    await picture('question-dates');
    await c.expectAccessible();
    await c.page.getByRole('button', { name: 'The day comes first 2026-10-05' }).click();
    await preview().getByText('1 row can be loaded').waitFor();
    await load('Load 1 contact');
    await result().getByRole('heading', { name: '1 contact loaded' }).waitFor();
    expect(await contact(organization, 'grace_40navy.example')).to.include({
      last_name: 'Brewster Hopper',
      created_at: '2026-10-05T00:00:00.000Z',
    });

    // No preset knows the columns of this list.
    await c.page.getByRole('button', { name: 'Import another file' }).click();
    await choose('unusual.csv', 'Who,Firm,Handle\nAlan Turing,Bletchley,aturing\n');
    await c.page.getByRole('heading', { name: 'Which column is the contact id?' }).waitFor();
    await picture('question-columns');
    await c.expectAccessible();
    await c.page.getByLabel('Who').selectOption('Full name');
    await c.page.getByLabel('Firm').selectOption('Company name');
    await c.page.getByLabel('Handle').selectOption('Contact id');
    await c.page.getByRole('button', { name: 'Check again' }).click();
    await preview().getByText('1 row can be loaded').waitFor();
    await load('Load 1 contact');
    await result().getByRole('heading', { name: '1 contact loaded' }).waitFor();
    expect(await contact(organization, 'aturing')).to.include({
      first_name: 'Alan',
      company_name: 'Bletchley',
    });

    // A report of LinkedIn, which is not a list of contacts.
    await c.page.getByRole('button', { name: 'Import another file' }).click();
    const report = 'test/data/presets/linkedin-campaign-manager/ad_set_performance_report.csv';
    await choose('Account_ad_sets.csv', readFileSync(report));
    await c.page.getByRole('heading', { name: 'What should be loaded?' }).waitFor();
    await picture('question-report');
    await c.page.getByRole('button', { name: /^Deliveries/ }).click();
    await preview().getByText('2 rows can be loaded').waitFor();
    expect(await c.page.getByLabel('into').inputValue()).to.equal('network-a-deliveries');
    await picture('report');
    await load('Load 2 rows');
    await result().getByRole('heading', { name: '2 deliveries loaded' }).waitFor();

    // A table of rates, while the select still says deliveries.
    await c.page.getByRole('button', { name: 'Import another file' }).click();
    await choose('rates.csv', 'date,currency,per_eur\n2026-10-05,USD,1.1\n');
    await c.page.getByText('The file goes into Currency rates, not into Deliveries.').waitFor();
    await preview().getByText('1 row can be loaded').waitFor();
    expect(await c.page.getByLabel('into').inputValue()).to.equal('currency-rates');
    await picture('switched');
    await load('Load 1 rate');
    await result().getByRole('heading', { name: '1 rate loaded' }).waitFor();
    c.forgetFailedRequests();
  });

  it('reads a list that Excel of Windows wrote, and a workbook', async () => {
    const organization = 'org_excel';
    await c.open('/import', await c.gateway.keyFor(organization));
    const list = 'Prénom;Nom;E-mail\nZoë;Müller;zoe@cafe.example\n';
    await choose('liste.csv', Buffer.from(list, 'latin1'));
    await preview().getByText('it is read as windows-1252').waitFor();
    await preview().getByRole('cell', { name: 'Müller' }).waitFor();
    await picture('windows-1252');
    await load('Load 1 contact');
    await result().getByRole('heading', { name: '1 contact loaded' }).waitFor();
    expect(await contact(organization, 'zoe_40cafe.example')).to.include({ first_name: 'Zoë' });
    c.forgetFailedRequests();

    await c.page.getByRole('button', { name: 'Import another file' }).click();
    await choose('contacts.xlsx', readFileSync('test/data/files/contacts-openpyxl.xlsx'));
    await preview()
      .getByRole('button', { name: /^Load / })
      .waitFor();
    await preview().getByRole('button', { name: 'Choose columns and header' }).click();
    await picture('workbook');
    await c.expectAccessible();
    await load(/^Load /);
    await result()
      .getByRole('heading', { name: /loaded$/ })
      .waitFor();
    await picture('workbook-loaded');
  });

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
    await c.page.getByRole('button', { name: 'The day comes first 2024-10-05' }).click();
    await preview().getByText('1,000 rows').first().waitFor();
    await preview().getByText('This column is left out: Notes.').waitFor();
    const first = preview().getByRole('table', { name: 'Rejected rows' }).getByRole('row').nth(1);
    // The notes of each row have two lines.
    expect(await first.getByRole('cell').allTextContents()).to.deep.equal([
      '500',
      'Email',
      'Must be an email address.',
    ]);
    await picture('hubspot');
    await c.expectAccessible();
    const becomes = preview().getByRole('table', { name: 'First rows' }).getByRole('row').nth(1);
    await becomes.getByText('acme.example', { exact: true }).waitFor();
    await becomes.getByText(/^2024-10-05/).waitFor();
    await load('Load 1,000 rows');
    await result().getByRole('heading', { name: '1,000 contacts loaded, 4 rejected' }).waitFor();
    await picture('hubspot-loaded');
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      result().getByRole('button', { name: 'Download 4 rejected rows' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('hubspot-crm-exports-rejected.csv');
    const rejected = parse(readFileSync(await download.path()), { columns: true }) as Record<
      string,
      string
    >[];
    expect(rejected.map((row) => row['Record ID'])).to.deep.equal(['250', '500', '750', '1000']);
    expect(rejected[0]).to.include({ Email: 'nobody@@acme', Notes: 'two\nlines, "quoted"' });
    expect(rejected[0]?.['rejected because']).to.equal('Email: Must be an email address.');
    await result()
      .getByRole('link', { name: /^Show .* contacts$/ })
      .click();
    await c.page.locator('output.total', { hasText: '1,000 contacts' }).waitFor();
  });

  it('says who is there already, and changes, leaves out or creates these people', async () => {
    const organization = 'org_again';
    const key = await c.gateway.keyFor(organization);
    const known = [
      { contact_id: 'ada', last_name: 'Lovelace', work_emails: ['ada@acme.example'] },
      { contact_id: '18', work_emails: ['bo@acme.example'] },
      { contact_id: 'twin-1', work_emails: ['team@acme.example'] },
      { contact_id: 'twin-2', work_emails: ['team@acme.example'] },
    ];
    await c.gateway.ingest('contacts', known, { key });
    const list =
      'ID,First Name,Last Name,Email,City\n17,Ada,King,ADA@acme.example,London\n18,Bo,Berg,bo@acme.example,Bern\n19,Cy,New,cy@acme.example,Rome\n20,Di,Twin,team@acme.example,Oslo\n';
    await c.open('/import', key);
    await choose('crm.csv', list);
    await preview()
      .getByText(
        '4 rows can be loaded (1 new, 1 with an id that you have, 1 that you have (by email or profile), 1 that you have more than once)',
      )
      .waitFor();
    await preview().getByRole('row', { name: '2 Work emails: ada@acme.example ada' }).waitFor();
    await picture('people-there-already');
    await c.expectAccessible();
    const choice = preview().getByLabel('People that you have already');
    await choice.selectOption('Leave their rows out');
    await preview().getByRole('button', { name: 'Load 2 rows' }).waitFor();
    await choice.selectOption('Update them');
    await load('Load 3 rows');
    await result().getByRole('heading', { name: '3 contacts loaded, 1 rejected' }).waitFor();
    await result().getByText('1 row changed a person that you had already.').waitFor();
    expect(await contact(organization, 'ada')).to.include({ last_name: 'King', city: 'London' });
    expect(await contact(organization, '17')).to.equal(undefined);
  });

  it('adds a list to a new audience, shows the new contacts, and undoes the import', async () => {
    const organization = 'org_undone';
    const key = await c.gateway.keyFor(organization);
    await c.gateway.ingest('contacts', [{ contact_id: 'ada', work_emails: ['ada@acme.example'] }], { key });
    const accept = () => c.page.once('dialog', (dialog) => void dialog.accept());
    await c.open('/import', key);
    await choose(
      'Webinar März.csv',
      'ID,Last Name,Email\n17,King,ada@acme.example\n18,Berg,bo@acme.example\n19,New,cy@acme.example\n',
    );
    await preview().getByText('Add them to an audience').click();
    await c.page.getByLabel('Add to an audience, or name a new one').fill('Webinar guests');
    await c.page.getByRole('button', { name: 'New audience “Webinar guests”' }).click();
    await preview().getByText('The loaded contacts join Webinar guests.').waitFor();
    await picture('audience-chosen');
    await c.expectAccessible();
    await load('Load 3 rows');
    await result().getByText('All of them are in Webinar guests.').waitFor();
    await picture('imported');
    await c.expectAccessible();
    await result().getByRole('link', { name: 'Show 2 new contacts' }).click();
    await c.page.locator('output.total', { hasText: '2 contacts' }).waitFor();
    const { data_import_id, audience_ids } = (await contact(organization, '18')) as Record<string, string>;
    expect(data_import_id).to.match(/^Webinar-Marz-\d{4}-\d\d-\d\dT\d{4}-\w+$/);
    expect(await contact(organization, 'ada')).to.deep.include({ data_import_id: null, audience_ids });
    const change = { organization_id: organization, contact_id: '19', city: 'Rome' };
    await c.gateway.call('/api/contacts/update', change, { key });
    await c.page.getByRole('link', { name: 'Import', exact: true }).click();
    await c.page.getByRole('link', { name: 'Earlier imports' }).click();
    const row = c.page.getByRole('table', { name: 'Imports' }).getByRole('row').nth(1);
    await row.getByText(String(data_import_id)).waitFor();
    await picture('imports');
    await c.expectAccessible();
    accept();
    await row.getByRole('button', { name: /^Undo/ }).click();
    await c.page.getByText('1 contact deleted; 1 stays, because it was changed since.').waitFor();
    expect(await contact(organization, '18')).to.equal(undefined);
    expect(await contact(organization, '19')).to.include({ city: 'Rome' });
    expect(await contact(organization, 'ada')).to.include({ last_name: 'King' });
  });

  it('settles dates once for all rows, also of a file that a telling row ends', async () => {
    const organization = 'org_late';
    await c.open('/import', await c.gateway.keyFor(organization));
    const rows = Array.from({ length: 6000 }, (_, n) => `r${n},${n === 5500 ? '05/13/2026' : '05/06/2026'}`);
    await choose('many.csv', ['contact_id,created_at', ...rows].join('\n'));
    await load('Load 6,000 rows');
    await result().getByRole('heading', { name: '6,000 contacts loaded' }).waitFor();
    for (const id of ['r0', 'r5999']) {
      expect(await contact(organization, id)).to.include({ created_at: '2026-05-06T00:00:00.000Z' });
    }
  });

  it('hands back the rejected lines of a file of JSON', async () => {
    await c.open('/import', await c.gateway.keyFor('org_large'));
    const rows = Array.from({ length: 11_000 }, (_, n) =>
      JSON.stringify(n % 20 === 0 ? { contact_id: '' } : { contact_id: `large_${n}`, last_name: 'Large' }),
    );
    await choose('large.ndjson', rows.join('\n'));
    await c.page.getByText('550 would be rejected').waitFor();
    await load('Load 10,450 rows');
    await c.page.getByRole('heading', { name: '10,450 contacts loaded, 550 rejected' }).waitFor();
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      c.page.getByRole('button', { name: 'Download 550 rejected rows' }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).to.equal('{"contact_id":""}\n'.repeat(550));
  });

  it('is stopped by a person, and loads the file again without a second record', async () => {
    await c.open('/import', await c.gateway.keyFor('org_stopped'));
    const rows = Array.from({ length: 200 }, (_, n) => `{"contact_id":"s${n}"}`);
    await choose('rows.jsonl', rows.join('\n'));
    await preview().waitFor();
    // The response never comes.
    await c.page.route('**/api/ingest/contacts?*', () => undefined);
    await load('Load 200 rows');
    await c.page.getByRole('region', { name: 'Progress', exact: true }).waitFor();
    await picture('loading');
    await c.page.getByRole('button', { name: 'Stop' }).click();
    await result().getByText('Stopped after').waitFor();
    await picture('stopped');
    await c.page.unroute('**/api/ingest/contacts?*');
    await result().getByRole('button', { name: 'Load it again' }).click();
    await c.page.getByRole('heading', { name: '200 contacts loaded' }).waitFor();
    c.forgetFailedRequests();
  });

  it('says after five minutes in which nothing came that the server is away', async () => {
    await c.open('/import', await c.gateway.keyFor('org_silent'));
    await choose('rows.jsonl', '{"contact_id":"s1"}\n');
    await preview().waitFor();
    await c.page.route('**/api/ingest/contacts?*', () => undefined);
    await c.page.clock.install();
    await load('Load 1 contact');
    await c.page.getByRole('region', { name: 'Progress', exact: true }).waitFor();
    await c.page.clock.runFor(301_000);
    await c.page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    c.forgetFailedRequests();
  });

  it('says that a file has changed since it was checked, and loads nothing of it', async () => {
    await c.open('/import', await c.gateway.keyFor('org_changed'));
    const path = join(mkdtempSync(join(tmpdir(), 'import-')), 'list.csv');
    writeFileSync(path, 'contact_id,first_name\nc1,Ada\n');
    await c.page.locator('input[type=file]').setInputFiles(path);
    await preview().getByText('1 row can be loaded').waitFor();
    writeFileSync(path, 'first_name,contact_id\nc1,Ada\nc2,Bo\n');
    await load('Load 1 contact');
    await c.page.getByRole('alert').getByText('It was changed, moved or deleted').waitFor();
    expect(await contact('org_changed', 'c1')).to.equal(undefined);
    expect(await contact('org_changed', 'Ada')).to.equal(undefined);
    c.forgetFailedRequests();
  });

  it('shows hostile text of headers and cells as text', async () => {
    await c.open('/import', await c.gateway.keyFor('org_hostile_file'));
    const html = '<img src=x onerror="document.title=1">';
    const quoted = `"${html.replaceAll('"', '""')}"`;
    await choose(
      'hostile.csv',
      `Email,${quoted},"=cmd|' /C calc'!A0",${'x'.repeat(65_536)}\nada@acme.example,${quoted},"=1+1",${'y'.repeat(65_536)}\n`,
    );
    await preview().getByText('1 row can be loaded').waitFor();
    await preview().getByRole('button', { name: 'Choose columns and header' }).click();
    await c.page.getByLabel(html).selectOption('First name');
    await picture('hostile');
    await c.page.getByRole('button', { name: 'Check again' }).click();
    await preview().getByRole('cell', { name: html }).waitFor();
    expect(await c.page.title()).not.to.equal('1');
    expect(await c.page.locator('img[src=x]').count()).to.equal(0);
  });

  it('says what is wrong with a file that it cannot read', async () => {
    await c.open('/import');
    await choose('people.csv', '');
    await c.page.getByRole('alert').getByText('The file is empty').waitFor();
    c.forgetFailedRequests();
  });
});
