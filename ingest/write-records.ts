import type { OrderedRecord } from '../services/shared/record-order.js';
import {
  PartialWriteError,
  RecordRejectedError,
  RejectedError,
  StoreError,
} from '../services/shared/store-errors.js';

/** A record that the store rejected. `index` is the position of the record in the write. */
export interface RejectedWrite {
  index: number;
  reason: unknown;
}

/**
 * Writes all records or rejects. A rejection with `PartialWriteError` means that the write wrote all records that the error does not name.
 */
export type Write = (records: readonly OrderedRecord<object>[]) => Promise<void>;

export interface WriteOptions {
  /** Called whenever the store has written records, or has rejected a record that was written alone. A rejection ends the search. */
  onOutcome?(
    records: readonly OrderedRecord<object>[],
    outcome: 'written' | 'rejected',
    reason?: unknown,
  ): Promise<void>;
  signal?: AbortSignal;
}

/**
 * Number of parts into which a rejected write is divided: finding one rejected record among 500 takes 25 writes, and 500 rejected records
 * take 590.
 */
const PARTS = 8;

/**
 * Writes records. If a write is rejected, searches for the records at fault, so that all other records are written. Rejects with any error
 * of `write` that does not reject records (see `isRejection`): some records may be written then, and the caller may write all of them
 * again.
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
    if (reason instanceof PartialWriteError) {
      const { rejected } = reason;
      const written = records.filter((_, index) => !rejected.has(index));
      if (written.length > 0) await options.onOutcome?.(written, 'written');
      return [...rejected].map(([index, error]) => ({ index: first + index, reason: error }));
    }
    if (!isRejection(reason)) throw reason;
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

/** Whether the store is unavailable or overloaded, so that the same write may succeed later. */
export const isOutage = (error: unknown): boolean => error instanceof StoreError;

/** Whether the store says that a record is at fault. Any other error that is not an outage is a fault of this program. */
export const isRejection = (error: unknown): boolean =>
  error instanceof RejectedError || error instanceof RecordRejectedError;
