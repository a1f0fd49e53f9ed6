/** Everything Kafka: the one file that knows the client library, and makes up for what it lacks. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import kafkajs, {
  type Admin,
  type Consumer,
  type EachBatchPayload,
  type KafkaMessage,
  type KafkaConfig as LibraryConfig,
} from 'kafkajs';
import ConsumerGroup, { type Fetched } from 'kafkajs/src/consumer/consumerGroup.js';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import type { Logger } from 'pino';
import type { KafkaConfig } from '../../../services/shared/config.js';
import { DECOMPRESSORS } from './compression.js';
import { KafkaProducer, type RetryPolicy } from './producer.js';
import { type ReadOptions, readTopic } from './reader.js';
import { type KafkaRecord, toRecord } from './record.js';
import { MAGIC, MAGIC_AT, MAX_BATCH_BYTES, readRecordBatches } from './record-batches.js';

export { KafkaProducer, type OutgoingRecord } from './producer.js';

const { CompressionCodecs, Kafka, logLevel, Partitioners } = kafkajs;

/** An answer begins with its size. */
const SIZE_BYTES = 4;
const TIMEOUT_CHECK_MS = 5000;

// kafkajs decompresses without a bound, and gives up all of an answer, again and again, for one batch that it cannot read.
const require = createRequire(import.meta.url);
const DECODE_MESSAGES = 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js';
const decodeMessageSet = require(DECODE_MESSAGES) as (decoder: LibraryDecoder) => Promise<unknown[]>;
(require.cache[require.resolve(DECODE_MESSAGES)] as NodeJS.Module).exports = async (
  decoder: LibraryDecoder,
) => {
  const size = decoder.readInt32();
  if (size <= 0 || !decoder.canReadBytes(size)) return [];
  const bytes = decoder.readBytes(size);
  if (bytes.length > MAGIC_AT && bytes.readInt8(MAGIC_AT) === MAGIC) return readRecordBatches(bytes);
  // Kafka wrote them before its version 0.11.
  decoder.offset -= size + SIZE_BYTES;
  return decodeMessageSet(decoder);
};
for (const [type, decompress] of Object.entries(DECOMPRESSORS)) {
  (CompressionCodecs as Record<number, () => object>)[Number(type)] = () => ({
    compress: async () => {
      throw new Error('record batches are not compressed here');
    },
    async decompress(compressed: Buffer) {
      const { bytes, missing } = await decompress(compressed, MAX_BATCH_BYTES);
      if (missing) throw new Error(`a compressed message set is ${missing}`);
      return bytes;
    },
  });
}

// The library looks for pending requests every millisecond of every connection, also while there is none.
const { scheduleCheckPendingRequests } = RequestQueue.prototype;
RequestQueue.prototype.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

// The library looks ten times a second of every connection for requests that are out of time, which is after half a minute.
RequestQueue.prototype.scheduleRequestTimeoutCheck = function () {
  this.destroy();
  this.requestTimeoutIntervalId = setInterval(() => {
    for (const request of this.inflight.values()) {
      if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
    }
    if (!this.isConnected()) this.destroy();
  }, TIMEOUT_CHECK_MS);
};

// The library keeps the beginning of an answer that was cut off, and takes what the next connection brings for the rest of it.
const { connect } = Connection.prototype;
Connection.prototype.connect = function () {
  if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: SIZE_BYTES });
  return connect.call(this);
};

// The library asks as often of a topic to which nothing comes as of a busy one, and keeps to itself how far behind it is.
const { fetch } = ConsumerGroup.prototype;
const gathering = new WeakSet<object>();
const members = new Map<string, Membership>();
ConsumerGroup.prototype.fetch = async function (nodeId) {
  if (this.minBytes === GATHERED.bytes) gathering.add(this);
  const batches = await fetch.call(this, nodeId);
  members.get(this.memberId)?.fetched(batches);
  if (!gathering.has(this)) return batches;
  const isBusy = batches.some(({ rawMessages }) => rawMessages.length > 0);
  this.minBytes = isBusy ? GATHERED.bytes : 1;
  this.maxWaitTime = isBusy ? GATHERED.milliseconds : Math.min(QUIET_MS, this.sessionTimeout / 3);
  return batches;
};

