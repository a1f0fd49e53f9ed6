import { expect } from 'chai';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { useConsole } from './browser.js';

describe('Operating an organization in the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  const panel = (name: string) => c.page.getByRole('complementary', { name, exact: true });
  const row = (table: string, name: RegExp) =>
    c.page.getByRole('table', { name: table }).getByRole('row', { name });

  it('makes a key by keyboard, shows it once, and revokes it', async () => {
    await c.open('/operate');
    await c.page.getByText('1,000 credits left').waitFor();
    await row('Keys', /Former CRM.*revoked/).waitFor();
    await c.page.getByRole('link', { name: 'New key' }).press('Enter');
    const form = panel('New key');
    await form.getByLabel('What it is for').press('Tab');
    await form.getByLabel('Read contacts').press('Space');
    await c.expectAccessible();
    await form.getByLabel('What it is for').fill('Nightly export');
    await form.getByLabel('What it is for').press('Enter');
    const made = (await form.getByRole('figure').locator('code').textContent()) as string;
    const described = await c.gateway.call('/api/key', undefined, { key: made, method: 'GET' });
    expect(described.body).to.deep.include({ organization_id: DEMO_ORGANIZATION, scopes: ['contacts:read'] });
    await form.getByRole('button', { name: 'I have stored it' }).click();
    expect(await c.page.content()).not.to.include(made);

    await row('Keys', /Nightly export.*works/)
      .getByRole('link')
      .click();
    await panel('Key').getByRole('button', { name: 'Revoke', exact: true }).click();
    await panel('Key').getByText('This cannot be undone.').waitFor();
    await c.expectAccessible();
    await panel('Key').getByRole('button', { name: 'Revoke the key' }).click();
    await row('Keys', /Nightly export.*revoked/).waitFor();
    const keys = await c.read<{ keys: { name: string; revoked_at: string | null }[] }>('/api/keys/list', {});
    expect(keys.keys.find(({ name }) => name === 'Nightly export')?.revoked_at).to.be.a('string');
  });

  it('offers no revocation of the key in use, and no scope that this key lacks', async () => {
    const key = await c.gateway.keyFor(DEMO_ORGANIZATION, ['keys:write', 'visits:read']);
    await c.open('/operate', key);
    await row('Keys', /in use here/)
      .getByRole('link')
      .click();
    await panel('Key').getByText('Sign in with another to revoke it.').waitFor();
    expect(await panel('Key').getByRole('button', { name: 'Revoke' }).count()).to.equal(0);
    await c.page.getByRole('link', { name: 'New key' }).click();
    expect(await panel('New key').getByLabel('Read visits').isEnabled()).to.equal(true);
    expect(await panel('New key').getByLabel('Erase persons').isEnabled()).to.equal(false);
  });

  it('shows rejected records and erasures', async () => {
    await c.gateway.ingest('contacts', [{ contact_id: 'ok' }, { contact_id: 'x y', job_title: 7 }], {
      key: c.key,
    });
    await c.open('/operate?tab=rejections');
    await row('Rejected records', /Contacts 2 Contact id/).waitFor();
    await c.expectAccessible();
    await c.page.getByRole('link', { name: 'Erasures' }).click();
    await c.page.getByText('No person was erased yet.').waitFor();
    await c.read('/api/contacts/erase', { contact_id: 'ok' });
    await c.page.reload();
    await row('Erasures', /1/).waitFor();
    await c.expectAccessible();
  });

  it('says which scope a key lacks', async () => {
    const key = await c.gateway.keyFor(DEMO_ORGANIZATION, ['contacts:read']);
    await c.open('/operate', key);
    await c.page.getByText('This key may not read keys.').waitFor();
    await c.page.getByText('keys:write').first().waitFor();
    await c.open('/operate?tab=nonsense&key=none', key);
    await c.page.getByText('This key may not read keys.').waitFor();
  });
});
