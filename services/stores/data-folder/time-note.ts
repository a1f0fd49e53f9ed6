import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TimeNote } from '../../shared/clock-memory.js';
import { readJson, writeJson } from '../../shared/fs.js';
import { SEARCH_FILE, TIME_FILE } from './layout.js';

interface Noted {
  /** ISO 8601. */
  noted_at: string;
}

/**
 * The time that a data folder notes. Folders of earlier versions have none: the last write of their database stands for it, which has to
 * be read before the database is opened.
 */
export function timeNoteOf(dataDir: string): TimeNote {
  const lastWriteMs = readNote(dataDir) === null ? lastWriteOf(dataDir) : null;
  return {
    read: () => readNote(dataDir) ?? lastWriteMs,
    write: (milliseconds) => writeNote(dataDir, milliseconds),
  };
}

function readNote(dataDir: string): number | null {
  const milliseconds = Date.parse(readJson<Noted>(join(dataDir, TIME_FILE))?.noted_at ?? '');
  return Number.isNaN(milliseconds) ? null : milliseconds;
}

function writeNote(dataDir: string, milliseconds: number): void {
  const file = join(dataDir, TIME_FILE);
  try {
    writeTime(`${file}.new`, milliseconds);
    renameSync(`${file}.new`, file);
  } catch {
    // A full disk or a read-only one: the earlier note stays.
  }
}

/** Writes the file of a folder that nobody has open. Throws the errors of the file system. */
export const writeTime = (file: string, milliseconds: number): void =>
  writeJson(file, { noted_at: new Date(milliseconds).toISOString() } satisfies Noted);

function lastWriteOf(dataDir: string): number | null {
  const times = [SEARCH_FILE, `${SEARCH_FILE}-wal`].flatMap(
    (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.mtimeMs ?? [],
  );
  return times.length === 0 ? null : Math.max(...times);
}
