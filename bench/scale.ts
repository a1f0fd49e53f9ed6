/** Contacts by the million: how fast they come in, how fast they are found, and what that takes. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { ingestText } from '../ingest/pipeline.js';
import { contacts } from '../ingest/streams/contacts.js';
import { packageRoot } from '../services/shared/fs.js';
import { acceptanceClock } from '../services/shared/record-order.js';
import { openStores } from '../services/stores/open-stores.js';
import { type Figure, figure, percentile } from './measure.js';
import { randomSource, syntheticContacts, writeContacts } from './synthetic-contacts.js';

export const ORGANIZATIONS = 10;

/** Contacts a second through the whole pipeline: read, decode, validate, write. */
export async function benchImport(
  dataDir: string,
  file: string,
  count: number,
  organizations: number,
  progress: (text: string) => void,
): Promise<Figure[]> {
  await writeContacts(file, count, organizations);
  const stores = await openStores({ dataDir, searchProcesses: 1 });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 100);
  const begun = performance.now();
  const result = await ingestText({
    stream: contacts,
    stores,
    source: createReadStream(file, { highWaterMark: 1024 * 1024 }),
    format: 'ndjson',
    acceptance: await acceptanceClock(stores.records)(),
    onProgress: (accepted) => progress(`${accepted} contacts`),
  });
  const seconds = (performance.now() - begun) / 1000;
  clearInterval(watch);
  await stores.close();
  if (result.accepted !== count) throw new Error(`${result.rejected} contacts were rejected`);
  const of = `${count} contacts of ${organizations} organizations`;
  return [
    figure(`import of ${of}, whole pipeline`, 'contacts/s', count / seconds, { atLeast: 25_000 }),
    figure('memory during the import, both stores open', 'MB', peak / 1e6, { atMost: 1500 }),
    figure(`bytes a contact on disk, ${of}`, 'bytes', (await folderBytes(dataDir)) / count, {}),
  ];
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

interface Server {
  child: ChildProcess;
  url: string;
  ask<T>(message: unknown): Promise<T>;
  keyFor(organizationId: string): Promise<string>;
}

export async function startServer(dataDir: string, environment: NodeJS.ProcessEnv = {}): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'servers', 'serve.js'), [dataDir], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const ask = async <T>(message: unknown) => {
    const answered = once(child, 'message');
    child.send(message as string);
    return (await answered)[0] as T;
  };
  return {
    child,
    url,
    ask,
    keyFor: async (organizationId) => (await ask<{ key: string }>({ keyFor: organizationId })).key,
  };
}

export async function stopServer({ child }: Server): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

const agent = new Agent({ keepAlive: true });

