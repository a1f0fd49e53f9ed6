import type { OrderedRecord } from '../services/shared/record-order.js';
import {
  OverloadedError,
  PartialWriteError,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../services/shared/store-errors.js';

/** A record the store will not take, by its place among those given. */
export interface RejectedWrite {
  index: number;
  reason: unknown;
}

/** Writes all records, or rejects: with `PartialWriteError` when it wrote all others. */
export type Write = (records: readonly OrderedRecord<object>[]) => Promise<void>;

export interface WriteOptions {
  /** Called whenever the store has taken records, or has rejected one that stood alone. Throws to end the search. */
  onOutcome?(
    records: readonly OrderedRecord<object>[],
    outcome: 'written' | 'rejected',
    reason?: unknown,
  ): Promise<void>;
  signal?: AbortSignal;
}

/** RejectedWrite records are looked for in so many parts: a single one of 500 takes 25 writes, and 500 of 500 take 590. */
const PARTS = 8;

/**
 * Writes records. Those the store will not take are searched for by parts, so that the others are written. Rejects with
 * `StoreUnavailableError` or `StoreTimeoutError` when the store is out; some may be written then, and all may be given again.
 */
export async function writeRecords(
  write: Write,
  records: readonly OrderedRecord<object>[],
  options: WriteOptions = {},
  first = 0,
): Promise<RejectedWrite[]> {
  if (records.length === 0) return [];
  options.signal?.throwIfAborted();
  try {
    await write(records);
  } catch (reason) {
    if (isOutage(reason)) throw reason;
    if (reason instanceof PartialWriteError) {
      const { rejected } = reason;
      const taken = records.filter((_, index) => !rejected.has(index));
      if (taken.length > 0) await options.onOutcome?.(taken, 'written');
      return [...rejected].map(([index, error]) => ({ index: first + index, reason: error }));
    }
    if (records.length === 1) {
      await options.onOutcome?.(records, 'rejected', reason);
      return [{ index: first, reason }];
    }
    const rejected: RejectedWrite[] = [];
    const size = Math.ceil(records.length / PARTS);
    for (let start = 0; start < records.length; start += size) {
      const part = records.slice(start, start + size);
      rejected.push(...(await writeRecords(write, part, options, first + start)));
    }
    return rejected;
  }
  await options.onOutcome?.(records, 'written');
  return [];
}

/** The same write will do later. */
export const isOutage = (error: unknown): boolean =>
  error instanceof StoreUnavailableError ||
  error instanceof StoreTimeoutError ||
  error instanceof OverloadedError;
