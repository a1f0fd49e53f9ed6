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

const TIMEOUT_EXCEEDED = '159';
const TOO_SLOW = '160';
/** Message of the client's own timeout. */
const REQUEST_TIMEOUT = 'Timeout error.';

/** The store error for a failure of the engine, whose message stays in the cause, for logs only. */
export function storeError(cause: unknown): StoreTimeoutError | StoreUnavailableError {
  if (cause instanceof StoreTimeoutError || cause instanceof StoreUnavailableError) return cause;
  const { clickhouseCode, code, message } = (cause ?? {}) as Record<string, unknown>;
  // The client and chdb name it differently.
  const engineCode = String(clickhouseCode ?? code);
  return engineCode === TIMEOUT_EXCEEDED || engineCode === TOO_SLOW || message === REQUEST_TIMEOUT
    ? new StoreTimeoutError('analytics', { cause })
    : new StoreUnavailableError('analytics', { cause });
}

/** Codes of errors in the rows of an insert: not parsed, out of range, too long, against a constraint of the table. */
const ROW_ERRORS = new Set('6 26 27 38 41 69 72 117 131 321 349 407 469'.split(' '));

/** As `storeError`, but `RejectedError` when the rows are at fault. */
export function insertError(error: unknown): unknown {
  const { code } = ((error instanceof StoreUnavailableError && error.cause) || {}) as { code?: string };
  return ROW_ERRORS.has(code ?? '') ? new RejectedError('ClickHouse rejected rows', { cause: error }) : error;
}
