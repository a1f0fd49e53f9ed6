import { statfs } from 'node:fs/promises';
import { withTimeout } from './async.js';
import { DiskFullError, ReadOnlyError, type StoreName } from './store-errors.js';

/** State of a store. `full` and `read_only` mean that reads succeed and writes do not. */
export type StoreState = 'ok' | 'full' | 'read_only' | 'unavailable';

/** Free bytes below which a disk counts as full: a write and its merges need some space. */
export const FULL_DISK_BYTES = 16 * 1024 * 1024;

const PING_TIMEOUT_MS = 2000;

/** Throws `DiskFullError` if the disk of a folder is full. */
export async function requireRoom(folder: string, store: StoreName): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < FULL_DISK_BYTES) throw new DiskFullError(store);
}

/** A store with a ping, which throws `DiskFullError` or `ReadOnlyError` if only reads are possible. */
export interface Pingable {
  ping(): Promise<void>;
}

/** Pings with a timeout of 2 s. Never rejects. */
export function checkHealth(store: Pingable): Promise<StoreState> {
  return withTimeout(PING_TIMEOUT_MS, () => store.ping()).then(
    () => 'ok',
    (error) => {
      if (error instanceof DiskFullError) return 'full';
      return error instanceof ReadOnlyError ? 'read_only' : 'unavailable';
    },
  );
}
