import type { Logger } from 'pino';
import type { KafkaConfig } from '../../services/shared/config.js';
import { type OneAtATime, oneAtATime } from '../../services/shared/one-at-a-time.js';
import { type Consumption, KafkaCluster } from '../sources/kafka.js';
import { STREAMS, type StreamName } from '../streams/index.js';
import type { IngestStores, Stream } from '../streams/stream.js';
import { deadLetterSender, type SendDeadLetters } from './dead-letters.js';
import { createLoop } from './loop.js';
import type { StreamMetrics, WorkerMetrics } from './metrics.js';
import { createTopics, groupOf, topicOf } from './topics.js';
import { Watchdog } from './watchdog.js';

export interface WorkerOptions {
  config: KafkaConfig;
  streams: readonly StreamName[];
  stores: IngestStores;
  metrics: WorkerMetrics;
  logger: Logger;
  /** Closed with the worker; of the configuration when absent. */
  cluster?: KafkaCluster;
}

/** The consumers of some streams, in this process. */
export interface Worker {
  /** Fails when Kafka cannot be reached. */
  ping(): Promise<void>;
  /** Ends what is under way, or gives it up after some seconds, and leaves the groups. */
  stop(): Promise<void>;
  /** Resolves with what ended a consumer for good, or keeps it from going on. The process is to end then. */
  failed: Promise<Error>;
}

/** A slice gets so long to end. */
const GRACE_MS = 7000;
const LAG_MS = 15_000;
/**
 * What is asked for at once of a partition, and the most records of it that are written at once. ClickHouse takes large inserts fastest;
 * Elasticsearch takes longer for a record, and small slices let all partitions go on.
 */
const TAKEN = {
  search: { fetchBytes: 1024 * 1024, sliceRecords: 1000 },
  analytics: { fetchBytes: 6 * 1024 * 1024, sliceRecords: 25_000 },
};

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, streams, metrics, logger, cluster = new KafkaCluster(config, logger) } = options;
  const abandon = new AbortController();
  const decoding = oneAtATime();
  const running: RunningStream[] = [];
  const stop = async () => {
    const timer = setTimeout(() => abandon.abort(new Error('the worker stops')), GRACE_MS);
    await Promise.allSettled(running.map((stream) => stream.stop()));
    clearTimeout(timer);
    await cluster.close();
  };
  try {
    for (const topic of await createTopics(cluster, config)) logger.info({ topic }, 'topic made');
    const sendDeadLetters = deadLetterSender(await cluster.producer());
    for (const name of streams) {
      const given = {
        cluster,
        sendDeadLetters,
        metrics: metrics.of(name),
        decoding,
        abandon: abandon.signal,
      };
      running.push(await startStream(STREAMS[name] as Stream, options, given));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stop,
    ping: () => cluster.ping(),
    failed: Promise.race(running.map(({ failed }) => failed)),
  };
}

interface RunningStream {
  failed: Promise<Error>;
  stop(): Promise<void>;
}

interface StreamServices {
  cluster: KafkaCluster;
  sendDeadLetters: SendDeadLetters;
  metrics: StreamMetrics;
  decoding: OneAtATime;
  abandon: AbortSignal;
}

async function startStream(
  stream: Stream,
  { config, stores, logger }: WorkerOptions,
  { cluster, sendDeadLetters, metrics, decoding, abandon }: StreamServices,
): Promise<RunningStream> {
  const topic = topicOf(config, stream.name);
  const watchdog = new Watchdog();
  const loop = createLoop(stream, {
    stores,
    sendDeadLetters,
    metrics,
    decoding,
    abandon,
    onOutage(error, tries) {
      watchdog.progress();
      const line = { stream: stream.name, tries: tries + 1, err: error };
      if (tries === 0) logger.warn(line, 'the store is out; waiting for it');
      else logger.debug(line, 'the store is still out');
    },
  });
  const consumption: Consumption = await cluster.consume({
    topic,
    group: groupOf(config, stream.name),
    ...TAKEN[stream.store],
    async onSlice(slice) {
      await loop(slice);
      watchdog.progress();
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
      if (wrong) resolve(wrong);
    }, LAG_MS);
    timer.unref();
  });
  return {
    failed: Promise.race([consumption.failed, stuck]),
    async stop() {
      clearInterval(timer);
      await consumption.stop();
    },
  };
}

const total = (lag: ReadonlyMap<number, bigint>) =>
  [...lag.values()].reduce((sum, behind) => sum + behind, 0n);
