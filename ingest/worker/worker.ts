import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backoffMs, Mutex, sleep, TimeSlice } from '../../services/shared/async.js';
import type { KafkaConfig } from '../../services/shared/config.js';
import { PeriodicJob } from '../../services/shared/periodic-job.js';
import { groupWrites } from '../group-writes.js';
import { KafkaCluster } from '../sources/kafka/cluster.js';
import type { RunningConsumer } from '../sources/kafka/consumer.js';
import { FETCH_LIMITS, GROUP_LIMITS } from '../sources/kafka/limits.js';
import { createTopics, groupOf, topicOf } from '../sources/kafka/topics.js';
import { STREAMS, type StreamName } from '../streams/index.js';
import type { IngestStores, Stream } from '../streams/stream.js';
import type { Write } from '../write-records.js';
import { createBatchProcessor } from './batch-processor.js';
import { deadLetterSender, type SendDeadLetters } from './dead-letters.js';
import type { StreamMetrics, WorkerMetrics } from './metrics.js';
import { createRecordWriter, UnexpectedWriteError } from './record-writer.js';
import { Watchdog } from './watchdog.js';

export type WorkerCluster = Pick<KafkaCluster, 'createTopics' | 'producer' | 'consume' | 'ping' | 'close'>;

export interface WorkerOptions {
  config: KafkaConfig;
  streams: readonly StreamName[];
  stores: IngestStores;
  metrics: WorkerMetrics;
  logger: Logger;
  /** Connection to Kafka, which is closed with the worker; by default created from the configuration. */
  cluster?: WorkerCluster;
  /** Aborts the start if no consumer was started yet. */
  signal?: AbortSignal;
}

/** A worker: one consumer per stream, in this process. Each consumer restarts separately when it fails. */
export interface Worker {
  /** Rejects if Kafka is unavailable. */
  ping(): Promise<void>;
  /** Streams whose consumer waits for its restart. */
  failing(): StreamName[];
  /** Graceful shutdown: lets running batches end, aborts them after some seconds, and leaves the groups. */
  stop(): Promise<void>;
  /** Resolves if a failed consumer does not end, so that it cannot be restarted. The process must then exit. */
  failed: Promise<Error>;
}

