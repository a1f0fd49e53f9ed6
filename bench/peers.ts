/**
 * Reachline beside what its users would pick instead, on the same records and the same work: contacts beside PostgreSQL behind fastify, and
 * beside Elasticsearch asked as a good engineer asks it. Counts are compared where both sides mean the same. Processor time of all processes that
 * serve, in rounds that alternate, once their compilers have had some seconds.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { Client } from '@elastic/elasticsearch';
import { utcDate } from '../services/shared/time.js';
import { openClickHouse } from '../services/stores/clickhouse/open.js';
import { startElasticsearch } from '../test/stack/elasticsearch.js';
import { rawSql } from '../test/support/raw-sql.js';
import { lists, loadDeliveries } from './delivery-scale.js';
import { type Comparison, compare, comparison, pairedRounds } from './measure.js';
import { type Asked, drawn, WORK, type Work } from './peers/contact-work.js';
import { installPackages } from './peers/packages.js';
import { bulkBody, createPlainIndex, PLAIN_INDEX, plainRequest } from './peers/plain-index.js';
import { startPostgres } from './peers/postgres.js';
import { cpuMs } from './processor-time.js';
import { startServer, stopServer } from './scale.js';
import { syntheticContacts } from './synthetic-contacts.js';
import { deliveryShape, organizationOf } from './synthetic-deliveries.js';

const ORGANIZATIONS = 10;
const ROUNDS = 5;
const CONTACTS_A_REQUEST = 5000;
const GETS_A_ROUND = 1000;
const CONNECTIONS = 4;
/** Of each side before it is measured, for its compilers. */
const WARM_UP_MS = 2000;
const COMPANIES = 100_000;
const LISTS_A_ROUND = 5;

interface Batch {
  organizationId: string;
  lines: string;
}

/** Processor time in milliseconds. */
interface Spent {
  all: number;
  /** Of Elasticsearch alone. */
  store: number;
}

/** A way to ask one side, and the processor time that its processes have taken. */
interface Side {
  load(batch: Batch): Promise<void>;
  search(asked: Asked): Promise<number>;
  get(contactId: string): Promise<void>;
  cpu(): Spent;
}

/** What is measured beside a peer, and at most how many times its processor time that may take. */
interface Peer {
  name: string;
  contacts: number;
  atMost: { import: number; others: number };
  /** Whether it is a store alone, which ours is compared with once more without the gateway. */
  isStore?: boolean;
}

/** Leaves out what there would be no records for. What was measured beside one peer is not lost when the next one fails. */
export async function* benchPeers(
  folder: string,
  { contacts, deliveries }: { contacts: number; deliveries: number },
  note: (text: string) => void,
): AsyncGenerator<Comparison> {
  installPackages();
  if (contacts > 0) {
    yield* await besidePostgres(join(folder, 'embedded'), contacts, note);
    yield* await besideElasticsearch(join(folder, 'gateway'), contacts, note);
  }
  if (deliveries > 0) yield* await besideDuckDb(join(folder, 'deliveries'), deliveries, note);
}

async function besidePostgres(
  folder: string,
  contacts: number,
  note: (text: string) => void,
): Promise<Comparison[]> {
  const postgres = await startPostgres();
  if (!postgres) {
    note('no PostgreSQL is installed: not measured beside it');
    return [];
  }
  const server = await startServer(folder);
  const child = fork(join(import.meta.dirname, 'servers/postgres.js'), [postgres.address]);
  try {
    const [{ url }] = (await once(child, 'message')) as [{ url: string }];
    const ours = await gatewaySide(server, 0);
    const peer: Side = {
      load: async ({ lines }) => void (await post(`${url}/upsert`, '', lines, 'application/x-ndjson')),
      search: async ({ peer }) => total(await post(`${url}/search`, '', JSON.stringify(peer))),
      get: async (contactId) =>
        void (await post(
          `${url}/get`,
          '',
          JSON.stringify({ organization_id: 'org_0', contact_id: contactId }),
        )),
      cpu: () => ({ all: cpuMs(child.pid as number) + cpuMs(postgres.pid), store: 0 }),
    };
    const beside = { name: 'PostgreSQL', contacts, atMost: { import: 1.2, others: 1 } };
    const imported = await compareImport(beside, ours, peer, note);
    await post(`${url}/settle`, '', '{}');
    return [...imported, ...(await compareWork(beside, ours, peer, note))];
  } finally {
    await Promise.all([stopServer(server), end(child)]);
    await postgres.remove();
  }
}

