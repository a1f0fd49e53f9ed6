import type { DeliveryRecord } from '../../advertising/records.js';
import type { OrderedRecord } from '../../shared/record-order.js';

const monthOf = ({ record }: OrderedRecord<DeliveryRecord>) => record.date.slice(0, 7);

/** Deliveries in parts of at most so many months each, sorted by month; as they are where one part holds them all. */
export function splitByMonths(
  records: readonly OrderedRecord<DeliveryRecord>[],
  maxMonths: number,
): (readonly OrderedRecord<DeliveryRecord>[])[] {
  const byMonth = new Map<string, OrderedRecord<DeliveryRecord>[]>();
  for (const record of records) {
    const month = monthOf(record);
    const others = byMonth.get(month);
    if (others) others.push(record);
    else byMonth.set(month, [record]);
  }
  if (byMonth.size <= maxMonths) return records.length === 0 ? [] : [records];
  const months = [...byMonth].sort(([one], [other]) => (one < other ? -1 : 1));
  const parts: OrderedRecord<DeliveryRecord>[][] = [];
  for (let first = 0; first < months.length; first += maxMonths) {
    parts.push(months.slice(first, first + maxMonths).flatMap(([, some]) => some));
  }
  return parts;
}
