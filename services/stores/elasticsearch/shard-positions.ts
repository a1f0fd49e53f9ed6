/** The numbering of changes in the index of contacts, and positions in it. */
import type { ChangePosition, Numbering } from '../../contacts/change-feed.js';
import { numberingOf } from '../common/numbering.js';
import type { Cluster } from './client.js';
import type { ShardNumbers } from './erasure/expunge.js';
import { unavailable } from './errors.js';
import type { IndexNames } from './migrations/indices.js';

export interface Shard {
  shard: number;
  checkpoint: number;
  /** Number of the last write, which the checkpoint will reach. */
  last: number;
}

export interface NumberedIndex {
  index: string;
  numbering: Numbering;
  shards: Shard[];
}

/** The index of contacts with its numbering. A restored or rebuilt index, and a shard that lost writes, begin another numbering. */
export async function readShards(cluster: Cluster, names: IndexNames): Promise<NumberedIndex> {
  const stats = await cluster.run((client) =>
    client.indices.stats({ index: names.alias('contacts'), level: 'shards', metric: 'docs' }),
  );
  const [found] = Object.entries(stats.indices ?? {});
  if (!found) throw unavailable('no index of contacts');
  const [index, { uuid, shards: copies = {} }] = found;
  const ids = [`${uuid}`];
  const shards = Object.entries(copies)
    .map(([shard, each]) => ({ shard: Number(shard), primary: each.find(({ routing }) => routing?.primary) }))
    .sort((left, right) => left.shard - right.shard)
    .map(({ shard, primary }) => {
      if (!primary?.seq_no) throw unavailable(`no shard ${shard}`);
      ids.push(`${primary.commit?.user_data.history_uuid}`);
      const { global_checkpoint: checkpoint, max_seq_no: last } = primary.seq_no;
      return { shard, checkpoint, last };
    });
  return { index, numbering: numberingOf(ids), shards };
}

/**
 * Whether a run of the feed of changes over this index began after the last operations of the shards of contacts. A position has a time,
 * and then the number of each shard. The index has replaced others, and its runs began after their last operations.
 */
export const isCoveredBy = (
  { epoch, start }: ChangePosition,
  upTo: ShardNumbers,
  { index, numbering }: Pick<NumberedIndex, 'index' | 'numbering'>,
): boolean =>
  epoch === numbering.epoch &&
  Object.entries(upTo).every(([name, last]) => {
    const [of, shard] = name.split('/');
    return of !== index || last <= (start[Number(shard) + 1] ?? -1);
  });
