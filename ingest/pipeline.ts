import { isSuppressed } from '../services/contacts/suppression.js';
import { TimeSlice } from '../services/shared/async.js';
import { type Acceptance, isStale } from '../services/shared/record-order.js';
import type { UnknownFields } from '../services/shared/settings.js';
import { RecordRejectedError } from '../services/shared/store-errors.js';
import { type Decode, decoder, type OrganizationRule } from './decode.js';
import type { DeclaredForms } from './mapping/column-forms.js';
import { compileMapping } from './mapping/compile.js';
import type { Mapping } from './mapping/mapping.js';
import { PRESETS } from './presets/index.js';
import { presetMapping } from './presets/named-mappings.js';
import { AUTO } from './presets/recognize.js';
import { type AcceptedRecord, type DeadLetter, deadLetterOf } from './records/outcome.js';
import { orderOf, type RawRecord, type RecordSource } from './records/raw-record.js';
import type { PeopleResolver } from './resolve-people.js';
import { LINE_TOO_LONG } from './sources/lines.js';
import { recognizeText } from './sources/recognize-text.js';
import { type ColumnUse, mapText, openText, type ReadingOptions, type TextFormat } from './sources/text.js';
import type { IngestStores, Stream } from './streams/stream.js';
import { type RejectedWrite, writeRecords } from './write-records.js';

/** A batch is written once it has this many bytes of input, or the number of records that the store prefers. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** Concurrent writes of one input. */
const MAX_BATCHES_IN_FLIGHT = 4;
/** Milliseconds after which records of a slow source are written. */
const FLUSH_MS = 250;
export const DEFAULT_MAX_ERRORS = 100;

export interface RejectedRecord {
  line: number;
  code: string;
  pointer: string;
  detail: string;
}

export interface IngestResult {
  accepted: number;
  rejected: number;
  /** Records that the mapping leaves out. */
  skipped: number;
  /** Accepted records with an amount that was rounded to 12 decimal places. */
  rounded: number;
  /** Accepted contacts that were not stored, because the person was erased. */
  suppressed: number;
  /** Accepted contacts and audiences that had no effect, because a newer record exists. */
  stale: number;
  /** Accepted records with a text that is not a domain in the domain field; the field was left out. */
  invalid_domains: number;
  /** Accepted records in which the mapping left out placeholders, such as `#N/A`. */
  invalid_values: number;
  /** The preset that recognized the records; absent if none was requested. */
  preset?: string;
  /** Names of the tables that the mapping joins and that did not come with the text; absent if the mapping joins no table. */
  missing_tables?: string[];
  /** Accepted records whose unknown fields were ignored; absent if unknown fields are rejected. */
  ignored?: number;
  /** Accepted contacts by kind of person, if people are looked up; otherwise absent. */
  created?: number;
  updated?: number;
  matched?: number;
  ambiguous?: number;
  /** The errors of the first rejected lines, in ascending order. */
  errors: RejectedRecord[];
}

export const emptyResult = (): IngestResult => ({
  accepted: 0,
  rejected: 0,
  skipped: 0,
  rounded: 0,
  suppressed: 0,
  stale: 0,
  invalid_domains: 0,
  invalid_values: 0,
  errors: [],
});

/** Maximum number of records of one input (optional), maximum number of rejected records, and maximum time spent on the records. */
export interface IngestLimits {
  records?: number;
  rejected: number;
  milliseconds?: number;
}

/** An input was read up to one of its limits. Records that `result` counts as accepted are written. */
export class IngestLimitError extends Error {
  override readonly name = 'IngestLimitError';
  readonly limit: keyof IngestLimits;
  readonly result: IngestResult;

  constructor(limit: keyof IngestLimits, result: IngestResult) {
    super(`reached the limit of ${limit}`);
    this.limit = limit;
    this.result = result;
  }
}

/** No preset fits the records, or several presets do. No record was read. The message says which presets fit. */
export class UnrecognizedInputError extends Error {
  override readonly name = 'UnrecognizedInputError';
}

