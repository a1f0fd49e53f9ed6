/**
 * What the service adds to ClickHouse over HTTP: lists beside the statements they send, and those statements on restated
 * deliveries beside the same ones, without FINAL, on a copy that holds nothing but the last reports.
 */

import { join } from 'node:path';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { issueKey } from '../services/accounts/keys.js';
import type { AnalyticsQuery } from '../services/advertising/analytics-store.js';
import { startGateway } from '../services/gateway/server.js';
import { loadConfig } from '../services/shared/config.js';
import { createLogger } from '../services/shared/logger.js';
import { inOrder } from '../services/shared/record-order.js';
import { DAY_MS, utcDate } from '../services/shared/time.js';
import { parameterTexts } from '../services/stores/clickhouse/bind.js';
import { commonSettings } from '../services/stores/clickhouse/settings.js';
import { openStores } from '../services/stores/open-stores.js';
import { startClickHouse } from '../test/stack/clickhouse.js';
import { rawSql } from '../test/support/raw-sql.js';
import { type Comparison, compare } from './measure.js';
import { startServer, stopServer, timedPost } from './scale.js';

const DATABASE = 'bench';
const TABLES = `${DATABASE}_tables`;
const DAYS = 364;
const CAMPAIGNS = 200;
const CREATIVES = 4000;
/** That a day brings, of 2000. */
const COMPANIES = 1500;
const DELIVERIES_OF_ORGANIZATION = DAYS * (CREATIVES + COMPANIES);
const DAYS_A_BLOCK = 7;
const RESTATED_DAYS = 7;
const RESTATED = ['creative_deliveries', 'company_deliveries'];
const LIST_ROUNDS = 21;
const FINAL_ROUNDS = 11;
const TIMEOUT_MS = 30_000;

const day = (ago: number) => utcDate(Date.now() - ago * DAY_MS);

interface List {
  name: string;
  url: string;
  body: string;
  /** What it asks ClickHouse. */
  statements: AnalyticsQuery[];
}

