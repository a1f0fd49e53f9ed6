import type { ElasticsearchConfig } from '../../shared/config.js';
import { type Clock, systemClock } from '../../shared/time.js';
import type { CommandLease, CommandLeaseHolder } from '../common/command-lease.js';
import { Cluster } from './client.js';
import { Documents } from './documents.js';
import { Lease, type LeaseSource, leaseHolder } from './lease.js';
import { ensureIndices, IndexNames } from './migrations/indices.js';

/** Milliseconds for which a killed process keeps other processes waiting. */
const LEASE_MS = 10_000;

/**
 * Takes the lease of a command for this process, which renews the lease until its release. Creates missing indices. Throws
 * `MigrationNeededError` and `StoreUnavailableError`.
 */
export async function acquireCommandLease(
  config: ElasticsearchConfig,
  command: string,
  clock: Clock = systemClock,
): Promise<CommandLease | CommandLeaseHolder> {
  const cluster = new Cluster(config);
  try {
    const names = new IndexNames(config.indexPrefix);
    await ensureIndices(cluster, names);
    const documents = new Documents<LeaseSource>(cluster, names.alias('migrations'));
    const options = { durationMs: LEASE_MS, clock };
    const result = await Lease.acquire<LeaseSource, LeaseSource>(
      documents,
      `command-${command}`,
      options,
      (previous, held) => (previous && held ? { reject: previous } : { acquire: {} }),
    );
    if ('rejected' in result) {
      const { name, since } = leaseHolder(result.rejected);
      await cluster.close();
      return { heldBy: `${name}, since ${new Date(since).toISOString()}` };
    }
    const { lease } = result;
    return {
      throwIfLost: () => lease.throwIfLost(),
      async release() {
        try {
          await lease.release();
        } finally {
          await cluster.close();
        }
      },
    };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
