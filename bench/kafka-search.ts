/** What a worker adds to Elasticsearch: contacts of a topic through it beside bulk requests that were put together before. */
import { Client } from '@elastic/elasticsearch';
import { Registry } from 'prom-client';
import { contacts } from '../ingest/streams/contacts.js';
import { createWorkerMetrics } from '../ingest/worker/metrics.js';
import { startWorker } from '../ingest/worker/worker.js';
import { createLogger } from '../services/gateway/request-log.js';
import { loadConfig } from '../services/shared/config.js';
import type { AnalyticsStore } from '../services/stores/analytics-store.js';
import { openElasticsearchStore } from '../services/stores/elasticsearch/store.js';
import type { SearchStore } from '../services/stores/search-store.js';
import { startElasticsearch } from '../test/stack/elasticsearch.js';
import { startKafka } from '../test/stack/kafka.js';
import { drop, rawBulk } from './elasticsearch.js';
import { Count, nextGroup, produce } from './kafka-support.js';
import { type Comparison, compare } from './measure.js';
import { ORGANIZATIONS } from './scale.js';
import { syntheticContacts } from './synthetic-contacts.js';

const CONTACTS = 100_000;
const ROUNDS = 5;

export async function benchKafkaSearch(note: (text: string) => void): Promise<Comparison> {
  note('Kafka and Elasticsearch start …');
  const [broker, server] = await Promise.all([startKafka(), startElasticsearch({ heapMegabytes: 2048 })]);
  const { kafka, elasticsearch } = loadConfig({
    KAFKA_BROKERS: broker.address,
    ELASTICSEARCH_URL: server.address,
  });
  if (!kafka || !elasticsearch) throw new Error('there are no addresses');
  const client = new Client({ nodes: elasticsearch.nodes });
  try {
    note('contacts into the topic …');
    await produce(kafka, 'contacts', [...syntheticContacts(CONTACTS, ORGANIZATIONS)].map(toRecord));
    const throughWorker = async () => {
      const indexPrefix = nextGroup();
      const store = await openElasticsearchStore({ ...elasticsearch, indexPrefix });
      const count = new Count();
      const worker = await startWorker({
        config: { ...kafka, group: indexPrefix },
        streams: ['contacts'],
        // Contacts never touch the other store.
        stores: { search: counting(store, count), analytics: undefined as unknown as AnalyticsStore },
        metrics: createWorkerMetrics(new Registry()),
        logger: createLogger('silent'),
      });
      const rate = await count.reached(CONTACTS);
      await worker.stop();
      await store.close();
      await drop(client, `${indexPrefix}-*`);
      return rate;
    };
    note('worker beside raw bulk requests …');
    const name = 'contacts from Kafka into Elasticsearch, worker ÷ raw _bulk of prepared bodies';
    const raw = rawBulk(client, CONTACTS);
    return await compare(name, 'contacts/s', { atLeast: 0.7 }, ROUNDS, throughWorker, raw);
  } finally {
    await client.close();
    await Promise.all([broker.remove(), server.remove()]);
  }
}

const toRecord = (contact: object) => ({
  key: contacts.key(contact as never),
  value: JSON.stringify(contact),
});

/** The store, counting what it has written; everything else is its own. */
function counting(store: SearchStore, count: Count): SearchStore {
  const upsertContacts: SearchStore['upsertContacts'] = async (records, acceptedAt, fence) => {
    count.begin();
    await store.upsertContacts(records, acceptedAt, fence);
    count.add(records.length);
  };
  return Object.assign(Object.create(store), { upsertContacts });
}
