/**
 * `node dist/bench/export.js [--contacts 100000]`: every contact in one request against paging by hand: bytes, first byte, and memory of
 * the gateway beyond what it had before. Then all of it is taken in by an empty store, which exports the same bytes.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { parseArgs } from 'node:util';
import { startServer, stopServer } from './scale.js';
import { syntheticContacts } from './synthetic-contacts.js';

const PATH = '/api/contacts/search';
const ORGANIZATION = 'org_0';
const RECORDS_PER_REQUEST = 5000;
const SAMPLE_MS = 50;

const { values } = parseArgs({ options: { contacts: { type: 'string', default: '100000' } } });
const count = Number(values.contacts);
const folder = mkdtempSync(join(tmpdir(), 'reachline-bench-'));
const server = await startServer(join(folder, 'data'));
const post = await caller(server);
const print = (text: string) => process.stdout.write(`${text}\n`);

/** Megabytes of the gateway itself; the searches run in processes of their own. */
const memory = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1024;

async function caller(to: typeof server) {
  const key = await to.keyFor(ORGANIZATION);
  return (path: string, type: string, body: string, accept = 'application/json') =>
    fetch(`${to.url}${path}`, {
      method: 'POST',
      headers: { 'X-Api-Key': key, 'Content-Type': type, Accept: accept, 'Accept-Encoding': 'identity' },
      body,
    });
}

async function load(call: typeof post, records: Iterable<string> | AsyncIterable<string>): Promise<void> {
  let lines: string[] = [];
  const send = async () => {
    const response = await call('/api/ingest/contacts', 'application/x-ndjson', lines.join('\n'));
    const { accepted } = (await response.json()) as { accepted: number };
    if (accepted !== lines.length) throw new Error(`${accepted} of ${lines.length} records accepted`);
    lines = [];
  };
  for await (const line of records) {
    lines.push(line);
    if (lines.length === RECORDS_PER_REQUEST) await send();
  }
  if (lines.length > 0) await send();
}

function* synthetic(): Iterable<string> {
  for (const contact of syntheticContacts(count, 1)) yield JSON.stringify(contact);
}

const exported = (call: typeof post, accept: string) =>
  call(PATH, 'application/json', JSON.stringify({ organization_id: ORGANIZATION }), accept);

/** Exports from one store into another, and returns whether both then export the same bytes. */
async function takeIn(sha256: string): Promise<boolean> {
  const other = await startServer(join(folder, 'other'));
  try {
    const postOther = await caller(other);
    const { body } = await exported(post, 'application/x-ndjson');
    const input = Readable.fromWeb(body as ReadableStream<Uint8Array>);
    await load(postOther, createInterface({ input }));
    const hash = createHash('sha256');
    const again = await exported(postOther, 'application/x-ndjson');
    for await (const chunk of again.body as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    return hash.digest('hex') === sha256;
  } finally {
    await stopServer(other);
  }
}

async function exportAll(accept: string) {
  const before = memory();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, memory());
  }, SAMPLE_MS);
  const startedAt = performance.now();
  const response = await exported(post, accept);
  const hash = createHash('sha256');
  let bytes = 0;
  let firstMs = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    if (bytes === 0) firstMs = performance.now() - startedAt;
    bytes += chunk.length;
    hash.update(chunk);
  }
  clearInterval(timer);
  const seconds = (performance.now() - startedAt) / 1000;
  return { sha256: hash.digest('hex'), bytes, firstMs, seconds, grownMb: peak - before };
}

async function pageByHand(): Promise<string> {
  const hash = createHash('sha256');
  let cursor: string | null = null;
  do {
    const body = JSON.stringify({ organization_id: ORGANIZATION, limit: 1000, cursor });
    const page = (await (await post(PATH, 'application/json', body)).json()) as {
      contacts: object[];
      next_cursor: string | null;
    };
    for (const contact of page.contacts) hash.update(`${JSON.stringify(contact)}\n`);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return hash.digest('hex');
}

try {
  print(`loading ${count} contacts …`);
  await load(post, synthetic());
  for (const accept of ['application/x-ndjson', 'text/csv']) {
    const { bytes, firstMs, seconds, grownMb, sha256 } = await exportAll(accept);
    print(
      `${accept}: ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s; first byte ${firstMs.toFixed(0)} ms (≤ 1000); memory +${grownMb.toFixed(0)} MB (≤ 150)`,
    );
    if (accept === 'text/csv') continue;
    print(`bytes equal to paging by hand: ${sha256 === (await pageByHand()) ? 'yes' : 'NO'}`);
    print(`bytes equal once an empty store has taken it in: ${(await takeIn(sha256)) ? 'yes' : 'NO'}`);
  }
} finally {
  await stopServer(server);
  rmSync(folder, { recursive: true, force: true });
}
