import { expect } from 'chai';
import { Publisher } from '../../../ingest/publisher.js';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { STREAMS } from '../../../ingest/streams/index.js';
import type { IngestStores } from '../../../ingest/streams/stream.js';
import type { KafkaConfig } from '../../../services/shared/config.js';
import { createLogger } from '../../../services/shared/logger.js';
import { freePort } from '../../stack/free-port.js';
import { startKafka } from '../../stack/kafka.js';
import { type ProduceProxy, startProduceProxy } from '../../stack/produce-proxy.js';
import type { Server } from '../../stack/server.js';
import { accepted } from '../../support/accepted.js';
import { afterFile } from '../../support/opened.js';
import { runs } from '../../support/random.js';
import { type TestTopics, testTopics } from './topics.js';

const ROUNDS = runs(1);
/** More than a sender retries. */
const ALL = Number.POSITIVE_INFINITY;
const STREAM = 'contacts';

describe('a broker that appends records and is cut off before it responds', function () {
  this.timeout(120_000 + ROUNDS * 10_000);
  let proxy: ProduceProxy;
  let kafka: Server;
  let topics: TestTopics;
  let behindProxy: KafkaConfig;

  before(async () => {
    const port = await freePort();
    proxy = await startProduceProxy(`127.0.0.1:${port}`);
    kafka = await startKafka({ proxied: { port, address: proxy.address } });
    afterFile(() => kafka.remove());
  });
  after(() => proxy?.close());
  beforeEach(async () => {
    // Uses one partition, so that every request follows the failed request.
    topics = await testTopics({ brokers: kafka.address, partitions: 1 });
    behindProxy = { ...topics.config, brokers: [proxy.address] };
  });
  afterEach(() => proxy.loseAnswers(0));

  /** Sends a record whose response gets lost, then others, round after round. Resolves with the acknowledged records. */
  async function acknowledged(send: (ids: string[]) => Promise<void>): Promise<string[]> {
    const ids: string[] = [];
    const isSent = async (...sent: string[]) => {
      const taken = await send(sent).then(
        () => true,
        () => false,
      );
      if (taken) ids.push(...sent);
      return taken;
    };
    expect(await isSent('first')).to.equal(true);
    for (let round = 0; round < ROUNDS; round++) {
      const before = proxy.lost();
      proxy.loseAnswers(ALL);
      expect(await isSent(`lost${round}`), 'nobody was told that it is there').to.equal(false);
      expect(proxy.lost()).to.be.greaterThan(before);
      proxy.loseAnswers(0);
      // As many records as were lost, and a different number: a broker takes the former for a repetition and the latter for a gap.
      expect(await isSent(`same${round}`)).to.equal(true);
      expect(await isSent(`more${round}`, `most${round}`)).to.equal(true);
      proxy.loseAnswers(1);
      expect(await isSent(`again${round}`), 'one lost answer is retried').to.equal(true);
    }
    return ids;
  }

  async function contactsIn(topic: string): Promise<Set<string>> {
    const ids = new Set<string>();
    await topics.cluster.readAll(topic, async (records) => {
      for (const { value } of records) ids.add(JSON.parse(String(value)).contact_id);
      return true;
    });
    return ids;
  }

  const recordsOf = (ids: string[]) =>
    ids.map((contact_id) => ({ organization_id: 'org_a', contact_id, updated_at: '2026-06-01T00:00:00Z' }));

  it('has every record the ingest endpoint acknowledged, and accepts the next ones without a restart', async () => {
    const publisher = new Publisher(behindProxy, createLogger('silent'));
    const { write } = publisher.toKafka(STREAMS[STREAM]);
    try {
      const ids = await acknowledged((sent) =>
        write({} as IngestStores, accepted(recordsOf(sent), Date.now())),
      );
      expect([...(await contactsIn(topicOf(topics.config, STREAM)))]).to.include.members(ids);
    } finally {
      await publisher.close();
    }
  });
});
