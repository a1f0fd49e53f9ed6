import { Writable } from 'node:stream';
import { expect } from 'chai';
import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import { createTopics } from '../../ingest/sources/kafka/topics.js';
import { STREAM_NAMES, type StreamName } from '../../ingest/streams/index.js';
import type { IngestStores } from '../../ingest/streams/stream.js';
import { headerText } from '../../ingest/worker/dead-letters.js';
import { createWorkerMetrics } from '../../ingest/worker/metrics.js';
import { startWorker, type Worker } from '../../ingest/worker/worker.js';
import type { CampaignRecord } from '../../services/advertising/records.js';
import type { ContactRecord } from '../../services/contacts/schema.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { until } from '../support/until.js';
import { KAFKA_CONFIG, MemoryCluster } from './memory-cluster.js';

const contact = (id: string) => ({ organization_id: 'org_w', contact_id: id });
const campaign = (id: string) => ({ organization_id: 'org_w', id, name: `Campaign ${id}` });

describe('A worker over a topic and stores in memory', () => {
  /** The written ids, in order. */
  let stored: string[];
  /** Runs before each write of contacts. */
  let beforeWrite: () => Promise<void> | void;
  let cluster: MemoryCluster;
  let worker: Worker;
  let registry: Registry;
  let lines: Record<string, unknown>[];
  let logger: Logger;
  beforeEach(async () => {
    cluster = new MemoryCluster();
    registry = new Registry();
    stored = [];
    beforeWrite = () => undefined;
    lines = [];
    logger = pino(
      { base: null },
      new Writable({
        write(chunk, _, done) {
          lines.push(JSON.parse(String(chunk)));
          done();
        },
      }),
    );
    await createTopics(cluster, KAFKA_CONFIG);
  });
  afterEach(() => worker.stop());

  const stores = {
    records: {
      async upsertContacts(records: readonly OrderedRecord<ContactRecord>[]) {
        await beforeWrite();
        stored.push(...records.map(({ record }) => record.contact_id));
      },
    },
    analytics: {
      async insertCampaigns(records: readonly OrderedRecord<CampaignRecord>[]) {
        stored.push(...records.map(({ record }) => record.id));
      },
    },
  } as unknown as IngestStores;
  const start = async (streams: readonly StreamName[] = STREAM_NAMES) => {
    const metrics = createWorkerMetrics(registry);
    worker = await startWorker({ config: KAFKA_CONFIG, streams, stores, metrics, logger, cluster });
  };
  const committed = (stream: StreamName, offset: number) =>
    until(() => cluster.committedBy(stream) === offset, `offset ${offset} of ${stream} is committed`);
  const applied = async (stream: StreamName) => {
    const { values } = await (
      registry.getSingleMetric('reachline_worker_records_total') as never as {
        get(): Promise<{ values: { labels: Record<string, string>; value: number }[] }>;
      }
    ).get();
    return values.find(({ labels }) => labels.stream === stream && labels.outcome === 'applied')?.value;
  };

  it('stores the records of every stream, counts them, and commits their offsets', async () => {
    cluster.append('contacts', contact('a1'), contact('a2'));
    await start();
    cluster.append('network-a-campaigns', campaign('a3'));
    await committed('contacts', 2);
    await committed('network-a-campaigns', 1);
    expect(stored).to.have.members(['a1', 'a2', 'a3']);
    expect(await applied('contacts')).to.equal(2);
    expect(worker.failing()).to.deep.equal([]);
  });

  it('dead-letters a record that cannot be decoded, and stores those around it', async () => {
    cluster.append('contacts', contact('b1'), '{', contact('b2'));
    await start();
    await committed('contacts', 3);
    const letters = cluster.deadLetters('contacts');
    expect(letters.map(({ value }) => String(value))).to.deep.equal(['{']);
    expect(headerText(letters[0]?.headers ?? {}, 'reachline-code')).to.equal('invalid_json');
    expect(headerText(letters[0]?.headers ?? {}, 'reachline-offset')).to.equal('1');
    expect(stored).to.deep.equal(['b1', 'b2']);
  });

  it('restarts a stream whose consumer failed, while the others continue', async () => {
    await start();
    await until(() => cluster.member('contacts') !== undefined, 'the consumer has started');
    const other = cluster.member('audiences');
    cluster.member('contacts')?.crash(new Error('the group is gone'));
    await until(() => worker.failing().includes('contacts'), 'the stream is reported as failing');
    expect(worker.failing()).to.deep.equal(['contacts']);
    cluster.append('contacts', contact('c1'));
    await committed('contacts', 1);
    expect(cluster.member('audiences')).to.equal(other);
    expect(lines.find(({ msg }) => String(msg).includes('it is restarted'))).to.include({
      stream: 'contacts',
    });
  });

  it('stops a stream at a fault of its writer, logs it, and neither commits nor dead-letters the record', async () => {
    beforeWrite = () => {
      throw new TypeError('a fault of the writer');
    };
    await start();
    cluster.append('contacts', contact('d1'));
    await until(() => worker.failing().includes('contacts'), 'the stream is reported as failing');
    expect(cluster.committedBy('contacts')).to.equal(0);
    const restarts = () =>
      lines.filter(({ msg }) => String(msg).includes('it is restarted')) as {
        stream: string;
        err: { message: string };
      }[];
    await until(() => restarts().length > 0, 'the restart is logged');
    expect(restarts()[0]?.stream).to.equal('contacts');
    expect(restarts()[0]?.err.message).to.include('a fault of the writer');
    beforeWrite = () => undefined;
    await committed('contacts', 1);
    expect(cluster.deadLetters('contacts')).to.deep.equal([]);
    expect(stored).to.deep.equal(['d1']);
  });

  it('lets a batch under way end when it stops, and starts no other', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let writes = 0;
    beforeWrite = () => {
      writes++;
      return held;
    };
    await start(['contacts']);
    cluster.append('contacts', contact('e1'));
    await until(() => writes === 1, 'the write has begun');
    cluster.append('contacts', contact('e2'));
    const stopped = worker.stop();
    release();
    await stopped;
    expect(cluster.committedBy('contacts')).to.equal(1);
    expect(writes).to.equal(1);
    expect(cluster.isClosed).to.equal(true);
  });
});