export interface IngestOptions extends Partial<OrganizationRule> {
  stream: Stream;
  stores: IngestStores;
  /** Assigns the order of all records of this input. */
  acceptance: Acceptance;
  /** Called with each rejected record, its bytes as received, and how its source read it. */
  onRejected?(record: RejectedRecord, untouched: Buffer, raw: RawRecord): void;
  /** Called with every piece of an over-long line except the last, which goes to `onRejected`. */
  onOverlong?(piece: Buffer): void;
  /** Called with an unexpected error while decoding or mapping a record, which is a fault of the program. The record is rejected. */
  onFault?(error: unknown): void;
  /** Counts the outcomes of records, including records before an error; by default a new object. */
  result?: IngestResult;
  /** Called after every write. Every record that begins up to `line` is written or rejected by then. */
  onProgress?(accepted: number, rejected: number, line: number): void;
  /** What happens to unknown fields; default `reject`. */
  unknownFields?: UnknownFields;
  /** Looks up the people of contacts before they are written; absent for other streams, and if people are not looked up. */
  people?: PeopleResolver | undefined;
  /** Limits of the input; by default there are no limits. */
  limits?: IngestLimits;
  /** Maximum number of errors that the result lists; default 100. */
  maxErrors?: number;
  signal?: AbortSignal;
}

/**
 * Ingests the records of a text. Rejected records never stop the other records. Throws `StoreUnavailableError` or `StoreTimeoutError` if
 * the store is unavailable, `ColumnsError` if the header of CSV names unknown columns, and `UnreadableInputError` if the text does not have
 * its format. Also throws `AmbiguousInputError`, `UnrecognizedInputError` and `IngestLimitError`. The caller may send the whole text again,
 * because every stream is idempotent.
 */
export async function ingestText(
  options: IngestOptions & {
    source: AsyncIterable<Uint8Array>;
    format: TextFormat;
    reading?: ReadingOptions;
    mapping?: Mapping | PresetChoice;
    declared?: DeclaredForms;
    /** Called with the columns of CSV before its records are read. */
    onColumns?: (columns: ColumnUse[]) => void;
  },
): Promise<IngestResult> {
  const { stream, declared, onColumns, mapping } = options;
  const text = await openText(options.source, options.format, {
    ...options.reading,
    headers: headersOf(mapping),
    signal: options.signal,
  });
  if (mapping === undefined || !('preset' in mapping)) {
    const source = await mapText(text, stream, mapping, declared, onColumns);
    return { ...(await ingestRecords({ ...options, source })), ...missingTablesOf(mapping) };
  }
  const found = await recognizeText(text, mapping.preset, stream.name);
  if ('reason' in found) {
    text.close();
    throw new UnrecognizedInputError(found.reason);
  }
  const { name, preset, taken } = found;
  const used = taken.length === 0 ? presetMapping(name) : compileMapping(preset, stream);
  const source = await mapText(text, stream, used, declared, onColumns);
  const result = { ...(await ingestRecords({ ...options, source })), ...missingTablesOf(used) };
  return mapping.preset === AUTO ? { ...result, preset: name } : result;
}

/** The part of a response that names joined tables which are missing. */
export const missingTablesOf = (mapping: Mapping | undefined): Pick<IngestResult, 'missing_tables'> =>
  mapping === undefined || mapping.missingTables.length === 0
    ? {}
    : { missing_tables: mapping.missingTables };

/** The name of a preset, or `auto` for the preset that recognizes the records. */
export interface PresetChoice {
  preset: string;
}

/** Columns that the header of a table may have, which distinguish it from the lines before it. */
function headersOf(mapping: Mapping | PresetChoice | undefined): Mapping['marks'][] {
  if (mapping === undefined) return [];
  if (!('preset' in mapping)) return mapping.marks.length === 0 ? [] : [mapping.marks];
  const named = PRESETS[mapping.preset];
  return (named ? [named] : Object.values(PRESETS)).map(({ recognize }) => recognize);
}

/** Decodes records in order and writes them in batches; a record counts as accepted once it is written. */
export async function ingestRecords(
  options: IngestOptions & { source: RecordSource },
): Promise<IngestResult> {
  const { stream, stores, signal, acceptance } = options;
  const { preferredBatchSize } = stores[stream.store];
  const others = options.others ?? (options.organizationId === undefined ? 'allow' : 'reject');
  const decode = decoder(stream, { organizationId: options.organizationId, others }, options);
  const report = new Report(options);
  const writer = new Writer(options, report);
  const slice = new TimeSlice();
  let batch = new Batch();
  let records = 0;
  const startedAt = performance.now();
  let reached: keyof IngestLimits | undefined;
  const write = async () => {
    await writer.write(batch);
    batch = new Batch();
  };

  const source = options.source[Symbol.asyncIterator]();
  try {
    let pending = source.next();
    while (reached === undefined) {
      const step = await nextOrFlush(pending, batch);
      if (step === 'flush') {
        await write();
        continue;
      }
      if (step.done) break;
      pending = source.next();
      pending.catch(() => undefined);
      for (const raw of step.value) {
        reached = reachedLimit(options.limits, records, report.result.rejected, startedAt);
        if (reached !== undefined) break;
        if (raw.fault !== undefined) options.onFault?.(raw.fault);
        decodeInto(batch, report, decode, raw, acceptance);
        batch.line = raw.order === undefined ? (raw.lastLine ?? raw.line) : raw.line - 1;
        if (raw.overlong !== 'piece') records++;
        if (batch.records.length >= preferredBatchSize || batch.bytes >= MAX_BATCH_BYTES) {
          await write();
        }
        if (slice.shouldYield(raw.bytes.length)) await slice.yieldToEventLoop(signal);
      }
    }
    await write();
    await writer.settled();
    if (report.result.accepted > 0) await stream.refresh?.(stores);
    if (reached !== undefined) throw new IngestLimitError(reached, report.result);
    return report.result;
  } finally {
    await writer.finished();
    void source.return?.()?.catch(() => undefined);
  }
}

