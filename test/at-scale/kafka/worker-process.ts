/** A worker that kills itself when it reaches the point TEST_KILL_AT for the TEST_KILL_AFTER-th time. Its arguments are its streams. */
import { Registry } from 'prom-client';
import { KafkaCluster } from '../../../ingest/sources/kafka/cluster.js';
import type { RecordSender } from '../../../ingest/sources/kafka/producer.js';
import type { StreamName } from '../../../ingest/streams/index.js';
import { createWorkerMetrics } from '../../../ingest/worker/metrics.js';
import { startWorker } from '../../../ingest/worker/worker.js';
import { loadConfig } from '../../../services/shared/config.js';
import { createLogger, logFile } from '../../../services/shared/logger.js';
import { openStores } from '../../../services/stores/open-stores.js';
import type { Kill } from './kill-points.js';

/** Milliseconds that a killed request has been in flight, at most. */
const onItsWayMs = Number(process.env.TEST_KILL_IN_FLIGHT_MS);

const point = process.env.TEST_KILL_AT;
let left = Number(process.env.TEST_KILL_AFTER);

const isDue = (here: Kill['TEST_KILL_AT']) => here === point && --left === 0;
const die = () => process.kill(process.pid, 'SIGKILL');
const passes = (here: Kill['TEST_KILL_AT']) => isDue(here) && die();

class WatchedCluster extends KafkaCluster {
  override consume(options: Parameters<KafkaCluster['consume']>[0]) {
    return super.consume({
      ...options,
      onBatch: (batch) =>
        options.onBatch({
          ...batch,
          async done(last) {
            await batch.done(last);
            passes('after commit');
          },
        }),
    });
  }

  override async producer(): Promise<RecordSender> {
    const producer = await super.producer();
    const send = producer.send.bind(producer);
    producer.send = async (topic, messages) => {
      passes('before dead letter');
      const sent = await send(topic, messages);
      passes('after dead letter');
      return sent;
    };
    return producer;
  }
}

function watched<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (records: unknown) => {
        passes('after decode');
        const writing = value.call(target, records) as Promise<void>;
        if (isDue('during the write')) {
          if (onItsWayMs === 0) die();
          setTimeout(die, onItsWayMs);
          await new Promise(() => undefined);
        }
        await writing;
        passes('after the write');
      };
    },
  });
}

const config = loadConfig(process.env);
if (!config.kafka) throw new Error('KAFKA_BROKERS names no broker');
const logger = createLogger(config.logLevel, logFile(2));
const { records, analytics } = await openStores(config);
const worker = await startWorker({
  config: config.kafka,
  streams: process.argv.slice(2) as StreamName[],
  stores: { records: watched(records), analytics: watched(analytics) },
  metrics: createWorkerMetrics(new Registry()),
  logger,
  cluster: new WatchedCluster(config.kafka, logger),
});
throw await worker.failed;
