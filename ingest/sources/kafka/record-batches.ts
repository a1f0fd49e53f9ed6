/**
 * Reads the record batches of a fetch in place of kafkajs, which decompresses without a bound and fails the whole fetch for one record
 * batch that it cannot read, again and again. https://kafka.apache.org/documentation/#recordbatch
 */
import { MAX_DECOMPRESSED_BATCH_BYTES, MAX_DECOMPRESSED_FETCH_BYTES } from './batch-size.js';
import { DECOMPRESSORS } from './compression.js';

/** Bytes of the key and the value of an unreadable record that its dead letter stores. */
const BEGINNING_BYTES = 1024;

const HEADER_BYTES = 61;
const LENGTH_BYTES = 12;
export const MAGIC_AT = 16;
export const MAGIC = 2;

const CODEC_MASK = 0x07;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

/** Unreadable records at the end of a record batch: one record stands for all of them, with the offset of the last. */
export interface Unreadable {
  reason: 'too large' | 'corrupt';
  /** Offsets of the first and the last. */
  first: string;
  last: string;
  /** Declared size of the first value; 0 when that is unreadable too. */
  valueBytes: number;
}

/** A record as kafkajs passes it on. */
export interface FetchedRecord {
  readonly timestamp: string;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, Buffer | null | (Buffer | null)[]>;
  readonly isControlRecord: boolean;
  batchContext: { producerId: string; inTransaction: boolean; isControlBatch: boolean };
  unreadable?: Unreadable;
}

interface Bounds {
  maxBatchBytes?: number;
  maxFetchBytes?: number;
}

/** The records of a fetch, whose last record batch may be cut off. Record batches beyond `maxFetchBytes` are left for the next fetch. */
export async function readRecordBatches(
  bytes: Buffer,
  { maxBatchBytes = MAX_DECOMPRESSED_BATCH_BYTES, maxFetchBytes = MAX_DECOMPRESSED_FETCH_BYTES }: Bounds = {},
): Promise<FetchedRecord[]> {
  const records: FetchedRecord[] = [];
  let decompressed = 0;
  for (let start = 0; start + HEADER_BYTES <= bytes.length && decompressed < maxFetchBytes; ) {
    const end = start + LENGTH_BYTES + bytes.readInt32BE(start + 8);
    if (end > bytes.length || end < start + HEADER_BYTES) break;
    const batch = bytes.subarray(start, end);
    if (batch.readInt8(MAGIC_AT) !== MAGIC) break;
    decompressed += await readBatch(batch, maxBatchBytes, records);
    start = end;
  }
  return records;
}

/** Adds the records of one record batch. Resolves with its decompressed size. */
async function readBatch(batch: Buffer, maxBytes: number, records: FetchedRecord[]): Promise<number> {
  // Exact up to 2^53.
  const base = Number(batch.readBigInt64BE(0));
  const attributes = batch.readInt16BE(21);
  const lastOffset = base + batch.readInt32BE(23);
  const firstTimestamp = Number(batch.readBigInt64BE(27));
  const maxTimestamp = String(batch.readBigInt64BE(35));
  const count = batch.readInt32BE(57);
  const isControlRecord = (attributes & CONTROL) !== 0;
  const batchContext = {
    producerId: String(batch.readBigInt64BE(43)),
    inTransaction: (attributes & TRANSACTIONAL) !== 0,
    isControlBatch: isControlRecord,
  };
  const rest = (fields: Pick<FetchedRecord, 'key' | 'value' | 'isControlRecord' | 'unreadable'>) => ({
    offset: String(lastOffset),
    timestamp: maxTimestamp,
    headers: {},
    batchContext,
    ...fields,
  });
  if (count <= 0) {
    // Compaction left no record of it, but its offsets must be committed all the same.
    records.push(rest({ key: null, value: null, isControlRecord: true }));
    return 0;
  }
  const decompress = DECOMPRESSORS[attributes & CODEC_MASK];
  const raw = batch.subarray(HEADER_BYTES);
  const { bytes, missing } = decompress
    ? await decompress(raw, maxBytes)
    : { bytes: raw, missing: (attributes & CODEC_MASK) === 0 ? null : ('corrupt' as const) };
  const reader = new Reader(bytes);
  const timestampOf = (delta: number) =>
    attributes & LOG_APPEND_TIME ? maxTimestamp : String(firstTimestamp + delta);
  const shared = { bytes, base, timestampOf, isControlRecord, batchContext };
  let next = base;
  for (let index = 0; index < count; index++) {
    const start = reader.at;
    try {
      const record = new BatchRecord(reader, shared);
      records.push(record);
      next = record.next;
    } catch (error) {
      if (!(error instanceof EndOfBatchError)) throw error;
      reader.at = start;
      const { offsetDelta, key, value, valueBytes } = beginningOf(reader);
      const first = offsetDelta === null ? next : base + offsetDelta;
      const unreadable = {
        reason: missing ?? ('corrupt' as const),
        first: String(first >= next && first <= lastOffset ? first : next),
        last: String(lastOffset),
        valueBytes,
      };
      records.push(rest({ key, value, isControlRecord, unreadable }));
      break;
    }
  }
  return bytes.length;
}

