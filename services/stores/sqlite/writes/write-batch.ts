import type { OrderedRecord } from '../../../shared/record-order.js';
import { RecordRejectedError } from '../../../shared/store-errors.js';

/** What became of records of a stream. */
export interface BatchResult {
  /** So many of them, from the first, were written or refused; the others are to come again. */
  done: number;
  refused: { index: number; code: string; pointer: string; detail: string }[];
}

/** Writes records one after another until they are done or time is over, one at least. */
export function writeBatch<Record>(
  records: readonly OrderedRecord<Record>[],
  isTimeUp: () => boolean,
  write: (record: OrderedRecord<Record>) => void,
): BatchResult {
  const written: BatchResult = { done: 0, refused: [] };
  for (const record of records) {
    if (written.done > 0 && isTimeUp()) break;
    try {
      write(record);
    } catch (error) {
      if (!(error instanceof RecordRejectedError)) throw error;
      const { code, pointer, message: detail } = error;
      written.refused.push({ index: written.done, code, pointer, detail });
    }
    written.done++;
  }
  return written;
}