/** Neighbouring records of one partition, in the order of their offsets. */
export interface Batch {
  topic: string;
  partition: number;
  records: readonly KafkaRecord[];
  /** Records behind these. */
  lag: number;
  /** False once the partition may be assigned to another member: to write is then of no use, and a commit is refused. */
  isAssigned(): boolean;
  /** The group waits for this member to join again: what is being written may end and be committed, nothing else is begun. */
  isRebalancing(): boolean;
  /** Sends heartbeats until `work` settles; rejects then when one of them says that this is no member any more. */
  withHeartbeats<T>(work: Promise<T>): Promise<T>;
  /** Commits the offset behind a record of the batch. */
  commit(last: KafkaRecord): Promise<void>;
}

export interface Consumption {
  /** Records behind what was committed, by partition of this member. */
  lag(): Promise<Map<number, bigint>>;
  /** Lets batches under way end, and leaves the group. */
  stop(): Promise<void>;
  /** Resolves with what ended it, if it ends by itself and for good. */
  failed: Promise<Error>;
}

interface ConsumeOptions {
  topic: string;
  group: string;
  maxBatchRecords: number;
  /** Of a partition in one answer: the next is asked for when all are done, so that with more the others wait longer. */
  fetchBytes: number;
  /** Called for several partitions at once, and for one batch of a partition at a time. */
  onBatch(batch: Batch): Promise<void>;
  /** The place kept for a partition is gone from the topic; reading goes on with the oldest record there is. */
  onOffsetLost(): void;
}

interface ReadAllOptions extends Pick<ReadOptions, 'from' | 'recordsAtOnce'> {
  /** Commits the records, and gives each once. */
  group?: string;
  /** Only these partitions, up to these offsets; all there is when absent. */
  until?: ReadonlyMap<number, bigint>;
}

export interface Topic {
  name: string;
  partitions: number;
  replicas: number;
  settings: Record<string, string>;
}

/** What kafkajs reads answers with. */
interface LibraryDecoder {
  offset: number;
  readInt32(): number;
  canReadBytes(count: number): boolean;
  readBytes(count: number): Buffer;
}

/** Of a session. */
const HEARTBEATS = 6;
/** While a batch is being written the group waits for its member, not longer. */
const REBALANCE_MS = 60_000;
const PARTITIONS_AT_ONCE = 8;
const BATCH_BYTES = 8 * 1024 * 1024;
const FETCH_BYTES = 48 * 1024 * 1024;
/** The broker waits for so much, or so long: small writes are what costs the stores most. */
const GATHERED = { bytes: 64 * 1024, milliseconds: 500 };
/** Where nothing came, it waits for the first record, and as long as this: a member hears of changes in its group in between. */
const QUIET_MS = 3000;
/** An end of a partition that was seen so lately is taken for its end. */
const READ_LATELY_MS = 10_000;
/** How long brokers are looked for, and a request is tried. */
const PATIENT: RetryPolicy = { initialRetryTime: 200, maxRetryTime: 5000, retries: 8 };
/** Where somebody waits for the answer. */
export const PROMPT: RetryPolicy = { initialRetryTime: 100, maxRetryTime: 500, retries: 3 };

/** No broker can be reached, or none lets this user in. */
export class KafkaUnavailable extends Error {
  override readonly name = 'KafkaUnavailable';

  constructor(brokers: string, options?: ErrorOptions) {
    super(
      `Kafka does not answer at ${brokers}. See that it runs, and that KAFKA_BROKERS, TLS, user and password are right: reachline doctor asks each broker.`,
      options,
    );
  }
}

