import { expect } from 'chai';
import {
  type Attributes,
  campaignAttributes,
  companyAttributes,
  creativeAttributes,
} from '../../services/advertising/attributes.js';
import { getCompany } from '../../services/advertising/company-endpoint.js';
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import { COMPANY_METRIC_NAMES, METRIC_NAMES, SUMMED_METRICS } from '../../services/advertising/metrics.js';
import type { DeliveryRecord } from '../../services/advertising/records.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { demoRecords } from '../../services/demo/load.js';
import { call, TODAY } from '../advertising/helper.js';
import { openSampleEndpoint, type SampleEndpoint } from './sample-endpoint.js';

/** Holds the days that the sample restates. */
const RANGE = { start_date: '2026-10-20', end_date: '2026-11-20' };
const summed = (names: readonly string[]) => names.filter((name) => name in SUMMED_METRICS);
const SUMMED = summed(METRIC_NAMES);
const COMPANY_SUMMED = summed(COMPANY_METRIC_NAMES);

type Row = Record<string, string | number | null>;

describe('the views of analysts', () => {
  let endpoint: SampleEndpoint;

  before(async () => {
    endpoint = await openSampleEndpoint(TODAY);
  });
  after(() => endpoint.close());

  const sums = (names: readonly string[]) =>
    names.map((name) =>
      SUMMED_METRICS[name as keyof typeof SUMMED_METRICS].kind === 'money'
        ? `toString(sum(v.${name})) AS ${name}`
        : `sum(v.${name}) AS ${name}`,
    );
  const IN_RANGE =
    'organization_id = {organization:String} AND date BETWEEN {start_date:Date} AND {end_date:Date}';
  const PARAMETERS = {
    param_organization: DEMO_ORGANIZATION,
    param_start_date: RANGE.start_date,
    param_end_date: RANGE.end_date,
  };
  /** The metrics of a view by id, for the ids that have any. */
  const figures = async (view: string, id: string, names: readonly string[]) => {
    const query = `SELECT ${[`${id} AS id`, ...sums(names)].join(', ')} FROM ${view} AS v WHERE ${IN_RANGE} GROUP BY id ORDER BY id`;
    return endpoint.ask<Row>(query, PARAMETERS);
  };
  const pick = (item: object, names: readonly string[]): Row => {
    const values = item as Row;
    return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
  };
  /** What the API answers, in the same form. */
  const answered = (items: readonly object[], names: readonly string[]) =>
    items
      .map((item) => pick(item, ['id', ...names]))
      .filter((item) => (item.impressions as number) > 0)
      .sort((a, b) => ((a.id as string) < (b.id as string) ? -1 : 1))
      // Money as a number of the engine's own form: without zeros at its end.
      .map((item) =>
        Object.fromEntries(
          Object.entries(item).map(([name, value]) => [
            name,
            name !== 'id' && typeof value === 'string' ? String(Number(value)) : value,
          ]),
        ),
      );
  const campaigns = () =>
    call(searchCampaigns, endpoint.store, DEMO_ORGANIZATION, {
      ...RANGE,
      granularity: 'daily',
      page_size: 200,
    });
  const creatives = () =>
    call(searchCreatives, endpoint.store, DEMO_ORGANIZATION, {
      ...RANGE,
      granularity: 'monthly',
      page_size: 200,
    });
  const companies = async () => {
    const body = { ...RANGE, granularity: 'monthly' as const, page_size: 200 };
    const pages = await Promise.all(
      [1, 2].map((page) => call(searchCompanies, endpoint.store, DEMO_ORGANIZATION, { ...body, page })),
    );
    return pages.flatMap(({ items }) => items);
  };

  it('count restated days once', async () => {
    let reported = 0;
    for (const [stream, records] of demoRecords(TODAY)) {
      if (stream !== 'network-a-deliveries') continue;
      for (const { creative_id, impressions } of records as DeliveryRecord[]) {
        if (creative_id) reported += impressions ?? 0;
      }
    }
    const [row] = await endpoint.ask<{ counted: number }>(
      'SELECT sum(impressions) AS counted FROM campaign_daily',
    );
    expect(row?.counted).to.be.within(1, reported - 1);
  });

  it('have the figures of campaigns that the API answers', async () => {
    const { items } = await campaigns();
    const rows = await figures('campaign_daily', 'campaign_id', SUMMED);
    expect(rows.length).to.be.greaterThan(10);
    expect(rows).to.deep.equal(answered(items, SUMMED));
  });

  it('have the figures of each day', async () => {
    const { items } = await campaigns();
    const expected = items.flatMap(({ id, timeseries }) =>
      timeseries
        .filter((point) => Number(point.impressions) > 0)
        .map((point) => ({ id, date: point.period, impressions: point.impressions, clicks: point.clicks })),
    );
    const rows = await endpoint.ask(
      `SELECT campaign_id AS id, date, impressions, clicks FROM campaign_daily WHERE ${IN_RANGE} ORDER BY id, date`,
      PARAMETERS,
    );
    expect(rows).to.have.deep.members(expected);
  });

  it('have the figures of creatives that the API answers', async () => {
    const { items } = await creatives();
    const rows = await figures('creative_daily', 'creative_id', SUMMED);
    expect(rows.length).to.be.greaterThan(40);
    expect(rows).to.deep.equal(answered(items, SUMMED));
  });

  it('have the figures of companies that the API answers', async () => {
    const rows = await figures('company_daily', 'company_id', COMPANY_SUMMED);
    expect(rows.length).to.be.greaterThan(200);
    expect(rows).to.deep.equal(answered(await companies(), COMPANY_SUMMED));
  });

  it('have the figures of one company by campaign that the API answers', async () => {
    const [first] = await companies();
    const { campaigns: items } = await call(getCompany, endpoint.store, DEMO_ORGANIZATION, {
      ...RANGE,
      company_id: first?.id as string,
    });
    const rows = await endpoint.ask<Row>(
      `SELECT campaign_id, sum(impressions) AS i, sum(engagements) AS e FROM company_daily WHERE ${IN_RANGE} AND company_id = {company:String} GROUP BY campaign_id ORDER BY e DESC, i DESC, campaign_id`,
      { ...PARAMETERS, param_company: first?.id as string },
    );
    expect(rows.length).to.be.greaterThan(0);
    expect(rows).to.deep.equal(
      items.map(({ campaign_id, impressions, engagements }) => ({
        campaign_id,
        i: impressions,
        e: engagements,
      })),
    );
  });

  it('have every attribute that the API answers', async () => {
    // Views have money as Decimal, the API as text.
    const named = (attributes: Attributes) =>
      Object.keys(attributes).filter((name) => !name.endsWith('_budget'));
    const kinds: [view: string, id: string, items: readonly object[], names: string[]][] = [
      ['campaigns', 'campaign_id', (await campaigns()).items, named(campaignAttributes)],
      ['creatives', 'creative_id', (await creatives()).items, ['campaign_id', ...named(creativeAttributes)]],
      ['companies', 'company_id', await companies(), named(companyAttributes)],
    ];
    for (const [view, id, items, names] of kinds) {
      const rows = await endpoint.ask<Row>(`SELECT ${id} AS id, ${names.join(', ')} FROM ${view}`);
      const byId = new Map(rows.map((row) => [row.id, row]));
      expect(byId.size).to.equal(rows.length);
      expect(items.length).to.be.greaterThan(20);
      for (const item of items) {
        const expected = pick(item, ['id', ...names]);
        expect(byId.get(expected.id as string)).to.deep.equal(expected);
      }
    }
  });

  it('give every column a comment', async () => {
    const rows = await endpoint.ask(
      "SELECT table, name FROM system.columns WHERE database = 'reachline' AND comment = ''",
    );
    expect(rows).to.deep.equal([]);
  });

  it('read no more than the days and the organization that were asked for', async () => {
    const { rows } = await endpoint.store.query<{ explain: string }>({
      name: 'test',
      sql: "EXPLAIN indexes = 1 SELECT sum(impressions) FROM reachline.campaign_daily WHERE organization_id = 'org_demo' AND date >= '2026-11-01'",
      params: {},
    });
    const text = rows.map(({ explain }) => explain).join('\n');
    expect(text).to.match(/Min-Max\s+Keys:\s+date/);
    expect(text).to.match(/PrimaryKey\s+Keys:\s+organization_id\s+date/);
  });
});
