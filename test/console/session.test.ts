import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useConsole } from './browser.js';

const OTHER_ORGANIZATION = 'org_other';

describe('A session of the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  let otherKey: string;
  before(async () => {
    otherKey = await c.gateway.keyFor(OTHER_ORGANIZATION);
    await c.gateway.ingest('contacts', [{ contact_id: 'other', first_name: 'Olga', last_name: 'Other' }], {
      key: otherKey,
    });
  });

  const organization = (name: string, page: Page = c.page) =>
    page.locator('.organization').getByText(name, { exact: true }).waitFor();
  const signOut = (page: Page = c.page) => page.getByRole('button', { name: 'Sign out' }).click();
  const signIn = async (key: string) => {
    await c.page.getByLabel('API key').fill(key);
    await c.page.getByRole('button', { name: 'Sign in' }).click();
  };
  const openLink = (key: string, page: Page = c.page) => page.evaluate(`location.hash = 'key=${key}'`);
  const useLink = (page: Page = c.page) =>
    page.getByRole('button', { name: 'Use the key of the link' }).click();
  const deleteFirst = async () => {
    await c.page.locator('tbody a').first().click();
    const card = c.page.getByRole('complementary', { name: 'Contact' });
    await card.getByRole('button', { name: 'Delete', exact: true }).click();
    await card.getByRole('button', { name: 'Delete the contact' }).click();
  };

  it('takes its notice and its Undo along when it ends', async () => {
    await c.open('/contacts');
    await deleteFirst();
    await c.page.getByText('was deleted.').waitFor();
    await signOut();
    await signIn(otherKey);
    await organization(OTHER_ORGANIZATION);
    await c.page.getByRole('link', { name: 'Olga Other' }).waitFor();
    expect(await c.page.getByText('was deleted.').count()).to.equal(0);
    expect(await c.page.getByRole('button', { name: 'Undo' }).count()).to.equal(0);
  });

  it('takes rows of SQL along when a link with another key is accepted', async () => {
    await c.gateway.stores.follower?.run();
    await c.open(
      `/sql?statement=${encodeURIComponent('SELECT contact_id, last_name FROM contacts ORDER BY 1 LIMIT 3')}`,
    );
    const table = c.page.getByRole('table', { name: 'Result' });
    await table.getByText('demo_contact').first().waitFor();
    await openLink(otherKey);
    await useLink();
    await organization(OTHER_ORGANIZATION);
    await table.getByText('other', { exact: true }).waitFor();
    expect(await table.getByText('demo_contact').count()).to.equal(0);
  });

  it('takes saved filters, credits and a draft along when a link with another key is accepted', async () => {
    await c.open('/contacts?country=FR');
    const saved = c.page.locator('summary').getByText('Saved');
    await saved.click();
    await c.page.getByLabel('Name of the filters').fill('Secret campaign');
    await c.page.getByRole('button', { name: 'Save these filters' }).click();
    await c.page.getByRole('link', { name: 'Secret campaign' }).waitFor();
    await c.page.keyboard.press('Escape');
    await openLink(otherKey);
    await useLink();
    await organization(OTHER_ORGANIZATION);
    await saved.click();
    await c.page.getByText('No saved filters in this view.').waitFor();
    expect(await c.page.getByText('Secret campaign').count()).to.equal(0);
  });

  it('does not end by a late answer to the session before', async () => {
    await c.open('/contacts');
    let refuse = () => {};
    const refused = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    await c.page.route('**/api/contacts/delete', async (route) => {
      await refused;
      await route.fulfill({ status: 401, json: { code: 'unauthenticated', title: 'Unauthenticated' } });
    });
    await deleteFirst();
    await signOut();
    await signIn(otherKey);
    await c.page.getByRole('link', { name: 'Olga Other' }).waitFor();
    refuse();
    await c.page.getByRole('link', { name: 'Audiences', exact: true }).click();
    await c.page.getByText('This organization has no audiences yet.').waitFor();
    await organization(OTHER_ORGANIZATION);
    c.forgetFailedRequests();
  });

  it('signs out everywhere, also from a tab whose key is not confirmed', async () => {
    await c.open('/contacts');
    const second = await c.context.newPage();
    await second.goto(`${c.gateway.url}/console/contacts`);
    await second.getByRole('table', { name: 'Contacts' }).waitFor();
    const body = JSON.stringify({ code: 'overloaded', title: 'Service overloaded' });
    await second.route('**/api/key', (route) => route.fulfill({ status: 503, body }));
    await second.reload();
    await second.getByRole('alert').getByText('Service overloaded').waitFor();
    await signOut(second);
    await c.page.getByLabel('API key').waitFor();
    await second.unroute('**/api/key');
    await second.reload();
    await second.getByLabel('API key').waitFor();
    c.forgetFailedRequests();
  });

  it('is replaced in no tab by a link that nobody accepted, also while its key is not confirmed', async () => {
    await c.page.route('**/api/key', (route) =>
      route.fulfill({ status: 503, json: { code: 'overloaded', title: 'Service overloaded' } }),
    );
    await c.open('/contacts');
    await c.page.getByRole('alert').getByText('Service overloaded').waitFor();
    const linked = await c.context.newPage();
    await linked.goto(`${c.gateway.url}/console/contacts#key=${otherKey}`);
    await organization('org_demo', linked);
    await linked.getByRole('button', { name: 'Stay signed in' }).click();
    await c.page.unroute('**/api/key');
    await organization('org_demo');
    c.forgetFailedRequests();
  });

  it('stays when the key of a link that was accepted is none, and says so', async () => {
    await c.open('/contacts');
    await c.page.getByRole('table', { name: 'Contacts' }).waitFor();
    await openLink(`${otherKey.slice(0, -1)}${otherKey.endsWith('x') ? 'y' : 'x'}`);
    await useLink();
    await c.page.locator('.notice').getByText('API key').waitFor();
    await organization('org_demo');
    await c.page.getByRole('table', { name: 'Contacts' }).getByRole('link').first().waitFor();
    c.forgetFailedRequests();
  });

  it('begins with the key of a link when the key of the tab is valid no more', async () => {
    const alone = await c.context.browser()?.newContext();
    const tab = (await alone?.newPage()) ?? expect.fail();
    await tab.goto(`${c.gateway.url}/console`);
    const gone = `${otherKey.slice(0, -1)}${otherKey.endsWith('x') ? 'y' : 'x'}`;
    await tab.evaluate(`sessionStorage.setItem('reachline.key', '${gone}')`);
    await tab.goto(`${c.gateway.url}/docs`);
    await tab.goto(`${c.gateway.url}/console/contacts#key=${otherKey}`);
    await organization(OTHER_ORGANIZATION, tab);
    await alone?.close();
  });
});
