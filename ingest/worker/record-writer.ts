import type { OrderedRecord } from '../../services/shared/record-order.js';
import { StoreUnavailableError } from '../../services/shared/store-errors.js';
import { isOutage, type Refused, type Write, writeRecords } from '../write-records.js';

/** After so many refusals in a row it is asked whether the store is what is wrong. */
const MAX_REFUSED_IN_A_ROW = 100;

/** The store takes no record, not even one that it took before: it is wrong, and the records may be good. */
class StoreRefusesAll extends StoreUnavailableError {}

export interface RecordWriter {
  /** Writes records with one write. Resolves with false when the store refused any of them; rejects as `write` does. */
  writeWhole(records: readonly OrderedRecord<object>[], onProgress: () => void): Promise<boolean>;
  /**
   * Writes records; resolves with those the store refused. Rejects with `StoreUnavailableError` or `StoreTimeoutError` while the store is out,
   * which it is too when it refuses everything.
   */
  write(records: readonly OrderedRecord<object>[], onProgress: () => void): Promise<Refused[]>;
}

/**
 * Writes the records of one stream. A store that refuses many records in a row is asked for one it took before, which changes
 * nothing: when that is taken too, the records are what is wrong.
 */
export function createRecordWriter(store: 'search' | 'analytics', write: Write): RecordWriter {
  let lastTaken: readonly OrderedRecord<object>[] | undefined;
  let refusedInARow = 0;
  const taken = (records: readonly OrderedRecord<object>[]) => {
    lastTaken = records.slice(-1);
    refusedInARow = 0;
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
          if (outcome === 'taken') {
            taken(part);
            return;
          }
          if (++refusedInARow < MAX_REFUSED_IN_A_ROW) return;
          const cause = lastTaken ? await refusalOf(write, lastTaken) : reason;
          if (cause !== null) throw new StoreRefusesAll(store, { cause });
          refusedInARow = 0;
        },
      }),
  };
}

/** Null when the store takes them. */
const refusalOf = (write: Write, records: readonly OrderedRecord<object>[]): Promise<unknown> =>
  write(records).then(
    () => null,
    (reason: unknown) => reason,
  );
