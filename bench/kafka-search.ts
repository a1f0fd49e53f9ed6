/** What a worker adds to Elasticsearch: contacts of a topic through it beside bulk requests that were put together before. */
import { Client } from '@elastic/elasticsearch';
import { contacts } from '../ingest/streams/contacts.js';
import { loadConfig } from '../services/shared/config.js';
import { startElasticsearch } from '../test/stack/elasticsearch.js';
import { startKafka } from '../test/stack/kafka.js';
import { drop, rawBulk } from './elasticsearch.js';
import { nextGroup, produce, reportedBy } from './kafka-support.js';
import { type Comparison, compare } from './measure.js';
import { ORGANIZATIONS } from './scale.js';
import { syntheticContacts } from './synthetic-contacts.js';

const CONTACTS = 100_000;
const ROUNDS = 5;

export async function benchKafkaSearch(note: (text: string) => void): Promise<Comparison> {
  note('Kafka and Elasticsearch start …');
  const [broker, server] = await Promise.all([startKafka(), startElasticsearch({ heapMegabytes: 2048 })]);
  const environment = { KAFKA_BROKERS: broker.address, ELASTICSEARCH_URL: server.address };
  const { kafka, elasticsearch } = loadConfig(environment);
  if (!kafka || !elasticsearch) throw new Error('there are no addresses');
  const client = new Client({ nodes: elasticsearch.nodes });
  try {
    note('contacts into the topic …');
    await produce(kafka, 'contacts', [...syntheticContacts(CONTACTS, ORGANIZATIONS)].map(toRecord));
    const throughWorker = async () => {
      const name = nextGroup();
      const own = { ...environment, KAFKA_GROUP: name, ELASTICSEARCH_INDEX_PREFIX: name };
      const rate = await reportedBy('worker.js', [contacts.name, String(CONTACTS)], own);
      await drop(client, `${name}-*`);
      return rate;
    };
    note('worker beside raw bulk requests …');
    const name = 'contacts from Kafka into Elasticsearch, worker ÷ raw _bulk of prepared bodies';
    const raw = rawBulk(client, CONTACTS);
    return await compare(name, 'contacts/s', { atLeast: 0.6 }, ROUNDS, throughWorker, raw);
  } finally {
    await client.close();
    await Promise.all([broker.remove(), server.remove()]);
  }
}

const toRecord = (contact: object) => ({
  key: contacts.key(contact as never),
  value: JSON.stringify(contact),
});
