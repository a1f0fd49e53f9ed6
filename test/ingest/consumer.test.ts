import { expect } from 'chai';
import type { ConsumerRunConfig, EachBatchPayload, PartitionAssigner } from 'kafkajs';
import Metadata from 'kafkajs/src/protocol/requests/metadata/index.js';
import type { KafkaClient } from '../../ingest/sources/kafka/client.js';
import { type Batch, type RunningConsumer, startConsumer } from '../../ingest/sources/kafka/consumer.js';
import { groupListeners, requirePatchedVersion } from '../../ingest/sources/kafka/kafkajs/patches.js';
import type { FetchBudget } from '../../ingest/sources/kafka/kafkajs/record-batches.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';

const TOPIC = 'topic';
const GROUP = 'group';
const SESSION_MS = 30_000;
const LIMITS = { partitionBytes: 10, fetchBytes: 80, heldBytes: 160, maxBatchRecords: 2 };
/** Records of a partition in one fetch. */
const FETCH_RECORDS = 4;

type LogListener = (message: string, details: Record<string, unknown>) => void;
type Message = { offset: string; isControlRecord?: boolean };

/** What kafkajs does with a consumer: a group with this member alone, and one fetch of each partition per `round`. */
class Library {
  readonly committed = new Map<number, bigint>();
  /** All commits, in order. */
  readonly commits: string[] = [];
  readonly #partitions: Message[][];
  readonly #positions = new Map<number, bigint>();
  readonly #listeners = new Map<string, (event: object) => void>();
  #assigner: object = {};
  #eachBatch: (payload: EachBatchPayload) => Promise<void> = async () => undefined;
  #log: LogListener = () => undefined;
  #concurrency = 1;
  isConnected = false;
  /** How often the consumer left its group. */
  left = 0;

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
  async run({ eachBatch, partitionsConsumedConcurrently }: Required<ConsumerRunConfig>) {
    this.#eachBatch = eachBatch;
    this.#concurrency = partitionsConsumedConcurrently;
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

  /** Joins the group again: fetches continue with the committed offsets. */
  async join(letIn: () => Promise<void> = async () => undefined): Promise<void> {
    await groupListeners.get(this.#assigner)?.join(letIn, async () => void this.left++);
    for (const partition of this.#partitions.keys())
      this.#positions.set(partition, this.committed.get(partition) ?? 0n);
    this.#emit('consumer.network.request', { apiName: 'SyncGroup', sentAt: Date.now() });
    this.#emit('consumer.group_join', { memberAssignment: { [TOPIC]: [...this.#partitions.keys()] } });
  }

  maxBytes = 0;
  beforeFetch(nodeId: number): FetchBudget {
    const group = Object.assign(this, { getNodeIds: () => [1, 2] });
    return groupListeners.get(this.#assigner)?.beforeFetch(group as never, nodeId) as FetchBudget;
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
    const queue = [...fetched];
    const errors: string[] = [];
    const handle = async (batch: (typeof fetched)[0]) => {
      if (batch.rawMessages.length === 0) return;
      const { partition } = batch;
      const resolveOffset = (offset: string) => this.resolveOffset({ partition, offset });
      await this.#eachBatch({ batch, heartbeat: async () => undefined, resolveOffset } as never);
    };
    const work = async () => {
      for (let batch = queue.shift(); batch; batch = queue.shift()) {
        await handle(batch).catch((error: Error) => void errors.push(error.message));
      }
    };
    await Promise.all(Array.from({ length: this.#concurrency }, work));
    return errors;
  }

  /** Deletes the oldest records of a partition; kafkajs continues with the remaining records. */
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

/** The batches that the handler got; each ends when the test says so. */
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
    if (outcome === 'committed') await batch.done(batch.records.at(-1) as KafkaRecord);
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
        ...LIMITS,
        onBatch: batches.onBatch,
        onOffsetLost: () => {
          lost++;
        },
      },
    );
  }

  /** A round whose batches are all committed. */
  async function committedRound(): Promise<void> {
    const round = library.round();
    await settled();
    await batches.endAll();
    await round;
  }

  it('works on the batches of eight of a hundred partitions at once, and fetches no more before they are done', async () => {
    await start(...Array.from({ length: 100 }, () => messages(8)));
    let isFetched = false;
    const round = library.round().then(() => {
      isFetched = true;
    });
    await settled();
    expect(batches.underWay).to.have.lengthOf(8);
    expect(isFetched, 'a further fetch would begin').to.equal(false);
    await batches.endAll();
    await round;
    expect(batches.given).to.have.lengthOf(200);
  });

  it('commits the records of a partition in their order, and fetches again once all are', async () => {
    await start(messages(8), messages(4));
    const first = library.round();
    await settled();
    expect(batches.given, 'one batch of each partition').to.deep.equal(['0/0', '1/0']);
    await batches.endAll();
    expect(await first).to.deep.equal([]);
    const second = library.round();
    await settled();
    await batches.endAll();
    await second;
    expect(batches.given).to.deep.equal(['0/0', '1/0', '0/2', '1/2', '0/4', '0/6']);
    expect(library.commits).to.deep.equal(['0/2', '1/2', '0/4', '1/4', '0/6', '0/8']);
  });

  for (const [how, outcome, errors] of [
    ['failed', new Error('no broker takes the commit'), ['no broker takes the commit']],
    ['ended without a commit', 'uncommitted', []],
  ] as const) {
    it(`neither starts nor commits records behind a batch that ${how}, and is given them again from the first uncommitted one`, async () => {
      await start(messages(8));
      const first = library.round();
      await settled();
      await batches.end();
      await batches.end(outcome);
      expect(await first).to.deep.equal(errors);
      expect(library.commits).to.deep.equal(['0/2']);
      await committedRound();
      expect(batches.given).to.deep.equal(['0/0', '0/2', '0/2', '0/4']);
      expect(library.commits).to.deep.equal(['0/2', '0/4', '0/6']);
    });
  }

  it('commits transaction markers, behind records and alone', async () => {
    await start([...messages(3), marker(3), ...[4, 5, 6, 7].map(marker), ...messages(2, 8)]);
    await committedRound();
    expect(library.commits).to.deep.equal(['0/2', '0/4']);
    await committedRound();
    expect(library.commits).to.deep.equal(['0/2', '0/4', '0/8']);
    await committedRound();
    expect(batches.given).to.deep.equal(['0/0', '0/2', '0/8']);
    expect(library.commits.at(-1)).to.equal('0/10');
  });

  it('lets the batches under way be committed before it joins its group again, and loses and skips no record', async () => {
    await start(messages(8), messages(8));
    const round = library.round();
    await settled();
    const joined = library.join();
    await settled();
    expect(batches.underWay.map((batch) => [batch.isRebalancing(), batch.isAssigned()])).to.deep.equal([
      [true, true],
      [true, true],
    ]);
    await batches.end();
    await batches.end('uncommitted');
    await Promise.all([joined, round]);
    expect(batches.given, 'no other batch is started').to.deep.equal(['0/0', '1/0']);
    await committedRound();
    expect(batches.given).to.deep.equal(['0/0', '1/0', '0/2', '1/0', '0/4', '1/2']);
  });

  it('stops once the batches under way are committed, and starts no other', async () => {
    await start(messages(8), messages(4));
    const round = library.round();
    await settled();
    const stopped = consumer.stop();
    const late = library.round();
    await settled();
    expect(library.isConnected).to.equal(true);
    await batches.end();
    await batches.end();
    await Promise.all([stopped, round, late]);
    expect(library.isConnected).to.equal(false);
    expect(batches.given).to.deep.equal(['0/0', '1/0']);
    expect(library.commits).to.deep.equal(['0/2', '1/2']);
  });

  it('continues with the oldest record when those at its offset were deleted', async () => {
    await start(messages(12));
    await committedRound();
    library.loseOffsets(0, 8n);
    await committedRound();
    expect(batches.given).to.deep.equal(['0/0', '0/2', '0/8', '0/10']);
    expect(library.commits.at(-1)).to.equal('0/12');
    expect(lost).to.equal(1);
  });

  it('divides its fetch size and its memory among the brokers, and counts what each fetch holds until the next', async () => {
    await start(messages(1));
    const [first, second] = [library.beforeFetch(1), library.beforeFetch(2)];
    expect([first.maxBytes, second.maxBytes, library.maxBytes]).to.deep.equal([80, 80, 40]);
    first.heldBytes = 70;
    second.heldBytes = 20;
    expect(consumer.heldBytes()).to.equal(90);
    library.beforeFetch(1);
    expect(consumer.heldBytes()).to.equal(20);
    await consumer.stop();
    expect(consumer.heldBytes()).to.equal(0);
  });

  it('waits for no join once it stops, and leaves the group that it is let into later', async () => {
    await start(messages(4));
    let letIn: () => void = () => undefined;
    const joined = library.join(
      () =>
        new Promise((resolve) => {
          letIn = resolve;
        }),
    );
    await settled();
    await consumer.stop();
    expect(library.left, 'before it is let in').to.equal(0);
    letIn();
    expect(await joined.catch(({ retriable }) => retriable)).to.equal(false);
    expect(library.left).to.equal(1);
    expect(await library.join().catch(({ retriable }) => retriable), 'after a crash').to.equal(false);
    expect(library.left, 'not let in').to.equal(1);
  });

  it('sees brokers and topics while a partition of somebody else has no leader, but not such a partition as its own', async () => {
    const answer = { topicMetadata: [{ topicErrorCode: 0, partitionMetadata: [{ partitionErrorCode: 5 }] }] };
    const parse = (topics: string[]) => Metadata.protocol({ version: 6 })({ topics }).response.parse(answer);
    expect(await parse([])).to.equal(answer);
    expect(await parse([TOPIC]).catch(({ type }) => type)).to.equal('LEADER_NOT_AVAILABLE');
  });

  it('accepts no other version of kafkajs than the one that is corrected', () => {
    expect(() => requirePatchedVersion('2.2.4')).not.to.throw();
    expect(() => requirePatchedVersion('2.3.0')).to.throw('kafkajs 2.3.0 is installed');
  });
});
