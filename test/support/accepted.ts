import { inOrder, type OrderedRecord } from '../../services/shared/record-order.js';

let next = 0;

/** Records as of one source, each behind all that were accepted at the same moment before. */
export function accepted<Record>(records: readonly Record[], acceptedAt: number): OrderedRecord<Record>[] {
  const ordered = inOrder(records, acceptedAt, next);
  next += records.length;
  return ordered;
}
