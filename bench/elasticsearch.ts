/** What the service adds to Elasticsearch: our searches beside the raw ones they send, our loading beside raw bulk requests. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@elastic/elasticsearch';
import { ingestText } from '../ingest/pipeline.js';
import { contacts as contactsStream } from '../ingest/streams/contacts.js';
import type { ContactRecord, SearchContactsRequest } from '../services/contacts/schema.js';
import { toContactSearch } from '../services/contacts/search.js';
import { applyRecord } from '../services/contacts/stored-contact.js';
import type { TextQuery } from '../services/search/query.js';
import { parseQuery } from '../services/search/query-parser.js';
import { type ElasticsearchConfig, loadConfig } from '../services/shared/config.js';
import { acceptanceClock, isDeletion } from '../services/shared/record-order.js';
import { rowsToFetch } from '../services/stores/common/page-builder.js';
import { contactDocument } from '../services/stores/elasticsearch/contacts/mapping.js';
import { contactQuery } from '../services/stores/elasticsearch/contacts/search.js';
import { documentId } from '../services/stores/elasticsearch/documents.js';
import { readDefinition } from '../services/stores/elasticsearch/migrations/indices.js';
import { openStores, type Stores } from '../services/stores/open-stores.js';
import { startElasticsearch } from '../test/stack/elasticsearch.js';
import { type Comparison, compare, median } from './measure.js';
import { ORGANIZATIONS, searches, startServer, stopServer, timedPost } from './scale.js';
import { syntheticContacts, writeContacts } from './synthetic-contacts.js';

const LOADED_A_ROUND = 100_000;
const ROUNDS = 5;
const SEARCHES_A_ROUND = 150;
/** Rounds until both servers have compiled what they do. */
const WARM_UP_ROUNDS = 20;
const BULK_BYTES = 5_000_000;

export async function benchElasticsearch(
  folder: string,
  count: number,
  note: (text: string) => void,
): Promise<Comparison[]> {
  await mkdir(folder, { recursive: true });
  note('Elasticsearch starts …');
  const server = await startElasticsearch({ heapMegabytes: 2048 });
  try {
    const { elasticsearch } = loadConfig({ ELASTICSEARCH_URL: server.address });
    if (!elasticsearch) throw new Error('there is no address of a cluster');
    note('loading beside raw bulk requests …');
    const loading = await benchLoading(folder, elasticsearch);
    note(`loading ${count} contacts …`);
    const file = join(folder, 'contacts.ndjson');
    await writeContacts(file, count, ORGANIZATIONS);
    const stores = await openStores({ dataDir: join(folder, 'load'), searchThreads: 1, elasticsearch });
    await load(stores, file);
    await stores.close();
    note('searches …');
    return [loading, ...(await benchSearches(join(folder, 'gateway'), elasticsearch))];
  } finally {
    await server.remove();
  }
}

function load(stores: Stores, file: string) {
  return ingestText({
    stream: contactsStream,
    stores,
    source: createReadStream(file, { highWaterMark: 1024 * 1024 }),
    format: 'ndjson',
    acceptance: acceptanceClock()(),
  });
}

/** The whole pipeline, from lines of text to contacts that can be found, beside requests that were put together before. */
async function benchLoading(folder: string, config: ElasticsearchConfig): Promise<Comparison> {
  const client = new Client({ nodes: config.nodes });
  const file = join(folder, 'round.ndjson');
  await writeContacts(file, LOADED_A_ROUND, ORGANIZATIONS);
  let round = 0;
  const ours = async () => {
    const elasticsearch = { ...config, indexPrefix: `load${++round}` };
    const stores = await openStores({
      dataDir: join(folder, `load${round}`),
      searchThreads: 1,
      elasticsearch,
    });
    const begun = performance.now();
    await load(stores, file);
    const seconds = (performance.now() - begun) / 1000;
    await stores.close();
    await drop(client, `${elasticsearch.indexPrefix}-*`);
    return LOADED_A_ROUND / seconds;
  };
  const name = 'contacts into Elasticsearch, whole pipeline ÷ raw _bulk of prepared bodies';
  const raw = rawBulk(client, LOADED_A_ROUND);
  const result = await compare(name, 'contacts/s', { atLeast: 0.7 }, ROUNDS, ours, raw);
  await client.close();
  return result;
}

