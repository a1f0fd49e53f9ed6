import { setTimeout as pause } from 'node:timers/promises';
import { KafkaCluster, type OutgoingRecord } from '../ingest/sources/kafka.js';
import { createTopics, topicOf } from '../ingest/worker/topics.js';
import { createLogger } from '../services/gateway/request-log.js';
import type { KafkaConfig } from '../services/shared/config.js';

const PRODUCED_AT_ONCE = 5000;

let groups = 0;

/** A group that has read nothing yet. */
export const nextGroup = (): string => `bench-${++groups}`;

/** Makes the topics, and resolves when the broker has the records. */
export async function produce(
  kafka: KafkaConfig,
  stream: string,
  records: readonly OutgoingRecord[],
): Promise<void> {
  const cluster = new KafkaCluster(kafka, createLogger('silent'));
  await createTopics(cluster, kafka);
  const producer = await cluster.producer();
  for (let start = 0; start < records.length; start += PRODUCED_AT_ONCE) {
    await producer.send(topicOf(kafka, stream), records.slice(start, start + PRODUCED_AT_ONCE));
  }
  await cluster.close();
}

/** Records written by a worker, and the time they took. */
export class Count {
  #begun = Number.NaN;
  #count = 0;
  #ended = Number.NaN;

  begin(): void {
    if (Number.isNaN(this.#begun)) this.#begun = performance.now();
  }

  add(count: number): void {
    this.#count += count;
    this.#ended = performance.now();
  }

  async reached(target: number): Promise<number> {
    while (this.#count < target) await pause(20);
    return target / ((this.#ended - this.#begun) / 1000);
  }
}