export class KafkaCluster {
  readonly #kafka: kafkajs.Kafka;
  readonly #brokers: string;
  readonly #logger: Logger;
  readonly #sessionMs: number;
  readonly #retry: RetryPolicy;
  readonly #open = new Set<{ disconnect(): Promise<void> }>();
  /** Told of lines of the library's log, since some things are told nowhere else. */
  readonly #listeners = new Set<(message: string, details: Record<string, unknown>) => void>();
  #admin: Promise<Admin> | undefined;

  constructor(config: KafkaConfig, logger: Logger, patience = PATIENT) {
    this.#logger = logger;
    this.#brokers = config.brokers.join(', ');
    this.#retry = patience;
    this.#sessionMs = config.sessionTimeoutMs;
    this.#kafka = new Kafka({
      ...libraryConfig(config),
      retry: patience,
      logCreator: () => (entry) => this.#log(entry),
    });
  }

  async consume(options: ConsumeOptions): Promise<Consumption> {
    const consumer = this.#kafka.consumer({
      groupId: options.group,
      sessionTimeout: this.#sessionMs,
      heartbeatInterval: this.#sessionMs / HEARTBEATS,
      rebalanceTimeout: REBALANCE_MS,
      allowAutoTopicCreation: false,
      minBytes: GATHERED.bytes,
      maxWaitTimeInMs: GATHERED.milliseconds,
      maxBytesPerPartition: options.fetchBytes,
      maxBytes: FETCH_BYTES,
      retry: this.#retry,
    });
    const membership = new Membership(consumer, options.topic, this.#sessionMs);
    const failed = new Promise<Error>((resolve) => {
      consumer.on('consumer.crash', ({ payload }) => {
        if (!payload.restart) resolve(payload.error);
      });
    });
    consumer.on('consumer.end_batch_process', ({ payload: { batchSize, topic, partition, lastOffset } }) => {
      // Marks of transactions and nothing else.
      if (batchSize === 0)
        commitThrough(consumer, membership, topic, partition, lastOffset).catch(() => undefined);
    });
    const listener = (message: string, { topic, groupId }: Record<string, unknown>) => {
      if (!message.startsWith('Offset out of range, resetting')) return;
      if (topic === options.topic && groupId === options.group) options.onOffsetLost();
    };
    this.#listeners.add(listener);
    this.#open.add(consumer);
    const stop = async () => {
      this.#listeners.delete(listener);
      await consumer.disconnect();
      membership.end();
      this.#open.delete(consumer);
    };
    try {
      await consumer.connect();
      await consumer.subscribe({ topic: options.topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
        eachBatch: (payload) => consumeBatch(consumer, membership, payload, options),
      });
    } catch (error) {
      await stop();
      throw error;
    }
    return {
      failed,
      lag: async () => membership.lag() ?? membership.ours(await this.lag(options.group, options.topic)),
      stop,
    };
  }

  /** Sends to a topic; resolves when every replica that is in sync has it. */
  async producer(): Promise<KafkaProducer> {
    const producer = this.#kafka.producer({
      idempotent: false,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { retries: 0 },
    });
    this.#open.add(producer);
    await producer.connect();
    return new KafkaProducer(producer, this.#retry);
  }

  /** Makes the topics that are missing; resolves with their names. Settings of the others stay as they are. */
  async createTopics(topics: readonly Topic[]): Promise<string[]> {
    const admin = await this.#connectAdmin();
    const there = new Set(await admin.listTopics());
    const missing = topics.filter(({ name }) => !there.has(name));
    if (missing.length === 0) return [];
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map(({ name, partitions, replicas, settings }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor: replicas,
        configEntries: Object.entries(settings).map(([key, value]) => ({ name: key, value })),
      })),
    });
    return missing.map(({ name }) => name);
  }

  async listTopics(): Promise<string[]> {
    return (await this.#connectAdmin()).listTopics();
  }

  /**
   * Reads what a topic holds now. With a group, each record is given to it once, from what it has committed on; throws
   * `ReaderConflictError` when another process of the group reads too. Without one, from the offsets given or the oldest record.
   */
  async readAll(
    topic: string,
    onRecords: ReadOptions['onRecords'],
    { group, from, until, recordsAtOnce }: ReadAllOptions = {},
  ): Promise<void> {
    const admin = await this.#connectAdmin();
    const begin = group === undefined ? from : await this.committed(group, topic);
    const starts = new Map<number, string>();
    const ends = new Map<number, bigint>();
    for (const { partition, low, high } of await this.#topicOffsets(topic)) {
      const wanted = BigInt(begin?.get(partition) ?? low);
      const start = wanted > BigInt(low) ? wanted : BigInt(low);
      const last = until ? until.get(partition) : BigInt(high);
      const end = last !== undefined && last < BigInt(high) ? last : BigInt(high);
      if (last === undefined || end <= start) continue;
      ends.set(partition, end);
      starts.set(partition, String(start));
    }
    if (ends.size === 0) return;
    const groupId = group ?? `reachline-reader-${randomUUID()}`;
    const consumer = this.#kafka.consumer({
      groupId,
      sessionTimeout: this.#sessionMs,
      heartbeatInterval: this.#sessionMs / HEARTBEATS,
      rebalanceTimeout: REBALANCE_MS,
      allowAutoTopicCreation: false,
      // It joins at once and is done soon; a reader that cannot go on says so instead of starting again.
      retry: { ...this.#retry, restartOnFailure: async () => false },
    });
    this.#open.add(consumer);
    try {
      await readTopic(consumer, {
        topic,
        ends,
        onRecords,
        recordsAtOnce,
        from: group === undefined ? starts : undefined,
      });
    } finally {
      await consumer.disconnect();
      this.#open.delete(consumer);
      if (group === undefined) await admin.deleteGroups([groupId]).catch(() => undefined);
    }
  }

  /** What a group has committed, by partition. */
  async committed(group: string, topic: string): Promise<Map<number, string>> {
    const admin = await this.#connectAdmin();
    const [answer] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const places = answer?.partitions.filter(({ offset }) => offset !== '-1') ?? [];
    return new Map(places.map(({ partition, offset }) => [partition, offset]));
  }

  /** Records behind what a group has committed, by partition. */
  async lag(group: string, topic: string): Promise<Map<number, bigint>> {
    const committed = await this.committed(group, topic);
    const ends = await this.#topicOffsets(topic);
    return new Map(
      ends.map(({ partition, low, high }) => [
        partition,
        BigInt(high) - BigInt(committed.get(partition) ?? low),
      ]),
    );
  }

  /** The offsets of the oldest record and of the next one, by partition. */
  async offsets(topic: string): Promise<Map<number, { low: bigint; high: bigint }>> {
    const offsets = await this.#topicOffsets(topic);
    return new Map(
      offsets.map(({ partition, low, high }) => [partition, { low: BigInt(low), high: BigInt(high) }]),
    );
  }

  async hasMembers(group: string): Promise<boolean> {
    const admin = await this.#connectAdmin();
    const { groups } = await admin.describeGroups([group]);
    return groups.some(({ members }) => members.length > 0);
  }

  /** Commits for a group that has no members. */
  async commit(group: string, topic: string, partition: number, offset: bigint): Promise<void> {
    const admin = await this.#connectAdmin();
    await admin.setOffsets({ groupId: group, topic, partitions: [{ partition, offset: String(offset) }] });
  }

  /** Fails when no broker answers. */
  async ping(): Promise<void> {
    const admin = await this.#connectAdmin();
    await admin.describeCluster();
  }

  async close(): Promise<void> {
    const admin = await this.#admin?.catch(() => undefined);
    await Promise.allSettled([...this.#open, ...(admin ? [admin] : [])].map((client) => client.disconnect()));
  }

  /** kafkajs does not retry while a partition that was created, or whose broker ended, has no leader yet. */
  async #topicOffsets(topic: string): Promise<Awaited<ReturnType<Admin['fetchTopicOffsets']>>> {
    const admin = await this.#connectAdmin();
    for (let retry = 0; ; retry++) {
      try {
        return await admin.fetchTopicOffsets(topic);
      } catch (error) {
        const isRetriable = (error as { retriable?: boolean }).retriable === true;
        if (!isRetriable || retry >= this.#retry.retries) throw error;
      }
      await pause(Math.min(this.#retry.initialRetryTime * 2 ** retry, this.#retry.maxRetryTime));
    }
  }

  #connectAdmin(): Promise<Admin> {
    if (!this.#admin) {
      const admin = this.#kafka.admin({ retry: this.#retry });
      this.#admin = admin.connect().then(
        () => admin,
        (cause: unknown) => {
          throw new KafkaUnavailable(this.#brokers, { cause });
        },
      );
      this.#admin.catch(() => {
        this.#admin = undefined;
      });
    }
    return this.#admin;
  }

  #log({ level, namespace, log: { message, timestamp: _, ...details } }: kafkajs.LogEntry): void {
    for (const listener of this.#listeners) listener(message, details);
    const line = { kafka: namespace, ...details };
    // A broker that is away is an error to the library with every try; what is for good is thrown.
    if (level <= logLevel.WARN) this.#logger.warn(line, message);
    else this.#logger.debug(line, message);
  }
}

