import { expect } from 'chai';
import type { ResponseOf } from '../../services/client/index.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { APPEARANCES, daysAgo, expectAccessible, useConsole } from './browser.js';

const PATH = '/api/advertising/network_a/influence';
const VIEW = '/advertising/influence';
const NEW_COMPANIES = 9;

/** Companies that nobody knew before they saw ads, each with a contact and visits some days after. */
async function ingestNewCompanies({ gateway, key }: ReturnType<typeof useConsole>): Promise<void> {
  const each = Array.from({ length: NEW_COMPANIES }, (_, index) => index + 1);
  const streams = {
    'network-a-companies': each.map((n) => ({
      id: `new_${n}`,
      name: `New ${n}`,
      domain: `new-${n}.example`,
    })),
    'network-a-deliveries': each.map((n) => ({
      ...{ date: daysAgo(28 - 2 * n), campaign_id: 'cam_001', company_id: `new_${n}`, impressions: 5 + n },
    })),
    'website-visits': each.map((n) => ({
      ...{
        id: `new_visit_${n}`,
        createdAt: `${daysAgo(27 - 2 * n)}T09:30:00Z`,
        companyDomain: `new-${n}.example`,
      },
      startUrl: 'https://www.example.com/pricing',
    })),
    contacts: each.slice(4).map((n) => ({
      ...{
        contact_id: `new_contact_${n}`,
        first_name: 'Nora',
        last_name: `New${n}`,
        company_domain: `new-${n}.example`,
      },
      ...{ created_at: `${daysAgo(26 - 2 * n)}T10:00:00Z`, updated_at: `${daysAgo(26 - 2 * n)}T10:00:00Z` },
    })),
  };
  for (const [stream, records] of Object.entries(streams)) {
    const answer = await gateway.ingest(stream, records, { key });
    expect(answer.body, answer.text).to.include({ accepted: records.length });
  }
}

describe('What followed the ads, in the console', function () {
  this.timeout(120_000);
  const c = useConsole();
  before(() => ingestNewCompanies(c));

  it('says how many companies saw the ads and what came after, and opens the evidence of each', async () => {
    await c.open('/advertising');
    await c.page.getByRole('link', { name: 'What followed', exact: true }).click();
    await c.page
      .getByRole('table', { name: 'Companies that saw the ads' })
      .locator('tbody a')
      .first()
      .waitFor();
    const body = { start_date: daysAgo(30), end_date: daysAgo(1) };
    const { totals } = await c.read<ResponseOf<typeof PATH>>(PATH, body);
    expect(totals.newly_influenced).to.be.at.least(NEW_COMPANIES - 1);
    const lead = await c.page.locator('.lead').textContent();
    for (const number of [totals.exposed, totals.influenced, totals.newly_influenced])
      expect(lead).to.contain(String(number));
    await c.page.getByText('Companies not known before, per week').waitFor();
    await expectAccessible(c.page, APPEARANCES);
  });

  it('opens the campaigns, contacts and visits that a row counts, and says nothing of causes', async () => {
    await c.open(VIEW);
    const row = c.page.locator('tbody tr', { hasText: 'New 6' });
    await row.getByRole('link', { name: 'New 6' }).click();
    const panel = c.page.getByRole('complementary', { name: 'New 6' });
    await panel.getByRole('link', { name: 'Nora New6' }).waitFor();
    await panel.getByText('https://www.example.com/pricing').waitFor();
    expect(await panel.textContent()).to.contain('11 impressions');
    await c.expectAccessible();
    const text = (await c.page.locator('body').textContent()) ?? '';
    expect(text).not.to.match(/attribut|because|caused/i);
    await c.page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
  });

  it('names the scope that a key lacks', async () => {
    const key = await c.gateway.keyFor(DEMO_ORGANIZATION, ['advertising:read', 'contacts:read']);
    await c.open(VIEW, key);
    await c.page.getByText('visits:read').first().waitFor();
  });
});
