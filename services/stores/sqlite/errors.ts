import { StoreUnavailableError } from '../../shared/store-errors.js';

/** An error as it crosses from a worker thread to the facade. */
export interface SerializedError {
  message: string;
  stack?: string;
  /** The store is at fault, not the call: a full disk, a lock, a lost table. */
  unavailable: boolean;
}

// Results that say something about the call: constraint, mismatch, misuse, range, too big.
const CALL_ERRORS = new Set([19, 20, 21, 25, 18]);

/** Whether the error is SQLite's and would befall any other call as well. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true;
  if (!(error instanceof Error) || !('sqliteCode' in error) || typeof error.sqliteCode !== 'number')
    return false;
  return !CALL_ERRORS.has(error.sqliteCode & 0xff);
}

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error)) return { message: String(error), unavailable: false };
  return { message: error.message, stack: error.stack, unavailable: isUnavailable(error) };
}

/** The error a caller of the port sees; the store's own words are in its cause, for the log. */
export function toStoreError({ message, stack, unavailable }: SerializedError): Error {
  const cause = new Error(message);
  if (stack !== undefined) cause.stack = stack;
  return unavailable
    ? new StoreUnavailableError('search', { cause })
    : new Error('the search store failed at a call', { cause });
}
