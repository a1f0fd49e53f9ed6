/** What analysts read of the sample data: the views, the questions of the documentation, and the official client. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { expect } from 'chai';
import {
  type Attributes,
  campaignAttributes,
  companyAttributes,
  creativeAttributes,
} from '../../services/advertising/attributes.js';
import { addDays } from '../../services/advertising/calendar.js';
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
import { packageRoot } from '../../services/shared/fs.js';
import { call } from '../advertising/helper.js';
import { DAY } from '../docs/response-examples.js';
import { useOpened } from '../support/opened.js';
import { openSampleEndpoint, PASSWORD } from './sample-endpoint.js';

type Row = Record<string, string | number | null>;
const FROM = addDays(DAY, -60);
const TO = addDays(DAY, -1);
const PAGE = readFileSync(join(packageRoot, 'docs/reference/sql.md'), 'utf8');
const QUESTIONS = [...PAGE.matchAll(/^### \d+\. (?<question>.+)\n\n```sql\n(?<sql>[^`]+)```$/gm)].map(
  ({ groups }) => groups as { question: string; sql: string },
);

const numbers = (rows: Row[], column: string) => rows.map((row) => Number(row[column]));
const texts = (rows: Row[], column: string) => rows.map((row) => String(row[column]));
const total = (values: number[]) => values.reduce((sum, value) => sum + value, 0);
const descends = (column: string) => (rows: Row[]) =>
  expect(numbers(rows, column)).to.deep.equal(numbers(rows, column).sort((a, b) => b - a));
/** Between 0 and the value of the other column, or 1, and not all of them 0. */
const isPart = (column: string, whole?: string) => (rows: Row[]) => {
  for (const row of rows) expect(row[column]).to.be.within(0, whole === undefined ? 1 : Number(row[whole]));
  expect(Math.max(...numbers(rows, column))).to.be.above(0);
};
const isAbove0 = (column: string) => (rows: Row[]) =>
  expect(Math.min(...numbers(rows, column))).to.be.above(0);
const includes = (column: string, text: string) => (rows: Row[]) =>
  expect(texts(rows, column)).to.include(text);

/** By question: the columns of the answer, its rows at least and at most, and what must hold of them. */
const ANSWERS: [
  columns: string,
  rows: [least: number, most: number],
  ...checks: ((rows: Row[]) => unknown)[],
][] = [
  [
    'campaign_id name currency spend shown clicked ctr cost_per_click',
    [10, 24],
    descends('shown'),
    isPart('ctr'),
    includes('name', 'Brand – executives'),
  ],
  [
    'week currency spend leads',
    [18, 40],
    isAbove0('spend'),
    (rows) =>
      expect(new Set(texts(rows, 'week').map((week) => new Date(week).getUTCDay()))).to.have.keys([1]),
  ],
  [
    'objective currency leads spend cost_per_lead',
    [1, 20],
    includes('objective', 'LEAD_GENERATION'),
    (rows) => {
      for (const { cost_per_lead, spend, leads } of rows)
        expect(cost_per_lead).to.be.closeTo(Number(spend) / Number(leads), 0.01);
    },
  ],
  [
    'campaign_id creative_id headline shown ctr',
    [6, 24],
    isPart('ctr'),
    (rows) => expect(new Set(texts(rows, 'campaign_id')).size).to.equal(rows.length),
  ],
  ['company_id name domain shown engaged campaigns_engaged', [20, 20], descends('engaged')],
  ['industry reached shown engagement_rate', [4, 100], isPart('engagement_rate')],
  [
    'campaign_id shown shown_before change',
    [6, 24],
    // The sample has a campaign that began five days ago.
    (rows) => expect(rows.filter((row) => row.shown_before === 0 && row.change === null)).to.have.length(1),
  ],
  [
    'weekday name shown_a_day ctr',
    [7, 7],
    isPart('ctr'),
    (rows) => expect(numbers(rows, 'weekday')).to.deep.equal([1, 2, 3, 4, 5, 6, 7]),
    (rows) => expect(Number(rows[1]?.shown_a_day)).to.be.above(Number(rows[6]?.shown_a_day)),
  ],
  [
    'campaign_id date spend mean_of_seven',
    [300, 2000],
    (rows) =>
      expect(rows[6]?.mean_of_seven).to.be.closeTo(total(numbers(rows.slice(0, 7), 'spend')) / 7, 0.01),
  ],
  [
    'company_id first_seen first_campaign shown',
    [1, 400],
    (rows) => {
      const days = texts(rows, 'first_seen');
      expect(days).to.deep.equal(days.filter((day) => day >= FROM && day <= TO).sort());
    },
  ],
  ['company shown known areas', [20, 20], descends('shown'), isAbove0('known')],
  ['contact_id job_title company engagements', [1, 1000], descends('engagements')],
  ['audience members reached share', [12, 12], isPart('share'), isPart('reached', 'members')],
  ['audience visits intent of_high_intent', [6, 12], isPart('of_high_intent', 'visits')],
  [
    'audience visits members_reached companies_reached',
    [6, 12],
    isPart('companies_reached', 'members_reached'),
  ],
  ['date clicks visits visits_per_click', [60, 60], isAbove0('visits')],
  ['page visits audiences intent', [1, 100], descends('visits'), includes('page', '/pricing')],
  [
    'audience other_audience members_of_both',
    [20, 20],
    (rows) => expect(rows.every((row) => String(row.audience) < String(row.other_audience))).to.equal(true),
  ],
  ['company domain shown', [1, 400]],
  [
    'country visits known',
    [1, 100],
    includes('country', 'Germany'),
    (rows) => expect(total(numbers(rows, 'known'))).to.be.within(100, 2000),
  ],
];

