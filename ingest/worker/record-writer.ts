import type { OrderedRecord } from '../../services/shared/record-order.js';
import {
  PartialWriteError,
  type StoreName,
  StoreUnavailableError,
} from '../../services/shared/store-errors.js';
import { isOutage, isRejection, type RejectedWrite, type Write, writeRecords } from '../write-records.js';

/**
 * Consecutive rejections, without a successful write in between, after which the writer checks the store with a record that the store has
 * written before.
 */
const MAX_CONSECUTIVE_REJECTIONS = 100;

/** The store rejects even a record that it has written before, so the store is at fault and the records may be valid. */
class StoreRejectsAllError extends StoreUnavailableError {}

/**
 * The writer of a store failed with an error that says nothing about the records, such as a TypeError. The error is a fault of this
 * program, so the records must be neither dead-lettered nor committed.
 */
export class UnexpectedWriteError extends Error {
  override readonly name = 'UnexpectedWriteError';

  constructor(store: StoreName, options: ErrorOptions) {
    super(`the writer of the ${store} store failed unexpectedly`, options);
  }
}

/**
 * Writes the records of one stream. Both methods reject with `StoreUnavailableError`, `StoreTimeoutError` or `OverloadedError` while the
 * store is unavailable or rejects everything, and with `UnexpectedWriteError` for any other failure.
 */
export interface RecordWriter {
  /** Writes records with one write. Resolves with the rejected records if all other records are written, otherwise with `split`. */
  writeWhole(
    records: readonly OrderedRecord<object>[],
    onProgress: () => void,
  ): Promise<RejectedWrite[] | 'split'>;
  /** Writes records. Resolves with the records that the store rejected. */
  write(records: readonly OrderedRecord<object>[], onProgress: () => void): Promise<RejectedWrite[]>;
}

/**
 * Creates the writer of one stream. If a store rejects many consecutive records, the writer repeats a record that the store has written
 * before, which changes nothing. If the store accepts this record, the rejected records are at fault. `writeWholeToStore` makes writes that
 * are not searched for rejected records.
 */
export function createRecordWriter(
  store: StoreName,
  writeToStore: Write,
  writeWholeToStore = writeToStore,
): RecordWriter {
  let lastWritten: readonly OrderedRecord<object>[] | undefined;
  let consecutiveRejections = 0;
  const written = (records: readonly OrderedRecord<object>[]) => {
    lastWritten = records.slice(-1);
    consecutiveRejections = 0;
  };
  const checked =
    (write: Write): Write =>
    async (records) => {
      try {
        await write(records);
      } catch (cause) {
        if (isOutage(cause) || isRejection(cause) || cause instanceof PartialWriteError) throw cause;
        throw new UnexpectedWriteError(store, { cause });
      }
    };
  const write = checked(writeToStore);
  const writeWhole = checked(writeWholeToStore);
  return {
    async writeWhole(records, onProgress) {
      const rejection = await rejectionOf(writeWhole, records);
      onProgress();
      if (rejection !== null && !(rejection instanceof PartialWriteError)) return 'split';
      const rejected = rejection?.rejected ?? new Map<number, unknown>();
      const others = records.filter((_, index) => !rejected.has(index));
      if (others.length > 0) written(others);
      return [...rejected].map(([index, reason]) => ({ index, reason }));
    },
    write: (records, onProgress) =>
      writeRecords(write, records, {
        async onOutcome(part, outcome, reason) {
          onProgress();
          if (outcome === 'written') {
            written(part);
            return;
          }
          if (++consecutiveRejections < MAX_CONSECUTIVE_REJECTIONS) return;
          const cause = lastWritten ? await rejectionOf(write, lastWritten) : reason;
          if (cause !== null) throw new StoreRejectsAllError(store, { cause });
          consecutiveRejections = 0;
        },
      }),
  };
}

/** Tries a write. Resolves with the rejection, or with null if the store writes the records. Rejects if the store is unavailable. */
async function rejectionOf(write: Write, records: readonly OrderedRecord<object>[]): Promise<unknown> {
  try {
    await write(records);
    return null;
  } catch (error) {
    if (!isRejection(error) && !(error instanceof PartialWriteError)) throw error;
    return error;
  }
}
