/**
 * The tables of deliveries: by breakdown beside one table of all with a copy by company, as before; reports on sums of months beside
 * reports on deliveries; right after a restated week beside merged. Rows are made by the engine. CPU time is of the whole process,
 * engine included, and depends little on what else runs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnalyticsQuery, AnalyticsReader } from '../services/advertising/analytics-store.js';
import { addDays } from '../services/advertising/calendar.js';
import { searchCampaigns, searchCompanies } from '../services/advertising/list-endpoints.js';
import { packageRoot } from '../services/shared/fs.js';
import type { ClickHouse } from '../services/stores/clickhouse/client.js';
import { migrate } from '../services/stores/clickhouse/migrations/migrate.js';
import { openClickHouse } from '../services/stores/clickhouse/open.js';
import { RollupBuilder } from '../services/stores/clickhouse/rollup-builder.js';
import { callText } from '../test/advertising/helper.js';
import { type Comparison, compare, type Figure, figure, median } from './measure.js';

const ORGANIZATION = 'org';
const TODAY = '2026-01-01';
const LAST = '2025-12-31';
const MONTHS = 12;
const CAMPAIGNS = 50;
const CREATIVES = 400;
const ROUNDS = 11;
const TIMEOUT_MS = 1_200_000;

export async function benchDeliveries(
  path: string,
  companyRows: number,
  note: (text: string) => void,
): Promise<(Comparison | Figure)[]> {
  const clickhouse = await openClickHouse({ path, timeoutMs: TIMEOUT_MS });
  try {
    await migrate(clickhouse);
    await createTablesOfBefore(clickhouse);
    const perDay = Math.round(companyRows / 365);
    for (let month = 1; month <= MONTHS; month++) {
      note(`loading month ${month} of ${MONTHS} …`);
      await load(clickhouse, perDay, `2025-${String(month).padStart(2, '0')}-01`);
    }
    return await measure(clickhouse, note);
  } finally {
    await clickhouse.close();
  }
}

/** One table of all deliveries, and a copy of those with a company, with `LowCardinality` and LZ4. */
async function createTablesOfBefore(clickhouse: ClickHouse): Promise<void> {
  const tables = ['0005_create_creative_deliveries', '0007_create_company_deliveries'];
  for (const file of tables) {
    const sql = readFileSync(join(packageRoot, `mappings/clickhouse/${file}.sql`), 'utf8')
      .replaceAll(/ CODEC\((?:\w+, )?\w+(?:\(1\))?\)/g, '')
      .replaceAll(/(organization_id|campaign_id|creative_id) String/g, '$1 LowCardinality(String)')
      .replace('index_granularity = 2048, min_compress_block_size = 16384', 'index_granularity = 1024')
      .replace(/EXISTS \w+_deliveries/, (name) => name.replace('EXISTS ', 'EXISTS before_'));
    await clickhouse.command('bench', sql);
  }
}

/** Rows of a month, a part of them with a creative; company figures are sparse, as they are in reality. */
async function load(
  clickhouse: ClickHouse,
  perDay: number,
  first: string,
  version = 1,
  days = 31,
): Promise<void> {
  const date = (size: number) => `toDate('${first}') + intDiv(number, ${size}) AS date`;
  const figures = (salt: number) =>
    `1 + cityHash64(number, ${salt}, date) % 40 AS impressions, toUInt64(cityHash64(number, date) % 20 = 0) AS clicks, clicks AS engagements, ${version} AS version`;
  const inMonth = `WHERE toStartOfMonth(date) = toStartOfMonth(toDate('${first}'))`;
  const creatives = `SELECT '${ORGANIZATION}' AS organization_id, ${date(CREATIVES)}, concat('cmp_', toString(number % ${CAMPAIGNS})) AS campaign_id, concat('cre_', toString(number % ${CREATIVES})) AS creative_id, '' AS company_id, toDecimal128(impressions, 12) / 100 AS ad_spend, ${figures(1)} FROM numbers(${days * CREATIVES}) ${inMonth}`;
  const companies = `SELECT '${ORGANIZATION}' AS organization_id, ${date(perDay)}, concat('cmp_', toString(cityHash64(number) % ${CAMPAIGNS})) AS campaign_id, '' AS creative_id, concat('com_', toString(cityHash64(number, 3) % ${Math.max(1, Math.round(perDay / 3))})) AS company_id, toDecimal128(0, 12) AS ad_spend, ${figures(2)} FROM numbers(${days * perDay}) ${inMonth}`;
  const columns =
    'organization_id, date, campaign_id, creative_id, company_id, ad_spend, impressions, clicks, engagements, version';
  for (const rows of [creatives, companies]) {
    await clickhouse.command('bench', `INSERT INTO deliveries (${columns}) SELECT ${columns} FROM (${rows})`);
    await clickhouse.command(
      'bench',
      `INSERT INTO before_creative_deliveries (${columns}) SELECT ${columns} FROM (${rows})`,
    );
  }
  await clickhouse.command(
    'bench',
    `INSERT INTO before_company_deliveries (${columns}, active) SELECT ${columns}, true FROM (${companies})`,
  );
}

