import { inOrder, type OrderedRecord } from '../../services/shared/record-order.js';

let next = 0;

/** Records as of one source, each after all records accepted earlier at the same moment. */
export function accepted<Record>(records: readonly Record[], acceptedAt: number): OrderedRecord<Record>[] {
  const ordered = inOrder(records, acceptedAt, next);
  next += records.length;
  return ordered;
}