const SIGNS_OF_LIFE = new Set(['Heartbeat', 'SyncGroup']);

/** What a consumer knows of its place in the group. */
class Membership {
  /** Counts the times it joined: a partition may have been another's in between. */
  epoch = 0;
  readonly sessionMs: number;
  /** The group waits for its members to join again. */
  isRebalancing = false;
  partitions: ReadonlySet<number> = new Set();
  /** By partition, as it was when it was read; `at` of `performance.now()`. */
  readonly #read = new Map<number, { next: bigint; end: bigint; at: number }>();
  #id = '';
  /** When the last request was sent that the group took for a sign of life: what a process handles late was true before. */
  #lastSeen = Number.NEGATIVE_INFINITY;
  #lastSent = this.#lastSeen;

  constructor(consumer: Consumer, topic: string, sessionMs: number) {
    this.sessionMs = sessionMs;
    consumer.on('consumer.network.request', ({ payload }) => {
      if (!SIGNS_OF_LIFE.has(payload.apiName)) return;
      this.#lastSent = performance.now() - (Date.now() - payload.sentAt);
    });
    consumer.on('consumer.group_join', ({ payload }) => {
      this.epoch++;
      this.isRebalancing = false;
      this.partitions = new Set(payload.memberAssignment[topic]);
      members.delete(this.#id);
      this.#id = payload.memberId;
      members.set(this.#id, this);
      this.#read.clear();
      this.#lastSeen = this.#lastSent;
    });
    consumer.on('consumer.rebalancing', () => {
      this.epoch++;
    });
    consumer.on('consumer.heartbeat', () => {
      this.#lastSeen = this.#lastSent;
    });
  }

  /** A member that was silent for longer than a session is none any more, whether it knows or not. */
  holds(partition: number, epoch: number): boolean {
    const silent = performance.now() - this.#lastSeen;
    return epoch === this.epoch && this.partitions.has(partition) && silent < this.sessionMs;
  }

  fetched(batches: readonly Fetched[]): void {
    for (const { partition, fetchedOffset, highWatermark } of batches) {
      const at = performance.now();
      this.#read.set(partition, { next: BigInt(fetchedOffset), end: BigInt(highWatermark), at });
    }
  }

  committed(partition: number, next: bigint): void {
    const read = this.#read.get(partition);
    if (read) read.next = next;
  }

  /** Records behind what was committed, by partition; null where one was not read lately. */
  lag(): Map<number, bigint> | null {
    const lag = new Map<number, bigint>();
    for (const partition of this.partitions) {
      const read = this.#read.get(partition);
      if (!read || performance.now() - read.at > READ_LATELY_MS) return null;
      lag.set(partition, read.end - read.next);
    }
    return lag;
  }

  ours<T>(partitions: ReadonlyMap<number, T>): Map<number, T> {
    return new Map([...partitions].filter(([partition]) => this.partitions.has(partition)));
  }

  end(): void {
    members.delete(this.#id);
  }
}

async function consumeBatch(
  consumer: Consumer,
  membership: Membership,
  { batch, heartbeat, isRunning, isStale, resolveOffset }: EachBatchPayload,
  { topic, onBatch, maxBatchRecords }: ConsumeOptions,
): Promise<void> {
  const { partition, messages, highWatermark } = batch;
  const { epoch } = membership;
  const isAssigned = () => !isStale() && membership.holds(partition, epoch);
  for (const part of partsOf(messages, maxBatchRecords)) {
    if (!isRunning() || !isAssigned() || membership.isRebalancing) return;
    const { offset: last } = part.at(-1) as KafkaMessage;
    let isCommitted = false;
    await onBatch({
      topic,
      partition,
      records: part.map((message) => toRecord(partition, message)),
      lag: Number(BigInt(highWatermark) - BigInt(last) - 1n),
      isAssigned,
      isRebalancing: () => membership.isRebalancing,
      withHeartbeats: (work) => withHeartbeats(work, heartbeat, membership),
      async commit({ offset }) {
        resolveOffset(offset);
        // Behind the last record may lie the marker of a transaction, which never comes here.
        const through = offset === messages.at(-1)?.offset ? batch.lastOffset() : offset;
        await commitThrough(consumer, membership, topic, partition, through);
        isCommitted = offset === last;
      },
    });
    // The next part must not be committed before this one: both are fetched again.
    if (!isCommitted) return;
    await heartbeat();
  }
}

/**
 * Rejects with what the coordinator said. The library hides it behind an error that ends the consumer, where it would only have to
 * join its group again.
 */
async function commitThrough(
  consumer: Consumer,
  membership: Membership,
  topic: string,
  partition: number,
  last: string,
): Promise<void> {
  const next = BigInt(last) + 1n;
  try {
    await consumer.commitOffsets([{ topic, partition, offset: String(next) }]);
    membership.committed(partition, next);
  } catch (error) {
    throw (error as Error).cause ?? error;
  }
}

async function withHeartbeats<T>(
  work: Promise<T>,
  heartbeat: () => Promise<void>,
  membership: Membership,
): Promise<T> {
  let lost: unknown;
  const timer = setInterval(() => {
    heartbeat().catch((error: { type?: string }) => {
      // The group takes commits of its members for as long as it waits for them to join again.
      if (error.type === 'REBALANCE_IN_PROGRESS') membership.isRebalancing = true;
      else lost ??= error;
    });
  }, membership.sessionMs / HEARTBEATS);
  const result = await work.finally(() => clearInterval(timer));
  if (lost) throw lost;
  return result;
}

function* partsOf(messages: readonly KafkaMessage[], maxRecords: number): Generator<KafkaMessage[]> {
  let part: KafkaMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    part.push(message);
    bytes += message.value?.length ?? 0;
    if (part.length < maxRecords && bytes < BATCH_BYTES) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

function libraryConfig({ brokers, clientId, tls, sasl }: KafkaConfig): LibraryConfig {
  return {
    brokers,
    clientId,
    ssl: tls ? { ca: tls.caFile ? [readFileSync(tls.caFile, 'utf8')] : undefined } : undefined,
    sasl: sasl as LibraryConfig['sasl'],
    connectionTimeout: 3000,
    authenticationTimeout: 5000,
    requestTimeout: 30_000,
    logLevel: logLevel.INFO,
  };
}
