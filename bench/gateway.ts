/** What the gateway costs beside bare Koa, and what reads of the embedded store cost through it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { openStores } from '../services/stores/open-stores.js';
import { type Comparison, comparison, type Figure, figure, median, pairedRounds } from './measure.js';
import { cpuMs } from './processor-time.js';
import { syntheticContacts } from './synthetic-contacts.js';

const ROUNDS = 7;
const SECONDS = 4;
const PAGE = '/api/contacts/search';
const GET = '/api/contacts/get';

/** Contacts of each organization, and how many share a moment: an import accepts about 20 a millisecond, a file may give all one date. */
const ORGANIZATIONS = {
  org_bench: { count: 2000, perMs: 20 },
  org_few: { count: 3000, perMs: Number.POSITIVE_INFINITY },
  org_many: { count: 300_000, perMs: Number.POSITIVE_INFINITY },
};
const ACCEPTED_AT = Date.UTC(2026, 0, 1);
const RECORDS_PER_WRITE = 5000;

interface Served {
  child: ChildProcess;
  url: string;
  key: string;
}

interface Load {
  requestsPerSecond: number;
  /** Requests per second of processor time, user and system, of the server and its child processes. */
  requestsPerCpuSecond: number;
}

async function serve(script: string, ...args: string[]): Promise<Served> {
  const child = fork(join(import.meta.dirname, 'servers', script), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ url, key }] = (await once(child, 'message')) as [{ url: string; key: string }];
  return { child, url, key };
}

async function keyFor(served: Served, organizationId: string): Promise<Served> {
  served.child.send({ keyFor: organizationId });
  const [{ key }] = (await once(served.child, 'message')) as [{ key: string }];
  return { ...served, key };
}

async function stop({ child }: Served): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function load(served: Served, path: string, body: string, connections = 32): Promise<Load> {
  const pid = served.child.pid as number;
  const before = cpuMs(pid);
  const result = await autocannon({
    url: served.url + path,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': served.key,
      // As browsers, fetch, axios and requests send it.
      'accept-encoding': 'gzip, deflate, br',
    },
    body,
    connections,
    duration: SECONDS,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${path}: ${result.non2xx} answers were not 2xx, ${result.errors} connections failed`);
  }
  return {
    requestsPerSecond: result.requests.average,
    requestsPerCpuSecond: (result.requests.total / (cpuMs(pid) - before)) * 1000,
  };
}

async function post(served: Served, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(served.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': served.key },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as Record<string, unknown>;
}

function compareLoads(name: string, loads: { ours: Load; base: Load }[], atLeast: number): Comparison[] {
  const of = (metric: keyof Load) =>
    loads.map(({ ours, base }) => ({ ours: ours[metric], base: base[metric] }));
  return [
    comparison(name, 'requests/s', { atLeast }, of('requestsPerSecond')),
    comparison(`${name}: CPU`, 'requests/CPU second', { atLeast }, of('requestsPerCpuSecond')),
  ];
}

export async function benchGateway(folder: string): Promise<(Comparison | Figure)[]> {
  const contactId = await fill(folder);
  const body = JSON.stringify({ organization_id: 'org_bench', contact_id: contactId });
  const byCountry = JSON.stringify({ organization_id: 'org_bench', country: 'DE', limit: 25 });
  const ours = await serve('serve.js', folder);
  try {
    const many = await keyFor(ours, 'org_many');
    const few = await keyFor(ours, 'org_few');
    const newest = await pairedRounds(
      ROUNDS,
      () => newestPageMs(many, 'org_many'),
      () => newestPageMs(few, 'org_few'),
    );
    ours.key = (await keyFor(ours, 'org_bench')).key;
    const contact = await post(ours, GET, JSON.parse(body) as object);
    const base = await serve('bare-koa.js', JSON.stringify(contact));
    const gets = await pairedRounds(
      ROUNDS,
      () => load(ours, GET, body),
      () => load(base, GET, body),
    ).finally(() => stop(base));
    const pages: Load[] = [];
    for (let round = 0; round <= ROUNDS; round++) pages.push(await load(ours, PAGE, byCountry, 8));
    const cpuMicroseconds = pages.slice(1).map(({ requestsPerCpuSecond }) => 1e6 / requestsPerCpuSecond);
    return [
      ...compareLoads('contacts/get embedded, whole ÷ bare Koa', gets, 0.67),
      comparison('newest page, 300 000 ÷ 3 000 contacts of one import', 'ms', { atMost: 2 }, newest),
      figure('page of 25 by country, 2 000 contacts, embedded, whole: CPU', 'µs', median(cpuMicroseconds), {
        atMost: 300,
      }),
    ];
  } finally {
    await stop(ours);
  }
}

async function newestPageMs(served: Served, organizationId: string): Promise<number> {
  const times: number[] = [];
  for (let request = 0; request < 40; request++) {
    const startedAt = performance.now();
    await post(served, PAGE, { organization_id: organizationId, limit: 25 });
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

/** Writes the contacts of every organization; the id of one of the first. */
async function fill(dataDir: string): Promise<string> {
  const stores = await openStores({ dataDir, searchProcesses: 1 });
  let contactId = '';
  for (const [organizationId, { count, perMs }] of Object.entries(ORGANIZATIONS)) {
    let batch: Parameters<typeof stores.records.upsertContacts>[0][number][] = [];
    let sequence = 0;
    for (const contact of syntheticContacts(count, 1)) {
      const record = { ...contact, organization_id: organizationId } as (typeof batch)[number]['record'];
      batch.push({ record, acceptedAt: ACCEPTED_AT + Math.floor(sequence / perMs), sequence: sequence++ });
      if (organizationId === 'org_bench') contactId = record.contact_id;
      if (batch.length < RECORDS_PER_WRITE) continue;
      await stores.records.upsertContacts(batch);
      batch = [];
    }
    await stores.records.upsertContacts(batch);
  }
  await stores.close();
  return contactId;
}
