import type { KafkaConfig } from '../../services/shared/config.js';
import { deadLetter } from '../records/outcome.js';
import type { KafkaCluster } from '../sources/kafka/cluster.js';
import { FETCH_LIMITS } from '../sources/kafka/limits.js';
import type { KafkaRecord } from '../sources/kafka/record.js';
import { groupOf, topicOf } from '../sources/kafka/topics.js';
import type { StreamName } from '../streams/index.js';
import { deadLetterSender } from './dead-letters.js';

export interface SkipOptions {
  stream: StreamName;
  partition: number;
  offset: bigint;
  /** Whether the command only counts records, and sends and commits nothing. */
  dryRun?: boolean;
}

/** Nothing was skipped. The message says why and what to do. */
export class SkipError extends Error {
  override readonly name = 'SkipError';
}

/** Maximum number of records to skip: the records of a worker's largest batch. A larger number suggests a wrong offset. */
const MAX_SKIPPED = BigInt(FETCH_LIMITS.analytics.maxBatchRecords);
const SKIPPED = deadLetter('skipped', '', 'An operator skipped the record.');

/**
 * Moves the records of a partition up to an offset (inclusive) to the dead letters. Commits the offset after these records, so that the
 * workers continue after them. Resolves with the number of records. Throws `SkipError` unless the workers have stopped before the record at
 * the offset.
 */
export async function skipRecords(
  cluster: Pick<KafkaCluster, 'offsets' | 'committed' | 'hasMembers' | 'readAll' | 'commit' | 'producer'>,
  config: KafkaConfig,
  { stream, partition, offset, dryRun = false }: SkipOptions,
): Promise<number> {
  const topic = topicOf(config, stream);
  const group = groupOf(config, stream);
  const kept = (await cluster.offsets(topic)).get(partition);
  if (!kept) throw new SkipError(`${topic} has no partition ${partition}.`);
  if (offset >= kept.high) {
    throw new SkipError(
      `Partition ${partition} of ${topic} has no record at offset ${offset}; its end is ${kept.high}.`,
    );
  }
  const committed = BigInt((await cluster.committed(group, topic)).get(partition) ?? kept.low);
  const next = committed > kept.low ? committed : kept.low;
  if (offset < next) {
    throw new SkipError(
      `Offset ${offset} is done: the next record of partition ${partition} of ${topic} is at ${next}.`,
    );
  }
  if (offset - next >= MAX_SKIPPED) {
    throw new SkipError(
      `The next record of partition ${partition} of ${topic} is at ${next}; ${offset - next} lie before ${offset}, and at most ${MAX_SKIPPED} are skipped at once. The log of the worker names the offset that blocks.`,
    );
  }
  // While a group has members, the coordinator rejects commits by other clients.
  if (!dryRun && (await cluster.hasMembers(group))) {
    throw new SkipError(`Stop the workers of ${stream} first: its group ${group} has members.`);
  }
  const send = deadLetterSender(await cluster.producer());
  let skipped = 0;
  await cluster.readAll(
    topic,
    async (records: KafkaRecord[]) => {
      skipped += records.length;
      if (!dryRun) {
        await send(
          { topic },
          records.map((record) => ({ record, reason: SKIPPED, stage: 'skip' })),
        );
      }
      return true;
    },
    { from: new Map([[partition, String(next)]]), until: new Map([[partition, offset + 1n]]) },
  );
  if (!dryRun) await cluster.commit(group, topic, partition, offset + 1n);
  return skipped;
}
