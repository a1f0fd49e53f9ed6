import { expect } from 'chai';
import type { EachBatchPayload, PartitionAssigner } from 'kafkajs';
import type { KafkaClient } from '../../ingest/sources/kafka/client.js';
import { type Batch, type RunningConsumer, startConsumer } from '../../ingest/sources/kafka/consumer.js';
import { groupListeners } from '../../ingest/sources/kafka/patches.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';

const TOPIC = 'topic';
const GROUP = 'group';
const SESSION_MS = 30_000;
/** Records of a partition in one fetch, and in a batch. */
const FETCH_RECORDS = 4;
const BATCH_RECORDS = 2;

type LogListener = (message: string, details: Record<string, unknown>) => void;
type Message = { offset: string; isControlRecord?: boolean };

/** What kafkajs does with a consumer: a group of this member alone, and the fetches of its partitions, one for each `round`. */
class Library {
  readonly committed = new Map<number, bigint>();
  /** Everything that was committed, in its order. */
  readonly commits: string[] = [];
  readonly #partitions: Message[][];
  readonly #positions = new Map<number, bigint>();
  readonly #listeners = new Map<string, (event: object) => void>();
  #assigner: object = {};
  #eachBatch: (payload: EachBatchPayload) => Promise<void> = async () => undefined;
  #log: LogListener = () => undefined;
  isConnected = false;

  constructor(...partitions: Message[][]) {
    this.#partitions = partitions;
  }

  readonly client = {
    sessionMs: SESSION_MS,
    consumer: ({ partitionAssigners: [assigner] }: { partitionAssigners: PartitionAssigner[] }) => {
      this.#assigner = (assigner as PartitionAssigner)({} as never);
      return this;
    },
    onLog: (listener: LogListener) => {
      this.#log = listener;
      return () => undefined;
    },
    disconnect: async () => {
      this.isConnected = false;
    },
  } as unknown as KafkaClient;

  async connect() {
    this.isConnected = true;
  }
  async subscribe() {}
  on(event: string, listener: (event: object) => void) {
    this.#listeners.set(event, listener);
  }
  async run({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }) {
    this.#eachBatch = eachBatch;
    await this.join();
  }

  async commitOffsets([{ partition, offset }]: [{ partition: number; offset: string }]) {
    if (!this.isConnected) throw new Error('the consumer is disconnected');
    this.commits.push(`${partition}/${offset}`);
    this.committed.set(partition, BigInt(offset));
  }

  resolveOffset({ partition, offset }: { partition: number; offset: string }) {
    this.#positions.set(partition, BigInt(offset) + 1n);
  }

  /** Joins the group again: fetches go on with the committed offsets. */
  async join(): Promise<void> {
    await groupListeners.get(this.#assigner)?.beforeJoin(this as never);
    for (const partition of this.#partitions.keys())
      this.#positions.set(partition, this.committed.get(partition) ?? 0n);
    this.#emit('consumer.network.request', { apiName: 'SyncGroup', sentAt: Date.now() });
    this.#emit('consumer.group_join', { memberAssignment: { [TOPIC]: [...this.#partitions.keys()] } });
  }

  /** Fetches all partitions; resolves with the errors of their handlers once every one has ended. */
  async round(): Promise<string[]> {
    const fetched = this.#partitions.map((all, partition) => {
      const from = this.#positions.get(partition) ?? 0n;
      const raw = all.filter(({ offset }) => BigInt(offset) >= from).slice(0, FETCH_RECORDS);
      const lastOffset = () => raw.at(-1)?.offset ?? String(from - 1n);
      const messages = raw
        .filter(({ isControlRecord }) => !isControlRecord)
        .map(({ offset }) => ({ offset, key: null, value: Buffer.from(offset), timestamp: '0' }));
      const highWatermark = String(all.length);
      return {
        topic: TOPIC,
        partition,
        fetchedOffset: String(from),
        highWatermark,
        rawMessages: raw,
        messages,
        lastOffset,
      };
    });
    groupListeners.get(this.#assigner)?.onFetch(fetched);
    const handled = await Promise.allSettled(
      fetched.map(async (batch) => {
        const { partition, messages, rawMessages } = batch;
        if (rawMessages.length === 0) return;
        if (messages.length === 0) {
          this.resolveOffset({ partition, offset: batch.lastOffset() });
          const payload = { batchSize: 0, partition, lastOffset: batch.lastOffset() };
          this.#emit('consumer.end_batch_process', payload);
          return;
        }
        await this.#eachBatch({ batch, heartbeat: async () => undefined } as never);
      }),
    );
    return handled.flatMap((each) => (each.status === 'rejected' ? [(each.reason as Error).message] : []));
  }

  /** The oldest records of a partition are deleted, and kafkajs goes on with those that are left. */
  loseOffsets(partition: number, before: bigint): void {
    this.#partitions[partition] = (this.#partitions[partition] ?? []).filter(
      ({ offset }) => BigInt(offset) >= before,
    );
    this.#positions.set(partition, before);
    this.#log('Offset out of range, resetting to default offset', {
      topic: TOPIC,
      groupId: GROUP,
      partition,
    });
  }

  #emit(event: string, payload: object): void {
    this.#listeners.get(event)?.({ payload });
  }
}