async function besideElasticsearch(
  folder: string,
  contacts: number,
  note: (text: string) => void,
): Promise<Comparison[]> {
  const elasticsearch = await startElasticsearch({ heapMegabytes: 2048 });
  const client = new Client({ node: elasticsearch.address });
  try {
    const server = await startServer(folder, { ELASTICSEARCH_URL: elasticsearch.address });
    try {
      await createPlainIndex(client);
      const ours = await gatewaySide(server, elasticsearch.pid);
      const cpu = () => {
        const all = cpuMs(elasticsearch.pid);
        return { all, store: all };
      };
      const ask = `${elasticsearch.address}/${PLAIN_INDEX}`;
      const peer: Side = {
        load: async ({ lines }) =>
          void (await post(`${ask}/_bulk`, '', bulkBody(lines), 'application/x-ndjson')),
        search: async ({ peer }) => {
          const found = await post(`${ask}/_search`, '', JSON.stringify(plainRequest(peer)));
          return (JSON.parse(found) as { hits: { total: { value: number } } }).hits.total.value;
        },
        get: async (contactId) => void (await read(`${ask}/_doc/org_0:${contactId}`)),
        cpu,
      };
      const atMost = { import: 1.5, others: 1.5 };
      const beside = { name: 'plain Elasticsearch', contacts, atMost, isStore: true };
      const imported = await compareImport(beside, ours, peer, note);
      await client.indices.forcemerge({ max_num_segments: 1 }, { requestTimeout: 600_000 });
      return [...imported, ...(await compareWork(beside, ours, peer, note))];
    } finally {
      await stopServer(server);
    }
  } finally {
    await client.close();
    await elasticsearch.remove();
  }
}

/** The rows of the tables without what only Reachline needs: versions. */
const EXPORTED = {
  creative_deliveries:
    "SELECT * EXCEPT (version, company_id) FROM creative_deliveries WHERE creative_id != ''",
  company_deliveries: "SELECT * EXCEPT (version, creative_id) FROM company_deliveries WHERE company_id != ''",
  campaigns: 'SELECT organization_id, id, name, name_key, status, objective_type, currency FROM campaigns',
  creatives: 'SELECT organization_id, id, campaign_id, name, name_key, status FROM creatives',
  companies:
    'SELECT organization_id, id, name, name_key, domain, industry, employee_range, country FROM companies',
};

/** Writes the rows of a data folder as Parquet files into the folder. */
export async function exportDeliveries(folder: string): Promise<void> {
  const clickhouse = await openClickHouse({ path: join(folder, 'clickhouse'), timeoutMs: 600_000 });
  for (const [table, rows] of Object.entries(EXPORTED)) {
    await clickhouse.command(
      'bench',
      rawSql(
        `INSERT INTO FUNCTION file('${join(folder, table)}.parquet', 'Parquet') ${rows} SETTINGS max_memory_usage = 4000000000`,
      ),
    );
  }
  await clickhouse.close();
}

/** Starts DuckDB over the exported rows of a data folder. */
export async function startDuckDb(folder: string) {
  const child = fork(join(import.meta.dirname, 'servers/duckdb.js'), [folder]);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { url, pid: child.pid as number, stop: () => end(child) };
}

