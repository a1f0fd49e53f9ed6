import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { KafkaConfig } from '../../services/shared/config.js';
import { Turn } from '../../services/shared/event-loop-yield.js';
import { type OneAtATime, oneAtATime } from '../../services/shared/mutex.js';
import { FETCH_LIMITS } from '../sources/kafka/batch-size.js';
import { KafkaCluster } from '../sources/kafka/cluster.js';
import type { RunningConsumer } from '../sources/kafka/consumer.js';
import { createTopics, groupOf, topicOf } from '../sources/kafka/topics.js';
import { STREAMS, type StreamName } from '../streams/index.js';
import type { IngestStores, Stream } from '../streams/stream.js';
import { createBatchProcessor } from './batch-processor.js';
import { deadLetterSender, type SendDeadLetters } from './dead-letters.js';
import type { StreamMetrics, WorkerMetrics } from './metrics.js';
import { createRecordWriter } from './record-writer.js';
import { Watchdog } from './watchdog.js';

export interface WorkerOptions {
  config: KafkaConfig;
  streams: readonly StreamName[];
  stores: IngestStores;
  metrics: WorkerMetrics;
  logger: Logger;
  /** Closed with the worker; of the configuration when absent. */
  cluster?: KafkaCluster;
  /** Ends a start before a consumer is begun. */
  signal?: AbortSignal;
}

/** The consumers of some streams, in this process. Each that fails is started again, by itself. */
export interface Worker {
  /** Fails when Kafka cannot be reached. */
  ping(): Promise<void>;
  /** Streams whose consumer waits to be started again. */
  failing(): StreamName[];
  /** Ends what is under way, or gives it up after some seconds, and leaves the groups. */
  stop(): Promise<void>;
  /** Resolves with what keeps a consumer from being ended, so that it cannot be started again. The process is to end then. */
  failed: Promise<Error>;
}

/** A batch gets so long to end. */
const GRACE_MS = 7000;
/** All consumers get so long to end when the worker stops. */
const STOP_MS = GRACE_MS + 1500;
/** After that a consumer does not end at all. */
const STUCK_MS = 2 * GRACE_MS;
const LAG_MS = 15_000;
const RESTART_MS = { first: 1000, most: 60_000 };

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, streams, metrics, logger, cluster = new KafkaCluster(config, logger) } = options;
  const stopping = new AbortController();
  const decoding = oneAtATime();
  try {
    for (const topic of await createTopics(cluster, config)) logger.info({ topic }, 'topic made');
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
        // A consumer that still looks for its brokers begins nothing any more, so it need not be waited for.
        const late = new AbortController();
        await Promise.race([Promise.all(supervised.map(({ ended }) => ended)), sleep(STOP_MS, late.signal)]);
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
  cluster: KafkaCluster;
  sendDeadLetters: SendDeadLetters;
  metrics: StreamMetrics;
  decoding: OneAtATime;
  stopping: AbortSignal;
}

interface SupervisedStream {
  isRunning(): boolean;
  /** Resolves when its consumer is stopped after `stopping` was aborted. */
  ended: Promise<void>;
  /** Resolves with what ended a consumer that does not end. */
  failed: Promise<Error>;
}

/** Starts the consumer of a stream again whenever it ends, until the worker stops. The other streams do not notice. */
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
        const waitMs =
          Math.min(RESTART_MS.first * 2 ** failures, RESTART_MS.most) * (0.5 + Math.random() / 2);
        logger.error(
          { stream: stream.name, wait_ms: Math.round(waitMs), err: error },
          'the consumer of a stream failed; it is started again',
        );
        if (error instanceof ConsumerStuckError) fail(error);
        await sleep(waitMs, stopping);
      }
    }
  })();
  return { isRunning: () => isRunning, ended, failed };
}

/** A consumer that failed does not end either: starting another beside it would do its work twice. */
class ConsumerStuckError extends Error {
  override readonly name = 'ConsumerStuckError';
}

async function stopInTime(consumer: StreamConsumer): Promise<void> {
  const abort = new AbortController();
  const late = pause(STUCK_MS, 'late' as const, { signal: abort.signal }).catch(() => undefined);
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
  const abandon = new AbortController();
  let hasCommitted = false;
  const processBatch = createBatchProcessor(stream, {
    writer: createRecordWriter(stream.store, (records) => stream.write(stores, records)),
    sendDeadLetters,
    decoding,
    signal: abandon.signal,
    sleep,
    now: () => performance.now(),
    random: Math.random,
    newTurn: () => new Turn(),
    onProgress: () => watchdog.progress(),
    onCommitted(committed) {
      hasCommitted = true;
      metrics.committed(committed, performance.now());
    },
    onOutage(error, [first], retries) {
      watchdog.progress();
      metrics.retried();
      const waiting = { partition: first?.partition, offset: first?.offset };
      const line = { stream: stream.name, ...waiting, retries, err: error };
      if (retries === 0) logger.warn(line, 'the store is out; waiting for it');
      else logger.debug(line, 'the store is still out');
    },
  });
  const consumption: RunningConsumer = await cluster.consume({
    topic,
    group,
    ...FETCH_LIMITS[stream.store],
    onBatch: async (batch) => {
      // One that starts while the worker stops has nothing to begin.
      if (!stopping.aborted) await processBatch(batch);
    },
    onOffsetLost() {
      metrics.offsetLost();
      logger.error({ stream: stream.name, topic }, 'records were deleted before they were read');
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<Error>((resolve) => {
    timer = setInterval(async () => {
      const lag = await consumption.lag().catch(() => null);
      // While it cannot be told, the brokers are away, which the consumer waits for by itself.
      if (!lag) return watchdog.progress();
      metrics.lag(lag);
      const wrong = watchdog.check(total(lag));
      if (!wrong) return;
      // Records of a transaction that is open are behind, and not to be read yet.
      const readable = await cluster.lag(group, topic).catch(() => null);
      if (readable && total(readable) > 0n) resolve(wrong);
      else watchdog.progress();
    }, LAG_MS);
    timer.unref();
  });
  return {
    failed: Promise.race([consumption.failed, stuck]),
    hasCommitted: () => hasCommitted,
    async stop() {
      clearInterval(timer);
      const grace = setTimeout(() => abandon.abort(new Error('the consumer stops')), GRACE_MS);
      await consumption.stop();
      clearTimeout(grace);
    },
  };
}

const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  pause(milliseconds, undefined, { signal }).catch(() => undefined);

const total = (lag: ReadonlyMap<number, bigint>) =>
  [...lag.values()].reduce((sum, behind) => sum + behind, 0n);
