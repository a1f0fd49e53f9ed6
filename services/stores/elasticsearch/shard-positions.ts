/** Compares positions in the feed of changes with operations of shards. */
import type { ChangePosition } from '../../contacts/change-feed.js';
import type { Cluster } from './client.js';
import { lastOperations, type ShardNumbers } from './erasure/expunge.js';
import type { IndexNames } from './migrations/indices.js';

/** Name of the index of contacts. */
export async function indexOfContacts(cluster: Cluster, names: IndexNames): Promise<string> {
  const [shard = ''] = Object.keys(await lastOperations(cluster, names.alias('contacts')));
  return shard.split('/', 1)[0] as string;
}

/**
 * Whether a run of the feed of changes began after the last operations of the shards of contacts. A position has a time, and then the
 * number of each shard. Operations on another index count as covered: `index` has replaced it, and every run over `index` began after that.
 */
export const isCoveredBy = ({ start }: ChangePosition, upTo: ShardNumbers, index: string): boolean =>
  Object.entries(upTo).every(([name, last]) => {
    const [of, shard] = name.split('/');
    return of !== index || last <= (start[Number(shard) + 1] ?? -1);
  });