/** The limit that allows no further record. */
function reachedLimit(
  limits: IngestLimits | undefined,
  records: number,
  rejected: number,
  startedAt: number,
): keyof IngestLimits | undefined {
  if (limits === undefined) return undefined;
  const { milliseconds = Number.POSITIVE_INFINITY } = limits;
  if (records > 0 && performance.now() - startedAt > milliseconds) return 'milliseconds';
  if (limits.records !== undefined && records >= limits.records) return 'records';
  return rejected >= limits.rejected ? 'rejected' : undefined;
}

function decodeInto(
  batch: Batch,
  report: Report,
  decode: Decode,
  raw: RawRecord,
  acceptance: Acceptance,
): void {
  if (raw.overlong === 'piece') {
    report.overlong(raw.bytes);
    return;
  }
  if (raw.isSkipped) {
    report.result.skipped++;
    return;
  }
  const outcome = raw.overlong
    ? LINE_TOO_LONG
    : (raw.rejection ?? decodeAt(decode, raw, acceptance.at(orderOf(raw))));
  if (outcome.kind === 'ok' && raw.leftOut !== undefined) outcome.hadInvalidValue = true;
  if (outcome.kind === 'ok') batch.add(outcome, raw);
  else report.reject(outcome, raw);
}

const decodeAt = (decode: Decode, raw: RawRecord, { acceptedAt, sequence }: ReturnType<Acceptance['at']>) =>
  decode(raw, acceptedAt, sequence);

/** Decoded records and their origins, to be written together. */
class Batch {
  records: AcceptedRecord<object>[] = [];
  origins: RawRecord[] = [];
  /** The last line whose records are all in this batch or an earlier one. */
  line = 0;
  readonly startedAt = performance.now();
  bytes = 0;

  add(record: AcceptedRecord<object>, origin: RawRecord): void {
    if (origin.order !== undefined) record.line = origin.line;
    this.records.push(record);
    this.origins.push(origin);
    this.bytes += origin.bytes.length;
  }

  /** Removes records by index. */
  remove(indexes: Pick<ReadonlySet<number>, 'has'>): void {
    const stays = (_: unknown, index: number) => !indexes.has(index);
    this.records = this.records.filter(stays);
    this.origins = this.origins.filter(stays);
  }
}

/** The next records, or `flush` when the batch has waited `FLUSH_MS` for further records. */
async function nextOrFlush<T>(next: Promise<T>, batch: Batch): Promise<T | 'flush'> {
  if (batch.records.length === 0) return next;
  let timer: NodeJS.Timeout | undefined;
  const due = new Promise<'flush'>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, batch.startedAt + FLUSH_MS - performance.now()), 'flush');
  });
  try {
    return await Promise.race([next, due]);
  } finally {
    clearTimeout(timer);
  }
}

/** Inserts an error by its line: stores report errors later than the decoder, and several batches are written at once. */
function addError(errors: RejectedRecord[], error: RejectedRecord, maxErrors: number): void {
  let place = errors.length;
  while (place > 0 && (errors[place - 1] as RejectedRecord).line > error.line) place--;
  if (place >= maxErrors) return;
  errors.splice(place, 0, error);
  if (errors.length > maxErrors) errors.pop();
}

class Report {
  readonly result: IngestResult;
  readonly #options: IngestOptions;

  constructor(options: IngestOptions) {
    this.#options = options;
    this.result = options.result ?? emptyResult();
    if (options.unknownFields === 'ignore') this.result.ignored = 0;
    if (options.people) Object.assign(this.result, { created: 0, updated: 0, matched: 0, ambiguous: 0 });
  }

