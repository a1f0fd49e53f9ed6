import { isOutage } from './write-records.js';

interface WaitingWrite<Item> {
  items: readonly Item[];
  size: number;
  resolve(): void;
  reject(reason: unknown): void;
}

export interface GroupLimits {
  /** Maximum size of a combined write. A single write may be larger. */
  maxSize: number;
  maxWrites: number;
}

/**
 * Writes items. `size` counts towards the limit; by default, the size is the number of items. A write that still waits when the signal is
 * aborted is dropped.
 */
export type GroupedWrite<Item> = (
  items: readonly Item[],
  options?: { size?: number; signal?: AbortSignal | undefined },
) => Promise<void>;

/**
 * Runs one write at a time, and combines the writes that wait meanwhile. If the store rejects records of several writes, each write is
 * repeated alone, so that no write fails because of another write. An outage rejects waiting writes too, because they have waited just as
 * long.
 */
export function groupWrites<Item>(
  write: (items: readonly Item[]) => Promise<void>,
  limits: GroupLimits,
): GroupedWrite<Item> {
  const waiting: WaitingWrite<Item>[] = [];
  let isWriting = false;
  const run = async () => {
    isWriting = true;
    while (waiting.length > 0) {
      const outage = await writeGroup(write, takeGroup(waiting, limits));
      if (outage !== null) for (const { reject } of waiting.splice(0)) reject(outage);
    }
    isWriting = false;
  };
  return (items, { size = items.length, signal } = {}) =>
    new Promise((resolve, reject) => {
      const one = { items, size, resolve, reject };
      const drop = () => {
        const index = waiting.indexOf(one);
        // The write has started already.
        if (index === -1) return;
        waiting.splice(index, 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', drop, { once: true });
      waiting.push(one);
      if (!isWriting) void run();
    });
}

/** Removes the first writes that fit into one combined write, and at least one. */
function takeGroup<Item>(waiting: WaitingWrite<Item>[], { maxSize, maxWrites }: GroupLimits) {
  let count = 0;
  let total = 0;
  for (const { size } of waiting) {
    total += size;
    if (count === maxWrites || (count > 0 && total > maxSize)) break;
    count++;
  }
  return waiting.splice(0, count);
}

/** Writes a group. Resolves with the error of an outage. */
async function writeGroup<Item>(
  write: (items: readonly Item[]) => Promise<void>,
  group: readonly WaitingWrite<Item>[],
): Promise<Error | null> {
  const [first] = group;
  try {
    await write(group.length === 1 && first ? first.items : group.flatMap(({ items }) => items));
  } catch (error) {
    if (group.length > 1 && !isOutage(error)) {
      for (const each of group) await writeGroup(write, [each]);
      return null;
    }
    for (const { reject } of group) reject(error);
    return isOutage(error) ? (error as Error) : null;
  }
  for (const { resolve } of group) resolve();
  return null;
}
