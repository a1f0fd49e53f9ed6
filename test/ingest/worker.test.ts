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
import type { Stores } from '../../services/stores/open-stores.js';
import { parsed } from '../support/parsed-store.js';
import { openTemporaryStores } from '../support/temporary-stores.js';
import { until } from '../support/until.js';
import { KAFKA_CONFIG, MemoryCluster } from './memory-cluster.js';

const contact = (id: string, more: object = {}) => ({ organization_id: 'org_w', contact_id: id, ...more });
const campaign = (id: string) => ({ organization_id: 'org_w', id, name: `Campaign ${id}` });

describe('A worker over a topic in memory and embedded stores', function () {
  this.timeout(60_000);
  let stores: Stores;
  let cluster: MemoryCluster;
  let worker: Worker;
  let registry: Registry;
  let lines: Record<string, unknown>[];
  let logger: Logger;
  before(async () => {
    stores = await openTemporaryStores();
  });
  after(() => stores.close());
  beforeEach(async () => {
    cluster = new MemoryCluster();
    registry = new Registry();
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

  const start = async (into: IngestStores = stores, streams: readonly StreamName[] = STREAM_NAMES) => {
    const metrics = createWorkerMetrics(registry);
    worker = await startWorker({ config: KAFKA_CONFIG, streams, stores: into, metrics, logger, cluster });
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
    expect(await parsed(stores.search).getContact('org_w', 'a2')).to.include({ contact_id: 'a2' });
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
    expect(await parsed(stores.search).getContact('org_w', 'b2')).to.include({ contact_id: 'b2' });
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
    let isBroken = true;
    const search = new Proxy(stores.search, {
      get(target, name) {
        if (name === 'upsertContacts' && isBroken) {
          return async () => {
            throw new TypeError('a fault of the writer');
          };
        }
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await start({ search, analytics: stores.analytics });
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
    isBroken = false;
    await committed('contacts', 1);
    expect(cluster.deadLetters('contacts')).to.deep.equal([]);
    expect(await parsed(stores.search).getContact('org_w', 'd1')).to.include({ contact_id: 'd1' });
  });

  it('lets a batch under way end when it stops, and starts no other', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let writes = 0;
    const upsertContacts: IngestStores['search']['upsertContacts'] = async (records) => {
      writes++;
      await held;
      await stores.search.upsertContacts(records);
    };
    const search = Object.create(stores.search, { upsertContacts: { value: upsertContacts } });
    await start({ search, analytics: stores.analytics }, ['contacts']);
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
