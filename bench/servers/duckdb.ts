/**
 * `duckdb.js <folder of Parquet files>`: runs the statement of a request, or a list of advertising as one statement, and answers with the first
 * value. Sends its address to its parent.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AskedList } from '../delivery-scale.js';
import { requirePeer } from '../peers/packages.js';

interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<{ getRows(): unknown[][] }>;
}
const { DuckDBInstance } = requirePeer('@duckdb/node-api') as {
  DuckDBInstance: { create(path: string, options: object): Promise<{ connect(): Promise<Connection> }> };
};

const folder = process.argv[2] as string;
const db = await (await DuckDBInstance.create(`${folder}/peer.duckdb`, { threads: '2' })).connect();
const ORDERS = {
  creative_deliveries: 'organization_id, date, campaign_id, creative_id',
  company_deliveries: 'organization_id, company_id, date',
};
for (const [table, order] of Object.entries(ORDERS))
  await db.run(`CREATE TABLE ${table} AS SELECT * FROM '${folder}/${table}.parquet' ORDER BY ${order}`);
for (const table of ['campaigns', 'creatives', 'companies'])
  await db.run(`CREATE TABLE ${table} AS SELECT * FROM '${folder}/${table}.parquet'`);

const METRICS = [
  ...[
    'ad_spend',
    'impressions',
    'clicks',
    'landing_page_clicks',
    'engagements',
    'reactions',
    'comments',
    'shares',
  ],
  ...[
    'follows',
    'video_views',
    'video_completions',
    'leads',
    'lead_form_opens',
    'conversions',
    'conversion_value',
  ],
];
const SOURCES = {
  campaigns: { table: 'creative_deliveries', key: 'campaign_id', names: 'campaigns', first: 'ad_spend' },
  creatives: { table: 'creative_deliveries', key: 'creative_id', names: 'creatives', first: 'ad_spend' },
  companies: { table: 'company_deliveries', key: 'company_id', names: 'companies', first: 'impressions' },
  company: { table: 'company_deliveries', key: 'company_id', names: 'companies', first: 'impressions' },
};
const PAGE = 50;

const quote = (value: string) => `'${value.replaceAll("'", "''")}'`;
const sums = METRICS.map((name) => `sum(${name}) AS ${name}`).join(', ');

function statement({ path, organizationId, body }: AskedList): string {
  const { table, key, names, first } = SOURCES[path as keyof typeof SOURCES];
  const where = [
    `organization_id = ${quote(organizationId)}`,
    `date BETWEEN '${body.start_date}' AND '${body.end_date}'`,
    ...(body.campaign_ids ? [`campaign_id IN (${body.campaign_ids.map(quote).join(', ')})`] : []),
    ...(body.company_id === undefined ? [] : [`company_id = ${quote(body.company_id)}`]),
    ...(body.search === undefined
      ? []
      : [`company_id IN (SELECT id FROM companies WHERE contains(name_key, ${quote(body.search)}))`]),
  ].join(' AND ');
  const period = body.granularity === 'monthly' ? "date_trunc('month', date)" : 'date';
  const order = body.sort_by === 'name' ? 'name' : `${first} DESC`;
  return `
WITH totals AS (SELECT ${key} AS id, ${sums} FROM ${table} WHERE ${where} GROUP BY 1),
page AS (
  SELECT totals.*, entity.* EXCLUDE (id, organization_id), count(*) OVER () AS total_count
  FROM totals LEFT JOIN ${names} AS entity ON entity.organization_id = ${quote(organizationId)} AND entity.id = totals.id
  ORDER BY ${order}, totals.id LIMIT ${PAGE}),
points AS (
  SELECT ${key} AS id, ${period} AS period, ${sums} FROM ${table} WHERE ${where} AND ${key} IN (SELECT id FROM page) GROUP BY 1, 2),
series AS (SELECT id, list({date: period, ${METRICS.map((name) => `${name}: ${name}`).join(', ')}} ORDER BY period) AS timeseries FROM points GROUP BY 1)
SELECT to_json({total_count: any_value(total_count), items: list({item: page, timeseries: timeseries} ORDER BY ${order === 'name' ? 'name' : order}, page.id)})
FROM page JOIN series USING (id)`;
}

const server = createServer(async (request, response) => {
  try {
    const asked = JSON.parse(await text(request)) as AskedList | { sql: string };
    const rows = (await db.runAndReadAll('sql' in asked ? asked.sql : statement(asked))).getRows();
    response.setHeader('Content-Type', 'application/json').end(String(rows[0]?.[0]));
  } catch (error) {
    response.writeHead(500).end((error as Error).message);
  }
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
