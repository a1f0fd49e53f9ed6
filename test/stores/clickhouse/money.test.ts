import { expect } from 'chai';
import type { AnalyticsStore } from '../../../services/advertising/analytics-store.js';
import { openTemporaryStore } from '../../advertising/helper.js';
import { accepted } from '../../support/accepted.js';
import { rawSql } from '../../support/raw-sql.js';

/** More than a record may have: it stands for the sum of many records. */
const HUGE = '90000000000000000000000000';
const TWICE = '180000000000000000000000000';

describe('Money in SQL', () => {
  let store: AnalyticsStore;
  let dispose: () => Promise<void>;
  before(async () => {
    ({ store, dispose } = await openTemporaryStore());
    const delivery = (
      organization_id: string,
      campaign_id: string,
      creative_id: string,
      ad_spend: string,
    ) => ({
      organization_id,
      date: '2026-01-02',
      campaign_id,
      creative_id,
      ad_spend,
      conversion_value: ad_spend,
    });
    await store.insertDeliveries(
      accepted(
        [
          delivery('org_huge', 'c', 'one', HUGE),
          delivery('org_huge', 'c', 'two', HUGE),
          delivery('org_other', 'c', 'one', '1.5'),
        ],
        1,
      ),
    );
    await store.insertCampaigns(
      accepted(
        ['c', 'd'].map((id) => ({ organization_id: 'org_huge', id, daily_budget: HUGE })),
        1,
      ),
    );
  });
  after(() => dispose());

  const one = async (sql: string) => {
    const { rows } = await store.query<{ value: string }>({
      name: 'test',
      sql: rawSql(`SELECT ${sql}`),
      params: {},
    });
    return rows[0]?.value;
  };

  for (const [view, column] of [
    ['campaign_daily', 'ad_spend'],
    ['campaign_daily', 'conversion_value'],
    ['creative_daily', 'ad_spend'],
    ['campaigns', 'daily_budget'],
  ] as const) {
    it(`adds up to what it is in ${column} of ${view}, and never below zero`, async () => {
      const from = `FROM reachline.${view} WHERE organization_id = 'org_huge'`;
      expect(await one(`sum(${column}) AS value ${from}`)).to.equal(TWICE);
    });
  }

  it('of one organization stops no statement over all of them', async () => {
    expect(await one('sum(ad_spend) AS value FROM reachline.campaign_daily')).to.equal(
      '180000000000000000000000001.5',
    );
    expect(
      await one("max(ad_spend) AS value FROM reachline.campaign_daily WHERE organization_id = 'org_other'"),
    ).to.equal('1.5');
    expect(await one('toTypeName(ad_spend) AS value FROM reachline.campaign_daily LIMIT 1')).to.equal(
      'Decimal(76, 12)',
    );
  });
});
