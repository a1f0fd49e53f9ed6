/**
 * `auto-commit-consumer.js <records>`: decodes and inserts deliveries as a worker does, but commits offsets by time, whether or not the
 * records are stored. Reports the rate of the first `records`, per second.
 */

import kafkajs from 'kafkajs';
import { decoder } from '../../ingest/decode.js';
import {
  FETCH_LIMITS,
  FETCH_MAX_WAIT_MS,
  FETCH_MIN_BYTES,
  PARTITION_CONCURRENCY,
} from '../../ingest/sources/kafka/limits.js';
import { topicOf } from '../../ingest/sources/kafka/topics.js';
import { networkADeliveries } from '../../ingest/streams/network-a-deliveries.js';
import type { DeliveryRecord } from '../../services/advertising/records.js';
import { type KafkaConfig, loadConfig } from '../../services/shared/config.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { openStores } from '../../services/stores/open-stores.js';
import { Count, counted } from '../kafka-support.js';

const config = loadConfig(process.env);
const { brokers, group, ...kafka } = config.kafka as KafkaConfig;
const stores = await openStores(config);
const count = new Count();
const analytics = counted(stores.analytics, 'insertDeliveries', count);
const decode = decoder(networkADeliveries, { others: 'allow' });
const consumer = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).consumer({
  groupId: group,
  minBytes: FETCH_MIN_BYTES,
  maxWaitTimeInMs: FETCH_MAX_WAIT_MS,
  maxBytesPerPartition: FETCH_LIMITS.analytics.partitionBytes,
  maxBytes: FETCH_LIMITS.analytics.fetchBytes,
});
await consumer.connect();
await consumer.subscribe({ topic: topicOf(kafka, networkADeliveries.name), fromBeginning: true });
await consumer.run({
  partitionsConsumedConcurrently: PARTITION_CONCURRENCY,
  eachBatch: async ({ batch: { messages } }) => {
    for (let start = 0; start < messages.length; start += analytics.preferredBatchSize) {
      const records = messages
        .slice(start, start + analytics.preferredBatchSize)
        .flatMap(({ value, timestamp, offset }) => {
          const outcome = decode({ line: 0, bytes: value as Buffer }, Number(timestamp), Number(offset));
          return outcome.kind === 'ok' ? [outcome as OrderedRecord<DeliveryRecord>] : [];
        });
      await analytics.insertDeliveries(records);
    }
  },
});
process.send?.(await count.reached(Number(process.argv[2])));
await consumer.disconnect();
await stores.close();
process.disconnect?.();
