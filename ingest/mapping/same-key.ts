/**
 * Rejects rows of a mapped file that contradict each other (contract 6.2c). Such rows have one key and one time of report, but different
 * values, or equal values and different texts in a column that the mapping leaves out.
 */
import { hash } from 'node:crypto';
import { TimeSlice } from '../../services/shared/async.js';
import { isObject } from '../../services/shared/json.js';
import { deadLetter } from '../records/outcome.js';
import type { RawRecord, RecordSource } from '../records/raw-record.js';
import type { Stream } from '../streams/stream.js';
import { requiredFields } from './edit.js';
import { isEmpty } from './target-types.js';

/** Maximum number and bytes of rows that wait for a possible contradiction, so that contradicting rows are rejected together. */
const MAX_WAITING_ROWS = 10_000;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Milliseconds of silence of a live source after which waiting rows are released. */
const MAX_SILENCE_MS = 500;
/** Maximum number of keys with which later rows are compared. The oldest key is forgotten first. */
const MAX_KEYS = 250_000;

interface Options {
  /** Whether records are needed as they arrive, such as from a pipe. */
  isLive?: boolean | undefined;
  /** Columns that the mapping leaves out; each may be a dimension of the report. */
  leftOut?: readonly string[];
  waitingRows?: number;
  keys?: number;
}

/** The records of a source, without records that contradict each other. Streams without `rowKey` are not checked. */
export function rejectContradictions(
  source: RecordSource,
  stream: Stream,
  options: Options = {},
): RecordSource {
  return stream.rowKey === undefined ? source : withoutContradictions(source, stream, stream.rowKey, options);
}

async function* withoutContradictions(
  source: RecordSource,
  stream: Stream,
  rowKey: readonly string[],
  { isLive = false, leftOut = [], waitingRows = MAX_WAITING_ROWS, keys = MAX_KEYS }: Options,
): AsyncGenerator<RawRecord[]> {
  const known = new KnownRows(rowKey, requiredFields(stream), leftOut, keys);
  const iterator = source[Symbol.asyncIterator]();
  const slice = new TimeSlice();
  let waiting: RawRecord[][] = [];
  let [rows, bytes] = [0, 0];
  const released = (all: boolean) => {
    let count = 0;
    for (const chunk of waiting) {
      if (!all && rows <= waitingRows && bytes <= MAX_WAITING_BYTES) break;
      count++;
      rows -= chunk.length;
      for (const raw of chunk) {
        bytes -= raw.bytes.length;
        known.release(raw);
      }
    }
    const chunks = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return chunks;
  };
  try {
    let pending = iterator.next();
    pending.catch(() => undefined);
    for (;;) {
      const step = isLive && waiting.length > 0 ? await nextOrSilence(pending) : await pending;
      if (step === 'silence') {
        yield* released(true);
        continue;
      }
      if (step.done) break;
      for (const raw of step.value) {
        known.add(raw);
        bytes += raw.bytes.length;
        if (slice.shouldYield(raw.bytes.length)) await slice.yieldToEventLoop();
      }
      rows += step.value.length;
      waiting.push(step.value);
      yield* released(false);
      pending = iterator.next();
      pending.catch(() => undefined);
    }
    yield* released(true);
  } finally {
    await iterator.return?.();
  }
}

async function nextOrSilence<T>(next: Promise<T>): Promise<T | 'silence'> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<'silence'>((resolve) => {
    timer = setTimeout(resolve, MAX_SILENCE_MS, 'silence');
  });
  try {
    return await Promise.race([next, silence]);
  } finally {
    clearTimeout(timer);
  }
}

/** The rows of one key. */
interface Row {
  line: number;
  values: string;
  /** Texts of the columns that the mapping leaves out. */
  parts: string;
  /** Rows of this key that still wait, in order. */
  waiting: Set<RawRecord>;
  /** Whether one of the rows was released. */
  isReleased: boolean;
  isContradicted: boolean;
}

class KnownRows {
  readonly #rowKey: readonly string[];
  readonly #required: readonly string[];
  readonly #leftOut: readonly string[];
  readonly #maxKeys: number;
  readonly #rows = new Map<string, Row>();
  readonly #rowOf = new Map<RawRecord, Row>();

  constructor(
    rowKey: readonly string[],
    required: readonly string[],
    leftOut: readonly string[],
    maxKeys: number,
  ) {
    this.#rowKey = rowKey;
    this.#required = rowKey.filter((name) => required.includes(name));
    this.#leftOut = leftOut.filter((name) => !name.startsWith('_'));
    this.#maxKeys = maxKeys;
  }

