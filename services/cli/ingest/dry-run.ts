import { type IngestOptions, type IngestResult, ingestRecords } from '../../../ingest/pipeline.js';
import { orderOf, type RawRecord, type RecordSource } from '../../../ingest/records/raw-record.js';
import type { IngestStores } from '../../../ingest/streams/stream.js';
import { acceptedByLine } from '../../shared/record-order.js';
import { systemClock } from '../../shared/time.js';
import { type Io, printOut } from '../io.js';

const MAX_SAMPLES = 3;
const MAX_SHOWN_TEXT = 2000;
const BATCH = { preferredBatchSize: 1000 };
/** Sizes of batches alone, because nothing is written. */
const NO_STORES: Record<keyof IngestStores, typeof BATCH> = { records: BATCH, analytics: BATCH };

type DryRunOptions = Omit<IngestOptions, 'stores' | 'acceptance'> & { source: RecordSource };

/** Maps and checks every record, and writes none. Prints the first records before and after mapping. */
export async function dryRun(io: Io, { stream, source, ...options }: DryRunOptions): Promise<IngestResult> {
  const samples = new Map<number, { line: number; text: string; becomes?: string }>();
  const show = (place: number, becomes: string) => {
    const sample = samples.get(place);
    if (sample) sample.becomes = becomes;
    for (const [each, { line, text, becomes }] of samples) {
      if (becomes === undefined) return;
      printOut(io, `line ${line}: ${text}\n  becomes ${becomes}`);
      samples.delete(each);
    }
  };
  let sampled = 0;
  async function* sampling(): RecordSource {
    for await (const records of source) {
      for (const raw of records) {
        if (raw.overlong === 'piece' || sampled === MAX_SAMPLES) continue;
        sampled++;
        samples.set(orderOf(raw), { line: raw.line, text: sourceText(raw) });
        if (raw.isSkipped) show(orderOf(raw), 'skipped');
      }
      yield records;
    }
  }
  return ingestRecords({
    ...options,
    source: sampling(),
    stores: NO_STORES as IngestStores,
    acceptance: acceptedByLine(systemClock),
    stream: {
      ...stream,
      refresh: undefined,
      async write(_, records) {
        for (const { record, sequence } of records) {
          if (samples.has(sequence)) show(sequence, JSON.stringify(record));
        }
      },
    },
    onRejected(rejected, untouched, raw) {
      show(orderOf(raw), 'rejected');
      options.onRejected?.(rejected, untouched, raw);
    },
  });
}

function sourceText(raw: RawRecord): string {
  const text = raw.value === undefined ? raw.bytes.toString('utf8') : JSON.stringify(raw.value);
  return text.length > MAX_SHOWN_TEXT ? `${text.slice(0, MAX_SHOWN_TEXT)}…` : text;
}
