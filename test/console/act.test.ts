import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { useConsole } from './browser.js';

describe('Acting in the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  const notice = (text: string) => c.page.locator('.notice').getByText(text);
  const undo = () => c.page.getByRole('button', { name: 'Undo' }).click();
  const audiencesOf = async (contactId: string) => {
    const { contact } = await c.read<{ contact: { audience_ids: string[] } }>('/api/contacts/get', {
      contact_id: contactId,
    });
    return contact.audience_ids;
  };

  it('creates, renames and deletes an audience, and takes back its new name and its end', async () => {
    await c.open('/audiences');
    await c.page.getByRole('link', { name: 'New audience' }).click();
    const form = c.page.getByRole('complementary', { name: 'New audience' });
    await form.getByLabel('Name').fill('Webinar guests');
    await form.getByRole('button', { name: 'Create' }).click();
    await notice('The audience Webinar guests was created.').waitFor();
    const card = c.page.getByRole('region', { name: 'Audience', exact: true });
    await c.page.getByText('Nobody is in this audience.').waitFor();
    await c.expectAccessible();
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('Name').fill('Guests of the webinar');
    await card.getByRole('button', { name: 'Save' }).click();
    const title = (name: string) => c.page.getByRole('heading', { name, level: 1 });
    await title('Guests of the webinar').waitFor();
    await undo();
    await title('Webinar guests').waitFor();
    await card.getByRole('button', { name: 'Delete', exact: true }).click();
    await card.getByText('Its 0 members stay as contacts. You can undo it.').waitFor();
    const audience_id = new URL(c.page.url()).searchParams.get('audience');
    const contact_ids = ['demo_contact_0005', 'demo_contact_0006'];
    await c.read('/api/audiences/contacts/add-many', { audience_id, contact_ids });
    const state = () =>
      c.read<{ audience: object }>('/api/audiences/get', { audience_id, include_counts: true });
    const { audience } = await state();
    await card.getByRole('button', { name: 'Delete the audience' }).click();
    await notice('The audience Webinar guests was deleted.').waitFor();
    await c.page.waitForURL(`${c.gateway.url}/console/audiences`);
    const row = c.page
      .getByRole('table', { name: 'Audiences' })
      .getByRole('link', { name: 'Webinar guests' });
    await row.waitFor({ state: 'detached' });
    await undo();
    await notice('The audience Webinar guests is back, with 2 members.').waitFor();
    await row.waitFor();
    const again = { created_at: null, updated_at: null };
    expect({ ...(await state()).audience, ...again }).to.deep.equal({ ...audience, ...again });
    for (const id of contact_ids) expect(await audiencesOf(id)).to.include(audience_id);
  });

  it('marks the field that the server rejects, says why in words, and moves there', async () => {
    await c.open('/contacts?contact=demo_contact_0003');
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('button', { name: 'Edit' }).click();
    const field = card.getByLabel('Work emails', { exact: true });
    const before = await field.inputValue();
    await field.fill('nobody@@acme');
    await card.getByLabel('Profile').fill('https://www.network-a.example/in/somebody');
    await card.getByLabel('Profile').press('Enter');
    await card.getByText('Must be an email address.').waitFor();
    await field.and(c.page.locator(':focus')).waitFor();
    await notice('Work emails: Must be an email address.').waitFor();
    await c.expectAccessible();
    await field.fill(before);
    await card.getByText('Must be an email address.').waitFor({ state: 'detached' });
    await card.getByRole('button', { name: 'Save' }).click();
    await notice('was saved.').waitFor();

    await c.page.keyboard.press('Escape');
    await c.page.getByRole('link', { name: 'New contact' }).click();
    const form = c.page.getByRole('complementary', { name: 'New contact' });
    await form.getByLabel('Audience').selectOption('Customers');
    await form.getByLabel('Work email').fill('nobody@localhost');
    await form.getByRole('button', { name: 'Check price and duplicates' }).click();
    await form.getByText('Must be an email address.', { exact: true }).waitFor();
    await form.getByLabel('Work email').and(c.page.locator(':focus')).waitFor();
    c.forgetFailedRequests();
  });

  it('hides no row behind the bar with the last change', async () => {
    await c.page.setViewportSize({ width: 1280, height: 360 });
    await c.open('/audiences/audience?audience=aud_customers');
    const card = c.page.getByRole('region', { name: 'Audience', exact: true });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('Description').fill('Companies with a contract that runs.');
    await card.getByRole('button', { name: 'Save' }).click();
    await notice('was saved').waitFor();
    await c.page.getByRole('link', { name: '← Audiences' }).click();
    await c.page.getByRole('table', { name: 'Audiences' }).locator('tbody tr').first().waitFor();
    await c.page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const row = await c.page.getByRole('table', { name: 'Audiences' }).getByRole('row').last().boundingBox();
    const bar = await c.page.locator('.notice').boundingBox();
    expect((row?.y ?? 0) + (row?.height ?? 0)).to.be.at.most(bar?.y ?? 0);
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).to.be.at.most(360);
  });

  it('takes a contact out of an audience, and back by Undo', async () => {
    const id = 'demo_contact_0002';
    const audience_id = 'aud_customers';
    await c.read('/api/audiences/contacts/add', { audience_id, contact_id: id });
    await c.open(`/contacts?contact=${id}`);
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('button', { name: 'Remove from Customers' }).click();
    await notice('Removed from Customers.').waitFor();
    expect(await audiencesOf(id)).not.to.include(audience_id);
    await undo();
    await notice('Added to Customers.').waitFor();
    await card.getByRole('button', { name: 'Remove from Customers' }).waitFor();
    expect(await audiencesOf(id)).to.include(audience_id);
    await card.getByRole('button', { name: 'Remove from Customers' }).click();
    await notice('Removed from Customers.').waitFor();
    await card.getByLabel('Add to an audience').fill('customers');
    await card.getByRole('button', { name: 'Add to Customers' }).waitFor();
    await card.getByLabel('Add to an audience').press('Enter');
    await notice('Added to Customers.').waitFor();
  });

  it('adds all that match to an audience that has some of them, and undoes it exactly', async () => {
    const members = async () =>
      (
        await c.read<{ contacts: { contact_id: string }[] }>('/api/audiences/contacts/search', {
          audience_id: 'aud_trial-users',
          limit: 1000,
        })
      ).contacts.map(({ contact_id }) => contact_id);
    const before = await members();
    const { contacts } = await c.read<{ contacts: { contact_id: string }[] }>('/api/contacts/search', {
      country: 'FR',
      limit: 1000,
    });
    const already = contacts.filter(({ contact_id }) => before.includes(contact_id)).length;
    expect(already).to.be.above(0);
    await c.open('/contacts?country=FR');
    await c.page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).check();
    const bar = c.page.getByRole('region', { name: 'Selection' });
    await bar.getByRole('button', { name: 'Select all' }).click();
    await bar.getByText('Add to audience').click();
    await bar.getByRole('button', { name: 'Add to Trial users' }).click();
    const added = contacts.length - already;
    await notice(`${added} contacts added to Trial users; ${already} were in it already.`).waitFor();
    expect(await members()).to.have.length(before.length + added);
    await undo();
    await notice(`${added} contacts removed from Trial users.`).waitFor();
    expect(await members()).to.have.members(before);
  });

  it('selects rows with the keyboard and a range with Shift, removes them from an audience, and saves them as CSV', async () => {
    const search = { job_title: 'engineer', limit: 1 };
    const first = await c.read<{ contacts: { contact_id: string }[] }>('/api/contacts/search', search);
    const phones = ['+49 30 1', '=1+1'];
    await c.read('/api/contacts/update', { contact_id: first.contacts[0]?.contact_id, phones });
    await c.open('/contacts?job_title=engineer');
    const rows = c.page.getByRole('table', { name: 'Contacts' }).locator('tbody tr');
    await rows.locator('a').first().waitFor();
    for (const key of ['j', 'x']) await c.page.keyboard.press(key);
    const bar = c.page.getByRole('region', { name: 'Selection' });
    await bar.getByText('1 contact selected').waitFor();
    await rows
      .nth(3)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await bar.getByText('4 contacts selected').waitFor();
    const [download] = await Promise.all([
      c.page.waitForEvent('download'),
      bar.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const saved = parse(readFileSync(await download.path()), { columns: true }) as Record<string, string>[];
    const { contacts } = await c.read<{ contacts: Record<string, string>[] }>('/api/contacts/search', {
      job_title: 'engineer',
      limit: 4,
    });
    expect(saved[0]?.phones).to.equal("'+49 30 1;=1+1");
    expect(saved.map(({ contact_id }) => contact_id)).to.deep.equal(
      contacts.map(({ contact_id }) => contact_id),
    );
    const inAudience = contacts.filter((contact) => contact.audience_ids?.includes('aud_engineers')).length;
    expect(inAudience).to.be.above(0);
    await bar.getByText('Remove from audience').click();
    await bar.getByLabel('Remove from an audience').fill('engineers');
    await bar.getByRole('button', { name: 'Remove from Engineers' }).click();
    await notice(`${inAudience} contacts removed from Engineers`).waitFor();
    await undo();
    await notice(`${inAudience} contacts added to Engineers.`).waitFor();
  });

  it('edits a contact and takes it back, unless somebody changed it meanwhile', async () => {
    await c.open('/contacts?contact=demo_contact_0004');
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    const lead = card.locator('.lead');
    const before = (await lead.textContent()) ?? '';
    const save = async (title: string) => {
      await card.getByRole('button', { name: 'Edit' }).click();
      await card.getByLabel('Job title').fill(title);
      await card.getByLabel('Phones', { exact: true }).fill('+49 30 1234567');
      await card
        .getByLabel(/^Phones, \d/)
        .last()
        .fill('+49 30 7654321');
      await card.getByRole('button', { name: 'Save' }).click();
    };
    await save('Chief of Everything');
    await card.getByText('Chief of Everything,').waitFor();
    await card.getByRole('link', { name: '+49 30 7654321' }).waitFor();
    await undo();
    await lead.and(c.page.getByText(before, { exact: true })).waitFor();
    await card.getByRole('button', { name: 'Edit' }).click();
    await c.read('/api/contacts/update', { contact_id: 'demo_contact_0004', city: 'Bern' });
    await card.getByLabel('Job title').fill('Chief of Nothing');
    await card.getByRole('button', { name: 'Save' }).click();
    await notice('Somebody else changed it meanwhile').waitFor();
    c.forgetFailedRequests();
    const { contact } = await c.read<{ contact: { job_title: string } }>('/api/contacts/get', {
      contact_id: 'demo_contact_0004',
    });
    expect(before).to.contain(contact.job_title);
    // The repeated save changes only the field that was edited in this form.
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Chief of Nothing,').waitFor();
    const saved = await c.read<{ contact: object }>('/api/contacts/get', { contact_id: 'demo_contact_0004' });
    expect(saved.contact).to.include({ job_title: 'Chief of Nothing', city: 'Bern' });
  });

  it('fills in a field that a contact does not have', async () => {
    const contact_id = 'bare';
    await c.gateway.ingest('contacts', [{ contact_id, last_name: 'Bare' }], { key: c.key });
    await c.open(`/contacts?contact=${contact_id}`);
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('Job title').fill('Chief of Everything');
    await card.getByLabel('Work email').fill('bare@acme.example');
    await card.getByRole('button', { name: 'Save' }).click();
    await notice('was saved.').waitFor();
    const { contact } = await c.read<{ contact: object }>('/api/contacts/get', { contact_id });
    expect(contact).to.deep.include({ job_title: 'Chief of Everything', work_emails: ['bare@acme.example'] });
    await c.read('/api/contacts/delete', { contact_id });
  });

  it('says of a contact that a worker has yet to write that it was sent, not that it is back', async () => {
    await c.open('/contacts');
    await c.page.locator('tbody a').first().click();
    await c.page.getByRole('button', { name: 'Delete', exact: true }).click();
    await c.page.getByRole('button', { name: 'Delete the contact' }).click();
    await notice('was deleted.').waitFor();
    // A gateway with Kafka behaves like this while no worker runs: the record is accepted, but not written.
    const accepted = { accepted: 1, rejected: 0, skipped: 0, stale: 0, suppressed: 0, errors: [] };
    let record = '';
    await c.page.route('**/api/ingest/**', (route) => {
      record = route.request().postData() ?? '';
      return route.fulfill({ json: accepted });
    });
    await undo();
    await notice('was sent, and is back once the record has been written.').waitFor();
    c.forgetFailedRequests();
    await c.page.unroute('**/api/ingest/**');
    await c.gateway.ingest('contacts', [JSON.parse(record)], { key: c.key });
  });

  it('offers no Undo that would take out whom somebody else put in meanwhile', async () => {
    const audience_id = 'aud_newsletter';
    const ids = ['demo_contact_0020', 'demo_contact_0021'];
    await c.read('/api/audiences/contacts/remove-many', { audience_id, contact_ids: ids });
    await c.open('/contacts?contact=demo_contact_0020');
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByLabel('Add to an audience').fill('newsletter');
    const add = card.getByRole('button', { name: /^Add to Newsletter/ });
    await add.waitFor();
    await c.read('/api/audiences/contacts/add', { audience_id, contact_id: ids[0] });
    await add.click();
    await notice('It was already in Newsletter').waitFor();
    expect(await c.page.getByRole('button', { name: 'Undo' }).count()).to.equal(0);
  });

  it('deletes a contact once it was asked again, and brings it back as it was', async () => {
    const contact_id = 'demo_contact_0010';
    const read = () => c.read<{ contact: Record<string, unknown> }>('/api/contacts/get', { contact_id });
    const { contact: before } = await read();
    await c.open(`/contacts?contact=${contact_id}`);
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('button', { name: 'Delete', exact: true }).click();
    await card.getByText('You can undo it.').waitFor();
    await c.expectAccessible();
    await card.getByRole('button', { name: 'Delete the contact' }).click();
    await notice('was deleted.').waitFor();
    await card.waitFor({ state: 'detached' });
    expect(await read()).to.include({ code: 'contact_not_found' });
    const { credit_balance } = await c.read<{ credit_balance: number }>('/api/credits/get', {});
    await undo();
    await notice('is back.').waitFor();
    const { contact: after } = await read();
    expect({ ...after, updated_at: null }).to.deep.equal({ ...before, updated_at: null });
    expect(await c.read('/api/credits/get', {})).to.include({ credit_balance });
  });

  it('names the person that a new contact would double, and adds that one instead', async () => {
    const { contact } = await c.read<{
      contact: { first_name: string; last_name: string; work_emails: string[] };
    }>('/api/contacts/get', { contact_id: 'demo_contact_0003' });
    await c.open('/contacts?new=true');
    const panel = c.page.getByRole('complementary', { name: 'New contact' });
    await panel.getByLabel('Audience').selectOption('aud_trial-users');
    await panel.getByLabel('Work email').fill(contact.work_emails[0] ?? '');
    await panel.getByRole('button', { name: 'Check price and duplicates' }).click();
    await panel.getByRole('link', { name: `${contact.first_name} ${contact.last_name}` }).waitFor();
    await panel.getByRole('button', { name: 'Add this one instead' }).click();
    await notice('Added to Trial users.').waitFor();
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('heading', { name: `${contact.first_name} ${contact.last_name}` }).waitFor();
    expect(await audiencesOf('demo_contact_0003')).to.include('aud_trial-users');
  });

  it('shows what the key may not do, with the scope that it lacks', async () => {
    const key = await c.gateway.keyFor(DEMO_ORGANIZATION, ['audiences:read', 'contacts:read']);
    await c.open('/audiences', key);
    for (const name of ['New audience', 'Edit', 'Delete']) {
      if (name === 'Edit') await c.page.getByRole('link', { name: 'Customers', exact: true }).click();
      const button = c.page.getByRole('button', { name, exact: true });
      expect(await button.isDisabled(), name).to.equal(true);
      const reason = c.page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`);
      expect(await reason.textContent(), name).to.equal('needs audiences:write');
    }
  });
});