describe('The sample data in SQL', () => {
  const endpoint = useOpened(() => openSampleEndpoint(DAY));

  it('answers as many questions as the page asks', () =>
    expect(QUESTIONS).to.have.length(ANSWERS.length).and.to.have.length(20));

  QUESTIONS.forEach(({ question, sql }, index) => {
    it(`answers: ${question}`, async () => {
      const parameters = { param_organization: DEMO_ORGANIZATION, param_from: FROM, param_to: TO };
      const rows = await endpoint.ask<Row>(sql, parameters);
      const [columns, [least, most], ...checks] = ANSWERS[index] as (typeof ANSWERS)[number];
      expect(rows).to.have.length.within(least, most);
      expect(Object.keys(rows[0] ?? {}).join(' ')).to.equal(columns);
      for (const check of checks) check(rows);
      expect(await endpoint.ask(sql, { ...parameters, param_organization: 'org_other' })).to.deep.equal([]);
    });
  });

  it('lists every view with its columns, each with a comment', async () => {
    const uncommented =
      "SELECT table, name FROM system.columns WHERE database = 'reachline' AND comment = ''";
    expect(await endpoint.ask(uncommented)).to.deep.equal([]);
    const rows = await endpoint.ask<{ table: string; columns: string[] }>(
      "SELECT table, groupArray(name) AS columns FROM (SELECT table, name FROM system.columns WHERE database = 'reachline' ORDER BY table, position) GROUP BY table",
    );
    const views = new Map(rows.map(({ table, columns }) => [table, columns]));
    const figures = (views.get('campaign_daily') ?? []).slice(3);
    const listed = [...PAGE.matchAll(/^\| `(?<view>\w+)` \| [^|]+ \| (?<columns>.+) \|$/gm)].map(
      ({ groups }) => groups as { view: string; columns: string },
    );
    expect(listed.map(({ view }) => view)).to.have.members([...views.keys()]);
    for (const { view, columns } of listed) {
      const own = [...columns.replace(/, and the figures.*/, '').matchAll(/`(\w+)`/g)].map(
        ([, name]) => name,
      );
      const more = columns.includes('without the two of money')
        ? figures.filter((name) => !['ad_spend', 'conversion_value'].includes(name))
        : columns.includes('and the figures')
          ? figures
          : [];
      expect([...own, ...more], view).to.deep.equal(views.get(view));
    }
  });

  /** Holds the days that the sample restates. */
  const RANGE = { start_date: '2026-10-20', end_date: '2026-11-20' };
  const IN_RANGE =
    'organization_id = {organization:String} AND date BETWEEN {start_date:Date} AND {end_date:Date}';
  const PARAMETERS = {
    param_organization: DEMO_ORGANIZATION,
    param_start_date: RANGE.start_date,
    param_end_date: RANGE.end_date,
  };
  const pick = (item: object, names: readonly string[]): Row =>
    Object.fromEntries(names.map((name) => [name, (item as Row)[name] ?? null]));
  const list = async (operation: typeof searchCampaigns, pages = [1]) => {
    const body = { ...RANGE, granularity: 'daily' as const, page_size: 200 };
    const answers = await Promise.all(
      pages.map((page) => call(operation, endpoint.store, DEMO_ORGANIZATION, { ...body, page })),
    );
    return answers.flatMap(({ items }) => items) as unknown as { id: string; timeseries: Row[] }[];
  };
  const LISTS = [
    ['campaign', searchCampaigns, [1], METRIC_NAMES, campaignAttributes],
    ['creative', searchCreatives, [1], METRIC_NAMES, { campaign_id: {}, ...creativeAttributes }],
    ['company', searchCompanies, [1, 2], COMPANY_METRIC_NAMES, companyAttributes],
  ] as unknown as [string, typeof searchCampaigns, number[], readonly string[], Attributes][];

  for (const [name, operation, pages, metrics, attributes] of LISTS) {
    it(`has the figures and attributes of each ${name} that the API answers`, async () => {
      const items = await list(operation, pages);
      const summed = metrics.filter((metric) => metric in SUMMED_METRICS);
      const sums = summed.map((metric) =>
        SUMMED_METRICS[metric as keyof typeof SUMMED_METRICS].kind === 'money'
          ? `toString(sum(v.${metric})) AS ${metric}`
          : `sum(v.${metric}) AS ${metric}`,
      );
      const rows = await endpoint.ask<Row>(
        `SELECT ${name}_id AS id, ${sums.join(', ')} FROM ${name}_daily AS v WHERE ${IN_RANGE} GROUP BY id ORDER BY id`,
        PARAMETERS,
      );
      // Money as a number of the engine's own form: without zeros at its end.
      const shown = (metric: string, value: unknown) =>
        metric !== 'id' && typeof value === 'string' ? String(Number(value)) : value;
      const answered = items
        .map((item) => pick(item, ['id', ...summed]))
        .filter((item) => Number(item.impressions) > 0)
        .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
        .map((item) =>
          Object.fromEntries(Object.entries(item).map(([metric, value]) => [metric, shown(metric, value)])),
        );
      expect(rows.length).to.be.above(10);
      expect(rows).to.deep.equal(answered);
      // Views have money as Decimal, the API as text.
      const names = Object.keys(attributes).filter((attribute) => !attribute.endsWith('_budget'));
      const view = name === 'company' ? 'companies' : `${name}s`;
      const entities = await endpoint.ask<Row>(`SELECT ${name}_id AS id, ${names.join(', ')} FROM ${view}`);
      const byId = new Map(entities.map((row) => [row.id, row]));
      expect(byId.size).to.equal(entities.length);
      for (const item of items) expect(byId.get(item.id)).to.deep.equal(pick(item, ['id', ...names]));
    });
  }

  it('has the money of each currency that the API totals, and of all in one that it converts', async () => {
    const ask = (currency?: string) =>
      call(searchCampaigns, endpoint.store, DEMO_ORGANIZATION, {
        ...RANGE,
        metrics: ['ad_spend', 'conversion_value'],
        currency,
      });
    const { totals } = await ask();
    const rows = await endpoint.ask<Row>(
      `SELECT campaigns.currency AS currency, toString(sum(ad_spend)) AS ad_spend, toString(sum(conversion_value)) AS conversion_value
FROM campaign_daily JOIN campaigns USING (organization_id, campaign_id) WHERE ${IN_RANGE} GROUP BY currency`,
      PARAMETERS,
    );
    expect(rows).to.have.length(2).and.to.have.deep.members(totals);
    const [inEuros] = await endpoint.ask<{ spend: number }>(
      `SELECT sum(toFloat64(day.ad_spend) / if(campaigns.currency = 'EUR', 1, toFloat64(rate.per_eur))) AS spend
FROM campaign_daily AS day JOIN campaigns USING (organization_id, campaign_id)
ASOF LEFT JOIN currency_rates AS rate USING (organization_id, currency, date)
WHERE ${IN_RANGE}`,
      PARAMETERS,
    );
    const { totals: converted } = await ask('EUR');
    expect(inEuros?.spend).to.be.closeTo(Number(converted[0]?.ad_spend), 0.001);
  });

  it('has the figures of each day, and of a company by campaign, that the API answers', async () => {
    const campaigns = await list(searchCampaigns);
    const days = campaigns.flatMap(({ id, timeseries }) =>
      timeseries
        .filter((point) => Number(point.impressions) > 0)
        .map(({ period, impressions, clicks }) => ({ id, date: period, impressions, clicks })),
    );
    const daily = await endpoint.ask(
      `SELECT campaign_id AS id, date, impressions, clicks FROM campaign_daily WHERE ${IN_RANGE}`,
      PARAMETERS,
    );
    expect(daily).to.have.deep.members(days);
    const [first] = await list(searchCompanies as never);
    const company_id = first?.id as string;
    const company = await call(getCompany, endpoint.store, DEMO_ORGANIZATION, { ...RANGE, company_id });
    const rows = await endpoint.ask<Row>(
      `SELECT campaign_id, sum(impressions) AS impressions, sum(engagements) AS engagements FROM company_daily WHERE ${IN_RANGE} AND company_id = {company:String} GROUP BY campaign_id ORDER BY engagements DESC, impressions DESC, campaign_id`,
      { ...PARAMETERS, param_company: company_id },
    );
    const names = ['campaign_id', 'impressions', 'engagements'];
    expect(rows).to.deep.equal(company.campaigns.map((item) => pick(item, names))).and.not.be.empty;
  });

  it('counts restated days once', async () => {
    let reported = 0;
    for (const [stream, records] of demoRecords(DAY)) {
      if (stream !== 'network-a-deliveries') continue;
      for (const { creative_id, impressions } of records as DeliveryRecord[])
        if (creative_id) reported += impressions ?? 0;
    }
    const [row] = await endpoint.ask<{ counted: number }>(
      'SELECT sum(impressions) AS counted FROM campaign_daily',
    );
    expect(row?.counted).to.be.within(1, reported - 1);
  });

  it('is read for no more than the days and the organization that were asked for', async () => {
    const { rows } = await endpoint.store.query<{ explain: string }>({
      name: 'test',
      sql: "EXPLAIN indexes = 1 SELECT sum(impressions) FROM reachline.campaign_daily WHERE organization_id = 'org_demo' AND date >= '2026-10-15'",
      params: {},
    });
    const text = rows.map(({ explain }) => explain).join('\n');
    expect(text).to.match(/Min-Max\s+Keys:\s+date/);
    expect(text).to.match(/PrimaryKey\s+Keys:\s+organization_id\s+date/);
  });

  describe('for @clickhouse/client', () => {
    const connect = (password: string) =>
      createClient({
        url: endpoint.url,
        password,
        database: 'reachline',
        compression: { response: true },
        log: { level: ClickHouseLogLevel.OFF },
      });
    const client: ClickHouseClient = useOpened(async () => connect(PASSWORD));
    const rejection = (promise: Promise<unknown>) =>
      promise.then(
        () => ({ code: 'let in' }),
        (error: { code: string; type: string }) => error,
      );

    it('is rows with parameters, and a stream of rows', async () => {
      const result = await client.query({
        query:
          'SELECT campaign_id, min(date) AS first, sum(impressions) AS shown FROM campaign_daily WHERE organization_id = {organization:String} AND campaign_id IN {ids:Array(String)} GROUP BY campaign_id ORDER BY campaign_id',
        query_params: { organization: 'org_demo', ids: ['cam_001', 'cam_002', "it's"] },
      });
      const { data, rows } = await result.json<{ campaign_id: string; first: string; shown: string }>();
      expect(rows).to.equal(2);
      expect(data.map(({ campaign_id }) => campaign_id)).to.deep.equal(['cam_001', 'cam_002']);
      for (const { first, shown } of data) {
        expect(first).to.match(/^2026-05-/);
        expect(Number(shown)).to.be.above(1000);
      }
      const stream = await client.query({
        query: 'SELECT number FROM numbers(200000)',
        format: 'JSONEachRow',
      });
      let sum = 0;
      for await (const part of stream.stream<{ number: string }>())
        for (const row of part) sum += Number(row.json().number);
      expect(sum).to.equal((200_000 * 199_999) / 2);
    });

    it('is files, with the summary', async () => {
      const { stream, response_headers } = await client.exec({
        query: 'SELECT * FROM campaigns FORMAT Parquet',
      });
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(Buffer.concat(chunks).subarray(0, 4).toString()).to.equal('PAR1');
      const summary = JSON.parse(response_headers['x-clickhouse-summary'] as string);
      expect(summary).to.include({ result_rows: '24' });
      expect(await client.ping()).to.deep.equal({ success: true });
      expect(await client.ping({ select: true })).to.deep.equal({ success: true });
    });

    it('is closed to inserts, writes, files and wrong passwords', async () => {
      const values = { table: 'default.campaigns', values: [{ id: 'x' }], format: 'JSONEachRow' as const };
      const stranger = connect('wrong');
      for (const [ask, error] of [
        [() => client.insert(values), { code: '164', type: 'READONLY' }],
        [() => client.command({ query: 'TRUNCATE TABLE default.deliveries' }), { code: '164' }],
        [() => client.query({ query: "SELECT * FROM file('/etc/passwd')" }), { code: '497' }],
        [() => client.query({ query: 'SELECT nothing FROM campaigns' }), { code: '47' }],
        [() => stranger.query({ query: 'SELECT 1' }), { code: '516', type: 'AUTHENTICATION_FAILED' }],
      ] as const)
        expect(await rejection(ask())).to.include(error);
      await stranger.close();
    });
  });
});
