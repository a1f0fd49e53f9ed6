/** Topics, offsets and groups of a cluster. */
import { retry } from '../../../services/shared/retry.js';
import type { KafkaClient } from './client.js';

export interface Topic {
  name: string;
  partitions: number;
  replicas: number;
  settings: Record<string, string>;
}

/** Replication of a topic. */
export interface TopicReplication {
  name: string;
  /** Settings that the caller requested, by name. */
  settings: ReadonlyMap<string, string>;
  /** Number of replicas of the partition that has the fewest replicas. */
  replicas: number;
  /** Number of in-sync replicas of the partition that has the fewest in-sync replicas. */
  inSync: number;
  /** Value of `min.insync.replicas`: if fewer replicas are in sync, the brokers reject records. */
  minInSync: number;
}

/** More replicas were requested than there are brokers. */
export class TooFewBrokersError extends Error {
  override readonly name = 'TooFewBrokersError';

  constructor(replicas: number, brokers: number) {
    super(
      `REACHLINE_TOPIC_REPLICAS is ${replicas}, and only ${brokers} brokers answer: a topic cannot have more replicas than there are brokers.`,
    );
  }
}

const TOPIC_RESOURCE = 2;

export class KafkaAdmin {
  readonly #client: KafkaClient;

  constructor(client: KafkaClient) {
    this.#client = client;
  }

  /** Creates missing topics and resolves with their names. Settings of existing topics stay unchanged. Throws `TooFewBrokersError`. */
  async createTopics(topics: readonly Topic[]): Promise<string[]> {
    const admin = await this.#client.admin();
    const existing = new Set(await admin.listTopics());
    const missing = topics.filter(({ name }) => !existing.has(name));
    if (missing.length === 0) return [];
    const brokers = await this.countBrokers();
    const replicas = Math.max(...missing.map((topic) => topic.replicas));
    if (replicas > brokers) throw new TooFewBrokersError(replicas, brokers);
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map(({ name, partitions, replicas, settings }) => ({
        topic: name,
        numPartitions: partitions,
        replicationFactor: replicas,
        configEntries: Object.entries(settings).map(([key, value]) => ({ name: key, value })),
      })),
    });
    return missing.map(({ name }) => name);
  }

  async listTopics(): Promise<string[]> {
    return (await this.#client.admin()).listTopics();
  }

  async countBrokers(): Promise<number> {
    return (await (await this.#client.admin()).describeCluster()).brokers.length;
  }

  async describeTopics(
    names: readonly string[],
    settingNames: readonly string[] = [],
  ): Promise<TopicReplication[]> {
    const admin = await this.#client.admin();
    const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: names.map((name) => ({
        type: TOPIC_RESOURCE,
        name,
        configNames: ['min.insync.replicas', ...settingNames],
      })),
    });
    const settings = new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName,
        new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
      ]),
    );
    return topics.map(({ name, partitions }) => ({
      name,
      replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      inSync: Math.min(...partitions.map(({ isr }) => isr.length)),
      minInSync: Number(settings.get(name)?.get('min.insync.replicas') ?? 1),
      settings: settings.get(name) ?? new Map<string, string>(),
    }));
  }

  /** The offsets that a group has committed, by partition. */
  async committed(group: string, topic: string): Promise<Map<number, string>> {
    const admin = await this.#client.admin();
    // The coordinator of a new group may change: https://github.com/tulios/kafkajs/blob/v2.2.4/src/admin/index.js (fetchOffsets)
    const [answer] = await this.#retry(() => admin.fetchOffsets({ groupId: group, topics: [topic] }));
    const committed = answer?.partitions.filter(({ offset }) => offset !== '-1') ?? [];
    return new Map(committed.map(({ partition, offset }) => [partition, offset]));
  }

  /** Number of records after the committed offsets of a group, by partition. */
  async lag(group: string, topic: string): Promise<Map<number, bigint>> {
    const committed = await this.committed(group, topic);
    const offsets = await this.offsets(topic);
    return new Map(
      [...offsets].map(([partition, { low, high }]) => [
        partition,
        high - BigInt(committed.get(partition) ?? low),
      ]),
    );
  }

  /**
   * The offsets of the oldest record and of the next record, by partition. kafkajs does not retry while a partition has no leader yet,
   * because it was just created or its broker ended: https://github.com/tulios/kafkajs/blob/v2.2.4/src/admin/index.js (fetchTopicOffsets)
   */
  async offsets(topic: string): Promise<Map<number, { low: bigint; high: bigint }>> {
    const admin = await this.#client.admin();
    const offsets = await this.#retry(() => admin.fetchTopicOffsets(topic));
    return new Map(
      offsets.map(({ partition, low, high }) => [partition, { low: BigInt(low), high: BigInt(high) }]),
    );
  }

  async hasMembers(group: string): Promise<boolean> {
    const admin = await this.#client.admin();
    const { groups } = await admin.describeGroups([group]);
    return groups.some(({ members }) => members.length > 0);
  }

  /** Commits an offset for a group that has no members. */
  async commit(group: string, topic: string, partition: number, offset: bigint): Promise<void> {
    const admin = await this.#client.admin();
    await admin.setOffsets({ groupId: group, topic, partitions: [{ partition, offset: String(offset) }] });
  }

  async deleteGroup(group: string): Promise<void> {
    await (await this.#client.admin()).deleteGroups([group]);
  }

  /** Rejects if no broker responds. */
  async ping(): Promise<void> {
    await (await this.#client.admin()).describeCluster();
  }

  /** Retries requests that kafkajs does not retry. */
  #retry<T>(request: () => Promise<T>): Promise<T> {
    const isRetriable = (error: unknown) => (error as { retriable?: boolean }).retriable === true;
    return retry(this.#client.retry, request, { isRetriable });
  }
}
