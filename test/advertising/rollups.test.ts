import { expect } from 'chai';
import type { AnalyticsReader, AnalyticsStore } from '../../services/advertising/analytics-store.js';
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import type { DeliveryRecord } from '../../services/advertising/records.js';
import { wholeMonths } from '../../services/advertising/rollups.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import { RollupBuilder } from '../../services/stores/clickhouse/rollup-builder.js';
import { openAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import { accepted } from '../support/accepted.js';
import { Random, runs, SEED } from '../support/random.js';
import { tempFolder } from '../support/temp-folder.js';
import { call } from './helper.js';

const STEPS = runs(3);
const ORGANIZATIONS = ['org_a', 'org_b'];
const RANGES = [
  ['2026-07-01', '2026-10-31'],
  ['2026-07-15', '2026-10-02'],
  ['2026-08-01', '2026-09-30'],
] as const;
const FILTERS = [{}, { search: 'c' }, { campaign_ids: ['c1', 'c2'] }];

describe('whole months of a range', () => {
  it('are those from their first day to their last', () => {
    expect(wholeMonths({ start: '2026-01-15', end: '2026-04-29' })).to.deep.equal([
      '2026-02-01',
      '2026-03-01',
    ]);
    expect(wholeMonths({ start: '2026-01-01', end: '2026-01-31' })).to.deep.equal(['2026-01-01']);
    expect(wholeMonths({ start: '2026-01-02', end: '2026-02-27' })).to.deep.equal([]);
  });
});

it('sums of a month are built once where another process builds them meanwhile', async () => {
  const path = tempFolder();
  const { store } = await openAnalyticsStore({ path });
  const delivery = { organization_id: 'org_a', date: '2026-07-01', campaign_id: 'c1', creative_id: 'r1' };
  await store.insertDeliveries(accepted([{ ...delivery, reported_at: '2026-10-01T00:00:00Z' }], 1));
  await store.close();
  const clickhouse = await openClickHouse({ path });
  try {
    // A month is due again within the second of its last insert.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const options = { settleSeconds: 0, minRows: 1 };
    let builtMeanwhile: number | undefined;
    const slow: typeof clickhouse = {
      ...clickhouse,
      async query(query, signal) {
        const answer = await clickhouse.query<never>(query, signal);
        builtMeanwhile ??= await new RollupBuilder(clickhouse, options).run();
        return answer;
      },
    };
    expect(await new RollupBuilder(slow, options).run()).to.equal(0);
    expect(builtMeanwhile).to.equal(1);
  } finally {
    await clickhouse.close();
  }
});

describe(`sums of months under random restatements (TEST_SEED=${SEED})`, function () {
  this.timeout(300_000);
  const random = new Random(SEED);
  let path: string;
  let store: AnalyticsStore;
  let builder: RollupBuilder;
  let accepts = Date.parse('2026-10-01');

  before(async () => {
    path = tempFolder();
    const opened = await openAnalyticsStore({ path }, { intervalMs: 1e9, settleSeconds: 0, minRows: 1 });
    store = opened.store;
    builder = opened.builder as RollupBuilder;
  });
  after(async () => {
    await store.close();
  });

  const delivery = (): DeliveryRecord => ({
    organization_id: random.pick(ORGANIZATIONS),
    date: `2026-${random.pick(['07', '08', '09', '10'])}-${random.pick(['01', '02', '15', '28', '30'])}`,
    campaign_id: random.pick(['c1', 'c2', 'c3']),
    ...random.pick([
      { creative_id: 'r1' },
      { creative_id: 'r2' },
      { company_id: 'k1' },
      { company_id: 'k2' },
      { creative_id: 'r3', company_id: 'k3' },
    ]),
    impressions: random.pick([0, 1, 70, 5000]),
    engagements: random.pick([0, 3]),
    ad_spend: random.pick(['0', '0.01', '99999999999999999999999999.5']),
    reported_at: `2026-10-0${random.pick([1, 2, 3])}T00:00:00Z`,
  });
  const insert = () => {
    accepts += random.pick([-1000, 1000]);
    return store.insertDeliveries(
      accepted(Array.from({ length: random.pick([1, 8, 40]) }, delivery), accepts),
    );
  };

  const withoutRollups: AnalyticsReader = {
    query: (query, signal) =>
      query.name.endsWith('_sealed_months')
        ? Promise.resolve({ rows: [], total: 0 })
        : store.query(query, signal),
  };
  const summed = new Set<string>();
  const noting: AnalyticsReader = {
    query(query, signal) {
      for (const [, table] of query.sql.text.matchAll(/FROM (\w+_months)/g)) summed.add(table as string);
      return store.query(query, signal);
    },
  };

  /** Compares every list of an organization with and without the sums. */
  async function compare(context: string, filters = random.pick(FILTERS)) {
    const organization = random.pick(ORGANIZATIONS);
    const [start_date, end_date] = random.pick(RANGES);
    const body = {
      start_date,
      end_date,
      granularity: random.pick(['daily', 'monthly'] as const),
      page_size: 50,
    };
    for (const [operation, sort_by] of [
      [searchCampaigns, 'ad_spend'],
      [searchCreatives, 'ad_spend'],
      [searchCompanies, 'engagements'],
      [searchCompanies, 'campaigns_reached'],
    ]) {
      const answers = await Promise.all(
        [noting, withoutRollups].map((reader) =>
          call(operation as never, reader, organization, { ...body, ...filters, sort_by } as never),
        ),
      );
      expect(JSON.stringify(answers[0]), `${context} ${JSON.stringify(body)}`).to.equal(
        JSON.stringify(answers[1]),
      );
    }
  }

  it('answer the same bytes as the deliveries', async () => {
    await insert();
    for (let step = 0; step < STEPS; step++) {
      const what = random.pick(['insert', 'build', 'both']);
      if (what === 'insert') await insert();
      if (what === 'build') await builder.run();
      // A build reads the deliveries before, during or after the inserts.
      if (what === 'both') await Promise.all([builder.run(), insert().then(insert)]);
      await compare(`step ${step}, ${what}`);
    }
    await builder.run();
    for (const filters of FILTERS) await compare('at rest', filters);
    expect([...summed].sort()).to.deep.equal([
      'campaign_company_months',
      'company_months',
      'creative_months',
    ]);
  });

  it('are used again once they are built anew, and not before', async () => {
    const body = {
      start_date: '2026-07-01',
      end_date: '2026-10-31',
      granularity: 'monthly' as const,
      page_size: 5,
    };
    const read = async () => {
      summed.clear();
      await call(searchCampaigns, noting, 'org_a', body);
      return [...summed];
    };
    const touch = (month: string) =>
      store.insertDeliveries(
        accepted(
          [{ ...delivery(), organization_id: 'org_a', date: `2026-${month}-01`, creative_id: 'r1' }],
          accepts,
        ),
      );
    for (const month of ['07', '08', '09', '10']) await touch(month);
    expect(await read()).to.deep.equal([]);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await builder.run();
    expect(await read()).to.deep.equal(['creative_months']);
    for (const month of ['07', '08', '09', '10']) await touch(month);
    expect(await read()).to.deep.equal([]);
  });
});
