import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../shared/config.js';
import type { CommandLease } from '../stores/common/command-lease.js';
import { SEARCH_FILE } from '../stores/data-folder/layout.js';
import { CommandError } from './errors.js';
import type { Io } from './io.js';

/**
 * Runs `work` unless another process that shares the records store runs the command: then throws `CommandError` at once. `doing` completes
 * the sentence "Another process …" of that error.
 */
export async function withCommandLease<T>(
  io: Io,
  { command, doing }: { command: string; doing: string },
  work: (lease: Pick<CommandLease, 'throwIfLost'>) => Promise<T>,
): Promise<T> {
  const { elasticsearch, dataDir } = loadConfig(io.env);
  // A machine that only uses Kafka has no data folder; the command creates none.
  if (elasticsearch === null && !existsSync(join(dataDir, SEARCH_FILE))) {
    return work({ throwIfLost: () => undefined });
  }
  const lease = elasticsearch
    ? await (await import('../stores/elasticsearch/command-lease.js')).acquireCommandLease(
        elasticsearch,
        command,
      )
    : (await import('../stores/sqlite/command-lease.js')).acquireCommandLease(dataDir, command);
  if ('heldBy' in lease)
    throw new CommandError(`Another process ${doing}: ${lease.heldBy}. Wait until it ends, then try again.`);
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}