const messages = (count: number, first = 0): Message[] =>
  Array.from({ length: count }, (_, index) => ({ offset: String(first + index) }));
const marker = (offset: number): Message => ({ offset: String(offset), isControlRecord: true });

/** The batches that were given, each of which ends when the test says so. */
class Batches {
  readonly given: string[] = [];
  readonly #open: { batch: Batch; end(error?: Error): void }[] = [];

  onBatch = async (batch: Batch): Promise<void> => {
    this.given.push(`${batch.partition}/${batch.records[0]?.offset}`);
    await new Promise<void>((resolve, reject) => {
      this.#open.push({ batch, end: (error) => (error ? reject(error) : resolve()) });
    });
  };

  get underWay(): Batch[] {
    return this.#open.map(({ batch }) => batch);
  }

  /** Ends the oldest batch after its commit, or without one. */
  async end(outcome: 'committed' | 'uncommitted' | Error = 'committed'): Promise<void> {
    const first = this.#open.shift();
    if (!first) throw new Error('no batch is under way');
    const { batch, end } = first;
    if (outcome === 'committed') await batch.commit(batch.records.at(-1) as KafkaRecord);
    end(outcome instanceof Error ? outcome : undefined);
    await settled();
  }

  async endAll(): Promise<void> {
    while (this.#open.length > 0) await this.end();
  }
}

const settled = () => new Promise(setImmediate);

describe('A consumer', () => {
  let library: Library;
  let batches: Batches;
  let consumer: RunningConsumer;
  let lost: number;

  async function start(...partitions: Message[][]): Promise<void> {
    library = new Library(...partitions);
    batches = new Batches();
    lost = 0;
    consumer = await startConsumer(
      library.client,
      { lag: async () => new Map() },
      {
        topic: TOPIC,
        group: GROUP,
        maxBatchRecords: BATCH_RECORDS,
        fetchBytes: 1,
        onBatch: batches.onBatch,
        onOffsetLost: () => {
          lost++;
        },
      },
    );
  }

  it('fetches the next records while those before are worked on, and commits them in their order', async () => {
    await start(messages(8), messages(4));
    expect(await library.round()).to.deep.equal([]);
    const second = library.round();
    await settled();
    expect(batches.given, 'one batch of each partition').to.deep.equal(['0/0', '1/0']);
    await batches.endAll();
    await second;
    await batches.endAll();
    expect(batches.given).to.deep.equal(['0/0', '1/0', '0/2', '1/2', '0/4', '0/6']);
    expect(library.commits).to.deep.equal(['0/2', '1/2', '0/4', '1/4', '0/6', '0/8']);
  });

  it('neither starts nor commits records behind a batch that failed, and is given them again from the first uncommitted one', async () => {
    await start(messages(8));
    await library.round();
    const second = library.round();
    await batches.end();
    await batches.end(new Error('no broker takes the commit'));
    expect(await second).to.deep.equal(['no broker takes the commit']);
    expect(library.commits).to.deep.equal(['0/2']);
    await library.round();
    await batches.endAll();
    expect(batches.given).to.deep.equal(['0/0', '0/2', '0/2', '0/4']);
    expect(library.commits).to.deep.equal(['0/2', '0/4', '0/6']);
  });

  it('reports the failure of a batch when nothing is fetched behind it', async () => {
    await start(messages(4));
    await library.round();
    await batches.end(new Error('no broker takes the commit'));
    expect(await library.round()).to.deep.equal(['no broker takes the commit']);
    expect(await library.round()).to.deep.equal([]);
    await batches.endAll();
    expect(library.commits).to.deep.equal(['0/2', '0/4']);
  });

  it('is given again what ended without a commit, and no later record before it', async () => {
    await start(messages(8));
    await library.round();
    const second = library.round();
    await batches.end('uncommitted');
    expect(await second).to.deep.equal([]);
    expect(batches.given).to.deep.equal(['0/0']);
    await library.round();
    await batches.endAll();
    expect(batches.given).to.deep.equal(['0/0', '0/0', '0/2']);
    expect(library.commits).to.deep.equal(['0/2', '0/4']);
  });

  it('commits transaction markers after the records before them', async () => {
    await start([...messages(4), marker(4)]);
    await library.round();
    await library.round();
    expect(library.commits).to.deep.equal([]);
    await batches.endAll();
    expect(library.commits).to.deep.equal(['0/2', '0/4', '0/5']);
  });

  it('commits no transaction marker behind records that failed', async () => {
    await start([...messages(4), ...[4, 5, 6, 7].map(marker), ...messages(4, 8)]);
    await library.round();
    await library.round();
    const third = library.round();
    await batches.end(new Error('no broker takes the commit'));
    expect(await third).to.deep.equal(['no broker takes the commit']);
    expect(library.commits).to.deep.equal([]);
    await library.round();
    await batches.endAll();
    await library.round();
    await library.round();
    await batches.endAll();
    expect(batches.given).to.deep.equal(['0/0', '0/0', '0/2', '0/8', '0/10']);
    expect(library.commits).to.deep.equal(['0/2', '0/4', '0/8', '0/10', '0/12']);
  });

  it('fetches again what failed although transaction markers behind it were fetched', async () => {
    await start([...messages(4), ...[4, 5, 6, 7].map(marker)]);
    await library.round();
    await batches.end(new Error('no broker takes the commit'));
    library.resolveOffset({ partition: 0, offset: '3' });
    await library.round();
    await settled();
    expect(await library.round()).to.deep.equal(['no broker takes the commit']);
    await library.round();
    await batches.endAll();
    await library.round();
    await settled();
    expect(library.commits).to.deep.equal(['0/2', '0/4', '0/8']);
  });

  it('lets the batches under way be committed before it joins its group again, and loses and skips no record', async () => {
    await start(messages(8), messages(8));
    await library.round();
    const second = library.round();
    await settled();
    const joined = library.join();
    await settled();
    expect(batches.underWay.map((batch) => [batch.isRebalancing(), batch.isAssigned()])).to.deep.equal([
      [true, true],
      [true, true],
    ]);
    await batches.end();
    await batches.end('uncommitted');
    await Promise.all([joined, second]);
    expect(batches.given, 'no other batch is started').to.deep.equal(['0/0', '1/0']);
    await library.round();
    await batches.endAll();
    expect(batches.given).to.deep.equal(['0/0', '1/0', '0/2', '1/0', '0/4', '1/2']);
  });

  it('stops once the batches under way are committed, and starts no other', async () => {
    await start(messages(8), messages(4));
    await library.round();
    const second = library.round();
    await settled();
    const stopped = consumer.stop();
    await settled();
    expect(library.isConnected).to.equal(true);
    await batches.end();
    await batches.end();
    await Promise.all([stopped, second]);
    expect(library.isConnected).to.equal(false);
    expect(batches.given).to.deep.equal(['0/0', '1/0']);
    expect(library.commits).to.deep.equal(['0/2', '1/2']);
  });

  it('continues with the oldest record when those at its offset were deleted', async () => {
    await start(messages(12));
    await library.round();
    await batches.endAll();
    library.loseOffsets(0, 8n);
    await library.round();
    await batches.endAll();
    expect(batches.given).to.deep.equal(['0/0', '0/2', '0/8', '0/10']);
    expect(library.commits.at(-1)).to.equal('0/12');
    expect(lost).to.equal(1);
  });

  it('reports the lag behind the committed offset, not behind what was fetched', async () => {
    await start(messages(12));
    await library.round();
    const second = library.round();
    await settled();
    expect([...(await consumer.lag())]).to.deep.equal([[0, 12n]]);
    await batches.end();
    expect([...(await consumer.lag())]).to.deep.equal([[0, 10n]]);
    await batches.endAll();
    await second;
    await batches.endAll();
    expect([...(await consumer.lag())]).to.deep.equal([[0, 4n]]);
  });
});