  /** `failed` are writes that changed nothing; `rejected` are their records that are not accepted. */
  accept(
    all: readonly AcceptedRecord<object>[],
    failed: readonly RejectedWrite[],
    rejected: ReadonlySet<number>,
  ) {
    const { result } = this;
    const records = all.filter((_, index) => !rejected.has(index));
    result.accepted += records.length;
    const unchanged = new Set(failed.map(({ index }) => index));
    for (const [index, { person }] of all.entries()) {
      if (person !== undefined && !unchanged.has(index)) result[person] = (result[person] ?? 0) + 1;
    }
    result.suppressed += failed.filter(({ reason }) => isSuppressed(reason)).length;
    result.stale += failed.filter(({ reason }) => isStale(reason)).length;
    for (const { isRounded, hadInvalidDomain, hadInvalidValue, hadUnknownFields } of records) {
      if (isRounded) result.rounded++;
      if (hadInvalidDomain) result.invalid_domains++;
      if (hadInvalidValue) result.invalid_values++;
      if (hadUnknownFields && result.ignored !== undefined) result.ignored++;
    }
  }

  progress(line: number): void {
    this.#options.onProgress?.(this.result.accepted, this.result.rejected, line);
  }

  reject({ code, pointer, detail }: DeadLetter, raw: RawRecord): void {
    const rejected = { line: raw.line, code, pointer, detail };
    this.result.rejected++;
    addError(this.result.errors, rejected, this.#options.maxErrors ?? DEFAULT_MAX_ERRORS);
    this.#options.onRejected?.(rejected, raw.untouched ?? raw.bytes, raw);
  }

  overlong(piece: Buffer): void {
    this.#options.onOverlong?.(piece);
  }
}

/** Writes batches, a few at the same time, so that the store never waits for the decoder. */
class Writer {
  readonly #options: IngestOptions;
  readonly #report: Report;
  readonly #running: Promise<void>[] = [];
  /** Batches that are being written, or that wait for an earlier batch. */
  #unsettled: { batch: Batch; isWritten: boolean }[] = [];
  #line = 0;

  constructor(options: IngestOptions, report: Report) {
    this.#options = options;
    this.#report = report;
  }

  /** Starts to write a batch once fewer than `MAX_BATCHES_IN_FLIGHT` are in flight. Rejects if an earlier batch failed. */
  async write(batch: Batch): Promise<void> {
    if (this.#running.length >= MAX_BATCHES_IN_FLIGHT) await this.#running.shift();
    await this.#resolvePeople(batch);
    const running = this.#writeInOrder(batch);
    running.catch(() => undefined);
    this.#running.push(running);
  }

  /** Resolves when every batch is written; rejects when a batch failed. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Resolves when every write has settled. */
  async finished(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** Resolves people of one batch after another, because a person may be in several batches. */
  async #resolvePeople(batch: Batch): Promise<void> {
    const { people, signal } = this.#options;
    const rejected = await people?.resolve(batch.records, signal);
    if (rejected === undefined || rejected.size === 0) return;
    for (const [index, rejection] of rejected) {
      this.#report.reject(rejection, batch.origins[index] as RawRecord);
    }
    batch.remove(rejected);
  }

  /** Reports progress up to the first batch that is not written yet. */
  async #writeInOrder(batch: Batch): Promise<void> {
    const write = { batch, isWritten: false };
    this.#unsettled.push(write);
    if (batch.records.length > 0) await this.#writeAll(batch);
    write.isWritten = true;
    for (let [first] = this.#unsettled; first?.isWritten; [first] = this.#unsettled) {
      this.#line = Math.max(this.#line, first.batch.line);
      this.#unsettled.shift();
    }
    if (batch.records.length > 0) this.#report.progress(this.#line);
  }

  async #writeAll({ records, origins }: Batch): Promise<void> {
    const { stream, stores, signal } = this.#options;
    const failed = await writeRecords((part) => stream.write(stores, part), records, { signal });
    const rejected = failed.filter(({ reason }) => !isSuppressed(reason) && !isStale(reason));
    // A store that accepts no record and gives no reason is itself at fault.
    const unknown = rejected.find(({ reason }) => !(reason instanceof RecordRejectedError));
    if (unknown && failed.length === records.length) throw unknown.reason;
    const lost = new Set(rejected.map(({ index }) => index));
    for (const { index, reason } of rejected) {
      this.#report.reject(deadLetterOf(reason), origins[index] as RawRecord);
    }
    this.#report.accept(records, failed, lost);
  }
}
