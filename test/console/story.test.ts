import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { runs } from '../support/random.js';
import { byKeyboard, expectAccessible, useConsole } from './browser.js';

const LIST = (domain: string) =>
  `First name;Surname;E-Mail;Favourite colour\nAda;Lovelace;ada@${domain};green\nCharles;Babbage;nobody@@acme;red\n`;

/** Widths and colour schemes of the runs: one in a normal run, all three in the nightly run. */
const WALKS = (
  [
    [390, 'dark'],
    [1440, 'light'],
    [820, 'dark'],
  ] as const
).slice(0, runs(1) > 1 ? 3 : 1);

interface Item {
  id: string;
  name: string;
  domain: string;
}
type Totals = { currency: string; ad_spend: string }[];

describe('What its users asked the console first, by keyboard alone', function () {
  this.timeout(120_000);
  const c = useConsole();

  const { press, type, reach, enter, button, sees } = byKeyboard(c);
  const goTo = async (target: Locator) => {
    await enter(target);
    await c.page.locator('main:focus').waitFor();
  };
  const link = (name: string) => c.page.getByRole('link', { name, exact: true });
  const choose = async (label: string, option: string) => {
    await reach(c.page.getByRole('combobox', { name: label }));
    await type(option);
  };

  const money = (amount: string, currency: string) =>
    Number(amount).toLocaleString('en', { style: 'currency', currency });
  /** First and last day of the month `ago` months before this one. */
  const month = (ago: number) => {
    const [year, now] = [new Date().getUTCFullYear(), new Date().getUTCMonth()];
    const [start, end] = [Date.UTC(year, now - ago, 1), Date.UTC(year, now - ago + 1, 0)];
    const [start_date, end_date] = [start, end].map((day) => new Date(day).toISOString().slice(0, 10));
    return { start_date, end_date };
  };
  const spent = async (range: object) =>
    (
      await c.read<{ totals: Totals }>('/api/advertising/network_a/campaigns', {
        ...range,
        // Most campaigns of the sample are in dollars.
        currency: 'USD',
        metrics: ['ad_spend'],
      })
    ).totals;

  for (const [width, scheme] of WALKS) {
    it(`answers at ${width} pixels, ${scheme}`, async () => {
      const looksRight = () => expectAccessible(c.page, [[width, scheme, '']]);
      const [campaign] = (await c.read<{ items: Item[] }>('/api/advertising/network_a/campaigns', month(1)))
        .items;
      const [company] = (
        await c.read<{ items: Item[] }>('/api/advertising/network_a/companies', {
          ...month(1),
          campaign_ids: [campaign?.id],
        })
      ).items;
      if (!campaign || !company) throw new Error('The sample data has no campaign.');
      const buffer = Buffer.from(LIST(company.domain));
      c.page.on('filechooser', (dialog) =>
        dialog.setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer }),
      );
      await c.page.setViewportSize({ width, height: 800 });
      await c.open('/contacts');
      // Until the server has confirmed the key, there is nothing to search.
      await c.page.getByRole('searchbox').waitFor();

      // “Put these 94 into an audience.”
      await press('/');
      await type('marketing manager');
      const { total_count: total } = await c.read<{ total_count: number }>('/api/contacts/search', {
        query: 'marketing manager',
      });
      expect(total).to.be.within(20, 100);
      await sees(new RegExp(`^${total} contacts$`));
      await reach(c.page.getByRole('checkbox', { name: 'Select the rows that are loaded' }));
      await press('Space');
      await sees(`${total} contacts selected`);
      await press('a');
      await enter(c.page.locator('summary', { hasText: 'Add to audience' }));
      const name = c.page.getByLabel('Add to an audience, or name a new one');
      await name.and(c.page.locator(':focus')).waitFor();
      await type(`Invited ${width}`);
      await button(`New audience “Invited ${width}”`).waitFor();
      await looksRight();
      await press('Enter');
      await sees(`Audience created: ${total} contacts added to Invited ${width}.`);

      // “Undo.”
      await press('ControlOrMeta+z');
      await sees(`The audience Invited ${width} was deleted.`);
      await enter(button('Undo'));
      await sees(`The audience Invited ${width} is back, with ${total} members.`);
      await goTo(link('Audiences'));
      await enter(link(`Invited ${width}`));
      await sees(new RegExp(`^${total} members$`));
      await looksRight();

      // “Upload this list.”
      await goTo(link('← Audiences'));
      await goTo(link('Import'));
      await looksRight();
      await reach(c.page.locator('input[type=file]'));
      await press('Enter');
      await sees('This column is left out: Favourite colour.');
      await sees('Must be an email address.');
      await looksRight();
      await enter(button('Load 1 contact'));
      await sees('1 contact loaded, 1 rejected');
      c.forgetFailedRequests();

      // “What did we spend in all?”
      await goTo(link('Advertising'));
      await choose('Range', 'Last month');
      for (const { currency, ad_spend } of await spent(month(1))) await sees(money(ad_spend, currency));

      // “How is it against last month?”
      await choose('Compare with', 'the month');
      const before = await spent(month(2));
      for (const { currency, ad_spend } of await spent(month(1))) {
        const then = before.find((total) => total.currency === currency)?.ad_spend ?? '0';
        const percent = Math.round((100 * (Number(ad_spend) - Number(then))) / Number(then));
        const change =
          percent === 0
            ? 'unchanged'
            : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}% ${percent > 0 ? 'more' : 'less'}`;
        await sees(change);
        await sees(`from ${money(then, currency)}`);
      }
      await looksRight();

      // “Who do we know there?”
      await goTo(link(campaign.name));
      await c.page.getByRole('heading', { name: campaign.name, level: 1 }).waitFor();
      await link(company.name).waitFor();
      await looksRight();
      await press('j', 'Enter');
      await c.page.getByRole('heading', { name: company.name, level: 1 }).waitFor();
      await link('Ada Lovelace').waitFor();
      await looksRight();
      await press('j', 'Enter');
      expect(new URL(c.page.url()).searchParams.get('contact')).to.equal(`ada_40${company.domain}`);
      const email = c.page.getByRole('complementary', { name: 'Contact' }).locator('a[href^="mailto:"]');
      expect(await email.first().textContent()).to.equal(`ada@${company.domain}`);
      await looksRight();
    });
  }
});
