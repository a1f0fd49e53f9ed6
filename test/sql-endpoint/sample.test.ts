/** What analysts read of the sample data: the views, and the official client. */

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
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import { COMPANY_METRIC_NAMES, METRIC_NAMES, SUMMED_METRICS } from '../../services/advertising/metrics.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { packageRoot } from '../../services/shared/fs.js';
import { call } from '../advertising/helper.js';
import { DAY } from '../docs/response-examples.js';
import { useOpened } from '../support/opened.js';
import { rawSql } from '../support/raw-sql.js';
import { openSampleEndpoint } from './sample-endpoint.js';

type Row = Record<string, string | number | null>;
const PAGE = readFileSync(join(packageRoot, 'docs/reference/sql.md'), 'utf8');

describe('The sample data in SQL', () => {
  const endpoint = useOpened(() => openSampleEndpoint(DAY));

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

  /** Contains the days that the sample restates. */
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
      // Money as the engine writes a number: without trailing zeros.
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
      // Views return money as Decimal, the API as text.
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

  it('is read for no more than the days and the organization that were asked for', async () => {
    const { rows } = await endpoint.store.query<{ explain: string }>({
      name: 'test',
      sql: rawSql(
        "EXPLAIN indexes = 1 SELECT sum(impressions) FROM reachline.campaign_daily WHERE organization_id = 'org_demo' AND date >= '2026-10-15'",
      ),
      params: {},
    });
    const text = rows.map(({ explain }) => explain).join('\n');
    expect(text).to.match(/Min-Max\s+Keys:\s+date/);
    expect(text).to.match(/PrimaryKey\s+Keys:\s+organization_id\s+date/);
  });

  describe('for @clickhouse/client', () => {
    const client: ClickHouseClient = useOpened(async () =>
      createClient({
        url: endpoint.url,
        password: endpoint.key,
        database: 'reachline',
        compression: { response: true },
        log: { level: ClickHouseLogLevel.OFF },
      }),
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
  });
});
