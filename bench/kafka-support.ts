import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KafkaCluster } from '../ingest/sources/kafka/cluster.js';
import type { OutgoingRecord } from '../ingest/sources/kafka/producer.js';
import { createTopics, topicOf } from '../ingest/sources/kafka/topics.js';
import type { KafkaConfig } from '../services/shared/config.js';
import { createLogger } from '../services/shared/logger.js';

const RECORDS_PER_REQUEST = 5000;

let groups = 0;

/** A group without committed offsets. */
export const nextGroup = (): string => `bench${++groups}`;

/** The number that a process of `servers` reports before it exits. */
export async function reportedBy(
  script: string,
  args: string[],
  environment: Record<string, string>,
): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'reachline-bench-'));
  const env = { ...process.env, ...environment, REACHLINE_DATA_DIR: dataDir };
  const child = fork(join(import.meta.dirname, 'servers', script), args, { env });
  const ended = once(child, 'exit');
  try {
    const report = once(child, 'message') as Promise<[number]>;
    const early = ended.then(([code]) => {
      throw new Error(`${script} ended with ${code} before it was done`);
    });
    const [rate] = await Promise.race([report, early]);
    await ended;
    return rate;
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Creates the topics, and resolves when the broker has the records. */
export async function produce(
  kafka: KafkaConfig,
  stream: string,
  records: readonly OutgoingRecord[],
): Promise<void> {
  const cluster = new KafkaCluster(kafka, createLogger('silent'));
  await createTopics(cluster, kafka);
  const producer = await cluster.producer();
  for (let start = 0; start < records.length; start += RECORDS_PER_REQUEST) {
    await producer.send(topicOf(kafka, stream), records.slice(start, start + RECORDS_PER_REQUEST));
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

type Write = (records: never[], ...rest: never[]) => Promise<void>;

/** The store; counts the records that one of its methods has written. */
export function counted<Name extends string, Store extends Record<Name, Write>>(
  store: Store,
  name: Name,
  count: Count,
): Store {
  const write: Write = async (records, ...rest) => {
    count.begin();
    await store[name](records, ...rest);
    count.add(records.length);
  };
  return Object.assign(Object.create(store), { [name]: write });
}