async function besideDuckDb(
  folder: string,
  deliveries: number,
  note: (text: string) => void,
): Promise<Comparison[]> {
  const shape = deliveryShape(deliveries, 1, COMPANIES, utcDate(Date.now()));
  await loadDeliveries(folder, shape, note);
  note('exporting deliveries …');
  await exportDeliveries(folder);
  const server = await startServer(folder);
  const duckDb = await startDuckDb(folder);
  try {
    const organizationId = organizationOf(0);
    const key = await server.keyFor(organizationId);
    const results: Comparison[] = [];
    for (const list of lists(shape)) {
      note(`DuckDB: ${list.name}`);
      const ours = () =>
        post(`${server.url}/api/advertising/network_a/${list.path}`, key, JSON.stringify(list.body));
      const peer = () => post(duckDb.url, '', JSON.stringify({ ...list, organizationId }));
      requireSameTotal(list, await ours(), await peer());
      const timed = (pid: number, ask: () => Promise<string>) => async () => {
        const before = cpuMs(pid);
        for (let index = 0; index < LISTS_A_ROUND; index++) await ask();
        return (cpuMs(pid) - before) / LISTS_A_ROUND;
      };
      const name = `${list.name} ÷ DuckDB, ${deliveries.toLocaleString('en')} deliveries`;
      results.push(
        await compare(
          name,
          'ms',
          { atMost: list.path === 'company' ? 1.5 : 1.2 },
          ROUNDS,
          timed(server.child.pid as number, ours),
          timed(duckDb.pid, peer),
        ),
      );
    }
    return results;
  } finally {
    await Promise.all([stopServer(server), duckDb.stop()]);
  }
}

/** One company has no count. Companies are listed by both where they have deliveries, campaigns and creatives all have some. */
function requireSameTotal({ name, path }: { name: string; path: string }, ours: string, peer: string): void {
  if (path !== 'company' && total(ours) !== total(peer))
    throw new Error(`${name}: ${total(ours)} and ${total(peer)} items`);
}

async function gatewaySide(server: Awaited<ReturnType<typeof startServer>>, storePid: number): Promise<Side> {
  const keys = new Map<string, string>();
  for (let index = 0; index < ORGANIZATIONS; index++)
    keys.set(`org_${index}`, await server.keyFor(`org_${index}`));
  const key = (organizationId: string) => keys.get(organizationId) as string;
  return {
    load: async ({ organizationId, lines }) =>
      void (await post(
        `${server.url}/api/ingest/contacts`,
        key(organizationId),
        lines,
        'application/x-ndjson',
      )),
    search: async ({ path, body }) =>
      total(await post(server.url + path, key(body.organization_id), JSON.stringify(body))),
    get: async (contactId) =>
      void (await post(
        `${server.url}/api/contacts/get`,
        key('org_0'),
        JSON.stringify({ organization_id: 'org_0', contact_id: contactId }),
      )),
    cpu() {
      const store = storePid === 0 ? 0 : cpuMs(storePid);
      return { all: cpuMs(server.child.pid as number) + store, store };
    },
  };
}

/** Microseconds of a contact, in alternating batches, so that both sides grow alike. */
async function compareImport(
  peer: Peer,
  ours: Side,
  theirs: Side,
  note: (text: string) => void,
): Promise<Comparison[]> {
  const { name, contacts } = peer;
  const sums = { ours: { all: 0, store: 0 }, base: { all: 0, store: 0 } };
  let loaded = 0;
  for (const batch of batches(contacts)) {
    for (const [side, sum] of [
      [ours, sums.ours],
      [theirs, sums.base],
    ] as const) {
      const { all, store } = await microseconds(side, contacts, () => side.load(batch));
      sum.all += all;
      sum.store += store;
    }
    loaded += CONTACTS_A_REQUEST;
    note(`${name}: ${loaded} of ${contacts} contacts loaded`);
  }
  return comparisons('import of contacts', peer, peer.atMost.import, [sums]);
}

function* batches(contacts: number): Generator<Batch> {
  const open = new Map<string, string[]>();
  for (const contact of syntheticContacts(contacts, ORGANIZATIONS)) {
    const organizationId = contact.organization_id;
    const lines = open.get(organizationId) ?? [];
    lines.push(JSON.stringify(contact));
    open.set(organizationId, lines);
    if (lines.length < CONTACTS_A_REQUEST) continue;
    yield { organizationId, lines: lines.join('\n') };
    open.delete(organizationId);
  }
  for (const [organizationId, lines] of open) yield { organizationId, lines: lines.join('\n') };
}

