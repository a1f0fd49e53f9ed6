/** Streams that check records and write none. */
import type { OrderedRecord } from '../../services/shared/record-order.js';
import type { AcceptedRecord } from '../records/outcome.js';
import type { Stream } from '../streams/stream.js';

/** Number of records that a check shows. */
const MAX_SAMPLES = 3;

/** The stream with its validation, but without writes. */
export const withoutWrites = (stream: Stream, write: Stream['write'] = async () => undefined): Stream => ({
  ...stream,
  write,
  refresh: undefined,
});

/** Keeps the first records of a dry run and writes none. The sequence of a record is its line. */
export class SampledWrites {
  readonly records: { line: number; record: object }[] = [];

  into(stream: Stream): Stream {
    return withoutWrites(stream, async (_, records: readonly OrderedRecord<object>[]) => {
      for (const each of records.slice(0, MAX_SAMPLES - this.records.length)) {
        const { line = each.sequence } = each as AcceptedRecord<object>;
        this.records.push({ line, record: each.record });
      }
    });
  }
}
