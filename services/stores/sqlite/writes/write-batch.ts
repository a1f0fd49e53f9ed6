import { type OrderedRecord, type Organized, organizationOf } from '../../../shared/record-order.js';
import { RecordRejectedError } from '../../../shared/store-errors.js';
import type { WriteSession } from './write-session.js';

export interface BatchResult {
  /** Records written or rejected, from the first; the others were not tried. */
  done: number;
  rejected: { index: number; code: string; pointer: string; detail: string }[];
}

/** Ends a batch once its transaction has taken long enough. */
export type IsTimeUp = () => boolean;

/**
 * Writes records of one organization in order until all are done or time is up, at least one. Notes when the newest of those that are not
 * rejected was accepted, whether or not it changes anything.
 */
export function writeBatch<Record extends Organized>(
  session: WriteSession,
  stream: 'contacts' | 'audiences' | 'visits',
  records: readonly OrderedRecord<Record>[],
  isTimeUp: IsTimeUp,
  write: (record: OrderedRecord<Record>) => void,
): BatchResult {
  const result: BatchResult = { done: 0, rejected: [] };
  let newest: OrderedRecord<Record> | undefined;
  for (const ordered of records) {
    if (result.done > 0 && isTimeUp()) break;
    try {
      write(ordered);
      if (newest === undefined || ordered.acceptedAt > newest.acceptedAt) newest = ordered;
    } catch (error) {
      if (!(error instanceof RecordRejectedError)) throw error;
      const { code, pointer, message: detail } = error;
      result.rejected.push({ index: result.done, code, pointer, detail });
    }
    result.done++;
  }
  if (newest) session.noteAccepted(stream, organizationOf(newest.record), newest.acceptedAt);
  return result;
}
