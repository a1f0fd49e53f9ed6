import { expect } from 'chai';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import { METRIC_NAMES } from '../../services/advertising/metrics.js';
import type { DeliveryRecord } from '../../services/advertising/records.js';
import { migrate } from '../../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import { accepted } from '../support/accepted.js';
import { Random } from '../support/random.js';
import { tempFolder } from '../support/temp-folder.js';
import { call, openTemporaryStore } from './helper.js';
import { randomRecords } from './random-records.js';

/** A sum of money texts and counts, exactly. */
function exactSum(values: unknown[]): bigint {
  return values.reduce<bigint>((total, value) => {
    const [whole = '0', fraction = ''] = String(value).split('.');
    return total + BigInt(whole) * 10n ** 12n + BigInt(fraction.padEnd(12, '0'));
  }, 0n);
}

describe('advertising figures agree with each other (contract 5.12)', function () {
  this.timeout(120_000);
  let store: AnalyticsStore;
  let dispose: () => Promise<void>;
  const range = { start_date: '2026-08-25', end_date: '2026-10-20' };

  before(async () => {
    ({ store, dispose } = await openTemporaryStore());
    const records = randomRecords(new Random(11), 1500);
    await store.insertCampaigns(
      accepted(
        records.campaigns.map(({ record }) => record),
        1,
      ),
    );
    await store.insertCreatives(
      accepted(
        records.creatives.map(({ record }) => record),
        1,
      ),
    );
    await store.insertCompanies(
      accepted(
        records.companies.map(({ record }) => record),
        1,
      ),
    );
    await store.insertDeliveries(
      accepted(
        records.deliveries.map(({ record }) => record),
        1,
      ),
    );
  });
  after(() => dispose());

  it('pages tile: put together they are the one big page, whatever the order', async () => {
    for (const sort_by of ['ctr', 'name', 'status', ...METRIC_NAMES.slice(0, 3)] as const) {
      for (const sort_direction of ['asc', 'desc'] as const) {
        const body = { ...range, sort_by, sort_direction };
        const whole = await call(searchCreatives, store, 'org_a', { ...body, page_size: 200 });
        const pieces = [];
        for (let page = 1; pieces.length < whole.total_count; page++) {
          const piece = await call(searchCreatives, store, 'org_a', { ...body, page, page_size: 9 });
          expect(piece.total_count).to.equal(whole.total_count);
          expect(piece.items.length).to.be.greaterThan(0);
          pieces.push(...piece.items);
        }
        expect(pieces).to.deep.equal(whole.items);
      }
    }
  });

  it('nothing changes when all records arrive again, backwards', async () => {
    const before = await call(searchCompanies, store, 'org_a', range);
    const deliveries = randomRecords(new Random(11), 1500).deliveries.map(({ record }) => record);
    const reported = deliveries.filter(({ reported_at }) => reported_at);
    const unique = new Map<string, DeliveryRecord>();
    for (const record of reported) {
      unique.set(
        JSON.stringify([
          record.organization_id,
          record.date,
          record.campaign_id,
          record.creative_id,
          record.company_id,
          record.reported_at,
        ]),
        record,
      );
    }
    // The last of equally new reports counts, so of each only that one is sent again.
    await store.insertDeliveries(accepted([...unique.values()].reverse(), 1));
    expect(await call(searchCompanies, store, 'org_a', range)).to.deep.equal(before);
  });

  it('series of more than 20 000 points leave out empty periods and say so', async () => {
    const body = { start_date: '2016-11-21', end_date: '2026-11-20', metrics: ['impressions' as const] };
    const { items, warnings } = await call(searchCampaigns, store, 'org_a', { ...body, page_size: 6 });
    const points = items.map(({ timeseries }) => timeseries.length);
    expect(Math.max(...points)).to.be.lessThan(100);
    expect(warnings.join()).to.contain('timeseries_sparse');
    const five = await call(searchCampaigns, store, 'org_a', { ...body, page_size: 5 });
    expect(five.items.map(({ timeseries }) => timeseries.length)).to.deep.equal(Array(5).fill(3652));
    expect(five.warnings.join()).not.to.contain('timeseries_sparse');
  });
});

const DELIVERIES = 20_000;

describe('money', function () {
  this.timeout(120_000);

  it('adds up to the last digit over twenty thousand deliveries', async () => {
    const clickhouse = await openClickHouse({ path: tempFolder() });
    try {
      await migrate(clickhouse);
      // Amounts like 0.01, which no sum of floating point keeps, and values with all twelve digits.
      await clickhouse.command(
        'test',
        `INSERT INTO deliveries (organization_id, date, campaign_id, creative_id, ad_spend, conversion_value)
         SELECT 'org', toDate('2026-01-01') + intDiv(number, 4000), concat('c', toString(number % 7)), concat('r', toString(number % 4000)),
           toDecimal128(number * 7919 % 100000, 12) / 100, toDecimal128(number * 104729 % 1000003, 12) / 1000000 / 1000000
         FROM numbers(${DELIVERIES})`,
      );
      let spent = 0n;
      let valued = 0n;
      for (let number = 0; number < DELIVERIES; number++) {
        spent += BigInt((number * 7919) % 100_000) * 10n ** 10n;
        valued += BigInt((number * 104_729) % 1_000_003);
      }
      const { items } = await call(searchCampaigns, clickhouse, 'org', {
        start_date: '2026-01-01',
        end_date: '2026-12-31',
        granularity: 'monthly',
      });
      expect(items).to.have.length(7);
      expect(exactSum(items.map(({ ad_spend }) => ad_spend))).to.equal(spent);
      expect(exactSum(items.map(({ conversion_value }) => conversion_value))).to.equal(valued);
      expect(
        exactSum(items.flatMap(({ timeseries }) => timeseries.map(({ ad_spend }) => ad_spend))),
      ).to.equal(spent);
    } finally {
      await clickhouse.close();
    }
  });

  it('adds up beyond 26 digits', async () => {
    const { store, dispose } = await openTemporaryStore();
    try {
      const ad_spend = '99999999999999999999999999.999999999999';
      const batch = Array.from({ length: 30 }, (_, index) => ({
        organization_id: 'org',
        date: '2026-10-01',
        campaign_id: 'c',
        creative_id: `r${index}`,
        ad_spend,
        clicks: 1,
      }));
      await store.insertDeliveries(accepted(batch, 1));
      const { items } = await call(searchCampaigns, store, 'org', {
        start_date: '2026-10-01',
        end_date: '2026-10-01',
        sort_by: 'cpc',
      });
      expect(items[0]).to.include({ ad_spend: '2999999999999999999999999999.99999999997', cpc: 1e26 });
    } finally {
      await dispose();
    }
  });
});
