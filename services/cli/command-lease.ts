import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../shared/config.js';
import type { CommandLease } from '../stores/common/command-lease.js';
import { SEARCH_FILE } from '../stores/data-folder/layout.js';
import { CommandError } from './errors.js';
import type { Io } from './io.js';

/**
 * Runs `work` while no other process that shares the records store runs the command; `doing` says what it does, for the error. Throws
 * `CommandError` at once when another does.
 */
export async function withCommandLease<T>(
  io: Io,
  { command, doing }: { command: string; doing: string },
  work: (lease: Pick<CommandLease, 'throwIfLost'>) => Promise<T>,
): Promise<T> {
  const { elasticsearch, dataDir } = loadConfig(io.env);
  // A machine that only uses Kafka has no data folder, and gets none.
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
    throw new CommandError(`Another process ${doing}: ${lease.heldBy}. Let it end, then try again.`);
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}
