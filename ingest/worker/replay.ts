/** Lists and replays dead letters. */
import { setTimeout as pause } from 'node:timers/promises';
import type { KafkaConfig } from '../../services/shared/config.js';
import type { KafkaCluster } from '../sources/kafka/cluster.js';
import { sendDivided } from '../sources/kafka/producer.js';
import type { OnRecords } from '../sources/kafka/reader.js';
import type { KafkaRecord } from '../sources/kafka/record.js';
import { deadLetterTopicOf, topicOf } from '../sources/kafka/topics.js';
import { STREAM_NAMES, type StreamName } from '../streams/index.js';
import { HEADER, headerText, stripDeadLetterHeaders } from './dead-letters.js';

export interface DeadLetterRecord {
  stream: StreamName;
  record: KafkaRecord;
  code: string;
  pointer: string;
  detail: string;
  /** Stage that rejected the record: `decode`, `write` or `skip`. */
  stage: string;
  /** Place of the record in the topic of the stream: `partition/offset`. */
  place: string;
  attempts: number;
}

interface DeadLetterFilter {
  /** Streams to include; by default all streams. */
  streams?: readonly StreamName[];
  /** Whether to include dead letters that were replayed already. */
  all?: boolean;
}

/** Calls `onLetters` with the dead letters, stream by stream, oldest first, until `onLetters` returns false. */
export async function eachDeadLetter(
  cluster: Pick<KafkaCluster, 'listTopics' | 'committed' | 'readAll'>,
  config: KafkaConfig,
  { streams = STREAM_NAMES, all = false }: DeadLetterFilter,
  onLetters: (letters: DeadLetterRecord[]) => boolean,
): Promise<void> {
  const topics = new Set(await cluster.listTopics());
  for (const stream of streams) {
    const topic = deadLetterTopicOf(topicOf(config, stream));
    if (!topics.has(topic)) continue;
    const from = all ? undefined : await cluster.committed(replayGroup(config), topic);
    let goOn = true;
    const onRecords = async (records: KafkaRecord[]) => {
      goOn = onLetters(records.map((record) => toDeadLetter(stream, record)));
      return goOn;
    };
    await cluster.readAll(topic, onRecords, { from });
    if (!goOn) return;
  }
}

interface ReplayOptions {
  streams?: readonly StreamName[];
  /** Whether the replay only counts dead letters, and sends nothing. */
  dryRun?: boolean;
  /** Maximum records per second; by default unlimited. */
  rate?: number;
  onProgress(stream: StreamName, replayed: number): void;
}

export interface ReplayResult {
  records: number;
  /** Dead letters that hold only the beginning of a record, and were not sent. */
  truncated: number;
  /** Dead letters that are larger than the topic of their stream allows, and were not sent. */
  tooLarge: number;
}

/** Maximum milliseconds of one pause. A longer pause is divided, so that heartbeats continue. */
const MAX_PAUSE_MS = 1000;

/**
 * Sends dead letters to the topics from which they came. Records that are rejected again become dead letters again. Commits the offset
 * after each request, so that after an interruption the next replay continues at this offset, and repeats at most `READ_LIMITS.maxRecords`
 * records.
 */
export async function replayDeadLetters(
  cluster: Pick<KafkaCluster, 'listTopics' | 'committed' | 'readAll' | 'producer'>,
  config: KafkaConfig,
  { streams = STREAM_NAMES, dryRun = false, rate = Number.POSITIVE_INFINITY, onProgress }: ReplayOptions,
): Promise<ReplayResult> {
  const group = replayGroup(config);
  const topics = new Set(await cluster.listTopics());
  const producer = await cluster.producer();
  const total: ReplayResult = { records: 0, truncated: 0, tooLarge: 0 };
  for (const stream of streams) {
    const topic = deadLetterTopicOf(topicOf(config, stream));
    if (!topics.has(topic)) continue;
    let ofStream = 0;
    const startedAt = performance.now();
    const onRecords: OnRecords = async (records, { heartbeat, commit }) => {
      const whole = records.filter(({ headers }) => headerText(headers, HEADER.truncated) === '');
      total.truncated += records.length - whole.length;
      ofStream += whole.length;
      if (!dryRun) {
        if (whole.length > 0) {
          const target = topicOf(config, stream);
          const tooLarge = await sendDivided(producer, target, whole.map(stripDeadLetterHeaders));
          total.tooLarge += tooLarge.length;
          ofStream -= tooLarge.length;
        }
        await commit();
        const due = startedAt + (ofStream / rate) * 1000;
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

/** Name of the group whose committed offsets say up to where dead letters were replayed. */
const replayGroup = ({ group }: KafkaConfig) => `${group}-replay`;

function toDeadLetter(stream: StreamName, record: KafkaRecord): DeadLetterRecord {
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
