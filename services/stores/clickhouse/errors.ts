import { RejectedError, StoreTimeoutError, StoreUnavailableError } from '../../shared/store-errors.js';

/** The folder of the embedded analytics store is held by another process. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
  readonly folder: string;

  constructor(folder: string, options?: ErrorOptions) {
    super(`another process holds ${folder}`, options);
    this.folder = folder;
  }
}

/** There is no `chdb` in this installation, but the settings ask for the engine in this process. */
export class EngineMissingError extends Error {
  override readonly name = 'EngineMissingError';
  override readonly message =
    'This installation is without the embedded ClickHouse engine (the package chdb): set CLICKHOUSE_URL, or install it.';
}

const TIMEOUT_EXCEEDED = '159';
const TOO_SLOW = '160';
/** What the client says when no answer came in time. */
const REQUEST_TIMEOUT = 'Timeout error.';

/** What the store answers to the rest of the program when the engine fails: never the engine's own words. */
export function storeError(cause: unknown): StoreTimeoutError | StoreUnavailableError {
  if (cause instanceof StoreTimeoutError || cause instanceof StoreUnavailableError) return cause;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  return code === TIMEOUT_EXCEEDED || code === TOO_SLOW || message === REQUEST_TIMEOUT
    ? new StoreTimeoutError('analytics', { cause })
    : new StoreUnavailableError('analytics', { cause });
}

/** Codes that are about the rows of an insert: not parsed, out of range, too long, against a constraint of the table. */
const ABOUT_ROWS = new Set('6 26 27 38 41 69 72 117 131 321 349 407 469'.split(' '));

/** As `storeError`, and `RejectedError` where rows are what is wrong. */
export function insertError(error: unknown): unknown {
  const { code } = ((error instanceof StoreUnavailableError && error.cause) || {}) as { code?: string };
  return ABOUT_ROWS.has(code ?? '') ? new RejectedError('ClickHouse refused rows', { cause: error }) : error;
}
