import { StoreTimeout, StoreUnavailable } from '../store-error.js';

/** The folder of the embedded analytics store is held by another process. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
  readonly folder: string;

  constructor(folder: string, options?: ErrorOptions) {
    super(`another process holds ${folder}`, options);
    this.folder = folder;
  }
}

const TIMEOUT_EXCEEDED = '159';
const TOO_SLOW = '160';

/** What the store answers to the rest of the program when the engine fails: never the engine's own words. */
export function storeError(cause: unknown): StoreTimeout | StoreUnavailable {
  if (cause instanceof StoreTimeout || cause instanceof StoreUnavailable) return cause;
  const code = (cause as { code?: unknown } | null)?.code;
  return code === TIMEOUT_EXCEEDED || code === TOO_SLOW
    ? new StoreTimeout('analytics', { cause })
    : new StoreUnavailable('analytics', { cause });
}
