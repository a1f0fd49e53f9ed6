/**
 * Hard links to the files of a data folder that no process has open. A backup makes the links while it holds the folder, and copies from
 * them afterwards, so that a server can start meanwhile.
 */
import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { LockHeldError } from '../data-folder/errors.js';
import { BACKUP_LINKS_FOLDER } from '../data-folder/layout.js';
import { lockDataFolder } from '../data-folder/lock.js';
import { type FolderEntry, REMOVE_OPTIONS } from './files.js';

export interface LinkedFiles {
  /** The linked files, with their paths in the data folder. */
  root: string;
  /** Removes the links. */
  release(): void;
}

/** Path of a file in a part of a table. Such files never change, so they are linked. Other files are small and are copied. */
const PART_FILE = /^[^/]+\/store\/[^/]+\/[^/]+\/[^/]+\/./;

/**
 * Links the entries. The caller holds the lock of the folder. The `path` of an entry is relative to the folder. Throws errors of the file
 * system.
 */
export function linkFiles(dataDir: string, entries: Iterable<FolderEntry>): LinkedFiles {
  removeAbandonedLinks(dataDir);
  const folder = join(dataDir, BACKUP_LINKS_FOLDER, randomUUID());
  const lock = lockDataFolder(folder);
  const release = () => {
    rmSync(folder, REMOVE_OPTIONS);
    lock.release();
  };
  const root = join(folder, 'files');
  try {
    mkdirSync(root, { mode: 0o700 });
    for (const { path, kind } of entries) {
      const [from, to] = [join(dataDir, path), join(root, path)];
      mkdirSync(kind === 'folder' ? to : dirname(to), { recursive: true, mode: 0o700 });
      if (kind === 'link') symlinkSync(readlinkSync(from), to);
      else if (kind === 'file' && PART_FILE.test(path)) linkSync(from, to);
      else if (kind === 'file') copyFileSync(from, to);
    }
    return { root, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Removes links of backups that were killed. The caller holds the lock of the data folder, so that no backup begins meanwhile. */
export function removeAbandonedLinks(dataDir: string): void {
  const folder = join(dataDir, BACKUP_LINKS_FOLDER);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    try {
      lockDataFolder(join(folder, name)).release();
      rmSync(join(folder, name), REMOVE_OPTIONS);
    } catch (error) {
      // A backup is copying from the link.
      if (!(error instanceof LockHeldError)) throw error;
    }
  }
}
