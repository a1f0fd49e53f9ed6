import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { useConsole } from './browser.js';

interface Found {
  contacts: { contact_id: string; country: string | null }[];
  total_count: number;
}

describe('Audiences and segments in the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  const notice = (text: string | RegExp) => c.page.locator('.notice').getByText(text).waitFor();
  const undo = () => c.page.getByRole('button', { name: 'Undo' }).click();
  const bar = () => c.page.getByRole('region', { name: 'Selection' });
  const rows = (table = 'Members') => c.page.getByRole('table', { name: table }).locator('tbody tr');
  const filter = () => c.page.locator('summary', { hasText: '+ Filter' });
  const values = (label: string) =>
    c.page.getByRole('list', { name: `Values of ${label}` }).getByRole('button');
  const search = (filters: object) => c.read<Found>('/api/contacts/search', { limit: 1000, ...filters });
  const counts = (total: number, one = 'contact') =>
    c.page
      .locator('output.total')
      .getByText(new RegExp(`^${total.toLocaleString('en')} ${one}s?$`))
      .waitFor();
  const focused = () => c.page.evaluate<string>('document.activeElement.textContent');

  for (const width of [1440, 390]) {
    it(`an audience is a page with search, filters, selection and undo, at ${width} pixels`, async () => {
      const audience_id = 'aud_engineers';
      const members = await search({ audience_id });
      await c.open(`/audiences?audience=${audience_id}`);
      await c.page.setViewportSize({ width, height: 800 });
      await c.page.waitForURL(`**/console/audiences/audience?audience=${audience_id}`);
      await c.page.getByRole('heading', { name: 'Engineers', level: 1 }).waitFor();
      await counts(members.total_count, 'member');
      await c.expectAccessible();
      await c.page.setViewportSize({ width, height: 800 });

      await filter().click();
      const country = values('Country').first();
      const name = (await country.locator('span').first().textContent()) ?? '';
      await country.click();
      const some = await search({ audience_id, country: name });
      expect(some.total_count).to.be.within(3, members.total_count - 1);
      await counts(some.total_count, 'member');

      for (const index of [0, 1]) await rows().nth(index).getByRole('checkbox').check();
      await bar().getByRole('button', { name: 'Remove from this audience' }).click();
      await notice('2 contacts removed from Engineers.');
      await counts(some.total_count - 2, 'member');
      await undo();
      await notice('2 contacts added to Engineers.');
      await counts(some.total_count, 'member');
      expect((await search({ audience_id })).total_count).to.equal(members.total_count);

      await c.page.getByRole('searchbox').fill('nobodyatall');
      await c.page.getByText('No contacts match.').waitFor();
      await c.page.getByRole('button', { name: 'Clear the filters' }).click();
      await counts(members.total_count, 'member');
      await c.page.getByRole('link', { name: 'New contact' }).click();
      const form = c.page.getByRole('complementary', { name: 'New contact' });
      await form.getByRole('option', { name: 'Engineers' }).waitFor({ state: 'attached' });
      expect(await form.getByLabel('Audience').inputValue()).to.equal(audience_id);
    });
  }

  it('saves the members, and the lists that the network takes', async () => {
    const { total_count } = await search({ audience_id: 'aud_customers' });
    await c.open('/audiences/audience?audience=aud_customers');
    await counts(total_count, 'member');
    await c.page.locator('summary', { hasText: 'Export' }).click();
    const save = async (name: string) => {
      const [download] = await Promise.all([
        c.page.waitForEvent('download'),
        c.page.getByRole('button', { name, exact: true }).click(),
      ]);
      const records = parse(readFileSync(await download.path()), { columns: true, bom: true }) as Record<
        string,
        string
      >[];
      return { file: download.suggestedFilename(), records };
    };
    const members = await save('CSV');
    expect(members.file).to.equal('Customers.csv');
    expect(members.records).to.have.lengthOf(total_count);
    const people = await save('People');
    expect(people.file).to.equal('Customers-network-a-contacts.csv');
    expect(people.records.length).to.be.above(0);
    for (const { email, firstname } of people.records)
      expect(email === '' ? firstname : email).to.match(email === '' ? /./ : /^[0-9a-f]{64}$/);
    const companies = await save('Companies');
    const domains = companies.records.map(({ companywebsite }) => companywebsite);
    expect(new Set(domains).size).to.equal(domains.length);
    expect(domains).to.have.length.within(1, total_count);
  });

  it('Enter creates the audience that was typed, picks the one with that name, and no other', async () => {
    const add = async (name: string) => {
      await c.page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).check();
      await bar().getByText('Add to audience').click();
      await bar().getByLabel('Add to an audience').fill(name);
      await bar().getByLabel('Add to an audience').press('Enter');
    };
    await c.read('/api/audiences/create', { id: 'aud_treasury', name: 'Treasury heads' });
    await c.open('/contacts?job_title=marketing&country=FR');
    await rows('Contacts').first().waitFor();
    await add('Treasury');
    await notice(/^Audience created: \d+ contacts? added to Treasury\.$/);
    expect((await search({ audience_id: 'aud_treasury' })).total_count).to.equal(0);
    await undo();
    await notice('The audience Treasury was deleted.');
    await add('treasury HEADS');
    await notice(/^\d+ contacts? added to Treasury heads\.$/);
    await add('newsletter');
    await notice(/Newsletter/);
    // In a list that creates nothing, a part of a name picks nothing.
    await c.page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).check();
    await bar().getByText('Remove from audience').click();
    const answered = c.page.waitForResponse((response) =>
      (response.request().postData() ?? '').includes('"query":"treasur"'),
    );
    await bar().getByLabel('Remove from an audience').fill('treasur');
    await bar().getByLabel('Remove from an audience').press('Enter');
    await answered;
    await bar().getByRole('button', { name: 'Remove from Treasury heads' }).waitFor();
    expect(await bar().getByLabel('Remove from an audience').inputValue()).to.equal('treasur');
  });

  it('filters by audience and by its absence, and Apply takes what was clicked', async () => {
    await c.open('/contacts');
    const [customers, engineers] = ['aud_customers', 'aud_engineers'];
    await filter().click();
    await c.page.getByLabel('Field').selectOption('Audience');
    await c.page.getByLabel('Audience', { exact: true }).fill('custom');
    const offer = values('Audience').filter({ hasText: 'Customers' });
    const members = await search({ audience_id: customers });
    expect(await offer.textContent()).to.contain(members.total_count.toLocaleString('en'));
    // A part of a name is not applied.
    expect(await c.page.getByRole('button', { name: 'Apply' }).isDisabled()).to.equal(true);
    await c.page.getByLabel('Audience', { exact: true }).fill('customers');
    await c.page.getByRole('button', { name: 'Apply' }).click();
    await counts(members.total_count);
    const chips = c.page.getByRole('list', { name: 'Filters in force' }).getByRole('listitem');
    await chips.getByText('Audience: Customers').waitFor();

    await filter().click();
    await c.page.getByLabel('Field').selectOption('Audience');
    await c.page.getByLabel('Condition').selectOption('is not');
    await values('Audience').filter({ hasText: 'Engineers' }).click();
    const apart = { audience_id: customers, none_of: [{ audience_id: engineers }] };
    const { total_count } = await search(apart);
    expect(total_count).to.be.within(1, members.total_count - 1);
    await counts(total_count);
    await c.expectAccessible();
    await c.page.getByRole('button', { name: 'Apply' }).click();
    await c.page.getByRole('list', { name: 'Values of Audience' }).waitFor({ state: 'detached' });
    await chips.getByText('Audience is not: Engineers').waitFor();

    // Members of one audience who are in another.
    await c.page.goto(`${c.gateway.url}/console/audiences/audience?audience=${customers}`);
    await filter().click();
    await c.page.getByLabel('Field').selectOption('Audience');
    await values('Audience').filter({ hasText: 'Engineers' }).click();
    await counts(
      (await search({ audience_id: customers, any_of: [{ audience_id: engineers }] })).total_count,
      'member',
    );
    await chips.getByText('Audience: Engineers').waitFor();
    expect(await chips.count()).to.equal(1);
  });

  it('keeps the focus in the bar after everything that matches was selected by keys', async () => {
    await c.open('/contacts');
    await rows('Contacts').first().waitFor();
    await c.page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).check();
    await c.page.keyboard.press('a');
    expect(await focused()).to.match(/^Select all/);
    await c.page.keyboard.press('Enter');
    await bar().getByRole('button', { name: 'Select all' }).waitFor({ state: 'detached' });
    await c.page.locator('.selection :focus').waitFor();
    expect(await focused()).to.equal('Add to audience');
  });

  it('shares saved filters with colleagues, also those that the browser kept, and replaces none', async () => {
    const colleague = await c.gateway.keyFor(DEMO_ORGANIZATION, ['contacts:read']);
    const saved = () => c.page.locator('summary').getByText('Saved', { exact: true });
    const address =
      '/contacts?sort=name&country=Germany%0AJapan&not.seniority=manager&has=phones&created_after=2020-01-31';
    await c.open(address);
    // As the browser kept them before.
    const kept = [
      { name: 'Old one', path: '/contacts', search: 'query=vp&not.country=France' },
      { name: 'Of visits', path: '/visits', search: 'has_recording=false' },
    ];
    await c.page.evaluate(
      `localStorage.setItem('reachline.filters.${DEMO_ORGANIZATION}', ${JSON.stringify(JSON.stringify(kept))})`,
    );
    // A colleague has saved another filter of the name, and another browser has shared one under the next name.
    const save = (name: string, contacts: object) =>
      c.gateway.call('/api/filters/save', { name, contacts }, { key: c.key });
    await saved().click();
    const share = c.page.getByRole('button', { name: 'Share Old one' });
    await share.waitFor();
    await save('Old one', { country: 'DE' });
    await save('Old one (2)', { country: 'AT' });
    await share.click();
    await notice('The filter Old one (3) was saved for everybody in the organization.');
    await c.page.getByRole('link', { name: 'Old one (3)' }).waitFor();
    await share.waitFor({ state: 'detached' });
    await undo();
    await notice('The filter Old one (3) was deleted for everybody in the organization.');
    await saved().click();
    await share.click();
    await notice('The filter Old one (3) was saved for everybody in the organization.');
    const shared = await c.read<{ filters: { name: string; contacts: object }[] }>('/api/filters/list', {
      view: 'contacts',
    });
    const contactsOf = (name: string) => shared.filters.find((filter) => filter.name === name)?.contacts;
    expect(contactsOf('Old one')).to.deep.equal({ country: 'DE' });
    expect(contactsOf('Old one (2)')).to.deep.equal({ country: 'AT' });
    c.forgetFailedRequests();
    await c.page.getByLabel('Name of the filters').fill('Germans and Japanese');
    await c.page.getByRole('button', { name: 'Save these filters' }).click();
    await notice('The filter Germans and Japanese was saved for everybody in the organization.');
    await c.page.getByRole('link', { name: 'Germans and Japanese' }).waitFor();
    await c.expectAccessible();
    const left = await c.page.evaluate<string>(
      `localStorage.getItem('reachline.filters.${DEMO_ORGANIZATION}')`,
    );
    expect(JSON.parse(left)).to.deep.equal([kept[1]]);

    const other = await c.context.newPage();
    await other.goto(`${c.gateway.url}/console/contacts#key=${colleague}`);
    await other.getByRole('button', { name: 'Use the key of the link' }).click();
    await other.locator('summary').getByText('Saved', { exact: true }).click();
    expect(await other.getByRole('button', { name: 'Save these filters' }).isDisabled()).to.equal(true);
    await other.getByRole('link', { name: 'Germans and Japanese' }).click();
    await other.waitForURL(`${c.gateway.url}/console${address}`);
    await other.goto(`${c.gateway.url}/console/contacts`);
    await other.locator('summary').getByText('Saved', { exact: true }).click();
    await other.getByRole('link', { name: 'Old one (3)' }).click();
    await other.waitForURL(`${c.gateway.url}/console/contacts?query=vp&not.country=France`);
  });

  it('shows without a link a saved filter that it would open as another one', async () => {
    const save = (name: string, contacts: object) =>
      c.gateway.call('/api/filters/save', { name, contacts }, { key: c.key });
    const pair = (country: string, job_title: string) => ({ country, job_title });
    const beyond: Record<string, object> = {
      'By name': { country: 'DE', last_name: 'Smith' },
      'By hour': { created_after: '2026-01-01T12:30:00Z' },
      'Two pairs': { any_of: [pair('DE', 'marketing'), pair('FR', 'sales')] },
      'Not the pair': { none_of: [pair('DE', 'marketing')] },
      'Known at a company': { company_domains: ['acme.example'] },
      'By change': { sort_by: 'updated_at', sort_direction: 'asc' },
    };
    const shown: Record<string, object> = {
      'All of four': {
        any_of: ['DE', 'FR'].flatMap((country) => ['cto', 'vp'].map((job) => pair(country, job))),
      },
      'Within days': { created_after: '2026-01-01T00:00:00Z', none_of: [{ country: 'DE' }] },
    };
    for (const [name, filter] of Object.entries({ ...beyond, ...shown }))
      expect((await save(name, filter)).status, name).to.equal(200);
    await c.open('/contacts');
    await c.page.locator('summary').getByText('Saved', { exact: true }).click();
    await c.page.getByText('Within days').waitFor();
    await c.expectAccessible();
    for (const name of Object.keys(shown))
      expect(await c.page.getByRole('link', { name, exact: true }).count(), name).to.equal(1);
    for (const name of Object.keys(beyond)) {
      expect(await c.page.getByRole('link', { name }).count(), name).to.equal(0);
      const item = c.page.getByRole('listitem').filter({ hasText: name });
      expect(await item.textContent()).to.contain('the console cannot show it');
      expect(await item.getByRole('button', { name: `Forget ${name}` }).count()).to.equal(1);
    }
  });

  it('lists filters that stay in the browser, and sends none without being asked', async () => {
    const filters = [{ name: 'Of Ada', path: '/contacts', search: 'email=ada%40acme.example' }];
    const storage = `reachline.filters.${DEMO_ORGANIZATION}`;
    await c.open('/contacts');
    await c.page.evaluate(`localStorage.setItem('${storage}', ${JSON.stringify(JSON.stringify(filters))})`);
    const saves: string[] = [];
    c.page.on('request', (request) => {
      if (request.url().endsWith('/api/filters/save')) saves.push(request.url());
    });
    const saved = () => c.page.locator('summary').getByText('Saved', { exact: true });
    await saved().click();
    await c.page.getByRole('button', { name: 'Share Of Ada' }).click();
    await notice(/names no person/);
    c.forgetFailedRequests();
    expect(saves).to.have.lengthOf(1);
    await c.page.reload();
    await saved().click();
    const link = c.page.getByRole('link', { name: 'Of Ada' });
    expect(await link.getAttribute('href')).to.equal('/console/contacts?email=ada%40acme.example');
    await c.expectAccessible();
    await c.page.getByRole('button', { name: 'Forget Of Ada in this browser' }).click();
    await notice('The filter Of Ada was removed from this browser.');
    await link.waitFor({ state: 'detached' });
    await undo();
    await notice('The filter Of Ada is as before.');
    await saved().click();
    await link.waitFor();
    expect(saves).to.have.lengthOf(1);
  });

  it('brings back a saved filter that was deleted or replaced', async () => {
    const saved = () => c.page.locator('summary').getByText('Saved', { exact: true });
    await c.open('/visits?has_recording=false&query=pricing&from=2026-01-01&to=2026-12-31');
    const save = async () => {
      await c.page.getByLabel('Name of the filters').fill('Prices');
      await c.page.getByRole('button', { name: 'Save these filters' }).click();
      await notice('The filter Prices was saved for everybody in the organization.');
    };
    await saved().click();
    await save();
    const href = () => c.page.getByRole('link', { name: 'Prices' }).getAttribute('href');
    const first = await href();
    expect(first).to.contain('has_recording=false').and.contain('query=pricing').and.contain('to=2026-12-31');
    await c.page.getByRole('button', { name: 'Forget Prices' }).click();
    await notice('The filter Prices was deleted for everybody in the organization.');
    await undo();
    await notice('The filter Prices is as before.');
    await c.page.goto(`${c.gateway.url}/console/visits?browser=chrome`);
    await saved().click();
    expect(await href()).to.equal(first);
    await save();
    await undo();
    await notice('The filter Prices is as before.');
    await saved().click();
    expect(await href()).to.equal(first);
  });
});
