import { expect } from 'chai';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { getCompany } from '../../services/advertising/company-endpoint.js';
import { searchCampaigns } from '../../services/advertising/list-endpoints.js';
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
  it('rounds the money of each day to millionths, a half to the even neighbour', async () => {
    const days = [
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
    ] as const;
    const dayOf = (index: number) => `2026-10-${10 + index}`;
    const spent = Object.fromEntries(days.map(([amount], index) => [dayOf(index), amount]));
    const rates = Object.fromEntries(days.map(([, perEuro], index) => [dayOf(index), perEuro]));
    const organization = await organizationWith(spent, rates);
    const [start_date, end_date] = [dayOf(0), dayOf(days.length - 1)];
    const body = { ...AS_SPENT, start_date, end_date, currency: 'EUR' };
    const answer = await call(searchCampaigns, store, organization, body);
    const points = answer.items[0]?.timeseries.map((point) => point.ad_spend);
    expect(points).to.deep.equal(days.map(([, , expected]) => expected));
    const ad_spend = '100000000000000000000000001000000000009.00001';
    expect(answer.items[0]).to.include({ ad_spend, currency: 'USD' });
    expect(answer.totals).to.deep.equal([{ currency: 'EUR', ad_spend }]);
    expect(answer).to.deep.include({ converted: true, rates: { from: start_date, to: end_date } });
  });

  it('rounds money that is in the currency already, and needs no rate for it', async () => {
    const organization = await organizationWith({ [DAY]: '1.0000015' }, {});
    const answer = await call(searchCampaigns, store, organization, { ...AS_SPENT, currency: 'USD' });
    expect(answer.items[0]).to.include({ ad_spend: '1.000002' });
    expect(answer).to.deep.include({ converted: true, rates: { from: null, to: null } });
  });

  for (const [currency, days, reason] of [
    // A rate counts for 7 days after its own day.
    ['USD', [DAY], 'there is no rate of USD of that day or the 7 days before'],
    [null, ['2026-10-14', DAY], 'the campaign has no currency'],
  ] as const) {
    it(`names the days of money that cannot be converted, as ${reason}`, async () => {
      const rates = { '2026-10-07': '2' };
      const organization = await organizationWith({ '2026-10-14': '1', [DAY]: '1' }, rates, currency);
      const body = { ...AS_SPENT, start_date: '2026-10-01', currency: 'EUR' };
      const problem = await call(searchCampaigns, store, organization, body).catch((error) => error);
      expect(problem).to.include({ code: 'missing_rates', status: 422 });
      expect(problem.extras.days).to.deep.equal(days);
      expect(problem.message).to.equal(`Money of ${days.join(', ')} cannot be converted: ${reason}.`);
    });
  }

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
