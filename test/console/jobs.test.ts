import { expect } from 'chai';
import type { Route } from 'playwright-core';
import { useConsole } from './browser.js';

interface Found {
  contacts: { contact_id: string }[];
  total_count: number;
}

/** Holds requests until they are let go. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const hold = async (route: Route) => {
    await opened;
    await route.continue().catch(() => undefined);
  };
  return { hold, open: () => open() };
}

describe('An act in the console is bound to what it acts on', function () {
  this.timeout(60_000);
  const c = useConsole();
  const notice = (text: string | RegExp) => c.page.locator('.notice').getByText(text).waitFor();
  const undo = () => c.page.getByRole('button', { name: 'Undo' }).click();
  const bar = () => c.page.getByRole('region', { name: 'Selection' });
  const job = () => c.page.getByRole('region', { name: 'Work in progress' });
  const view = (name: string) => c.page.getByRole('link', { name, exact: true }).click();
  const card = (name = 'Contact') =>
    c.page.getByRole(name === 'Audience' ? 'region' : 'complementary', { name, exact: true });
  const rows = () => c.page.getByRole('table', { name: 'Contacts' }).locator('tbody tr');
  const total = async (filter: object) =>
    (await c.read<Found>('/api/contacts/search', { ...filter, limit: 1 })).total_count;
  const countOf = async (audience_id: string) =>
    (await c.read<{ total_count: number }>('/api/audiences/contacts/search', { audience_id, limit: 1 }))
      .total_count;
  const makeAudience = (id: string, name: string) => c.read('/api/audiences/create', { id, name });
  const addTo = async (name: string) => {
    await bar().getByText('Add to audience').click();
    await bar().getByLabel('Add to an audience').fill(name);
    await bar()
      .getByRole('button', { name: `Add to ${name}` })
      .click();
  };
  const selectEverything = async () => {
    await c.page.getByRole('checkbox', { name: 'Select the rows that are loaded' }).check();
    await bar().getByRole('button', { name: 'Select all' }).click();
  };
  const deleteShown = async (noun = 'contact') => {
    const panel = card(noun === 'contact' ? 'Contact' : 'Audience');
    await panel.getByRole('button', { name: 'Delete', exact: true }).click();
    await panel.getByRole('button', { name: `Delete the ${noun}` }).click();
  };
  /** Accepts or dismisses the next dialog of the browser. */
  const answerNext = (isAccepted: boolean) =>
    new Promise<string>((resolve) => {
      c.page.once('dialog', (dialog) => {
        void (isAccepted ? dialog.accept() : dialog.dismiss()).then(() => resolve(dialog.message()));
      });
    });

  it('ends a selection with its rows, also when only their order changes', async () => {
    await c.open('/contacts');
    for (const index of [0, 1, 2]) await rows().nth(index).getByRole('checkbox').check();
    await bar().getByText('3 contacts selected').waitFor();
    const first = await rows().first().getByRole('link').first().textContent();
    await c.page.getByLabel('Sort').selectOption('oldest');
    await rows()
      .first()
      .getByRole('link', { name: first as string })
      .waitFor({ state: 'detached' });
    await bar().waitFor({ state: 'detached' });
  });

  it('adds what is selected, whatever happens to the list meanwhile', async () => {
    await makeAudience('aud_kept', 'Kept selection');
    const { hold, open } = gate();
    await c.page.route('**/add-many', hold);
    await c.open('/contacts?country=FR');
    for (const index of [0, 1, 2]) await rows().nth(index).getByRole('checkbox').check();
    await addTo('Kept selection');
    await job().getByText('Kept selection').waitFor();
    await bar().getByRole('button', { name: 'Clear' }).click();
    for (const index of [5, 6]) await rows().nth(index).getByRole('checkbox').check();
    open();
    await notice('3 contacts added to Kept selection.');
    await bar().getByText('2 contacts selected').waitFor();
    expect(await countOf('aud_kept')).to.equal(3);
  });

  it('closes the list of audiences once one is chosen, and shows it above work that goes on', async () => {
    await makeAudience('aud_first', 'First of two');
    await makeAudience('aud_second', 'Second of two');
    const { hold, open } = gate();
    await c.page.route('**/add-many', hold);
    await c.open('/contacts');
    for (const index of [0, 1]) await rows().nth(index).getByRole('checkbox').check();
    await addTo('First of two');
    await job().getByText('First of two').waitFor();
    expect(await bar().locator('details[open]').count()).to.equal(0);
    await bar().getByText('Add to audience').click();
    await bar().getByLabel('Add to an audience').fill('two');
    // The last option of the list lies where the progress of the work is shown.
    await bar().getByRole('button', { name: 'New audience “two”' }).click({ timeout: 5000 });
    await job().getByText('Adding to two').waitFor();
    open();
    await job().waitFor({ state: 'detached' });
  });

  it('goes on with everything that matched when the view is left, is stopped there, and undone as far as it came', async () => {
    await makeAudience('aud_left', 'Left behind');
    const many = Array.from({ length: 1100 }, (_, n) => ({ contact_id: `many_${n}`, country: 'NZ' }));
    await c.gateway.ingest('contacts', many, { key: c.key });
    const everybody = await total({});
    expect(everybody).to.be.above(3000);
    await c.open('/contacts');
    await selectEverything();
    const { hold, open } = gate();
    let requests = 0;
    await c.page.route('**/add-many', (route) => (++requests === 1 ? route.continue() : hold(route)));
    await addTo('Left behind');
    await view('Audiences');
    await job()
      .getByText(`1,000 of ${everybody.toLocaleString('en')} contacts`)
      .waitFor();
    await job().getByRole('button', { name: 'Stop' }).click();
    // The request in progress still completes, and the notice offers to undo it.
    await job().getByText('stops …').waitFor();
    open();
    await notice('Stopped. Before that, 2,000 contacts added to Left behind.');
    await job().waitFor({ state: 'detached' });
    expect(requests).to.equal(2);
    await c.expectAccessible();
    expect(await countOf('aud_left')).to.equal(2000);
    await undo();
    await notice('2,000 contacts removed from Left behind.');
    expect(await countOf('aud_left')).to.equal(0);
    const ids = many.map(({ contact_id }) => contact_id);
    for (const contact_ids of [ids.slice(0, 1000), ids.slice(1000)])
      await c.read('/api/contacts/delete', { contact_ids });
  });

  it('undoes of all that match exactly what it changed, and leaves the member that a colleague adds', async () => {
    await makeAudience('aud_shared', 'Shared');
    const everybody = await total({});
    await c.open('/contacts');
    await selectEverything();
    await addTo('Shared');
    await notice(`${everybody.toLocaleString('en')} contacts added to Shared.`);
    await c.gateway.ingest('contacts', [{ contact_id: 'theirs', first_name: 'Theo', last_name: 'Their' }], {
      key: c.key,
    });
    await c.read('/api/audiences/contacts/add', { audience_id: 'aud_shared', contact_id: 'theirs' });
    await undo();
    await notice(`${everybody.toLocaleString('en')} contacts removed from Shared.`);
    const { contacts } = await c.read<Found>('/api/audiences/contacts/search', {
      audience_id: 'aud_shared',
      limit: 10,
    });
    expect(contacts.map(({ contact_id }) => contact_id)).to.deep.equal(['theirs']);
    await c.read('/api/contacts/delete', { contact_id: 'theirs' });
  });

  it('brings back of a deletion what was deleted, not what the card showed', async () => {
    const contact_id = 'demo_contact_0030';
    await c.open(`/contacts?contact=${contact_id}`);
    await card().getByRole('heading', { level: 2 }).waitFor();
    await c.read('/api/contacts/update', { contact_id, job_title: 'Changed by a colleague' });
    await deleteShown();
    await notice('was deleted.');
    await undo();
    await notice('is back.');
    const { contact } = await c.read<{ contact: object }>('/api/contacts/get', { contact_id });
    expect(contact).to.include({ job_title: 'Changed by a colleague' });
  });

  it('says that a person who was erased meanwhile does not come back', async () => {
    const record = { contact_id: 'newcomer', first_name: 'Zacharias', work_emails: ['z@newcomer.example'] };
    await c.gateway.ingest('contacts', [record], { key: c.key });
    await c.open('/contacts?contact=newcomer');
    await card().getByRole('heading', { name: 'Zacharias' }).waitFor();
    await deleteShown();
    await notice('was deleted.');
    await c.gateway.ingest('contacts', [{ ...record, contact_id: 'newcomer_2' }], { key: c.key });
    await c.read('/api/contacts/erase', { email: 'z@newcomer.example' });
    await undo();
    await notice(/was erased meanwhile, and cannot be restored/);
  });

  it('leaves a deleted contact as somebody wrote it again, and makes no second one of a person who is there', async () => {
    const record = { contact_id: 'again', first_name: 'Agatha', work_emails: ['a@again.example'] };
    const write = (fields: object) =>
      c.gateway.ingest('contacts', [{ ...record, ...fields }], { key: c.key });
    const sent: string[] = [];
    c.page.on('request', (request) => request.url().includes('/api/ingest/') && sent.push(request.url()));
    await write({ job_title: 'Known' });
    await c.open('/contacts?contact=again');
    await deleteShown();
    await notice('Agatha was deleted.');
    await write({ job_title: 'Newer' });
    await undo();
    await notice('Agatha was created again meanwhile, and is left unchanged.');
    expect(sent).to.deep.equal([]);
    expect(
      (await c.read<{ contact: object }>('/api/contacts/get', { contact_id: 'again' })).contact,
    ).to.include({
      job_title: 'Newer',
    });

    await c.page.goto(`${c.gateway.url}/console/contacts?contact=again`);
    await deleteShown();
    await notice('Agatha was deleted.');
    await write({ contact_id: 'again_2' });
    await undo();
    await notice(/^Agatha stays deleted: another contact now has the same work email or profile/);
    expect(await total({ query: 'Agatha' })).to.equal(1);
    await c.read('/api/contacts/delete', { contact_id: 'again_2' });
    c.forgetFailedRequests();
  });

  it('tells of a lost answer that nobody knows whether the contact was deleted', async () => {
    await c.open('/contacts?contact=demo_contact_0031');
    await c.page.route('**/api/contacts/delete', (route) => route.abort());
    await deleteShown();
    await notice(/It is not known whether the contact was deleted/);
    c.forgetFailedRequests();
  });

  it('refuses to overwrite what a colleague wrote into an audience, in words of people', async () => {
    const audience_id = 'aud_conflict';
    await makeAudience(audience_id, 'Conflict');
    const description = async () =>
      (await c.read<{ audience: { description: string | null } }>('/api/audiences/get', { audience_id }))
        .audience.description;
    await c.open(`/audiences?audience=${audience_id}`);
    const panel = card('Audience');
    await panel.getByRole('button', { name: 'Edit' }).click();
    await c.read('/api/audiences/update', { audience_id, description: 'Theirs' });
    await panel.getByLabel('Description').fill('Ours');
    await panel.getByRole('button', { name: 'Save' }).click();
    await notice(/Somebody else changed/);
    expect(await c.page.locator('.notice').textContent()).not.to.contain('if_updated_at');
    expect(await description()).to.equal('Theirs');
    c.forgetFailedRequests();
    // The form is saved again, although the other change is known now.
    await panel.getByRole('button', { name: 'Save' }).click();
    await notice('Conflict was saved.');
    expect(await description()).to.equal('Ours');
    await c.read('/api/audiences/update', { audience_id, description: 'Theirs again' });
    await undo();
    await notice(/Somebody else changed/);
    expect(await description()).to.equal('Theirs again');
    c.forgetFailedRequests();
  });

  it('deletes a new audience by Undo only as it was made, and nothing that a colleague put into it', async () => {
    const make = async (name: string) => {
      await c.open('/audiences?new=true');
      await card('New audience').getByLabel('Name').fill(name);
      await card('New audience').getByRole('button', { name: 'Create' }).click();
      await notice(`The audience ${name} was created.`);
      return new URL(c.page.url()).searchParams.get('audience') as string;
    };
    const isThere = async (audience_id: string) =>
      'audience' in (await c.read<object>('/api/audiences/get', { audience_id }));
    const filled = await make('Filled');
    await c.read('/api/audiences/contacts/add', { audience_id: filled, contact_id: 'demo_contact_0001' });
    await undo();
    await notice('The audience Filled has 1 member now, and 0 were added with it. It stays.');
    expect(await countOf(filled)).to.equal(1);

    const renamed = await make('Renamed');
    await c.read('/api/audiences/update', { audience_id: renamed, name: 'Theirs' });
    await undo();
    await notice('The audience Theirs was changed meanwhile. It stays.');
    expect(await isThere(renamed)).to.equal(true);

    // The new audience is deleted together with its first members, unless it has got more members.
    for (const [name, others] of [
      ['Chosen', 0],
      ['Chosen and more', 1],
    ] as const) {
      await c.open('/contacts?country=FR');
      for (const index of [0, 1]) await rows().nth(index).getByRole('checkbox').check();
      await bar().getByText('Add to audience').click();
      await bar().getByLabel('Add to an audience').fill(name);
      await bar()
        .getByRole('button', { name: `New audience “${name}”` })
        .click();
      await notice(`Audience created: 2 contacts added to ${name}.`);
      const { audiences } = await c.read<{ audiences: { id: string; name: string }[] }>(
        '/api/audiences/search',
        { query: name, limit: 10 },
      );
      const audience_id = audiences.find((audience) => audience.name === name)?.id as string;
      if (others)
        await c.read('/api/audiences/contacts/add', { audience_id, contact_id: 'demo_contact_0001' });
      await undo();
      await notice(
        others
          ? `The audience ${name} has 3 members now, and 2 were added with it. It stays.`
          : `The audience ${name} was deleted.`,
      );
      expect(await isThere(audience_id)).to.equal(others === 1);
    }
    c.forgetFailedRequests();
  });

  it('moves nobody who has gone elsewhere before its answer came', async () => {
    const deleted = gate();
    await c.page.route('**/api/contacts/delete', deleted.hold);
    await c.open('/contacts?contact=demo_contact_0032');
    await deleteShown();
    await view('Advertising');
    await c.page.getByRole('table', { name: 'Campaigns' }).waitFor();
    deleted.open();
    await notice('was deleted.');
    expect(new URL(c.page.url()).pathname).to.equal('/console/advertising');

    const made = gate();
    await c.page.route('**/api/audiences/create', made.hold);
    await c.page.goto(`${c.gateway.url}/console/audiences?new=true`);
    await card('New audience').getByLabel('Name').fill('Late');
    await card('New audience').getByRole('button', { name: 'Create' }).click();
    const asked = answerNext(true);
    await view('Visits');
    await asked;
    await c.page.getByRole('table', { name: 'Visits' }).waitFor();
    made.open();
    await notice('The audience Late was created.');
    expect(new URL(c.page.url()).search).to.equal('');
  });

  it('loads a file on while other views are open, and shows the result where it was begun', async () => {
    const { hold, open } = gate();
    await c.open('/import', await c.gateway.keyFor('org_leaving'));
    await c.page.locator('input[type=file]').setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('contact_id,first_name\nl1,Ada\nl2,Bo\n'),
    });
    await c.page.route('**/api/ingest/contacts?*', hold);
    await c.page.getByRole('button', { name: 'Load 2 rows' }).click();
    await view('Audiences');
    await job().getByText('people.csv').waitFor();
    // Closing the tab asks for confirmation.
    const asked = answerNext(false);
    await c.page.close({ runBeforeUnload: true });
    await asked;
    open();
    await notice('2 contacts loaded');
    await view('Import');
    await c.page.getByRole('heading', { name: '2 contacts loaded' }).waitFor();
  });

  it('ends the load of a file whose answer is none of the server', async () => {
    await c.open('/import', await c.gateway.keyFor('org_proxy'));
    await c.page.locator('input[type=file]').setInputFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('contact_id,first_name\nl1,Ada\n'),
    });
    await c.page.route('**/api/ingest/contacts?*', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<p>Sign in to this network' }),
    );
    await c.page.getByRole('button', { name: 'Load 1 contact' }).click();
    await c.page
      .getByRole('region', { name: 'Result' })
      .getByText('The answer is not JSON')
      .first()
      .waitFor();
    await job().waitFor({ state: 'detached' });
  });

  it('asks before Escape, a link or Close throws away what was typed', async () => {
    await c.open('/contacts');
    await rows().nth(3).getByRole('link').first().click();
    await card().getByRole('button', { name: 'Edit' }).click();
    const title = card().getByLabel('Job title');
    await title.fill('Half typed');
    for (const leave of [
      () => c.page.keyboard.press('Escape'),
      () => card().getByRole('link', { name: 'Close' }).click(),
      () => view('Visits'),
      () => c.page.getByRole('button', { name: 'Sign out' }).click(),
      () => card().getByRole('button', { name: 'Delete', exact: true }).click(),
    ]) {
      const asked = answerNext(false);
      await leave();
      expect(await asked).to.contain('not saved');
      expect(await title.inputValue()).to.equal('Half typed');
    }
    // The list beside the open panel can be searched.
    await c.page.getByRole('searchbox').fill('manager');
    await c.page.locator('tbody mark').first().waitFor();
    expect(await title.inputValue()).to.equal('Half typed');
    const back = answerNext(false);
    await c.page.evaluate('history.back()');
    await back;
    expect(await title.inputValue()).to.equal('Half typed');
    const asked = answerNext(true);
    await c.page.keyboard.press('Escape');
    await asked;
    await card().waitFor({ state: 'detached' });
  });

  it('asks before it hides a key that is shown once', async () => {
    await c.open('/operate?new=true');
    const panel = card('New key');
    await panel.getByLabel('What it is for').fill('Kept');
    await panel.getByLabel('Read contacts').check();
    await panel.getByRole('button', { name: 'Create the key' }).click();
    const key = panel.getByRole('figure').locator('code');
    await key.waitFor();
    const asked = answerNext(false);
    await c.page.keyboard.press('Escape');
    expect(await asked).to.contain('not be shown again');
    await key.waitFor();
    await panel.getByRole('button', { name: 'I have stored it' }).click();
    await panel.waitFor({ state: 'detached' });
  });

  it('keeps the focus in the panel after Save, whether it succeeds or fails', async () => {
    await c.open('/contacts?contact=demo_contact_0034');
    await card().getByRole('button', { name: 'Edit' }).click();
    const focused = () => c.page.evaluate<string>('document.activeElement.textContent.trim()');
    await c.page.route('**/api/contacts/update', (route) =>
      route.fulfill({ status: 503, json: { code: 'overloaded', title: 'Service overloaded' } }),
    );
    await card().getByLabel('City').fill('Lyon');
    await card().getByRole('button', { name: 'Save' }).press('Enter');
    await notice('Service overloaded');
    expect(await focused()).to.equal('Save');
    await c.page.unroute('**/api/contacts/update');
    await card().getByRole('button', { name: 'Save' }).press('Enter');
    await notice('was saved.');
    await card().getByLabel('City').waitFor({ state: 'detached' });
    expect(await focused()).to.equal('Edit');
    c.forgetFailedRequests();
  });

  it('makes one key where the first answer is lost', async () => {
    await c.open('/operate');
    await c.page.getByRole('link', { name: 'New key' }).click();
    let attempts = 0;
    await c.page.route('**/api/keys/create', async (route) => {
      if (++attempts > 1) return route.continue();
      await route.fetch();
      await route.abort();
    });
    await card('New key').getByLabel('What it is for').fill('Key of a lost answer');
    await card('New key').getByRole('checkbox', { name: 'Read contacts' }).check();
    await card('New key').getByRole('button', { name: 'Create the key' }).click();
    await card('New key').getByText('shown only once').waitFor();
    expect(attempts).to.equal(2);
    const { keys } = await c.read<{ keys: { name: string }[] }>('/api/keys/list', { limit: 100 });
    expect(keys.filter(({ name }) => name === 'Key of a lost answer')).to.have.length(1);
    c.forgetFailedRequests();
  });

  it('lists and counts a new contact at once', async () => {
    const before = await total({});
    await c.open('/contacts?new=true');
    await c.page.getByText(`${before.toLocaleString('en')} contacts`, { exact: true }).waitFor();
    const form = card('New contact');
    await form.getByLabel('Audience').selectOption({ index: 1 });
    await form.getByLabel('Last name').fill('Newcomer');
    await form.getByLabel('Company').fill('New Works');
    await form.getByRole('button', { name: 'Check price and duplicates' }).click();
    await form.getByRole('button', { name: 'Create', exact: true }).click();
    await c.page.getByText(`${(before + 1).toLocaleString('en')} contacts`, { exact: true }).waitFor();
    await rows().getByRole('link', { name: 'Newcomer' }).waitFor();
  });

  it('says which step of a long work was lost, and undoes the others', async () => {
    await makeAudience('aud_broken', 'Broken off');
    await c.open('/contacts');
    await selectEverything();
    let requests = 0;
    await c.page.route('**/add-many', (route) => (++requests === 1 ? route.continue() : route.abort()));
    await addTo('Broken off');
    await notice(/Before that, 1,000 contacts added to Broken off\./);
    await c.page.unroute('**/add-many');
    await undo();
    await notice('1,000 contacts removed from Broken off.');
    c.forgetFailedRequests();
  });
});
