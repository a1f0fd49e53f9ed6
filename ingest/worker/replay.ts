/** Dead letters looked at and tried again. */
import { setTimeout as pause } from 'node:timers/promises';
import type { KafkaConfig } from '../../services/shared/config.js';
import type { KafkaCluster } from '../sources/kafka/cluster.js';
import type { OnRecords } from '../sources/kafka/reader.js';
import type { KafkaRecord } from '../sources/kafka/record.js';
import { deadLetterTopicOf, topicOf } from '../sources/kafka/topics.js';
import { STREAM_NAMES, type StreamName } from '../streams/index.js';
import { HEADER, headerText, revived } from './dead-letters.js';

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
    await cluster.readAll(topic, onRecords, { from });
    if (!goOn) return;
  }
}

interface ReplayOptions {
  streams?: readonly StreamName[];
  /** Says what would be done. */
  dryRun?: boolean;
  /** Records per second; as fast as it goes when absent. */
  rate?: number;
  onProgress(stream: StreamName, replayed: number): void;
}

export interface Replayed {
  records: number;
  /** Dead letters that hold the beginning of a record only, and are left out. */
  truncated: number;
}

/** A pause between two records is cut into pieces, so that heartbeats go on. */
const MAX_PAUSE_MS = 1000;

/**
 * Sends dead letters to the topics they came from, once each; those that are refused again are dead letters again. The offset is
 * committed with what was sent, so one that is broken off continues there, and repeats 500 records at most.
 */
export async function replayDeadLetters(
  cluster: KafkaCluster,
  config: KafkaConfig,
  { streams = STREAM_NAMES, dryRun = false, rate = Number.POSITIVE_INFINITY, onProgress }: ReplayOptions,
): Promise<Replayed> {
  const group = replayGroup(config);
  const topics = new Set(await cluster.listTopics());
  const producer = await cluster.producer();
  const total: Replayed = { records: 0, truncated: 0 };
  for (const stream of streams) {
    const topic = deadLetterTopicOf(topicOf(config, stream));
    if (!topics.has(topic)) continue;
    let ofStream = 0;
    const begun = performance.now();
    const onRecords: OnRecords = async (records, { heartbeat, commit }) => {
      const whole = records.filter(({ headers }) => headerText(headers, HEADER.truncated) === '');
      total.truncated += records.length - whole.length;
      ofStream += whole.length;
      if (!dryRun) {
        if (whole.length > 0) await producer.send(topicOf(config, stream), whole.map(revived));
        await commit();
        const due = begun + (ofStream / rate) * 1000;
        for (let left = due - performance.now(); left > 0; left = due - performance.now()) {
          await pause(Math.min(left, MAX_PAUSE_MS));
          await heartbeat();
        }
      }
      onProgress(stream, ofStream);
      return true;
    };
    if (dryRun) await cluster.readAll(topic, onRecords, { from: await cluster.committed(group, topic) });
    else await cluster.readAll(topic, onRecords, { group, maxRecords: Math.ceil(rate) });
    total.records += ofStream;
  }
  return total;
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
