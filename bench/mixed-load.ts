/** The waits of one organization while another has its people erased, its audiences deleted and its keys listed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { issueKey } from '../services/accounts/keys.js';
import { openSqliteStore } from '../services/stores/sqlite/store.js';
import { runProcess } from '../test/cli/support.js';
import { DEMO_ORGANIZATION } from '../test/hostile/target.js';
import type { Kind, Observation } from '../test/hostile/well-behaved-client.js';
import type { CallOptions } from '../test/support/gateway.js';
import { prepareOrganization, type ServerProcess, startServer } from '../test/support/server-process.js';
import { type Figure, figure, percentile } from './measure.js';

const ORGANIZATION = 'org_busy';
const ROUNDS = 10;
/** Members of each audience, contacts that share an address, and keys. */
const SIZE = { members: 100_000, sharing: 1000, keys: 10_000 };
/** Milliseconds that 99 of 100 requests of the other organization may take (contract 1.11). */
const P99_MS: Readonly<Record<Kind, number>> = { reads: 250, writes: 500, searches: 1000 };
/** Lower than the server's: the clients of the busy organization stand for other machines. */
const CLIENT_PRIORITY = 10;

/** Pause after a request that the rate limit refused. */
const REFUSED_PAUSE_MS = 200;

const sharedAddress = (round: number) => `shared-${round}@busy.example`;
const audienceId = (round: number) => `aud_${round}`;

export async function benchMixedLoad(
  folder: string,
  minutes: number,
  note: (text: string) => void,
): Promise<Figure[]> {
  const dataDir = join(folder, 'data');
  note('contacts, audiences and keys …');
  const demoKey = await prepareRecords(folder, dataDir);
  const key = await prepareOrganization(dataDir, ORGANIZATION);
  // The rate limit is one per key: lists must not use up that of erasures and deletions.
  const listKey = await prepareOrganization(dataDir, ORGANIZATION);
  await prepareKeys(dataDir);
  const server = await startServer({ dataDir, key, environment: { REACHLINE_RATE_LIMIT: '6000' } });
  const client = await startClient(server, demoKey);
  setPriority(CLIENT_PRIORITY);
  const slowest: Record<string, number> = {};
  const refused: Record<string, number> = {};
  const call = async (path: string, body: object, options?: CallOptions) => {
    const began = performance.now();
    const answer = await server.call(path, { organization_id: ORGANIZATION, ...body }, options);
    slowest[path] = Math.max(slowest[path] ?? 0, performance.now() - began);
    if (answer.status !== 200) {
      const kind = `${path} ${answer.status}`;
      refused[kind] = (refused[kind] ?? 0) + 1;
    }
    return answer;
  };
  try {
    client.send('begin');
    const ends = performance.now() + minutes * 60_000;
    const list = (body: object) => call('/api/keys/list', body, { key: listKey });
    const listing = listKeys(list, ends);
    for (let round = 0; round < ROUNDS; round++) {
      note(`round ${round + 1} of ${ROUNDS} …`);
      const next = pause((minutes * 60_000) / ROUNDS);
      await Promise.all([
        call('/api/contacts/erase', { email: sharedAddress(round) }),
        call('/api/audiences/delete', { audience_id: audienceId(round) }),
      ]);
      await next;
    }
    await listing;
    client.send('end');
    const [observed] = (await once(client, 'message')) as [Observation];
    for (const failure of new Set(observed.failures)) process.stderr.write(`not answered: ${failure}\n`);
    for (const [what, count] of Object.entries(refused)) process.stderr.write(`${count} times ${what}\n`);
    return figuresOf(observed, slowest);
  } finally {
    client.kill();
    await server.stop();
  }
}

function figuresOf(observed: Observation, slowest: Readonly<Record<string, number>>): Figure[] {
  const among = 'beside erasures, deletions and lists of keys';
  return [
    ...(Object.keys(P99_MS) as Kind[]).flatMap((kind) => [
      figure(`${kind} ${among}, p99`, 'ms', percentile(observed[kind], 99), { atMost: P99_MS[kind] }),
      figure(`${kind} ${among}, longest`, 'ms', percentile(observed[kind], 100), {}),
    ]),
    figure(`requests not answered with 200 ${among}`, 'requests', observed.failures.length, { atMost: 0 }),
    ...Object.entries(slowest).map(([path, ms]) => figure(`${path} itself, longest`, 'ms', ms, {})),
  ];
}

/** Reads all keys from page to page, again and again. */
async function listKeys(
  list: (body: object) => Promise<{ status: number; body: Record<string, unknown> }>,
  ends: number,
): Promise<void> {
  let cursor: unknown;
  while (performance.now() < ends) {
    const { status, body } = await list({ limit: 100, ...(cursor ? { cursor } : {}) });
    if (status === 200) cursor = body.next_cursor;
    else await pause(REFUSED_PAUSE_MS);
  }
}

/** Loads the sample, and the records of the busy organization; resolves with the key of the sample. */
async function prepareRecords(folder: string, dataDir: string): Promise<string> {
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProcess(args, { env: { REACHLINE_DATA_DIR: dataDir } });
    if (code !== 0) throw new Error(`reachline ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };
  const demoKey = (await run('demo')).trim();
  const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
  for (const round of rounds) {
    const audience = ['--name', `Audience ${round}`, '--id', audienceId(round)];
    await run('audiences', 'create', '--organization', ORGANIZATION, ...audience);
  }
  const path = join(folder, 'contacts.ndjson');
  const file = createWriteStream(path);
  const audience_ids = rounds.map(audienceId);
  for (let index = 0; index < SIZE.members; index++) {
    const round = Math.floor(index / SIZE.sharing);
    const record = {
      organization_id: ORGANIZATION,
      contact_id: `con-${index}`,
      first_name: `Name${index % 997}`,
      last_name: `Family${index % 9973}`,
      job_title: 'Marketing manager',
      company_name: `Company ${index % 499}`,
      work_emails: [`name${index}@busy.example`, ...(round < ROUNDS ? [sharedAddress(round)] : [])],
      audience_ids,
    };
    if (!file.write(`${JSON.stringify(record)}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  await run('ingest', 'contacts', path, '--organization', ORGANIZATION);
  return demoKey;
}

async function prepareKeys(dataDir: string): Promise<void> {
  const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
  try {
    for (let count = 2; count < SIZE.keys; count++)
      await issueKey(store, {
        organizationId: ORGANIZATION,
        name: `key ${count}`,
        scopes: ['contacts:read'],
      });
  } finally {
    await store.close();
  }
}

/** The client of the other organization, in a process of its own. */
async function startClient(server: ServerProcess, key: string) {
  const find = async (path: string) =>
    (await server.call(path, { organization_id: DEMO_ORGANIZATION, limit: 1 }, { key })).body;
  const [contact] = (await find('/api/contacts/search')).contacts as { contact_id: string }[];
  const [audience] = (await find('/api/audiences/search')).audiences as { id: string }[];
  const settings = {
    url: server.url,
    key,
    organizationId: DEMO_ORGANIZATION,
    audienceId: audience?.id,
    contactId: contact?.contact_id,
    today: new Date().toISOString().slice(0, 10),
    serverPid: server.pid,
  };
  const script = fileURLToPath(new URL('../test/hostile/well-behaved-client.js', import.meta.url));
  const client = fork(script, [JSON.stringify(settings)]);
  await once(client, 'message');
  return client;
}
