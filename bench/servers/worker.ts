/** `worker.js <stream> <records>`: a worker that reports the rate of its first `records`, per second. */
import { Registry } from 'prom-client';
import type { StreamName } from '../../ingest/streams/index.js';
import { createWorkerMetrics } from '../../ingest/worker/metrics.js';
import { startWorker } from '../../ingest/worker/worker.js';
import { type KafkaConfig, loadConfig } from '../../services/shared/config.js';
import { createLogger } from '../../services/shared/logger.js';
import { openStores } from '../../services/stores/open-stores.js';
import { Count, counted } from '../kafka-support.js';

const [stream, expected] = process.argv.slice(2) as [StreamName, string];
const config = loadConfig(process.env);
const { records, analytics, close } = await openStores(config);
const count = new Count();
const worker = await startWorker({
  config: config.kafka as KafkaConfig,
  streams: [stream],
  stores: {
    records: counted(records, 'upsertContacts', count),
    analytics: counted(analytics, 'insertDeliveries', count),
  },
  metrics: createWorkerMetrics(new Registry()),
  logger: createLogger('silent'),
});
process.send?.(await count.reached(Number(expected)));
await worker.stop();
await close();
process.disconnect?.();
