import {
  isStale,
  type OrderedRecord,
  type OrganizationRecord,
  organizationOf,
} from '../../../shared/record-order.js';
import { RecordRejectedError } from '../../../shared/store-errors.js';
import type { WriteSession } from './write-session.js';

export interface BatchResult {
  /** Number of records written or rejected, counted from the first record; later records were not tried. */
  done: number;
  rejected: { index: number; code: string; pointer: string; detail: string }[];
}

/** Returns true once the transaction of a batch has taken long enough. */
export type IsTimeUp = () => boolean;

/**
 * Writes at least one record of an organization, and continues in order until all records are written or time is up. Records the latest
 * acceptance of records that were not rejected, even if they change nothing.
 */
export function writeBatch<Record extends OrganizationRecord>(
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
    let error: unknown;
    try {
      write(ordered);
    } catch (caught) {
      if (!(caught instanceof RecordRejectedError)) throw caught;
      error = caught;
      const { code, pointer, message: detail } = caught;
      result.rejected.push({ index: result.done, code, pointer, detail });
    }
    const isAccepted = error === undefined || isStale(error);
    if (isAccepted && (newest === undefined || ordered.acceptedAt > newest.acceptedAt)) newest = ordered;
    result.done++;
  }
  if (newest) session.noteAccepted(stream, organizationOf(newest.record), newest.acceptedAt);
  return result;
}
