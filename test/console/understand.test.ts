import { expect } from 'chai';
import { until } from '../support/until.js';
import { daysAgo, useConsole } from './browser.js';

const RANGE = { start_date: daysAgo(25), end_date: daysAgo(6) };

describe('Finding one’s way in the console', function () {
  this.timeout(60_000);
  const c = useConsole();
  const focused = () => c.page.evaluate('document.activeElement.innerText') as Promise<string>;

  it('shows of a creative its figures against the days before, its campaign, and the visits of its page', async () => {
    interface Item {
      id: string;
      campaign_name: string;
      landing_page_url: string;
      ad_spend: string;
      previous: { ad_spend: string };
    }
    const path = '/api/advertising/network_a/creatives';
    const { items } = await c.read<{ items: Item[] }>(path, { ...RANGE, compare_to: 'previous_period' });
    const [item] = items as [Item];
    const before = await c.read<{ items: Item[] }>(path, {
      start_date: daysAgo(45),
      end_date: daysAgo(26),
      creative_ids: [item.id],
    });
    expect(item.previous.ad_spend).to.equal(before.items[0]?.ad_spend);
    await c.open(`/advertising?tab=creatives&start=${RANGE.start_date}&end=${RANGE.end_date}`);
    await c.page.getByRole('table', { name: 'Creatives' }).locator('tbody a').first().click();
    const spend = c.page.locator('.totals dd').first();
    const text = (amount: string) =>
      `$${Number(amount).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
    await spend.getByText(text(item.ad_spend)).waitFor();
    await spend.getByText(`from ${text(item.previous.ad_spend)}`, { exact: true }).waitFor();
    await c.page.locator('.previous-key').waitFor();
    await c.expectAccessible();
    await c.page.getByRole('link', { name: item.campaign_name, exact: true }).first().click();
    const creatives = c.page.getByRole('table', { name: 'Creatives' });
    const ofCampaign = await c.read<{ items: { name: string }[] }>(path, {
      ...RANGE,
      campaign_ids: [new URL(c.page.url()).searchParams.get('campaign_id')],
    });
    await creatives.getByRole('link').first().waitFor();
    expect(await creatives.locator('tbody a').allTextContents()).to.deep.equal(
      ofCampaign.items.map(({ name }) => name),
    );
    await c.expectAccessible();
    await creatives.locator('tbody a').first().click();
    await c.page.getByRole('link', { name: 'of its landing page' }).click();
    await c.page.getByText('No visits match.').waitFor();
    expect(new URL(c.page.url()).searchParams.get('query')).to.equal(item.landing_page_url.split('?', 1)[0]);
  });

  it('shows several company records that share a domain as one, and who is known there by domain or email', async () => {
    const organization_id = 'org_twins';
    const key = await c.gateway.keyFor(organization_id);
    const twins = ['North', 'South'].map((name) => ({
      id: name,
      organization_id,
      name,
      domain: 'twins.example',
    }));
    await c.gateway.ingest('network-a-companies', twins, { key });
    await c.open('/companies/company?domain=twins.example', key);
    await c.page.getByRole('heading', { name: 'Its company records' }).waitFor();
    for (const name of ['North', 'South']) await c.page.getByRole('link', { name, exact: true }).waitFor();
    await c.page.getByText('No contact has the domain twins.example, or an email of it.').waitFor();
    // A list of addresses is a usual import; the company has no contact under a domain that only begins like its own.
    const people = ['Ada@twins.example', 'bob@twins.example.org'].map((email, number) => ({
      contact_id: `twin_${number}`,
      first_name: email.slice(0, 3),
      work_emails: [email],
    }));
    await c.gateway.ingest('contacts', people, { key });
    await c.page.reload();
    await c.page
      .getByRole('table', { name: 'People' })
      .getByRole('link', { name: 'Ada', exact: true })
      .waitFor();
    await c.page.getByRole('link', { name: 'Show in Contacts' }).click();
    await c.page.locator('output.total', { hasText: /^1 contact$/ }).waitFor();
  });

  it('shows the money of all campaigns in the currency of most of them, in another, or as it was spent', async () => {
    const path = '/api/advertising/network_a/campaigns';
    const spentIn = async (currency: string) => {
      const { totals } = await c.read<{ totals: { ad_spend: string }[] }>(path, { ...RANGE, currency });
      const spend = Number(totals[0]?.ad_spend).toLocaleString('en', { style: 'currency', currency });
      await c.page.locator('.totals').getByText(spend, { exact: true }).waitFor();
    };
    await c.open(`/advertising?start=${RANGE.start_date}&end=${RANGE.end_date}`);
    await spentIn('USD');
    const currency = c.page.getByLabel('Currency');
    expect(await currency.inputValue()).to.equal('USD');
    expect(await c.page.locator('main').textContent()).not.to.match(/€\d/);
    await currency.selectOption('EUR');
    await spentIn('EUR');
    const cells = await c.page.locator('tbody td.figure:has-text("€")').count();
    expect(cells).to.be.above(20);
    expect(await c.page.locator('main').textContent()).not.to.match(/\$\d/);
    await currency.selectOption('of each campaign');
    await c.page.getByText('Amounts are in different currencies').waitFor();
  });

  it('is used by keys alone: skip link, search, rows, a card and back, and the list of keys', async () => {
    await c.open('/contacts');
    const links = c.page.getByRole('table', { name: 'Contacts' }).locator('tbody a[href*=contact]');
    await links.first().waitFor();
    const names = await links.allTextContents();
    await c.page.keyboard.press('Tab');
    await c.page.keyboard.press('Enter');
    expect(await focused()).to.equal(names[0]);
    for (const key of ['j', 'j', 'j', 'k']) await c.page.keyboard.press(key);
    expect(await focused()).to.equal(names[2]);
    await c.page.keyboard.press('Enter');
    await c.page
      .getByRole('complementary', { name: 'Contact' })
      .getByRole('heading', { name: names[2] ?? '' })
      .waitFor();
    await c.page.keyboard.press('Escape');
    await c.page.getByRole('complementary').waitFor({ state: 'detached' });
    await until(async () => (await focused()) === names[2], 'the focus is back in its row');
    await c.page.keyboard.press('?');
    const help = c.page.getByRole('dialog', { name: 'Keys' });
    await help.getByText('Next row, previous row').waitFor();
    await c.page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await c.page.keyboard.press('ControlOrMeta+k');
    await c.page.keyboard.type('j?');
    expect(await c.page.getByRole('searchbox').inputValue()).to.equal('j?');
    await until(async () => (await links.first().textContent()) !== names[0], 'those who match are listed');
    await c.page.getByRole('searchbox').fill('');
    await until(async () => (await links.first().textContent()) === names[0], 'everybody is listed again');
    await c.page.keyboard.press('ArrowDown');
    expect(await focused()).to.equal(names[0]);
  });

  it('sorts contacts as the API does, and by match where words are searched', async () => {
    await c.open('/contacts');
    await c.page.getByLabel('Sort').selectOption('company');
    const { contacts } = await c.read<{ contacts: { company_name: string }[] }>('/api/contacts/search', {
      sort_by: 'company_name',
      sort_direction: 'asc',
      limit: 100,
    });
    const table = c.page.getByRole('table', { name: 'Contacts' });
    const first = contacts[0]?.company_name ?? '';
    await table.locator('tbody tr:first-child').getByText(first, { exact: true }).waitFor();
    expect(new URL(c.page.url()).search).to.equal('?sort=company');
    expect(await table.locator('tbody td:nth-child(4)').allTextContents()).to.deep.equal(
      contacts.map(({ company_name }) => company_name),
    );
    await c.page.getByRole('searchbox').fill('marketing');
    await c.page.locator('mark').first().waitFor();
    expect(await c.page.getByLabel('Sort').isDisabled()).to.equal(true);
  });

  it('moves neither the table nor a button while a search is typed', async () => {
    await c.open('/contacts');
    await c.page.getByRole('table', { name: 'Contacts' }).locator('tbody a').first().waitFor();
    await c.page.evaluate(`
      window.places = new Set();
      const look = () => {
        const at = (selector) => document.querySelector(selector)?.getBoundingClientRect();
        const [table, actions] = [at('main .list'), at('.toolbar .actions')];
        if (table) places.add([table.top, actions.top, actions.left].join());
        requestAnimationFrame(look);
      };
      look();
    `);
    await c.page.getByRole('searchbox').pressSequentially('marketing manager zzyzx', { delay: 40 });
    await c.page.locator('output', { hasText: 'Nobody matches zzyzx' }).waitFor();
    await c.page.locator('summary', { hasText: '+ Filter' }).press('Enter');
    const value = c.page.getByRole('list', { name: 'Values of Country' }).getByRole('button');
    await value.nth(1).waitFor();
    await c.page.getByRole('textbox', { name: 'Country' }).pressSequentially('Germ', { delay: 40 });
    await value.nth(1).waitFor({ state: 'detached' });
    await value.filter({ hasText: 'Germany' }).waitFor();
    await c.page.getByRole('textbox', { name: 'Country' }).pressSequentially('any\n', { delay: 40 });
    await c.page.getByText('Country: Germany').waitFor();
    await c.page.locator('output.total', { hasText: /^\d+ contacts/ }).waitFor();
    expect(await c.page.evaluate('[...places].length')).to.equal(1);
  });
});
