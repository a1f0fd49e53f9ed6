import { DiskFullError, RejectedError, StoreUnavailableError } from '../../shared/store-errors.js';
import { resultCodeOf, SQLITE_FULL } from '../common/sqlite-result.js';

/** An error in the form in which a worker sends it to its client. */
export interface SerializedError {
  message: string;
  stack?: string;
  /** The store is at fault, not the call: for example, a full disk, a lock, or a lost table. */
  unavailable: boolean;
  /** The disk is full; `unavailable` is true too. */
  full: boolean;
  /** The values of the call are at fault. */
  rejected: boolean;
}

// SQLite result codes that blame the values of a call (too big, constraint, mismatch) or the call itself (misuse, range).
const VALUE_ERRORS = new Set([18, 19, 20]);
const CALL_ERRORS = new Set([...VALUE_ERRORS, 21, 25]);

/** Whether the error comes from SQLite and not from the call, so that any other call would fail too. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true;
  const code = resultCodeOf(error);
  return code !== null && !CALL_ERRORS.has(code);
}

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error))
    return { message: String(error), unavailable: false, full: false, rejected: false };
  return {
    message: error.message,
    stack: error.stack,
    unavailable: isUnavailable(error),
    full: error instanceof DiskFullError || resultCodeOf(error) === SQLITE_FULL,
    rejected: VALUE_ERRORS.has(resultCodeOf(error) ?? 0),
  };
}

/** Converts the error of a worker to the error that the port declares. SQLite's message is in its cause, for logs only. */
export function toStoreError({ message, stack, unavailable, full, rejected }: SerializedError): Error {
  const cause = new Error(message);
  if (stack !== undefined) cause.stack = stack;
  if (full) return new DiskFullError('records', { cause });
  if (unavailable) return new StoreUnavailableError('records', { cause });
  if (rejected) return new RejectedError('SQLite rejected the values of a call', { cause });
  return new Error('records store request failed', { cause });
}

/** Runs `work` in the calling thread. Turns errors of SQLite into errors of the store. */
export function withStoreErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isUnavailable(error) ? toStoreError(serializeError(error)) : error;
  }
}
