import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { KafkaConfig } from '../../services/shared/config.js';
import { retry } from '../../services/shared/retry.js';
import { STREAM_NAMES } from '../streams/index.js';
import type { IngestStores } from '../streams/stream.js';
import { createWorkerMetrics } from './metrics.js';
import { startWorker, type Worker } from './worker.js';

const RESTART_MS = 5000;

interface SupervisorOptions {
  start?: typeof startWorker;
  restartMs?: number;
}

export interface SupervisedWorker {
  /** Streams that are not consumed: their consumer waits for its restart, or the worker waits for Kafka. */
  failing(): readonly string[];
  stop(): Promise<void>;
}

/** Runs a worker of all streams inside another process. Restarts the worker whenever it ends, even while Kafka is unavailable. */
export function superviseWorker(
  config: KafkaConfig,
  stores: IngestStores,
  registry: Registry,
  logger: Logger,
  { start = startWorker, restartMs = RESTART_MS }: SupervisorOptions = {},
): SupervisedWorker {
  const metrics = createWorkerMetrics(registry);
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  let worker: Worker | undefined;
  const running = retry(
    { firstMs: restartMs, maxMs: restartMs },
    async () => {
      worker = await start({ config, streams: STREAM_NAMES, stores, metrics, logger, signal });
      const failure = await Promise.race([worker.failed, stopped]);
      await worker.stop();
      worker = undefined;
      if (failure) throw failure;
    },
    {
      signal,
      isRetriable: () => !signal.aborted,
      onRetry: (err) => logger.error({ err }, 'the worker ended; it is restarted'),
    },
  ).catch(() => undefined);
  return {
    failing: () => worker?.failing() ?? STREAM_NAMES,
    async stop() {
      stopping.abort();
      // A worker that is still connecting has no consumer to end, and starts none once it is connected.
      if (worker) await running;
    },
  };
}
