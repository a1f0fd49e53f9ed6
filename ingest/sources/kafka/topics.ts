import type { KafkaConfig } from '../../../services/shared/config.js';
import { STREAM_NAMES, type StreamName } from '../../streams/index.js';
import type { KafkaCluster, Topic } from './client.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Above the largest record that is taken, so that a larger one comes as far as the dead letters. */
const MESSAGE_BYTES = 8 * 1024 * 1024;
const KEPT_MS = 7 * DAY_MS;
const DEAD_LETTERS_KEPT_MS = 30 * DAY_MS;

/** Streams of which every record is whole, so that the last of a key can stand for those before it. */
const WHOLE: ReadonlySet<StreamName> = new Set([
  'audiences',
  'network-a-campaigns',
  'network-a-creatives',
  'network-a-companies',
]);

export const topicOf = ({ topicPrefix }: Pick<KafkaConfig, 'topicPrefix'>, stream: string) =>
  `${topicPrefix}${stream}`;

export const groupOf = ({ group }: Pick<KafkaConfig, 'group'>, stream: string) => `${group}-${stream}`;

export const deadLetterTopicOf = (topic: string) => `${topic}.dead-letter`;

/** Makes the topics that are missing, and those of their dead letters. Resolves with their names. */
export function createTopics(cluster: KafkaCluster, config: KafkaConfig): Promise<string[]> {
  return cluster.createTopics(topicsOf(config));
}

/** Names of the topics that are not there. */
export async function missingTopics(cluster: KafkaCluster, config: KafkaConfig): Promise<string[]> {
  const there = new Set(await cluster.listTopics());
  return topicsOf(config).flatMap(({ name }) => (there.has(name) ? [] : [name]));
}

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
  const kept: Record<string, string> = WHOLE.has(stream)
    ? // Older records stay for as long as a worker may be behind: the last of a key need not be its newest.
      { 'cleanup.policy': 'compact', 'min.compaction.lag.ms': String(KEPT_MS) }
    : { 'cleanup.policy': 'delete', 'retention.ms': String(KEPT_MS) };
  return {
    ...kept,
    'max.message.bytes': String(MESSAGE_BYTES),
    // When the broker took it, whatever the clock of its sender says.
    'message.timestamp.type': 'LogAppendTime',
  };
}

const DEAD_LETTER_SETTINGS = {
  'cleanup.policy': 'delete',
  'retention.ms': String(DEAD_LETTERS_KEPT_MS),
  // A record and the headers that say what is wrong with it.
  'max.message.bytes': String(MESSAGE_BYTES + 1024 * 1024),
};