async function compareWork(
  peer: Peer,
  ours: Side,
  theirs: Side,
  note: (text: string) => void,
): Promise<Comparison[]> {
  const results: Comparison[] = [];
  const measure = async (
    work: string,
    count: number,
    ask: (side: Side, index: number) => Promise<unknown>,
  ) => {
    note(`${peer.name}: ${work}`);
    for (const side of [ours, theirs]) {
      const until = performance.now() + WARM_UP_MS;
      while (performance.now() < until) await inTurn(count, (index) => ask(side, index));
    }
    const round = (side: Side) => () =>
      microseconds(side, count, () => inTurn(count, (index) => ask(side, index)));
    const rounds = await pairedRounds(ROUNDS, round(ours), round(theirs));
    results.push(...comparisons(work, peer, peer.atMost.others, rounds));
  };
  await measure('contacts/get', GETS_A_ROUND, (side, index) => side.get(`con_${index * ORGANIZATIONS}`));
  for (const work of WORK) {
    const asked = drawn(work, ORGANIZATIONS);
    await requireSameCounts(work, asked, ours, theirs);
    await measure(work.name, asked.length, (side, index) => side.search(asked[index] as Asked));
  }
  return results;
}

function comparisons(
  work: string,
  { name, contacts, isStore }: Peer,
  atMost: number,
  rounds: readonly { ours: Spent; base: Spent }[],
): Comparison[] {
  const records = `${contacts.toLocaleString('en')} contacts`;
  const of = (part: keyof Spent, peer: string) =>
    comparison(
      `${work} ÷ ${peer}, ${records}`,
      'µs',
      { atMost },
      rounds.map(({ ours, base }) => ({ ours: ours[part], base: base[part] })),
    );
  return isStore ? [of('all', name), of('store', `${name} without our gateway`)] : [of('all', name)];
}

async function requireSameCounts(work: Work, asked: readonly Asked[], ours: Side, peer: Side): Promise<void> {
  let different = 0;
  for (const each of asked) if ((await ours.search(each)) !== (await peer.search(each))) different++;
  if (different === 0) return;
  if (work.countsAgree) throw new Error(`${work.name}: ${different} of ${asked.length} counts differ`);
  process.stderr.write(
    `${work.name}: ${different} of ${asked.length} counts differ, as each side decides what matches\n`,
  );
}

/** Of processor time, of each of `count` requests or records. */
async function microseconds(side: Side, count: number, work: () => Promise<unknown>): Promise<Spent> {
  const before = side.cpu();
  await work();
  const { all, store } = side.cpu();
  return { all: ((all - before.all) / count) * 1000, store: ((store - before.store) / count) * 1000 };
}

async function inTurn(count: number, ask: (index: number) => Promise<unknown>): Promise<void> {
  const indexes = Array(count).keys();
  const lane = async () => {
    for (const index of indexes) await ask(index);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

const agent = new Agent({ keepAlive: true });
const total = (text: string) => (JSON.parse(text) as { total_count: number }).total_count;

export const post = (url: string, key: string, body: string, type = 'application/json') =>
  send(
    url,
    'POST',
    { 'X-Api-Key': key, 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) },
    body,
  );
const read = (url: string) => send(url, 'GET', {}, '');

/** As browsers and clients in libraries ask: kept connections, and answers that may be compressed. */
function send(url: string, method: string, headers: OutgoingHttpHeaders, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { method, agent, headers: { ...headers, 'Accept-Encoding': 'gzip, deflate, br' } };
    const sent = request(url, options, async (answer) => {
      const decoders: Record<string, () => NodeJS.ReadWriteStream> = {
        gzip: createGunzip,
        br: createBrotliDecompress,
      };
      const decode = decoders[answer.headers['content-encoding'] ?? ''];
      const received = await readText(decode ? answer.pipe(decode()) : answer);
      if (answer.statusCode === 200) resolve(received);
      else reject(new Error(`${url} answered ${answer.statusCode}: ${received.slice(0, 1000)}`));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
