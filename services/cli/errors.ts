import { DiskFullError, type StoreName } from '../shared/store-errors.js';

/** Errors of commands: one or two lines that say what to do, and an exit code. */

/** `interrupted` is the code that shells report for Ctrl-C: 128 plus the number of the signal. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** The command failed; the message says why. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** The command line is wrong; the command did nothing. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';
}

/** Errors whose messages are printed unchanged. They are listed by name, so that no large module is loaded for them. */
const EXPLAINED = new Set([
  'BackupError',
  'BrokenPartsError',
  'CommandError',
  'ConfigError',
  'DataFolderError',
  'KafkaUnavailableError',
  'ListenError',
  'MissingPackageError',
  'MigrationNeededError',
  'ReaderConflictError',
  'SkipError',
  'TooFewBrokersError',
  'UnreadableInputError',
  'UnreleasedVersionError',
]);
const USAGE = new Set(['UsageError', 'ColumnsError', 'MappingError', 'AmbiguousInputError']);

const SYSTEM: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read or written by this user',
  EPERM: 'may not be read or written by this user',
  EEXIST: 'is a file where a folder is needed',
  EISDIR: 'is a folder',
  ENOTDIR: 'is below something that is not a folder',
  ENOSPC: 'does not fit: the disk is full',
  EROFS: 'is on a file system that cannot be written',
};

/** The message to print for an error, and the exit code. */
export function explain(error: unknown): { message: string; exitCode: number } {
  if (!(error instanceof Error)) return { message: String(error), exitCode: EXIT.failed };
  if (USAGE.has(error.name)) return { message: error.message, exitCode: EXIT.usage };
  return { message: sentence(error), exitCode: EXIT.failed };
}

function sentence(error: Error): string {
  if (EXPLAINED.has(error.name)) return error.message;
  const { code, path, store } = error as NodeJS.ErrnoException & { store?: string };
  if (error instanceof DiskFullError)
    return `${diskFull(error.store)}. It is safe to run this command again.`;
  if (error.name === 'StoreUnavailableError' || error.name === 'StoreTimeoutError') {
    return `${noAnswer(error, store)}. Run reachline doctor to see why; it is safe to run this command again.`;
  }
  if (code !== undefined && path !== undefined && code in SYSTEM) return `${path} ${SYSTEM[code]}.`;
  return `Unexpected error: ${error.message}. Set REACHLINE_LOG_LEVEL=debug to see where it happened.`;
}

export const diskFull = (store: StoreName): string =>
  `The disk of the ${store} store is full (storage_full): make room`;

/** Includes the driver's code, such as ECONNREFUSED, but not its message, which may hold data. */
export function noAnswer({ cause }: Error, store = 'other'): string {
  const { type, code } = (cause ?? {}) as { type?: unknown; code?: unknown };
  const name = [type, code].find((value) => typeof value === 'string' && /^[A-Z][A-Z_]+$/.test(value));
  return `The ${store} store does not answer${name === undefined ? '' : ` (${name})`}`;
}
