import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';

/** The data folder cannot be used. The message says what to do about it. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

/**
 * Makes this process the only one that serves the folder. The lock is an exclusive transaction on a file of its own, which the
 * operating system lets go of however the process ends, so a crash needs no clean-up.
 */
export function lockDataFolder(dataDir: string): { release(): void } {
  const folder = resolve(dataDir);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  } catch (error) {
    throw new DataFolderError(
      `The data folder ${folder} cannot be written (${reason(error)}). Make it writable, or name another with REACHLINE_DATA_DIR.`,
    );
  }
  const holder = join(folder, 'holder.json');
  let database: InstanceType<typeof DatabaseSync>;
  try {
    database = new DatabaseSync(join(folder, 'lock.db'));
    database.exec(
      'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS held (at TEXT); COMMIT; BEGIN EXCLUSIVE',
    );
  } catch (error) {
    if (/locked|busy/i.test(String(error))) {
      throw new DataFolderError(
        `The data folder ${folder} is in use by another Reachline process${describeHolder(holder)}. Stop that one, name another folder with REACHLINE_DATA_DIR, or send records through it with --url.`,
      );
    }
    throw new DataFolderError(
      `The data folder ${folder} cannot be used (${reason(error)}). Check its permissions and the free space of its disk.`,
    );
  }
  try {
    writeFileSync(holder, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }));
  } catch (error) {
    database.close();
    throw new DataFolderError(
      `The data folder ${folder} cannot be written (${reason(error)}). Check its permissions and the free space of its disk.`,
    );
  }
  return { release: () => database.close() };
}

function describeHolder(file: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; since: string };
    return ` (process ${pid}, since ${since})`;
  } catch {
    return '';
  }
}

const reason = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'the file system refused';
