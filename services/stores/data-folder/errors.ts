import { resolve } from 'node:path';
import { DiskFullError } from '../../shared/store-errors.js';
import { resultCodeOf, SQLITE_FULL } from '../common/sqlite-result.js';
import { type LockOwner, readLockOwner } from './lock-owner.js';

/** Reachline cannot use the data folder. The message says what to do. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

/** Another process holds the lock. `owner` is null if the owner could not be read. */
export class LockHeldError extends DataFolderError {
  readonly owner: LockOwner | null;

  constructor(dataDir: string) {
    const folder = resolve(dataDir);
    const owner = readLockOwner(folder);
    super(
      `The data folder ${folder} is in use by another Reachline process${describeOwner(owner)}. Stop that one, name another folder with REACHLINE_DATA_DIR, or go through it: --url <its address>, with a key in REACHLINE_API_KEY.`,
    );
    this.owner = owner;
  }
}

function describeOwner(owner: LockOwner | null): string {
  if (!owner) return '';
  const { pid, since, port } = owner;
  return ` (process ${pid}, since ${since}${port === undefined ? '' : `, on port ${port}`})`;
}

/** Explains an error of the file system or of an embedded store, and says what to do. */
export function toDataFolderError(dataDir: string, cause: unknown): DataFolderError {
  const { code } = cause as NodeJS.ErrnoException;
  const folder = resolve(dataDir);
  if (isDiskFull(cause)) {
    return new DataFolderError(
      `The disk of the data folder ${folder} is full (storage_full). Make room, or name another folder with REACHLINE_DATA_DIR.`,
      { cause },
    );
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new DataFolderError(
      `The data folder ${folder} is, or lies below, a file. Name a folder with REACHLINE_DATA_DIR.`,
      { cause },
    );
  }
  return new DataFolderError(
    `The data folder ${folder} cannot be used (${reason(cause)}). Check its permissions, or name another with REACHLINE_DATA_DIR.`,
    { cause },
  );
}

function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof DiskFullError ||
    (error as NodeJS.ErrnoException).code === 'ENOSPC' ||
    resultCodeOf(error) === SQLITE_FULL ||
    isDiskFull(error.cause)
  );
}

const REASON_LENGTH = 160;
const REASONS: Partial<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'it cannot be made',
};

/** The innermost cause, in a few words. */
function reason(error: unknown): string {
  let origin = error;
  while (origin instanceof Error && origin.cause !== undefined) origin = origin.cause;
  const { code = '', message } = origin as NodeJS.ErrnoException;
  if (/^E[A-Z]+$/.test(code)) return REASONS[code] ?? code;
  const [line = ''] = String(message ?? origin).split('\n');
  const [text = ''] = line.replaceAll(/Code: \d+\. DB::Exception: /g, '').split(/\.? \([A-Z_]+\)/);
  return text.length > REASON_LENGTH ? `${text.slice(0, REASON_LENGTH)}…` : text;
}