/** Contacts a second, from bodies that are there before the clock starts until they can be found. */
function rawBulk(client: Client, count: number): () => Promise<number> {
  const bodies = bulkBodies(count);
  let round = 0;
  return async () => {
    const index = `raw${++round}`;
    const { settings, mappings } = readDefinition('contacts');
    await client.indices.create({ index, settings, mappings });
    const begun = performance.now();
    const open = [...bodies];
    const send = async () => {
      for (let body = open.shift(); body; body = open.shift()) {
        const answer = await client.bulk({ index, operations: body as unknown as string[] });
        if (answer.errors) throw new Error('a raw bulk request was rejected');
      }
    };
    await Promise.all([send(), send()]);
    await client.indices.refresh({ index });
    const seconds = (performance.now() - begun) / 1000;
    await drop(client, index);
    return count / seconds;
  };
}

async function drop(client: Client, pattern: string): Promise<void> {
  const names = Object.keys(await client.indices.get({ index: pattern }));
  await client.indices.delete({ index: names });
}

function bulkBodies(count: number): Buffer[] {
  const bodies: Buffer[] = [];
  let text = '';
  for (const contact of syntheticContacts(count, ORGANIZATIONS)) {
    const stored = applyRecord(undefined, { record: contact as ContactRecord, acceptedAt: 0, sequence: 0 });
    if (!stored || isDeletion(stored)) throw new Error('a first record makes a contact');
    const { organization_id: routing, contact_id } = contact;
    const action = { create: { _id: documentId(routing, contact_id), routing } };
    text += `${JSON.stringify(action)}\n${JSON.stringify(contactDocument(stored))}\n`;
    if (text.length > BULK_BYTES) {
      bodies.push(Buffer.from(text));
      text = '';
    }
  }
  if (text !== '') bodies.push(Buffer.from(text));
  return bodies;
}

async function benchSearches(folder: string, config: ElasticsearchConfig): Promise<Comparison[]> {
  const gateway = await startServer(folder, { ELASTICSEARCH_URL: config.nodes.join(',') });
  const proxy = await startProxy(config.nodes[0] as string);
  try {
    const key = await gateway.keyFor('org_0');
    const results: Comparison[] = [];
    for (const [kind, name] of [
      ['filter', 'filter search'],
      ['query', 'two-word query'],
    ] as const) {
      const bodies: SearchContactsRequest[] = searches(kind, SEARCHES_A_ROUND).map((body) => ({
        ...body,
        organization_id: 'org_0',
      }));
      const ours = async () => {
        const times: number[] = [];
        for (const body of bodies) {
          times.push(await timedPost(`${gateway.url}/api/contacts/search`, key, JSON.stringify(body)));
        }
        return median(times);
      };
      const prepared = bodies.map((body) => {
        const query = body.query ? (parseQuery(body.query) as TextQuery) : undefined;
        const search = { ...toContactSearch('org_0', body, query), limit: body.limit ?? 50 };
        const { routing, ...request } = contactQuery(search, { ignoresTypos: true }).request;
        const sent = { track_total_hits: true, size: rowsToFetch(search.limit), ...request };
        const path = `/${config.indexPrefix}-contacts/_search?allow_partial_search_results=false&routing=${routing}`;
        return { path, query: sent };
      });
      const rawAt = (address: string) => async () => {
        const times: number[] = [];
        for (const { path, query } of prepared) {
          times.push(await timedPost(address + path, '', JSON.stringify(query)));
        }
        return median(times);
      };
      const raw = rawAt(config.nodes[0] as string);
      const passedOn = rawAt(proxy.url);
      for (let round = 0; round < WARM_UP_ROUNDS; round++) {
        await ours();
        await raw();
        await passedOn();
      }
      const what = `${name} through the gateway ÷ the _search it sends through a pass-through proxy, p50`;
      results.push(await compare(what, 'ms', { atMost: 1.15 }, ROUNDS, ours, passedOn));
      const least = `that _search through the proxy ÷ the raw _search, p50`;
      results.push(await compare(least, 'ms', {}, ROUNDS, passedOn, raw));
    }
    return results;
  } finally {
    proxy.stop();
    await stopServer(gateway);
  }
}

async function startProxy(target: string): Promise<{ url: string; stop(): void }> {
  const child = fork(join(import.meta.dirname, 'servers', 'pass-through-proxy.js'), [target]);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return { url, stop: () => child.kill() };
}
