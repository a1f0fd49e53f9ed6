/**
 * `load-deliveries.js <data folder> <shape as JSON>`: makes the deliveries, merges each month to one part as it is at rest, and sums the
 * months as a server does. A process of its own, because its engine has more memory than a server's. Sends its progress to the parent.
 */

import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildStatements, SOURCES, type SourceName } from '../../services/advertising/rollups.js';
import { packageRoot } from '../../services/shared/fs.js';
import { openClickHouse } from '../../services/stores/clickhouse/open.js';
import { openStores } from '../../services/stores/open-stores.js';
import { rawSql } from '../../test/support/raw-sql.js';
import {
  companyMonth,
  creativeMonth,
  type DeliveryShape,
  entities,
  monthDetails,
  organizationOf,
} from '../synthetic-deliveries.js';

const TIMEOUT_MS = 3_600_000;
const SERVER_MEMORY_BYTES = 8_000_000_000;
const ROWS_PER_PART = 2_000_000;
/** As the builder of a server, which leaves smaller months to their deliveries. */
const MIN_ROWS_SUMMED = 10_000;
const DAY_SECONDS = 86_400;
const LARGE_MEMORY = 'max_memory_usage = 3000000000';
const LARGE_INSERT = `SETTINGS ${LARGE_MEMORY}, max_threads = 1, max_insert_threads = 1, optimize_on_insert = 0,
  min_insert_block_size_rows = ${ROWS_PER_PART}, min_insert_block_size_bytes = 0`;

const dataDir = process.argv[2] as string;
const shape = JSON.parse(process.argv[3] as string) as DeliveryShape;
const path = join(dataDir, 'clickhouse');

export interface TableSize {
  table: string;
  kept: number;
  bytes: number;
}

process.once('disconnect', () => process.exit());
/** Creates the folder with its layout. */
await (await openStores({ dataDir, searchProcesses: 1 })).close();
const config = join(dataDir, 'engine.xml');
writeFileSync(
  config,
  readFileSync(join(packageRoot, 'mappings/clickhouse/embedded.xml'), 'utf8').replace(
    /(<max_server_memory_usage>)\d+/,
    `$1${SERVER_MEMORY_BYTES}`,
  ),
);
// The configuration names its users by a file beside it.
copyFileSync(
  join(packageRoot, 'mappings/clickhouse/embedded-users.xml'),
  join(dataDir, 'embedded-users.xml'),
);
const clickhouse = await openClickHouse({ path, timeoutMs: TIMEOUT_MS, configFile: config });

const begun = performance.now();
const note = (text: string) =>
  process.send?.({ note: `${text} (${Math.round((performance.now() - begun) / 1000)} s)` });

/** Runs statements on two connections, so that both cores are busy. */
async function inTwoLanes(what: string, statements: string[]): Promise<void> {
  const next = statements.entries();
  const lane = async (inBackground: boolean) => {
    for (const [index, statement] of next) {
      note(`${what}, ${index + 1} of ${statements.length}`);
      await clickhouse.command('bench', rawSql(statement), inBackground);
    }
  };
  await Promise.all([lane(false), lane(true)]);
}

const rowsOf = async <Row>(sql: string) =>
  (await clickhouse.query<Row>({ name: 'bench', sql: rawSql(sql), params: {} })).rows;

const TABLES = ['creative_deliveries', 'company_deliveries'];
for (const table of TABLES) await clickhouse.command('bench', rawSql(`SYSTEM STOP MERGES ${table}`));
const large = (statement: string) => `${statement}\n${LARGE_INSERT}`;
await inTwoLanes('entities', entities(shape).map(large));
await inTwoLanes(
  'deliveries',
  shape.months
    .flatMap((month) => [
      companyMonth(shape, month),
      creativeMonth(shape, month),
      ...monthDetails(shape, month),
    ])
    .map(large),
);
const loadSeconds = (performance.now() - begun) / 1000;

for (const table of TABLES) await clickhouse.command('bench', rawSql(`SYSTEM START MERGES ${table}`));
const merge = async (what: string, tables: string) => {
  const parts = await rowsOf<{ table: string; partition_id: string }>(
    `SELECT DISTINCT table, partition_id FROM system.parts WHERE active AND database = currentDatabase() AND ${tables} ORDER BY table, partition_id`,
  );
  await inTwoLanes(
    what,
    parts.map(
      ({ table, partition_id }) =>
        `OPTIMIZE TABLE ${table} PARTITION ID '${partition_id}' FINAL SETTINGS ${LARGE_MEMORY}`,
    ),
  );
};
await merge('merging', 'true');
const mergeSeconds = (performance.now() - begun) / 1000 - loadSeconds;

const monthRows: Record<SourceName, number> = {
  creative: shape.creatives * 30,
  company: shape.companies * shape.rowsPerCompany,
  campaign_company: shape.companies * shape.rowsPerCompany,
};
const builds: string[][] = [];
for (const source of Object.keys(SOURCES) as SourceName[]) {
  if (monthRows[source] < MIN_ROWS_SUMMED) continue;
  for (let index = 0; index < shape.organizations; index++) {
    for (const month of shape.months) {
      builds.push(
        buildStatements(source, {
          organizationId: organizationOf(index),
          month,
          build: randomBytes(8).readBigUInt64BE(),
          readAt: Math.round(Date.now() / 1000) + 1,
          lifetimeSeconds: 30 * DAY_SECONDS,
        }).map(({ text }) => text),
      );
    }
  }
}
// A seal is written after its sums.
await inTwoLanes(
  'sums of months',
  builds.map(([sums]) => sums as string),
);
await inTwoLanes(
  'seals',
  builds.map(([, seal]) => seal as string),
);
await merge('merging sums', "endsWith(table, '_months')");
const sumSeconds = (performance.now() - begun) / 1000 - loadSeconds - mergeSeconds;

const sizes = await rowsOf<TableSize>(
  `SELECT table, sum(rows) AS kept, sum(bytes_on_disk) AS bytes FROM system.parts
WHERE active AND database = currentDatabase() GROUP BY table`,
);
await clickhouse.close();
process.send?.({ sizes, loadSeconds, mergeSeconds, sumSeconds });
process.disconnect?.();
