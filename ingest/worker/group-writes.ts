import type { OrderedRecord } from '../../services/shared/record-order.js';
import { isOutage, type Write } from '../write-records.js';

interface WaitingWrite {
  records: readonly OrderedRecord<object>[];
  resolve(): void;
  reject(reason: unknown): void;
}

export interface GroupLimits {
  /** One write may have more by itself. */
  maxRecords: number;
  maxWrites: number;
}

/**
 * Runs one write at a time; those that wait meanwhile become one. When the store rejects records of several writes, each is written by
 * itself, so that none is rejected for the records of another.
 */
export function groupWrites(write: Write, limits: GroupLimits): Write {
  const waiting: WaitingWrite[] = [];
  let isWriting = false;
  const run = async () => {
    isWriting = true;
    while (waiting.length > 0) await writeGroup(write, takeGroup(waiting, limits));
    isWriting = false;
  };
  return (records) =>
    new Promise((resolve, reject) => {
      waiting.push({ records, resolve, reject });
      if (!isWriting) void run();
    });
}

/** Removes the first writes that fit into one, and at least one. */
function takeGroup(waiting: WaitingWrite[], { maxRecords, maxWrites }: GroupLimits): WaitingWrite[] {
  let count = 0;
  let total = 0;
  for (const { records } of waiting) {
    total += records.length;
    if (count === maxWrites || (count > 0 && total > maxRecords)) break;
    count++;
  }
  return waiting.splice(0, count);
}

async function writeGroup(write: Write, group: readonly WaitingWrite[]): Promise<void> {
  try {
    await write(
      group.length === 1 ? (group[0] as WaitingWrite).records : group.flatMap(({ records }) => records),
    );
  } catch (error) {
    if (group.length > 1 && !isOutage(error)) for (const each of group) await writeGroup(write, [each]);
    else for (const { reject } of group) reject(error);
    return;
  }
  for (const { resolve } of group) resolve();
}