/** Sends one request and gives the milliseconds to the end of its answer. */
export function timedPost(
  url: string,
  key: string,
  body: string | Buffer,
  type = 'application/json',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        headers: { 'Content-Type': type, 'X-Api-Key': key, 'Content-Length': Buffer.byteLength(body) },
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => {
          if (answer.statusCode === 200) resolve(performance.now() - begun);
          else reject(new Error(`${url} answered ${answer.statusCode}: ${Buffer.concat(parts)}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Bodies of searches as people send them, about contacts that exist. */
export function searches(kind: 'filter' | 'query', count: number, organizations = ORGANIZATIONS): object[] {
  const random = randomSource(7);
  const sample = [...syntheticContacts(5000, organizations)];
  return Array.from({ length: count }, () => {
    const contact = sample[Math.floor(random() * sample.length)] as (typeof sample)[number];
    const organization_id = contact.organization_id;
    const choice = random();
    if (kind === 'filter') {
      if (choice < 0.2) return { organization_id, first_name: contact.first_name.slice(0, 3) };
      if (choice < 0.4) return { organization_id, country: contact.country };
      if (choice < 0.6) return { organization_id, job_title: contact.job_title, country: contact.country };
      if (choice < 0.8) return { organization_id, company_domain: contact.company_domain };
      return { organization_id, last_name: contact.last_name, city: contact.city.slice(0, 4) };
    }
    if (choice < 0.4) return { organization_id, query: `${contact.first_name} ${contact.last_name}` };
    if (choice < 0.6)
      return { organization_id, query: `${contact.last_name} ${contact.company_name.split(' ')[0]}` };
    if (choice < 0.75) return { organization_id, query: contact.job_title.split(' ').slice(0, 2).join(' ') };
    if (choice < 0.9)
      return { organization_id, query: `${misspell(contact.first_name)} ${contact.last_name}` };
    return { organization_id, query: `${contact.first_name.slice(0, 3)} ${contact.last_name.slice(0, 3)}` };
  });
}

/** Two neighbours in the middle change places. */
function misspell(word: string): string {
  const middle = Math.max(1, Math.floor(word.length / 2) - 1);
  return `${word.slice(0, middle)}${word[middle + 1] ?? ''}${word[middle] ?? ''}${word.slice(middle + 2)}`;
}

export async function benchSearch(
  server: Server,
  contacts: number,
  organizations: number,
  count: number,
): Promise<Figure[]> {
  const keys = new Map<string, string>();
  const figures: Figure[] = [];
  for (const [kind, name, atMost] of [
    ['filter', 'filter search', 50],
    ['query', 'two-word query', 100],
  ] as const) {
    const bodies = searches(kind, count, organizations) as { organization_id: string }[];
    for (const { organization_id: id } of bodies) if (!keys.has(id)) keys.set(id, await server.keyFor(id));
    const run = async (body: { organization_id: string }) =>
      timedPost(
        `${server.url}/api/contacts/search`,
        keys.get(body.organization_id) as string,
        JSON.stringify(body),
      );
    for (const body of bodies.slice(0, 50)) await run(body);
    const times: number[] = [];
    for (const body of bodies) times.push(await run(body));
    const among = `${name} among ${contacts} contacts of ${organizations} organizations`;
    figures.push(figure(`${among}, p50`, 'ms', percentile(times, 50), {}));
    figures.push(figure(`${among}, p95`, 'ms', percentile(times, 95), { atMost }));
  }
  return figures;
}

/** Searches, lists and an import at once, for some seconds: how long the event loop is held, and the memory it takes. */
export async function benchTogether(server: Server, seconds: number): Promise<Figure[]> {
  const key = await server.keyFor('org_0');
  const bodies = [...searches('filter', 300), ...searches('query', 300)].map((body) =>
    JSON.stringify({ ...body, organization_id: 'org_0' }),
  );
  const lines: string[] = [];
  let made = 0;
  for (const contact of syntheticContacts(200_000, 1, 3)) {
    lines.push(JSON.stringify({ ...contact, organization_id: 'org_0', contact_id: `new_${made++}` }));
  }
  await server.ask('reset');
  const until = performance.now() + seconds * 1000;
  let searched = 0;
  let imported = 0;
  const search = async () => {
    for (; performance.now() < until; searched++) {
      await timedPost(`${server.url}/api/contacts/search`, key, bodies[searched % bodies.length] as string);
    }
  };
  const list = async () => {
    while (performance.now() < until) {
      await timedPost(
        `${server.url}/api/advertising/network_a/campaigns`,
        key,
        '{"start_date":"2026-01-01","end_date":"2026-03-31"}',
      );
    }
  };
  const load = async () => {
    for (let at = 0; performance.now() < until; at = (at + 10_000) % lines.length) {
      const body = Buffer.from(lines.slice(at, at + 10_000).join('\n'));
      await timedPost(`${server.url}/api/ingest/contacts`, key, body, 'application/x-ndjson');
      imported += 10_000;
    }
  };
  await Promise.all([search(), search(), list(), load()]);
  const { delayP99, delayMax, peakMemory } = await server.ask<{
    delayP99: number;
    delayMax: number;
    peakMemory: number;
  }>('read');
  return [
    figure('event-loop delay p99, searches, lists and an import together', 'ms', delayP99, { atMost: 10 }),
    figure('event-loop delay, longest', 'ms', delayMax, {}),
    figure('searches meanwhile', 'requests/s', searched / seconds, {}),
    figure('contacts imported meanwhile', 'contacts/s', imported / seconds, {}),
    figure('memory of the server, at most', 'MB', peakMemory / 1e6, { atMost: 1500 }),
  ];
}

/** Seconds from the command to a gateway that says it is ready. */
export async function benchStart(dataDir: string, contacts: number): Promise<Figure> {
  const begun = performance.now();
  const child = spawn(process.execPath, [join(packageRoot, 'dist/services/cli/main.js'), 'serve'], {
    env: { ...process.env, PORT: '18765', REACHLINE_DATA_DIR: dataDir },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  try {
    for (;;) {
      const ready = await fetch('http://127.0.0.1:18765/readyz').then(
        (answer) => answer.ok,
        () => false,
      );
      if (ready) break;
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return figure(`start on ${contacts} contacts, until ready`, 's', (performance.now() - begun) / 1000, {
      atMost: 2,
    });
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}
