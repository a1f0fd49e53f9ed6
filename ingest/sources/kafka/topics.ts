/** Names and settings of the topics, and names of the groups. */

import { REJECTION_LIMITS } from '../../../services/rejections/rejection-store.js';
import type { KafkaConfig } from '../../../services/shared/config.js';
import { DAY_MS } from '../../../services/shared/time.js';
import { STREAM_NAMES, type StreamName } from '../../streams/index.js';
import type { KafkaAdmin, Topic, TopicReplication } from './admin.js';

/** Maximum bytes of a message: larger than any accepted record, so that a record that is too large becomes a dead letter. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const RETENTION_MS = 7 * DAY_MS;

/** Streams whose records are complete, so that the last record of a key replaces earlier records. */
const COMPACTED_STREAMS: ReadonlySet<StreamName> = new Set([
  'audiences',
  'network-a-campaigns',
  'network-a-creatives',
  'network-a-companies',
  'currency-rates',
]);

export const topicOf = ({ topicPrefix }: Pick<KafkaConfig, 'topicPrefix'>, stream: string) =>
  `${topicPrefix}${stream}`;

export const groupOf = ({ group }: Pick<KafkaConfig, 'group'>, stream: string) => `${group}-${stream}`;

const DEAD_LETTERS = '.dead-letter';
export const deadLetterTopicOf = (topic: string) => `${topic}${DEAD_LETTERS}`;

/** Creates missing topics and their topics of dead letters. Resolves with the names of the created topics. */
export function createTopics(
  admin: Pick<KafkaAdmin, 'createTopics'>,
  config: KafkaConfig,
): Promise<string[]> {
  return admin.createTopics(topicsOf(config));
}

/** Names of the topics that do not exist. */
export async function missingTopics(
  admin: Pick<KafkaAdmin, 'listTopics'>,
  config: KafkaConfig,
): Promise<string[]> {
  const existing = new Set(await admin.listTopics());
  return topicsOf(config).flatMap(({ name }) => (existing.has(name) ? [] : [name]));
}

/** Reasons why records would not survive the loss of a broker's disk; empty for a single broker. */
export async function findReplicationProblems(
  admin: Pick<KafkaAdmin, 'countBrokers' | 'describeTopics'>,
  config: KafkaConfig,
): Promise<string[]> {
  const brokers = await admin.countBrokers();
  const topics = await admin.describeTopics(topicsOf(config).map(({ name }) => name));
  const wanted = Math.min(3, brokers);
  const named = (isWrong: (topic: TopicReplication) => boolean, problem: string) => {
    const names = topics.filter(isWrong).map(({ name }) => name);
    return names.length === 0 ? [] : [`${problem}: ${names.join(', ')}`];
  };
  return [
    ...named(
      ({ replicas }) => brokers > 1 && replicas < 2,
      `One broker of ${brokers} has all records of a topic, which are lost with its disk; raise the replication factor to ${wanted}`,
    ),
    ...named(
      ({ replicas, inSync }) => inSync < replicas,
      'Replicas are not in sync; see that every broker runs',
    ),
    ...named(
      ({ replicas, minInSync }) => replicas > 2 && minInSync < 2,
      'Records are acknowledged when one broker has them; set min.insync.replicas to 2',
    ),
    ...named(
      ({ replicas, minInSync }) => minInSync > replicas,
      'No record can be written, as min.insync.replicas is above the replication factor',
    ),
  ];
}

const COMPARED = [
  'message.timestamp.type',
  'cleanup.policy',
  'max.message.bytes',
  'retention.ms',
  'min.compaction.lag.ms',
];

/**
 * Sentences about settings of topics that differ from what `createTopics` sets: if brokers create topics, the topics have other settings.
 */
export async function findOtherSettings(
  admin: Pick<KafkaAdmin, 'describeTopics'>,
  config: KafkaConfig,
): Promise<string[]> {
  const wanted = new Map(topicsOf(config).map(({ name, settings }) => [name, settings]));
  const found = await admin.describeTopics([...wanted.keys()], COMPARED);
  return found.flatMap(({ name, settings }) => {
    const others = Object.entries(wanted.get(name) ?? {}).filter(([setting, value]) => {
      const actual = settings.get(setting);
      if (actual === undefined || actual === value) return false;
      // Whether a setting is a limit. More room and a longer time are harmless; -1 means unlimited.
      const isLimit = /\.(bytes|ms)$/.test(setting);
      return !isLimit || (Number(actual) !== -1 && Number(actual) < Number(value));
    });
    return others.map(
      ([setting, value]) =>
        `The topic ${name} has ${setting}=${settings.get(setting)} and needs ${value}${reasonOf(name, setting)}`,
    );
  });
}

const reasonOf = (topic: string, setting: string): string =>
  setting === 'retention.ms' && topic.endsWith(DEAD_LETTERS)
    ? ', so that dead letters can be replayed for as long as rejections are listed'
    : (WHY[setting] ?? '');

const WHY: Record<string, string> = {
  'message.timestamp.type': ', so that the clock of a producer does not order records',
  'cleanup.policy': ', so that records are kept as their stream needs',
  'max.message.bytes': ', so that a large record becomes a dead letter',
  'retention.ms': ', so that records wait for workers that are down',
  'min.compaction.lag.ms': ', so that records wait for workers that are down',
};

function topicsOf(config: KafkaConfig): Topic[] {
  const { partitions, replicas } = config;
  return STREAM_NAMES.flatMap((stream) => {
    const name = topicOf(config, stream);
    return [
      { name, partitions, replicas, settings: settingsOf(stream) },
      { name: deadLetterTopicOf(name), partitions: 1, replicas, settings: DEAD_LETTER_SETTINGS },
    ];
  });
}

function settingsOf(stream: StreamName): Record<string, string> {
  const retention: Record<string, string> = COMPACTED_STREAMS.has(stream)
    ? // Older records stay as long as a worker may lag: the last record of a key need not be the newest.
      { 'cleanup.policy': 'compact', 'min.compaction.lag.ms': String(RETENTION_MS) }
    : { 'cleanup.policy': 'delete', 'retention.ms': String(RETENTION_MS) };
  return {
    ...retention,
    'max.message.bytes': String(MAX_MESSAGE_BYTES),
    // The time at which the broker appended the record, independent of the sender's clock.
    'message.timestamp.type': 'LogAppendTime',
  };
}

const DEAD_LETTER_SETTINGS = {
  'cleanup.policy': 'delete',
  'retention.ms': String(REJECTION_LIMITS.ageMs),
  // The limit has room for a record and for the headers with the reason of its rejection.
  'max.message.bytes': String(MAX_MESSAGE_BYTES + 1024 * 1024),
};
