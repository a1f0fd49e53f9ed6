import type { OrderedRecord } from '../../services/shared/record-order.js';
import { StoreUnavailableError } from '../../services/shared/store-errors.js';
import { isOutage, type RejectedWrite, type Write, writeRecords } from '../write-records.js';

/** After so many rejections in a row it is asked whether the store is what is wrong. */
const MAX_CONSECUTIVE_REJECTIONS = 100;

/** The store takes no record, not even one that it took before: it is wrong, and the records may be good. */
class StoreRejectsAllError extends StoreUnavailableError {}

export interface RecordWriter {
  /** Writes records with one write. Resolves with false when the store rejected any of them; rejects as `write` does. */
  writeWhole(records: readonly OrderedRecord<object>[], onProgress: () => void): Promise<boolean>;
  /**
   * Writes records; resolves with those the store rejected. Rejects with `StoreUnavailableError` or `StoreTimeoutError` while the store is out,
   * which it is too when it rejects everything.
   */
  write(records: readonly OrderedRecord<object>[], onProgress: () => void): Promise<RejectedWrite[]>;
}

/**
 * Writes the records of one stream. A store that rejects many records in a row is asked for one it took before, which changes
 * nothing: when that is taken too, the records are what is wrong.
 */
export function createRecordWriter(store: 'search' | 'analytics', write: Write): RecordWriter {
  let lastTaken: readonly OrderedRecord<object>[] | undefined;
  let consecutiveRejections = 0;
  const taken = (records: readonly OrderedRecord<object>[]) => {
    lastTaken = records.slice(-1);
    consecutiveRejections = 0;
  };
  return {
    async writeWhole(records, onProgress) {
      try {
        await write(records);
      } catch (error) {
        if (isOutage(error)) throw error;
        onProgress();
        return false;
      }
      onProgress();
      taken(records);
      return true;
    },
    write: (records, onProgress) =>
      writeRecords(write, records, {
        async onOutcome(part, outcome, reason) {
          onProgress();
          if (outcome === 'written') {
            taken(part);
            return;
          }
          if (++consecutiveRejections < MAX_CONSECUTIVE_REJECTIONS) return;
          const cause = lastTaken ? await rejectionOf(write, lastTaken) : reason;
          if (cause !== null) throw new StoreRejectsAllError(store, { cause });
          consecutiveRejections = 0;
        },
      }),
  };
}

/** Null when the store takes them. */
const rejectionOf = (write: Write, records: readonly OrderedRecord<object>[]): Promise<unknown> =>
  write(records).then(
    () => null,
    (reason: unknown) => reason,
  );
