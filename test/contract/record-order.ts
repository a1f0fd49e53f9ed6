/** Records in any order, twice, in batches of any size, from two writers at once (contract 6.2). */
import fc from 'fast-check';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { T0 } from './record-store-support.js';

export const at = (milliseconds: number) => new Date(T0 + milliseconds).toISOString();

/** Few moments, so that many records have the same, some within one millisecond; a record may have none. */
export const spokenOf = fc.option(
  fc
    .tuple(fc.constantFrom(0, 1, 2), fc.constantFrom('', '', '1', '000001', '5', '500', '500999', '999'))
    .map(([ms, more]) => at(ms).replace('Z', `${more}Z`)),
  { nil: undefined },
);

/** Microseconds since the epoch: they order records (contract 6.2). */
export const microsecondsOf = (time: string) =>
  Date.parse(time) * 1000 +
  Number(((/\.\d{3}(\d+)/.exec(time)?.[1] ?? '').slice(0, 3) || '0').padEnd(3, '0'));

export const KEYS = ['a', 'b', 'c'] as const;

/** Records, each with a place of its own among those accepted in one millisecond. */
export function orderedRecords<T>(record: fc.Arbitrary<T>, maxLength = 12): fc.Arbitrary<OrderedRecord<T>[]> {
  return fc
    .array(fc.record({ record, acceptedAt: fc.constantFrom(T0, T0 + 1) }), { minLength: 1, maxLength })
    .map((records) => records.map((ordered, sequence) => ({ ...ordered, sequence })));
}

/** Batches of two writers, each of which writes all records. */
function twoWriters<T>(records: OrderedRecord<T>[]): fc.Arbitrary<OrderedRecord<T>[][][]> {
  const shuffled = fc.shuffledSubarray(records, { minLength: records.length });
  return fc
    .array(fc.tuple(shuffled, fc.infiniteStream(fc.integer({ min: 1, max: 4 }))), {
      minLength: 2,
      maxLength: 2,
    })
    .map((writers) => writers.map(([order, sizes]) => inBatches(order, sizes)));
}

/** Checks the result of two writers that each write all of some random records, in any order. */
export function assertForTwoWriters<T>(
  record: fc.Arbitrary<T>,
  check: (records: OrderedRecord<T>[], batches: OrderedRecord<T>[][][]) => Promise<void>,
  numRuns: number,
): Promise<void> {
  const cases = orderedRecords(record).chain((records) =>
    fc.tuple(fc.constant(records), twoWriters(records)),
  );
  return fc.assert(
    fc.asyncProperty(cases, ([records, batches]) => check(records, batches)),
    { numRuns },
  );
}

/** Sizes of the batches of one writer: adapters treat small batches, large batches, and the last batch of a file differently. */
export const BATCH_SIZES: number[][] = [
  [1000, 50],
  [100, 99, 1, 101],
  [50, 1001, 3],
  [500, 20, 500, 20],
];

/** Batches of records made by a function from their number, all accepted at one moment. */
export function batchesOf<T>(sizes: readonly number[], recordAt: (index: number) => T): OrderedRecord<T>[][] {
  let next = 0;
  return sizes.map((size) =>
    Array.from({ length: size }, () => {
      const sequence = next++;
      return { record: recordAt(sequence), acceptedAt: T0, sequence };
    }),
  );
}

function inBatches<T>(records: readonly T[], sizes: Iterator<number>): T[][] {
  const batches: T[][] = [];
  for (let start = 0; start < records.length; ) {
    const end = start + (sizes.next().value as number);
    batches.push(records.slice(start, end));
    start = end;
  }
  return batches;
}

/** The last record of each key, found by comparing the parts of the order. */
export function lastOfEach<T extends { updated_at?: string; reported_at?: string }>(
  records: readonly OrderedRecord<T>[],
  key: keyof T,
): Map<string, OrderedRecord<T>> {
  const parts = ({ record: { updated_at, reported_at }, acceptedAt, sequence }: OrderedRecord<T>) => {
    const time = updated_at ?? reported_at;
    return [time ? microsecondsOf(time) : acceptedAt * 1000, acceptedAt, sequence] as const;
  };
  const sorted = [...records].sort((left, right) => {
    const [own, other] = [parts(left), parts(right)];
    return own[0] - other[0] || own[1] - other[1] || own[2] - other[2];
  });
  return new Map(sorted.map((ordered) => [String(ordered.record[key]), ordered]));
}

/** The records of a batch with these additional fields. */
export const withFields = <T, Fields>(batch: readonly OrderedRecord<T>[], fields: Fields) =>
  batch.map(
    (ordered): OrderedRecord<T & Fields> => ({ ...ordered, record: { ...ordered.record, ...fields } }),
  );