class EndOfBatchError extends Error {}

class Reader {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  skip(count: number): void {
    if (this.at + count > this.bytes.length) throw new EndOfBatchError();
    this.at += count;
  }

  /** Zigzag, in groups of seven bits; exact up to 53 bits. */
  varint(): number {
    let low = 0;
    let factor = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new EndOfBatchError();
      low += (byte & 0x7f) * factor;
      if (byte < 0x80) return low % 2 === 0 ? low / 2 : -(low + 1) / 2;
      factor *= 128;
    }
    throw new EndOfBatchError();
  }

  /** Bytes behind their length, which is -1 for null. */
  sized(): Buffer | null {
    const start = this.skipSized();
    return start < 0 ? null : this.bytes.subarray(start, this.at);
  }

  /** Skips bytes behind their length; returns where they begin, or -1 for null. */
  skipSized(): number {
    const length = this.varint();
    if (length < 0) return -1;
    const start = this.at;
    this.skip(length);
    return start;
  }
}

/** What the records of a batch have in common. */
interface RecordContext extends Pick<FetchedRecord, 'isControlRecord' | 'batchContext'> {
  bytes: Buffer;
  base: number;
  timestampOf(delta: number): string;
}

/**
 * A record of a batch. What was fetched outlives several collections of young objects, each of which copies it: so offset, key and value
 * are made where they are read.
 */
class BatchRecord implements FetchedRecord {
  readonly timestamp: string;
  readonly headers: FetchedRecord['headers'];
  readonly isControlRecord: boolean;
  readonly batchContext: FetchedRecord['batchContext'];
  readonly #bytes: Buffer;
  readonly #offset: number;
  readonly #keyAt: number;
  readonly #keyEnd: number;
  readonly #valueAt: number;
  readonly #valueEnd: number;

  /** Throws `EndOfBatchError`. */
  constructor(reader: Reader, { bytes, base, timestampOf, isControlRecord, batchContext }: RecordContext) {
    const length = reader.varint();
    const end = reader.at + length;
    if (length < 0 || end > bytes.length) throw new EndOfBatchError();
    // Attributes of records are not used.
    reader.skip(1);
    this.timestamp = timestampOf(reader.varint());
    this.#offset = base + reader.varint();
    this.#keyAt = reader.skipSized();
    this.#keyEnd = reader.at;
    this.#valueAt = reader.skipSized();
    this.#valueEnd = reader.at;
    this.headers = readHeaders(reader);
    this.isControlRecord = isControlRecord;
    this.batchContext = batchContext;
    this.#bytes = bytes;
    if (reader.at > end) throw new EndOfBatchError();
    reader.at = end;
  }

  get offset(): string {
    return String(this.#offset);
  }

  get key(): Buffer | null {
    return this.#keyAt < 0 ? null : this.#bytes.subarray(this.#keyAt, this.#keyEnd);
  }

  get value(): Buffer | null {
    return this.#valueAt < 0 ? null : this.#bytes.subarray(this.#valueAt, this.#valueEnd);
  }

  get next(): number {
    return this.#offset + 1;
  }
}

const NO_HEADERS = Object.freeze({});

function readHeaders(reader: Reader): FetchedRecord['headers'] {
  const count = reader.varint();
  if (count <= 0) return NO_HEADERS;
  const headers = new Map<string, Buffer | null | (Buffer | null)[]>();
  for (let index = 0; index < count; index++) {
    const name = reader.sized()?.toString('utf8') ?? '';
    const value = reader.sized();
    const before = headers.get(name);
    if (before === undefined) headers.set(name, value);
    else if (Array.isArray(before)) before.push(value);
    else headers.set(name, [before, value]);
  }
  return Object.fromEntries(headers);
}

/** The beginning of a record whose end is missing. */
function beginningOf(reader: Reader): {
  offsetDelta: number | null;
  key: Buffer | null;
  value: Buffer | null;
  valueBytes: number;
} {
  const found = {
    offsetDelta: null as number | null,
    key: null as Buffer | null,
    value: null as Buffer | null,
    valueBytes: 0,
  };
  const beginning = (length: number) =>
    Buffer.from(reader.bytes.subarray(reader.at, reader.at + Math.min(length, BEGINNING_BYTES)));
  try {
    reader.varint();
    reader.skip(1);
    reader.varint();
    found.offsetDelta = reader.varint();
    const keyBytes = reader.varint();
    if (keyBytes >= 0) found.key = beginning(keyBytes);
    reader.skip(Math.max(0, keyBytes));
    const valueBytes = reader.varint();
    if (valueBytes >= 0) {
      found.valueBytes = valueBytes;
      found.value = beginning(valueBytes);
    }
  } catch (error) {
    if (!(error instanceof EndOfBatchError)) throw error;
  }
  return found;
}