const rowsOf = async <Row>(clickhouse: ClickHouse, sql: string) =>
  (await clickhouse.query<Row>({ name: 'bench', sql, params: {} })).rows;

async function merge(clickhouse: ClickHouse, tables: string): Promise<void> {
  const parts = await rowsOf<{ table: string; partition_id: string }>(
    clickhouse,
    `SELECT DISTINCT table, partition_id FROM system.parts WHERE active AND database = currentDatabase() AND table LIKE '${tables}'`,
  );
  for (const { table, partition_id } of parts)
    await clickhouse.command('bench', `OPTIMIZE TABLE ${table} PARTITION ID '${partition_id}' FINAL`);
}

async function measure(
  clickhouse: ClickHouse,
  note: (text: string) => void,
): Promise<(Comparison | Figure)[]> {
  note('merging …');
  await merge(clickhouse, '%_deliveries');
  const results: (Comparison | Figure)[] = [];
  const sizes = await rowsOf<{ before: number | boolean; bytes: number; kept: number }>(
    clickhouse,
    "SELECT startsWith(table, 'before_') AS before, sum(bytes_on_disk) AS bytes, sum(rows) AS kept FROM system.parts WHERE active AND database = currentDatabase() AND table LIKE '%_deliveries' GROUP BY before",
  );
  const kept = Number(sizes.find(({ before }) => !before)?.kept);
  for (const { before, bytes } of sizes) {
    const name = `bytes a delivery on disk, ${before ? 'one table and a copy' : 'by breakdown'}`;
    results.push(figure(name, 'bytes', bytes / kept, before ? {} : { atMost: 12 }));
  }

  const ninety = { start_date: addDays(LAST, -89), end_date: LAST };
  const raw = withoutSums(clickhouse);
  const before: AnalyticsReader = {
    query: (query, signal) => raw.query(onTablesOfBefore(query), signal),
  };
  const campaigns = (reader: AnalyticsReader) =>
    cpu(() => callText(searchCampaigns, reader, ORGANIZATION, ninety, TODAY));
  const year = { start_date: '2025-01-01', end_date: LAST, granularity: 'monthly' as const };
  const companies = (reader: AnalyticsReader) =>
    cpu(() => callText(searchCompanies, reader, ORGANIZATION, year, TODAY));
  note('campaigns …');
  results.push(
    await compare(
      `campaigns over 90 days of ${kept} deliveries, by breakdown ÷ one table`,
      'ms of CPU',
      { atMost: 0.35 },
      ROUNDS,
      () => campaigns(raw),
      () => campaigns(before),
    ),
  );
  note('summing months …');
  const builder = new RollupBuilder(clickhouse, { settleSeconds: 0, minRows: 1 });
  await builder.run();
  await merge(clickhouse, '%_months');
  const sums = `12 months of companies by month of ${kept} deliveries`;
  results.push(
    await compare(
      `${sums}, on sums ÷ on deliveries`,
      'ms of CPU',
      {},
      ROUNDS,
      () => companies(clickhouse),
      () => companies(raw),
    ),
  );
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    await companies(clickhouse);
    times.push(performance.now() - begun);
  }
  results.push(figure(`${sums}, p50`, 'ms', median(times), { atMost: 150 }));

  note('restating a week …');
  // Merged before and after, as the machine is not equally fast all the time.
  const merged: number[] = [];
  const restated: number[] = [];
  const measureInto = async (times: number[]) => {
    for (let round = 0; round < ROUNDS; round++) times.push(await campaigns(clickhouse));
  };
  await measureInto(merged);
  await clickhouse.command('bench', 'SYSTEM STOP MERGES');
  await load(clickhouse, 1000, addDays(LAST, -6), 2, 7);
  await measureInto(restated);
  await clickhouse.command('bench', 'SYSTEM START MERGES');
  await merge(clickhouse, '%');
  await measureInto(merged);
  const ratio = median(restated) / median(merged);
  results.push(
    figure('campaigns over 90 days, right after a restated week ÷ merged, CPU', '', ratio, { atMost: 1.1 }),
  );
  return results;
}

const withoutSums = (clickhouse: ClickHouse): AnalyticsReader => ({
  query: (query, signal) =>
    query.name.endsWith('_sealed_months')
      ? Promise.resolve({ rows: [], total: 0 })
      : clickhouse.query(query, signal),
});

const onTablesOfBefore = (query: AnalyticsQuery): AnalyticsQuery => ({
  ...query,
  sql: query.sql
    .replaceAll(
      /FROM creative_deliveries AS delivery FINAL\s+WHERE/g,
      "FROM before_creative_deliveries AS delivery FINAL WHERE creative_id != '' AND",
    )
    .replaceAll('FROM company_deliveries', 'FROM before_company_deliveries'),
});

/** Milliseconds of CPU of the process. */
async function cpu(work: () => Promise<unknown>): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
