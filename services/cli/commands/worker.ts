import { setTimeout as pause } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { startHealthServer } from '../../../ingest/worker/health-server.js';
import { createWorkerMetrics } from '../../../ingest/worker/metrics.js';
import { startWorker, type Worker } from '../../../ingest/worker/worker.js';
import { registerBackgroundMetrics } from '../../shared/background-metrics.js';
import { loadConfig } from '../../shared/config.js';
import type { OperationalServer } from '../../shared/operational-server.js';
import { openStores } from '../../stores/open-stores.js';
import { EXIT } from '../errors.js';
import { runUntilSignal } from '../graceful-shutdown.js';
import { type Io, printOut } from '../io.js';
import { requireKafka } from '../kafka.js';
import { openLog } from '../log.js';
import { startRetention } from '../retention.js';
import { logIgnoredVariables, startupOptions } from '../startup.js';
import { parseStreams } from '../streams.js';

const GRACE_MS = 10_000;
/** Sampling interval of the event loop delay, in milliseconds. The reported delay includes it. */
const EVENT_LOOP_MS = 100;

export interface WorkerOptions {
  /** Stream names separated by commas. */
  streams?: string;
}

/** Consumes until a signal ends the process. Resolves with the exit code: 1 if a consumer fails permanently. */
export async function worker(io: Io, options: WorkerOptions): Promise<number> {
  const config = loadConfig(io.env);
  const kafka = requireKafka(config.kafka);
  const streams = parseStreams(options.streams);
  const logger = openLog(io, config);
  logIgnoredVariables(config, logger);
  const stores = await openStores(config, startupOptions(logger, true));
  const registry = new Registry();
  // Each sample of the event loop wakes an otherwise idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_MS });
  const metrics = createWorkerMetrics(registry);
  registerBackgroundMetrics(registry, stores);
  let running: Worker | undefined;
  const retention = startRetention(config.retention, stores, logger);
  let health: OperationalServer | undefined;
  let stopping = false;
  const stop = async () => {
    stopping = true;
    await Promise.all([running?.stop(), retention.stop()]);
    health?.close();
    await stores.close();
  };
  try {
    const consuming = await startWorker({ config: kafka, streams, stores, metrics, logger });
    running = consuming;
    const checks = { kafka: consuming, records: stores.records, analytics: stores.analytics };
    const address = { host: config.host, port: config.workerPort };
    health = await startHealthServer(address, {
      registry,
      checks,
      failing: () => consuming.failing(),
      stopping: () => stopping,
      logger,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  const closed = runUntilSignal(stop, logger, { delay: GRACE_MS });
  printOut(io, `Reachline consumes ${streams.join(', ')} from Kafka; health and metrics on ${health.url}`);
  void running.failed.then(async (error) => {
    logger.fatal(
      { err: error },
      'a consumer failed permanently; the process ends so that another can take over',
    );
    await Promise.race([stop(), pause(GRACE_MS)]);
    // Exit without waiting: a stuck part may keep the process alive.
    process.exit(EXIT.failed);
  });
  return closed;
}
