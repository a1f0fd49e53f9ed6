import { join } from 'node:path';
import type { CommandLease, CommandLeaseHolder } from '../common/command-lease.js';
import { LockHeldError } from '../data-folder/errors.js';
import { COMMANDS_FOLDER } from '../data-folder/layout.js';
import { lockDataFolder } from '../data-folder/lock.js';

/** Takes the lease of a command while another process serves the data folder. Throws `DataFolderError`. */
export function acquireCommandLease(dataDir: string, command: string): CommandLease | CommandLeaseHolder {
  try {
    const lock = lockDataFolder(join(dataDir, COMMANDS_FOLDER, command));
    return { throwIfLost: () => undefined, release: async () => lock.release() };
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    const { pid, since } = error.owner ?? {};
    return { heldBy: error.owner ? `process ${pid}, since ${since}` : 'a process that is not known' };
  }
}
