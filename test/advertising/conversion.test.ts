import { expect } from 'chai';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { getCompany } from '../../services/advertising/company-endpoint.js';
import { searchCampaigns } from '../../services/advertising/list-endpoints.js';
import type { Problem } from '../../services/http/problems.js';
import { accepted } from '../support/accepted.js';
import { call, openTemporaryStore } from './helper.js';

const DAY = '2026-10-15';
const AS_SPENT = { start_date: DAY, end_date: DAY, metrics: ['ad_spend'] as 'ad_spend'[] };

describe('advertising money in another currency (contract 5.14)', () => {
  let store: AnalyticsStore;
  let dispose: () => Promise<void>;
  before(async () => {
    ({ store, dispose } = await openTemporaryStore());
  });
  after(() => dispose());

  let organizations = 0;
  /** An organization with a campaign that spent amounts on days, and rates of USD. */
  async function organizationWith(
    spent: Record<string, string>,
    rates: Record<string, string>,
    currency: string | null = 'USD',
  ): Promise<string> {
    const organization_id = `org_${++organizations}`;
    await store.insertCampaigns(accepted([{ organization_id, id: 'c', currency }], 1));
    await store.insertDeliveries(
      accepted(
        Object.entries(spent).map(([date, ad_spend]) => ({
          organization_id,
          date,
          campaign_id: 'c',
          creative_id: 'r',
          company_id: 'o',
          ad_spend,
        })),
        1,
      ),
    );
    await store.insertCurrencyRates(
      accepted(
        Object.entries(rates).map(([date, per_eur]) => ({ organization_id, date, currency: 'USD', per_eur })),
        1,
      ),
    );
    return organization_id;
  }
  const problemOf = (answer: Promise<unknown>) => answer.catch((error: Problem) => error) as Promise<Problem>;

  for (const [amount, perEuro, expected] of [
    // A half goes to the even neighbour; anything above or below does not.
    ['0.000001', '2', '0'],
    ['0.000003', '2', '0.000002'],
    ['0.000005', '2', '0.000002'],
    ['0.000007', '2', '0.000004'],
    ['0.000001000001', '2', '0.000001'],
    ['0.000002999999', '2', '0.000001'],
    ['10', '3', '3.333333'],
    ['20', '3', '6.666667'],
    ['1', '0.000000000001', '1000000000000'],
    ['0.000000000001', '999999999999', '0'],
    ['99999999999999999999999999.999999999999', '0.000000000001', '99999999999999999999999999999999999999'],
  ]) {
    it(`converts ${amount} by ${perEuro} USD per euro to ${expected} EUR`, async () => {
      const organization = await organizationWith({ [DAY]: amount as string }, { [DAY]: perEuro as string });
      const answer = await call(searchCampaigns, store, organization, { ...AS_SPENT, currency: 'EUR' });
      expect(answer.items[0]).to.include({ ad_spend: expected, currency: 'USD' });
      expect(answer.totals).to.deep.equal([{ currency: 'EUR', ad_spend: expected }]);
      expect(answer).to.deep.include({ converted: true, rates: { from: DAY, to: DAY } });
    });
  }

  it('rounds money that is in the currency already, and needs no rate for it', async () => {
    const organization = await organizationWith({ [DAY]: '1.0000015' }, {});
    const answer = await call(searchCampaigns, store, organization, { ...AS_SPENT, currency: 'USD' });
    expect(answer.items[0]).to.include({ ad_spend: '1.000002' });
    expect(answer).to.deep.include({ converted: true, rates: { from: null, to: null } });
  });

  it('takes the last rate of the 7 days before, and none that is older', async () => {
    const spent = { '2026-10-09': '3', '2026-10-16': '3', '2026-10-17': '3' };
    const organization = await organizationWith(spent, { '2026-10-08': '9', '2026-10-09': '3' });
    const request = { start_date: '2026-10-01', metrics: AS_SPENT.metrics, currency: 'EUR' };
    const { items, rates } = await call(searchCampaigns, store, organization, {
      ...request,
      end_date: '2026-10-16',
    });
    expect(items[0]?.ad_spend).to.equal('2');
    expect(rates).to.deep.equal({ from: '2026-10-09', to: '2026-10-09' });
    const problem = await problemOf(
      call(searchCampaigns, store, organization, { ...request, end_date: '2026-10-31' }),
    );
    expect(problem).to.include({ code: 'missing_rates', status: 422 });
    expect(problem.extras.days).to.deep.equal(['2026-10-17']);
    expect(problem.message).to.equal(
      'Money of 2026-10-17 cannot be converted: there is no rate of USD of that day or the 7 days before.',
    );
  });

  it('names money of campaigns without a currency, which nothing can convert', async () => {
    const organization = await organizationWith({ [DAY]: '1' }, { [DAY]: '2' }, null);
    const problem = await problemOf(
      call(searchCampaigns, store, organization, { ...AS_SPENT, currency: 'EUR' }),
    );
    expect(problem.message).to.equal(`Money of ${DAY} cannot be converted: the campaign has no currency.`);
  });

  it('answers about a company, which has no money, without a rate', async () => {
    const organization = await organizationWith({ [DAY]: '1' }, {});
    const answer = await call(getCompany, store, organization, {
      start_date: DAY,
      end_date: DAY,
      company_id: 'o',
      currency: 'EUR',
    });
    expect(answer).to.deep.include({ converted: true, rates: { from: null, to: null } });
  });
});
