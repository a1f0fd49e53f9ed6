import { expect } from 'chai';
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

  it('creates, renames and deletes an audience, and takes back a new name', async () => {
    await c.open('/audiences');
    await c.page.getByRole('link', { name: 'New audience' }).click();
    const form = c.page.getByRole('complementary', { name: 'New audience' });
    await form.getByLabel('Name').fill('Webinar guests');
    await form.getByRole('button', { name: 'Create' }).click();
    await notice('The audience Webinar guests was created.').waitFor();
    const card = c.page.getByRole('complementary', { name: 'Audience' });
    await card.getByRole('heading', { name: '0 members' }).waitFor();
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('Name').fill('Guests of the webinar');
    await card.getByRole('button', { name: 'Save' }).click();
    const row = (name: string) =>
      c.page.getByRole('table', { name: 'Audiences' }).getByRole('link', { name });
    await row('Guests of the webinar').waitFor();
    await undo();
    await row('Webinar guests').waitFor();
    await card.getByRole('button', { name: 'Delete', exact: true }).click();
    await card.getByText('Its 0 members stay as contacts.').waitFor();
    await card.getByRole('button', { name: 'Delete the audience' }).click();
    await notice('The audience Webinar guests was deleted.').waitFor();
    await card.waitFor({ state: 'detached' });
    await row('Webinar guests').waitFor({ state: 'detached' });
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
    await c.open(
      '/audiences?audience=aud_customers',
      await c.gateway.keyFor(DEMO_ORGANIZATION, ['audiences:read', 'contacts:read']),
    );
    for (const name of ['New audience', 'Edit', 'Delete']) {
      const button = c.page.getByRole('button', { name, exact: true });
      expect(await button.isDisabled(), name).to.equal(true);
      const reason = c.page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`);
      expect(await reason.textContent(), name).to.equal('needs audiences:write');
    }
  });
});
