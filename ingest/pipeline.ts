import { Turn } from '../services/shared/event-loop-yield.js';
import type { Acceptance, OrderedRecord } from '../services/shared/record-order.js';
import { RecordRejectedError } from '../services/shared/store-errors.js';
import { type Decode, decoder, type OrganizationRule } from './decode.js';
import { type DeadLetter, deadLetter, refusedBy } from './records/outcome.js';
import type { RawRecord, RecordSource } from './records/raw-record.js';
import { jsonArray } from './sources/json-array.js';
import { lines, MAX_LINE_BYTES } from './sources/lines.js';
import type { IngestStores, Stream } from './streams/stream.js';
import { writeRecords } from './write-records.js';

/** Bytes of input after which a batch is written, however few records it has. */
const BATCH_BYTES = 2 * 1024 * 1024;
/** Batches the store has at once. */
const BATCHES_IN_FLIGHT = 4;
/** Milliseconds after which records of a slow source are written. */
const FLUSH_MS = 250;
const REPORTED_ERRORS = 100;

export interface RefusedRecord {
  line: number;
  code: string;
  pointer: string;
  detail: string;
}

export interface IngestResult {
  accepted: number;
  rejected: number;
  /** The first 100. */
  errors: RefusedRecord[];
}

export interface IngestOptions extends Partial<OrganizationRule> {
  stream: Stream;
  stores: IngestStores;
  /** Of all that comes from this source. */
  acceptance: Acceptance;
  /** Told of each refused record, with its bytes as they came. */
  onRefused?(record: RefusedRecord, untouched: Buffer): void;
  /** Told of every piece of an over-long line but its last, which comes with `onRefused`. */
  onOverlong?(piece: Buffer): void;
  /** Told after every write. */
  onProgress?(accepted: number, rejected: number): void;
  signal?: AbortSignal;
}

/**
 * Takes the lines, or the elements of a JSON array, of a text. Refused records never stop the others. Rejects with
 * `StoreUnavailableError` or `StoreTimeoutError` when the store is out, and with `UnreadableInput` when the text as a whole is no
 * JSON array; the caller may send everything again, since every stream is idempotent.
 */
export function ingestLines(
  options: IngestOptions & { source: AsyncIterable<Uint8Array>; format: 'ndjson' | 'json' },
): Promise<IngestResult> {
  const source = options.format === 'json' ? jsonArray(options.source) : lines(options.source);
  return ingestRecords({ ...options, source });
}

/** The loop: decode in order, write, and only then count as accepted. */
export async function ingestRecords(
  options: IngestOptions & { source: RecordSource },
): Promise<IngestResult> {
  const { stream, stores, signal, acceptance } = options;
  const { preferredBatchSize } = stores[stream.store];
  const others = options.others ?? (options.organizationId === undefined ? 'allow' : 'refuse');
  const decode = decoder(stream, { organizationId: options.organizationId, others });
  const report = new Report(options);
  const writer = new Writer(options, report);
  const turn = new Turn();
  let batch = new Batch();

  const source = options.source[Symbol.asyncIterator]();
  try {
    let pending = source.next();
    for (;;) {
      const step = await firstOf(pending, batch);
      if (step === 'flush') {
        await writer.write(batch);
        batch = new Batch();
        continue;
      }
      if (step.done) break;
      pending = source.next();
      pending.catch(() => undefined);
      for (const raw of step.value) {
        decodeInto(batch, report, decode, raw, acceptance);
        if (batch.records.length >= preferredBatchSize || batch.bytes >= BATCH_BYTES) {
          await writer.write(batch);
          batch = new Batch();
        }
        if (turn.isOver(raw.bytes.length)) await turn.end(signal);
      }
    }
    await writer.write(batch);
    await writer.settled();
    if (report.result.accepted > 0) await stream.refresh?.(stores);
    return report.result;
  } finally {
    await writer.finished();
    void source.return?.()?.catch(() => undefined);
  }
}

function decodeInto(
  batch: Batch,
  report: Report,
  decode: Decode,
  raw: RawRecord,
  { acceptedAt, sequence }: Acceptance,
): void {
  if (raw.overlong === 'piece') {
    report.overlong(raw.bytes);
    return;
  }
  const outcome = raw.overlong ? tooLong : (raw.refusal ?? decode(raw, acceptedAt, sequence + raw.line));
  if (outcome.kind === 'ok') batch.add(outcome, raw);
  else report.refuse(outcome, raw);
}

const tooLong = deadLetter('line_too_long', '', `A record may have ${MAX_LINE_BYTES} bytes at most.`);

/** Records decoded and not yet written, with where they came from. */
class Batch {
  readonly records: OrderedRecord<object>[] = [];
  readonly origins: RawRecord[] = [];
  readonly begun = Date.now();
  bytes = 0;

  add(record: OrderedRecord<object>, origin: RawRecord): void {
    this.records.push(record);
    this.origins.push(origin);
    this.bytes += origin.bytes.length;
  }
}

/** The next records, or `flush` when records have waited long enough for others to come. */
async function firstOf<T>(next: Promise<T>, batch: Batch): Promise<T | 'flush'> {
  if (batch.records.length === 0) return next;
  let timer: NodeJS.Timeout | undefined;
  const due = new Promise<'flush'>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, batch.begun + FLUSH_MS - Date.now()), 'flush');
  });
  try {
    return await Promise.race([next, due]);
  } finally {
    clearTimeout(timer);
  }
}

class Report {
  readonly result: IngestResult = { accepted: 0, rejected: 0, errors: [] };
  readonly #options: IngestOptions;

  constructor(options: IngestOptions) {
    this.#options = options;
  }

  accept(count: number): void {
    this.result.accepted += count;
    this.#options.onProgress?.(this.result.accepted, this.result.rejected);
  }

  refuse({ code, pointer, detail }: DeadLetter, { line, bytes, untouched }: RawRecord): void {
    const refused = { line, code, pointer, detail };
    this.result.rejected++;
    if (this.result.errors.length < REPORTED_ERRORS) this.result.errors.push(refused);
    this.#options.onRefused?.(refused, untouched ?? bytes);
  }

  overlong(piece: Buffer): void {
    this.#options.onOverlong?.(piece);
  }
}

/** Hands batches to the store, a few at a time, so that it never waits for the next to be decoded. */
class Writer {
  readonly #options: IngestOptions;
  readonly #report: Report;
  readonly #running: Promise<void>[] = [];

  constructor(options: IngestOptions, report: Report) {
    this.#options = options;
    this.#report = report;
  }

  /** Begins to write a batch, once there is room for it. Rejects when one before it failed. */
  async write(batch: Batch): Promise<void> {
    if (batch.records.length === 0) return;
    if (this.#running.length >= BATCHES_IN_FLIGHT) await this.#running.shift();
    const running = this.#writeAll(batch);
    running.catch(() => undefined);
    this.#running.push(running);
  }

  /** Everything is written. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Nothing is being written any more, whatever came of it. */
  async finished(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #writeAll({ records, origins }: Batch): Promise<void> {
    const { stream, stores, signal } = this.#options;
    const refused = await writeRecords((part) => stream.write(stores, part), records, { signal });
    // A store that takes none of them, and cannot say why, is itself what is wrong.
    const unknown = refused.find(({ reason }) => !(reason instanceof RecordRejectedError));
    if (unknown && refused.length === records.length) throw unknown.reason;
    for (const { index, reason } of refused) {
      this.#report.refuse(refusedBy(reason), origins[index] as RawRecord);
    }
    this.#report.accept(records.length - refused.length);
  }
}
