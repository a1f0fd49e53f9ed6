/** `npm run bench [-- gateway|scale|clickhouse|kafka|memory|mixed|relevance|peers|companies …]`: prints every figure beside its target, and writes those with a target to bench/figures.json and docs/performance.md. */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchClickHouse } from './clickhouse.js';
import { benchCompanies } from './companies.js';
import { benchDeliveryScale } from './delivery-scale.js';
import { benchGateway } from './gateway.js';
import { benchKafka } from './kafka.js';
import type { Comparison, Figure } from './measure.js';
import { benchMemory } from './memory.js';
import { benchMixedLoad } from './mixed-load.js';
import { cellsOf, writeFigures } from './page.js';
import { benchPartitionWait } from './partition-wait.js';
import { benchPeers } from './peers.js';
import { benchRelevance } from './relevance.js';
import { benchImport, benchSearch, benchStart, benchTogether, startServer, stopServer } from './scale.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    contacts: { type: 'string', default: '1000000' },
    deliveries: { type: 'string' },
    organizations: { type: 'string', default: '10' },
    companies: { type: 'string', default: '100000' },
    visits: { type: 'string', default: '1000000' },
    people: { type: 'string', default: '300000' },
    keep: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
});
const PARTS = [
  ...['gateway', 'scale', 'clickhouse', 'kafka', 'memory', 'mixed', 'relevance', 'peers', 'companies'],
];
const asked = positionals.length === 0 ? PARTS : positionals;
if (values.help || asked.some((part) => !PARTS.includes(part))) {
  process.stdout.write(
    `npm run bench -- [${PARTS.join('|')} …] [--contacts 1000000] [--deliveries 20000000] [--minutes 10]

scale takes lists of sizes, none of a kind with 0, and an upper bound of companies an organization:
  npm run bench -- scale --contacts 1000000 --deliveries 10000000,100000000 --organizations 1,10,10000 --companies 100000

peers installs what it compares with, but for PostgreSQL, which the machine must have; without a kind of record with 0:
  npm run bench -- peers --contacts 100000 --deliveries 10000000

companies measures companies/search and influence beside DuckDB:
  npm run bench -- companies --deliveries 10000000 --visits 1000000 --people 300000

--keep FOLDER leaves the records of scale and companies there: the next run with it measures alone.
`,
  );
  process.exit(values.help ? 0 : 2);
}
const sizes = (text: string) =>
  text
    .split(',')
    .map(Number)
    .filter((size) => size > 0);
const contacts = sizes(values.contacts);
const [someDeliveries = 20_000_000] = sizes(values.deliveries ?? '');

const folder = mkdtempSync(join(tmpdir(), 'reachline-bench-'));
const results: (Comparison | Figure)[] = [];
const LOG_INTERVAL_MS = 10_000;
let noteAgainAt = 0;
/** What is going on: the last line of a terminal, or a line now and then. */
const note = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
  else if (text !== '' && performance.now() >= noteAgainAt) {
    noteAgainAt = performance.now() + LOG_INTERVAL_MS;
    process.stderr.write(`${text}\n`);
  }
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

try {
  if (asked.includes('gateway')) {
    note('gateway beside bare Koa …');
    results.push(...(await benchGateway(join(folder, 'gateway'))));
  }
  if (asked.includes('scale')) await scale();
  if (asked.includes('clickhouse')) {
    results.push(...(await benchClickHouse(join(folder, 'clickhouse'), someDeliveries, note)));
  }
  if (asked.includes('kafka')) {
    results.push(...(await benchKafka(join(folder, 'kafka'), note)));
    results.push(await benchPartitionWait(join(folder, 'stall'), note));
  }
  if (asked.includes('memory')) {
    results.push(...(await benchMemory(join(folder, 'memory'), Number(values.minutes), note)));
  }
  if (asked.includes('mixed')) {
    results.push(...(await benchMixedLoad(join(folder, 'mixed'), Number(values.minutes), note)));
  }
  if (asked.includes('peers')) {
    const [deliveries = 0] = sizes(values.deliveries ?? '10000000');
    const amounts = { contacts: contacts[0] ?? 0, deliveries };
    for await (const each of benchPeers(join(folder, 'peers'), amounts, note)) results.push(each);
  }
  if (asked.includes('companies')) {
    const [deliveries = 10_000_000] = sizes(values.deliveries ?? '');
    const amounts = { deliveries, visits: Number(values.visits), people: Number(values.people) };
    const dataDir = join(values.keep ?? folder, 'companies');
    results.push(...(await benchCompanies(dataDir, amounts, note)));
  }
  if (asked.includes('relevance')) results.push(...(await benchRelevance(note)));
} finally {
  note('');
  if (results.length > 0) report();
}

async function scale(): Promise<void> {
  const organizations = sizes(values.organizations);
  for (const count of contacts) for (const split of organizations) await scaleContacts(count, split);
  const deliveries = sizes(values.deliveries ?? '10000000');
  const companies = Number(values.companies);
  const options = { deliveries, organizations, companies, keep: values.keep };
  results.push(...(await benchDeliveryScale(join(folder, 'deliveries'), options, note)));
}

async function scaleContacts(count: number, organizations: number): Promise<void> {
  const dataDir = join(folder, 'scale');
  const file = join(folder, 'contacts.ndjson');
  results.push(...(await benchImport(dataDir, file, count, organizations, note)));
  rmSync(file);
  note('start …');
  results.push(await benchStart(dataDir, count));
  const server = await startServer(dataDir);
  try {
    note('searches …');
    results.push(...(await benchSearch(server, count, organizations, 600)));
    note('everything together …');
    results.push(...(await benchTogether(server, 20)));
  } finally {
    await stopServer(server);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function report(): void {
  const rows = results.map(cellsOf);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    process.stdout.write(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`);
  const { length: cores, 0: cpu } = cpus();
  process.stdout.write(
    `${cores} cores (${cpu?.model}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}\n`,
  );
  writeFigures(results);
}