/** Milliseconds after which a running batch is aborted during the shutdown. */
const BATCH_GRACE_MS = 7000;
/** Milliseconds after which the worker stops waiting for its consumers. */
const SHUTDOWN_MS = BATCH_GRACE_MS + 1500;
/** Milliseconds after which a consumer that has not ended will never end. */
const STOP_TIMEOUT_MS = 2 * BATCH_GRACE_MS;
const LAG_INTERVAL_MS = 15_000;
const RESTART_BACKOFF = { firstMs: 1000, maxMs: 60_000 };

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, streams, metrics, logger, cluster = new KafkaCluster(config, logger) } = options;
  const stopping = new AbortController();
  const decoding = new Mutex();
  try {
    for (const topic of await createTopics(cluster, config)) logger.info({ topic }, 'topic created');
    const sendDeadLetters = deadLetterSender(await cluster.producer());
    options.signal?.throwIfAborted();
    const supervised = streams.map((name) =>
      superviseStream(STREAMS[name] as Stream, options, {
        cluster,
        sendDeadLetters,
        metrics: metrics.of(name),
        decoding,
        stopping: stopping.signal,
      }),
    );
    return {
      ping: () => cluster.ping(),
      failing: () => streams.filter((_, index) => !supervised[index]?.isRunning()),
      failed: Promise.race(supervised.map(({ failed }) => failed)),
      async stop() {
        stopping.abort(new Error('the worker stops'));
        // Nothing waits for a consumer that is still connecting, because it will start nothing.
        const late = new AbortController();
        await Promise.race([
          Promise.all(supervised.map(({ ended }) => ended)),
          sleep(SHUTDOWN_MS, late.signal),
        ]);
        late.abort();
        await cluster.close();
      },
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

interface StreamServices {
  cluster: WorkerCluster;
  sendDeadLetters: SendDeadLetters;
  metrics: StreamMetrics;
  decoding: Mutex;
  stopping: AbortSignal;
}

interface SupervisedStream {
  isRunning(): boolean;
  /** Resolves when the consumer of the stream has stopped, after `stopping` was aborted. */
  ended: Promise<void>;
  /** Resolves if a failed consumer does not end. */
  failed: Promise<Error>;
}

/** Restarts the consumer of a stream with exponential backoff whenever it fails, until the worker stops. Other streams continue. */
function superviseStream(stream: Stream, options: WorkerOptions, services: StreamServices): SupervisedStream {
  const { logger } = options;
  const { metrics, stopping } = services;
  const stopped = new Promise<null>((resolve) => {
    if (stopping.aborted) resolve(null);
    stopping.addEventListener('abort', () => resolve(null), { once: true });
  });
  let isRunning = false;
  const setRunning = (value: boolean) => {
    isRunning = value;
    metrics.running(value);
  };
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const ended = (async () => {
    for (let failures = 0; !stopping.aborted; failures++) {
      let consumer: StreamConsumer | undefined;
      try {
        consumer = await startStream(stream, options, services);
        setRunning(true);
        const failure = await Promise.race([consumer.failed, stopped]);
        setRunning(false);
        await stopInTime(consumer);
        if (failure === null) return;
        if (consumer.hasCommitted()) failures = 0;
        throw failure;
      } catch (error) {
        if (stopping.aborted) return;
        metrics.restarted();
        const waitMs = backoffMs(failures, RESTART_BACKOFF);
        logger.error(
          { stream: stream.name, wait_ms: Math.round(waitMs), err: error },
          'the consumer of a stream failed; it is restarted',
        );
        if (error instanceof ConsumerStuckError) fail(error);
        await sleep(waitMs, stopping);
      }
    }
  })();
  return { isRunning: () => isRunning, ended, failed };
}

/** A failed consumer does not end. A second consumer would repeat the work of the first. */
class ConsumerStuckError extends Error {
  override readonly name = 'ConsumerStuckError';
}

async function stopInTime(consumer: StreamConsumer): Promise<void> {
  const abort = new AbortController();
  const late = pause(STOP_TIMEOUT_MS, 'late' as const, { signal: abort.signal }).catch(() => undefined);
  const outcome = await Promise.race([consumer.stop(), late]);
  abort.abort();
  if (outcome === 'late') throw new ConsumerStuckError('a consumer that failed does not end');
}

interface StreamConsumer {
  failed: Promise<Error>;
  hasCommitted(): boolean;
  stop(): Promise<void>;
}

async function startStream(
  stream: Stream,
  { config, stores, logger }: WorkerOptions,
  { cluster, sendDeadLetters, metrics, decoding, stopping }: StreamServices,
): Promise<StreamConsumer> {
  const topic = topicOf(config, stream.name);
  const group = groupOf(config, stream.name);
  const watchdog = new Watchdog();
  const aborting = new AbortController();
  let hasCommitted = false;
  let stopWith: (fault: Error) => void = () => undefined;
  const fault = new Promise<Error>((resolve) => {
    stopWith = resolve;
  });
  const write: Write = (records) => stream.write(stores, records);
  const writeWhole = stream.store === 'analytics' ? groupWrites(write, GROUP_LIMITS) : write;
  const processBatch = createBatchProcessor(stream, {
    writer: createRecordWriter(stream.store, write, writeWhole),
    sendDeadLetters,
    unknownFields: config.unknownFields,
    decoding,
    signal: aborting.signal,
    sleep,
    now: () => performance.now(),
    random: Math.random,
    newTimeSlice: () => new TimeSlice(),
    onProgress: () => watchdog.progress(),
    onCommitted(committed) {
      hasCommitted = true;
      metrics.committed(committed, performance.now());
    },
    onFault(err, { partition, offset }) {
      logger.error({ stream: stream.name, partition, offset, err }, 'a record could not be decoded');
    },
    onOutage(error, [first], retries) {
      watchdog.progress();
      metrics.retried();
      const waiting = { partition: first?.partition, offset: first?.offset };
      const line = { stream: stream.name, ...waiting, retries, err: error };
      if (retries === 0) logger.warn(line, 'the store is unavailable; the write is retried');
      else logger.debug(line, 'the store is still unavailable');
    },
  });
  const consumer: RunningConsumer = await cluster.consume({
    topic,
    group,
    ...FETCH_LIMITS[stream.store],
    onBatch: async (batch) => {
      // A batch that is delivered during the shutdown is not started.
      if (stopping.aborted) return;
      try {
        await processBatch(batch);
      } catch (error) {
        // The consumer is stopped and restarted: kafkajs would deliver the batch again at once, whereas a restart is logged, counted, and
        // backs off.
        if (error instanceof UnexpectedWriteError) stopWith(error);
        throw error;
      }
    },
    onOffsetLost() {
      metrics.offsetLost();
      logger.error(
        { stream: stream.name, topic },
        'records were deleted before they were read; reading continues with the oldest one',
      );
    },
  });
  metrics.held(() => consumer.heldBytes());
  const watching = new PeriodicJob(
    async () => {
      const lag = await consumer.lag().catch(() => null);
      // An unknown lag means that the brokers are unavailable; the consumer reconnects by itself.
      if (!lag) return watchdog.progress();
      metrics.lag(lag);
      const stalled = watchdog.check(total(lag));
      if (stalled) stopWith(stalled);
    },
    {
      name: 'lag',
      intervalMs: LAG_INTERVAL_MS,
      failure: 'the lag of a stream cannot be checked',
      log: logger,
    },
  ).start();
  return {
    failed: Promise.race([consumer.failed, fault]),
    hasCommitted: () => hasCommitted,
    async stop() {
      const grace = setTimeout(() => aborting.abort(new Error('the consumer stops')), BATCH_GRACE_MS);
      void watching.stop();
      await consumer.stop();
      clearTimeout(grace);
    },
  };
}

const total = (lag: ReadonlyMap<number, bigint>) =>
  [...lag.values()].reduce((sum, behind) => sum + behind, 0n);
