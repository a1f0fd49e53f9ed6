import { isDeepStrictEqual } from 'node:util';
import { skewOf } from '../../shared/clock-comparison.js';
import type { ElasticsearchConfig } from '../../shared/config.js';
import { systemClock } from '../../shared/time.js';
import { findBlocks } from './blocks.js';
import { Cluster } from './client.js';
import type { LeaseHolder } from './lease.js';
import {
  IndexNames,
  needsReindex,
  type Resource,
  readIndices,
  type ShardLayout,
  shardLayout,
} from './migrations/indices.js';
import { findReindexLockHolder } from './migrations/reindex-lock.js';

/** The state of a cluster, read without changing it. */
export interface ClusterReport {
  /** Version of each node. */
  versions: string[];
  /** Worst health of the indices of this installation. */
  health: 'green' | 'yellow' | 'red';
  /** Resources without an index. */
  missing: Resource[];
  /** Indices of an older version. */
  outdated: string[];
  /** Indices whose number of shards differs from the settings. */
  otherShards: ({ resource: Resource; index: string } & ShardLayout)[];
  /** Settings that block writes, such as `reachline-contacts-v1-1 read_only`. */
  blocked: string[];
  /** Milliseconds by which this machine is ahead of the responding node. */
  skewMs: number;
  /** Holder of the lock that migrations, erasures and retention share. */
  lockHolder: LeaseHolder | null;
}

/**
 * Reads the state of a cluster. Throws the errors of opening the store: `StoreUnavailableError`, `UnreleasedVersionError`, and
 * `MigrationNeededError` for newer indices.
 */
export async function inspectElasticsearch(config: ElasticsearchConfig): Promise<ClusterReport> {
  const cluster = new Cluster(config);
  const names = new IndexNames(config.indexPrefix);
  try {
    const { nodes } = await cluster.run((client) => client.nodes.info({ filter_path: 'nodes.*.version' }));
    // Only our indices, because others may share the cluster.
    const { status } = await cluster.run((client) =>
      client.cluster.health({ index: `${config.indexPrefix}-*` }),
    );
    const report: ClusterReport = {
      versions: Object.values(nodes).map(({ version }) => version),
      health: status.toLowerCase() as ClusterReport['health'],
      missing: [],
      outdated: [],
      otherShards: [],
      blocked: (await findBlocks(cluster)).map(({ index, name }) => `${index} ${name}`),
      lockHolder: null,
      skewMs: await skewOf(() => readServerTime(cluster)),
    };
    for (const { resource, definition, live } of await readIndices(cluster, names)) {
      if (live.length === 0) report.missing.push(resource);
      for (const each of live) {
        const { index, layout } = each;
        if (needsReindex(each, definition)) report.outdated.push(index);
        if (!isDeepStrictEqual(layout, shardLayout(cluster, definition))) {
          report.otherShards.push({ resource, index, ...layout });
        }
      }
    }
    if (!report.missing.includes('migrations')) {
      report.lockHolder = await findReindexLockHolder(cluster, names, systemClock);
    }
    return report;
  } finally {
    await cluster.close();
  }
}

/** The clock of the responding node, in milliseconds since the epoch. */
export async function readServerTime(cluster: Cluster): Promise<number> {
  const { nodes } = await cluster.run((client) =>
    client.nodes.stats({ node_id: '_local', metric: 'process', filter_path: 'nodes.*.timestamp' }),
  );
  const [node] = Object.values(nodes);
  if (node?.timestamp === undefined) throw new Error('the node did not tell its time');
  return node.timestamp;
}
