import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { TimeNote } from '../../shared/clock-memory.js';
import { readJson, writeJson } from '../../shared/fs.js';
import { TIME_FILE } from './layout.js';

interface Noted {
  /** Noted time in ISO 8601. */
  noted_at: string;
}

/** The last time that was noted in a data folder. */
export const timeNoteOf = (dataDir: string): TimeNote => ({
  read: () => readNote(dataDir),
  write: (milliseconds) => writeNote(dataDir, milliseconds),
});

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
    // On a full or read-only disk, the earlier note stays.
  }
}

/** Writes the time note of a folder that no process has open. Throws errors of the file system. */
export const writeTime = (file: string, milliseconds: number): void =>
  writeJson(file, { noted_at: new Date(milliseconds).toISOString() } satisfies Noted);