  /** Adds a record. If it contradicts the other records of its key, rejects it and those of them that still wait. */
  add(raw: RawRecord): void {
    const record = recordOf(raw);
    // A record without a required field is rejected for that.
    if (record === undefined || this.#required.some((name) => isEmpty(record[name]))) return;
    const key = digestOf(this.#rowKey.map((name) => record[name]));
    const values = digestOf(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
    const texts = this.#dimensionsOf(raw);
    const parts = texts.length === 0 ? '' : digestOf(texts);
    const row = this.#rows.get(key);
    if (row === undefined) {
      this.#remember(
        key,
        { line: raw.line, values, parts, waiting: new Set(), isReleased: false, isContradicted: false },
        raw,
      );
      return;
    }
    if (!row.isContradicted && row.values === values && row.parts === parts) {
      this.#wait(row, raw);
      return;
    }
    const [first] = row.waiting;
    const column = row.values === values && !row.isContradicted ? this.#difference(first, texts) : undefined;
    for (const earlier of row.waiting) reject(earlier, raw.line, { isStored: false, column });
    row.waiting.clear();
    row.isContradicted = true;
    reject(raw, row.line, { isStored: row.isReleased, column });
  }

  /**
   * Texts of the columns that the mapping leaves out and that may distinguish parts of a day. Times, numbers and hashes of connectors do
   * not distinguish parts of a day.
   */
  #dimensionsOf({ value }: RawRecord): Dimension[] {
    if (!isObject(value)) return [];
    return this.#leftOut.flatMap((name): Dimension[] => {
      const text = value[name];
      return typeof text === 'string' && isDimension(text) ? [[name, text.trim()]] : [];
    });
  }

  /** The column in which a row differs from an earlier row that still waits. */
  #difference(earlier: RawRecord | undefined, texts: readonly Dimension[]): string {
    const before = new Map(earlier && this.#dimensionsOf(earlier));
    const found =
      texts.find(([name, text]) => before.get(name) !== text) ??
      [...before].find(([name]) => texts.every(([other]) => other !== name));
    return found?.[0] ?? texts.map(([name]) => name).join(', ');
  }

  /** Releases the record: from now on, it cannot be rejected. */
  release(raw: RawRecord): void {
    const row = this.#rowOf.get(raw);
    if (row === undefined) return;
    this.#rowOf.delete(raw);
    if (row.waiting.delete(raw)) row.isReleased = true;
  }

  #remember(key: string, row: Row, raw: RawRecord): void {
    this.#rows.set(key, row);
    this.#wait(row, raw);
    if (this.#rows.size <= this.#maxKeys) return;
    const [oldest] = this.#rows.keys();
    this.#rows.delete(oldest as string);
  }

  #wait(row: Row, raw: RawRecord): void {
    row.waiting.add(raw);
    this.#rowOf.set(raw, row);
  }
}

/** The record that a mapping or a table provides. */
function recordOf({
  mapped,
  rejection,
  isSkipped,
  overlong,
}: RawRecord): Record<string, unknown> | undefined {
  if (rejection || isSkipped || overlong || !isObject(mapped)) return undefined;
  return mapped.deleted === true ? undefined : mapped;
}

type Dimension = [column: string, text: string];

const LETTER = /\p{L}/u;
/** A day or a time, such as `2026-11-02T09:00:00Z`, `9:00 PM`, `Nov 2, 2026` or `2 November 2026`. */
const TIME =
  /^(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2}|\p{L}{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.? \p{L}{3,9}\.?,? \d{4})(?![\p{L}])/u;
const HASH = /^[0-9a-f-]{16,}$/i;

const isDimension = (text: string): boolean =>
  LETTER.test(text) && !TIME.test(text.trimStart()) && !HASH.test(text.trim());

/**
 * Rejects the row as `same_key`. `column` is set if the mapping leaves out the only column that distinguishes the row from the other row.
 */
function reject(
  raw: RawRecord,
  line: number,
  { isStored, column }: { isStored: boolean; column: string | undefined },
): void {
  const other = isStored ? `line ${line}, which is taken already,` : `line ${line}`;
  const difference =
    column === undefined
      ? 'and their figures differ'
      : `and only ${JSON.stringify(column)} tells them apart, which is left out`;
  raw.rejection = deadLetter(
    'same_key',
    '',
    `The row and ${other} are about the same day, campaign, creative and company, ${difference}. Export the report without the breakdown that tells them apart.`,
  );
}

const digestOf = (value: unknown) => hash('sha1', JSON.stringify(value), 'binary');