export async function benchClickHouse(
  folder: string,
  deliveries: number,
  note: (text: string) => void,
): Promise<Comparison[]> {
  note('ClickHouse starts …');
  const server = await startClickHouse();
  const client = createClient({
    url: server.address,
    database: TABLES,
    request_timeout: 600_000,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const environment = { CLICKHOUSE_URL: server.address, CLICKHOUSE_DATABASE: DATABASE };
  try {
    const organizations = Math.max(1, Math.round(deliveries / DELIVERIES_OF_ORGANIZATION));
    const dataDir = join(folder, 'gateway');
    const key = await createStore(dataDir, environment);
    await load(client, organizations, note);
    const lists = await planLists(dataDir, environment, key);
    const amount = `${(organizations * DELIVERIES_OF_ORGANIZATION).toLocaleString('en')} deliveries`;
    const results = await benchLists(dataDir, environment, lists, key, amount, note);
    results.push(...(await benchFinal(client, server.address, organizations, lists, amount, note)));
    return results;
  } finally {
    await client.close();
    await server.remove();
  }
}

/** Migrates the store and inserts the campaigns; returns a key of their organization. */
async function createStore(dataDir: string, environment: Record<string, string>): Promise<string> {
  const stores = await openStores(loadConfig({ PORT: '0', REACHLINE_DATA_DIR: dataDir, ...environment }));
  try {
    await stores.analytics.insertCampaigns(
      inOrder(
        Array.from({ length: CAMPAIGNS }, (_, index) => ({
          organization_id: 'org_0',
          id: `cmp_${index}`,
          name: `Campaign ${index}`,
          status: index % 3 === 0 ? 'PAUSED' : 'ACTIVE',
          objective_type: 'WEBSITE_VISITS',
          currency: 'USD',
        })),
        Date.now(),
      ),
    );
    return await issueKey(stores.records, { organizationId: 'org_0', scopes: ['*'] });
  } finally {
    await stores.close();
  }
}

/** The lists with the statements that each sends for the deliveries loaded, since those name the ids of the page. */
async function planLists(dataDir: string, environment: Record<string, string>, key: string): Promise<List[]> {
  const config = loadConfig({ PORT: '0', REACHLINE_DATA_DIR: dataDir, ...environment });
  const stores = await openStores(config);
  const sent: AnalyticsQuery[] = [];
  const analytics: typeof stores.analytics = {
    ...stores.analytics,
    query(query, signal) {
      sent.push(query);
      return stores.analytics.query(query, signal);
    },
  };
  const gateway = await startGateway(config, { records: stores.records, analytics }, createLogger('silent'));
  const asked: [name: string, path: string, body: object][] = [
    ['campaigns over 90 days', 'campaigns', { start_date: day(90), granularity: 'daily' }],
    ['campaigns over 90 days by month', 'campaigns', { start_date: day(90), granularity: 'monthly' }],
    ['creatives over 90 days by month', 'creatives', { start_date: day(90), granularity: 'monthly' }],
    ['companies over 300 days by month', 'companies', { start_date: day(300), granularity: 'monthly' }],
  ];
  const lists: List[] = [];
  try {
    for (const [name, path, fields] of asked) {
      sent.length = 0;
      const url = `/api/advertising/network_a/${path}`;
      const body = JSON.stringify({ ...fields, end_date: day(1) });
      await timedPost(gateway.url + url, key, body);
      lists.push({ name, url, body, statements: [...sent] });
    }
    return lists;
  } finally {
    await gateway.stop();
    await stores.close();
  }
}

/** Rows of some days, made by the engine from numbers. */
function deliveriesOf(organizations: number, from: number, to: number, version: number): string {
  const days = from - to + 1;
  const random = (salt: number, most: number) => `cityHash64(number, ${salt}, ${from}) % ${most}`;
  const figures = `${random(1, 1000)} + ${version} AS impressions, ${random(2, 50)} AS clicks, ${random(3, 100)} AS engagements, ${random(4, 20)} AS reactions, toDecimal128(${random(5, 10000)}, 12) / 100 AS ad_spend, ${version} AS version`;
  const columns =
    'organization_id, date, campaign_id, creative_id, company_id, impressions, clicks, engagements, reactions, ad_spend, version';
  const common = (size: number) =>
    `concat('org_', toString(intDiv(number, ${days * size}))) AS organization_id, today() - ${from} + intDiv(number, ${size}) % ${days} AS date`;
  return `INSERT INTO deliveries (${columns})
SELECT ${common(CREATIVES)}, concat('cmp_', toString(number % ${CAMPAIGNS})) AS campaign_id, concat('cre_', toString(number % ${CREATIVES})) AS creative_id, '' AS company_id, ${figures}
FROM numbers(${organizations * days * CREATIVES})
UNION ALL
SELECT ${common(COMPANIES)}, concat('cmp_', toString(number % ${COMPANIES} % ${CAMPAIGNS})) AS campaign_id, '' AS creative_id, concat('com_', toString((number % ${COMPANIES} + 7 * (intDiv(number, ${COMPANIES}) % ${days} + ${to})) % 2000)) AS company_id, ${figures}
FROM numbers(${organizations * days * COMPANIES})`;
}

/** Loads all days, with months at rest merged as they are some minutes after their last row came. */
async function load(client: ClickHouseClient, organizations: number, note: (text: string) => void) {
  for (let from = DAYS; from >= 1; from -= DAYS_A_BLOCK) {
    note(`loading: ${from} days to go …`);
    await client.command({ query: deliveriesOf(organizations, from, from - DAYS_A_BLOCK + 1, 1) });
  }
  note('merging …');
  await merge(client, [...RESTATED, 'delivery_names', 'delivery_days']);
}

async function merge(client: ClickHouseClient, tables: string[]): Promise<void> {
  const result = await client.query({
    query:
      'SELECT DISTINCT table, partition_id FROM system.parts WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)} ORDER BY table, partition_id',
    query_params: { tables },
    format: 'JSONEachRow',
  });
  for (const { table, partition_id } of await result.json<{ table: string; partition_id: string }>()) {
    await client.command({ query: `OPTIMIZE TABLE ${table} PARTITION ID '${partition_id}' FINAL` });
  }
}

async function benchLists(
  dataDir: string,
  environment: Record<string, string>,
  lists: readonly List[],
  key: string,
  amount: string,
  note: (text: string) => void,
): Promise<Comparison[]> {
  const gateway = await startServer(dataDir, environment);
  try {
    const results: Comparison[] = [];
    for (const { name, url, body, statements } of lists) {
      note(`${name} …`);
      const what = `${name} of ${amount} ÷ its ${statements.length} statements, p50`;
      const raw = () => post(environment.CLICKHOUSE_URL as string, statements);
      const ours = () => timedPost(gateway.url + url, key, body);
      results.push(await compare(what, 'ms', { atMost: 1.2 }, LIST_ROUNDS, ours, raw));
    }
    return results;
  } finally {
    await stopServer(gateway);
  }
}

/** Milliseconds that statements take one after another, without the client. */
async function post(address: string, statements: readonly AnalyticsQuery[]): Promise<number> {
  let total = 0;
  for (const { name, sql, params } of statements) {
    const parameters = new URLSearchParams({ database: TABLES, default_format: 'JSONCompact' });
    for (const [setting, value] of Object.entries(commonSettings(name, TIMEOUT_MS))) {
      parameters.set(setting, String(value));
    }
    for (const [param, value] of Object.entries(parameterTexts(params))) {
      parameters.set(`param_${param}`, value);
    }
    total += await timedPost(`${address}/?${parameters}`, '', sql.text);
  }
  return total;
}

const onCopy = (sql: string) =>
  sql.replaceAll(
    /FROM (creative|company)_deliveries AS delivery FINAL/g,
    'FROM merged_$1_deliveries AS delivery',
  );

async function benchFinal(
  client: ClickHouseClient,
  address: string,
  organizations: number,
  lists: readonly List[],
  amount: string,
  note: (text: string) => void,
): Promise<Comparison[]> {
  for (const table of RESTATED) await client.command({ query: `SYSTEM STOP MERGES ${table}` });
  note('restating a week …');
  for (let ago = RESTATED_DAYS; ago >= 1; ago--) {
    await client.command({ query: deliveriesOf(organizations, ago, ago, 2) });
  }
  note('copying the last reports …');
  await copy(client);
  const results = await compareFinal(
    address,
    lists,
    `${amount}, a week restated and not yet merged`,
    null,
    note,
  );
  for (const table of RESTATED) await client.command({ query: `SYSTEM START MERGES ${table}` });
  note('merging …');
  await merge(client, RESTATED);
  results.push(...(await compareFinal(address, lists, `${amount}, a week restated`, 1.5, note)));
  return results;
}

/** Tables in the same order that hold the last reports only, merged. */
async function copy(client: ClickHouseClient): Promise<void> {
  for (const table of RESTATED) {
    const [created] = await (
      await client.query({ query: `SHOW CREATE TABLE ${table}`, format: 'JSONEachRow' })
    ).json<{ statement: string }>();
    await client.command({
      query: (created?.statement ?? '')
        .replace(`${TABLES}.${table}`, `${TABLES}.merged_${table}`)
        .replace('ReplacingMergeTree(version)', 'MergeTree'),
    });
    for (let month = 0; month <= 12; month++) {
      const from = `toStartOfMonth(today()) - INTERVAL ${month} MONTH`;
      await client.command({
        query: `INSERT INTO merged_${table} SELECT * FROM ${table} FINAL WHERE date >= ${from} AND date < ${from} + INTERVAL 1 MONTH`,
        clickhouse_settings: { do_not_merge_across_partitions_select_final: '1' as never },
      });
    }
  }
  await merge(
    client,
    RESTATED.map((table) => `merged_${table}`),
  );
  for (const table of RESTATED) await checkCopy(client, table);
}

/** Nothing is compared where one side has other figures. */
async function checkCopy(client: ClickHouseClient, table: string): Promise<void> {
  const query = `SELECT
    (SELECT (count(), sum(impressions), max(version)) FROM ${table} FINAL) = (SELECT (count(), sum(impressions), max(version)) FROM merged_${table}) AS same,
    (SELECT count() FROM ${table}) > (SELECT count() FROM merged_${table}) AS restated`;
  const [row] = await (await client.query({ query, format: 'JSONEachRow' })).json<object>();
  const { same, restated } = row as { same: number; restated: number };
  if (!same || !restated) throw new Error(`the copy of ${table} is not what it should be`);
}

async function compareFinal(
  address: string,
  lists: readonly List[],
  of: string,
  atMost: number | null,
  note: (text: string) => void,
): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const { name, statements } of lists) {
    note(`${name}, FINAL …`);
    const final = statements.filter(({ sql }) => onCopy(sql.text) !== sql.text);
    const merged = final.map((statement) => ({ ...statement, sql: rawSql(onCopy(statement.sql.text)) }));
    const what = `statements of ${name} of ${of}, FINAL ÷ a merged copy`;
    const bound = atMost === null ? {} : { atMost };
    results.push(
      await compare(
        what,
        'ms',
        bound,
        FINAL_ROUNDS,
        () => post(address, final),
        () => post(address, merged),
      ),
    );
  }
  return results;
}
