/** Dead letters looked at and tried again. */
import { setTimeout as pause } from 'node:timers/promises';
import type { KafkaConfig } from '../../services/shared/config.js';
import type { KafkaCluster, KafkaRecord } from '../sources/kafka.js';
import { STREAM_NAMES, type StreamName } from '../streams/index.js';
import { HEADER, headerText, revived } from './dead-letters.js';
import { deadLetterTopicOf, topicOf } from './topics.js';

export interface DeadLetterRecord {
  stream: StreamName;
  record: KafkaRecord;
  code: string;
  pointer: string;
  detail: string;
  /** Where it was refused: `decode` or `write`. */
  stage: string;
  /** Its place among the records of the stream: `partition/offset`. */
  place: string;
  attempts: number;
}

interface Wanted {
  /** All when absent. */
  streams?: readonly StreamName[];
  /** Also those that were replayed. */
  all?: boolean;
}

/** Calls back with the dead letters, stream by stream, oldest first, until it answers false. */
export async function eachDeadLetter(
  cluster: KafkaCluster,
  config: KafkaConfig,
  { streams = STREAM_NAMES, all = false }: Wanted,
  onLetters: (letters: DeadLetterRecord[]) => boolean,
): Promise<void> {
  const topics = new Set(await cluster.listTopics());
  for (const stream of streams) {
    const topic = deadLetterTopicOf(topicOf(config, stream));
    if (!topics.has(topic)) continue;
    const from = all ? undefined : await cluster.committed(replayGroup(config), topic);
    let goOn = true;
    const onRecords = async (records: KafkaRecord[]) => {
      goOn = onLetters(records.map((record) => toLetter(stream, record)));
      return goOn;
    };
    await cluster.readAll(topic, onRecords, from);
    if (!goOn) return;
  }
}

interface ReplayOptions {
  streams?: readonly StreamName[];
  /** Says what would be done. */
  dryRun?: boolean;
  /** Records a second; as fast as it goes when absent. */
  rate?: number;
  onProgress(stream: StreamName, replayed: number): void;
}

/** Records sent between two looks at the rate, and at the place that is kept. */
const SENT_AT_ONCE = 500;

/**
 * Sends dead letters to the topics they came from, once each; those that are refused again are dead letters again. Resolves with
 * their number. One that is broken off begins anew a little before the place where it ended.
 */
export async function replayDeadLetters(
  cluster: KafkaCluster,
  config: KafkaConfig,
  { streams = STREAM_NAMES, dryRun = false, rate = Number.POSITIVE_INFINITY, onProgress }: ReplayOptions,
): Promise<number> {
  const group = replayGroup(config);
  const topics = new Set(await cluster.listTopics());
  const producer = await cluster.producer();
  let replayed = 0;
  for (const stream of streams) {
    const topic = deadLetterTopicOf(topicOf(config, stream));
    if (!topics.has(topic)) continue;
    let ofStream = 0;
    const onRecords = async (records: KafkaRecord[]) => {
      for (let start = 0; start < records.length; ) {
        const begun = performance.now();
        const some = records.slice(start, start + Math.min(SENT_AT_ONCE, Math.max(1, rate)));
        start += some.length;
        if (!dryRun) {
          await producer.send(topicOf(config, stream), some.map(revived));
          const { partition, offset } = some.at(-1) as KafkaRecord;
          await cluster.commit(group, topic, new Map([[partition, String(BigInt(offset) + 1n)]]));
          await pause((some.length / rate) * 1000 - (performance.now() - begun));
        }
        ofStream += some.length;
        onProgress(stream, ofStream);
      }
      return true;
    };
    await cluster.readAll(topic, onRecords, await cluster.committed(group, topic));
    replayed += ofStream;
  }
  return replayed;
}

/** Keeps the place up to which dead letters were replayed. */
const replayGroup = ({ group }: KafkaConfig) => `${group}-replay`;

function toLetter(stream: StreamName, record: KafkaRecord): DeadLetterRecord {
  const text = (name: string) => headerText(record.headers, name);
  return {
    stream,
    record,
    code: text(HEADER.code),
    pointer: text(HEADER.pointer),
    detail: text(HEADER.detail),
    stage: text(HEADER.stage),
    place: `${text(HEADER.partition)}/${text(HEADER.offset)}`,
    attempts: Number(text(HEADER.attempts)),
  };
}
