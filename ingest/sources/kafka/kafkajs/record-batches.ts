/** Reads the record batches of a fetch, replacing the reader of kafkajs: https://kafka.apache.org/documentation/#recordbatch */
import { MAX_DECOMPRESSED_BATCH_BYTES, RECORD_OVERHEAD_BYTES } from '../limits.js';
import type { Headers, KafkaRecord, Unreadable } from '../record.js';
import { DECOMPRESSORS, type DecompressionResult } from './compression.js';
import { crc32c } from './crc32c.js';

/** Bytes of the key and value of an unreadable record that its dead letter keeps. */
const BEGINNING_BYTES = 1024;

const HEADER_BYTES = 61;
/** Bytes of the base offset and of the length. The length counts the bytes after both. */
const LENGTH_BYTES = 12;
export const MAGIC_AT = 16;
export const MAGIC = 2;
const CRC_AT = 17;
/** Position of the attributes. The checksum covers everything from here to the end. */
const ATTRIBUTES_AT = 21;

const CODEC_MASK = 0x07;
const LOG_APPEND_TIME = 0x08;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

const CORRUPT: DecompressionResult = { bytes: Buffer.alloc(0), missing: 'corrupt' };

/** A record as kafkajs passes it on. */
export interface FetchedRecord extends Omit<KafkaRecord, 'partition' | 'timestamp'> {
  timestamp: string;
  isControlRecord: boolean;
  batchContext: { producerId: string; inTransaction: boolean; isControlBatch: boolean };
}

/** The memory that the records of one fetch, over all its partitions, may take. */
export interface FetchBudget {
  readonly maxBytes: number;
  heldBytes: number;
}

/**
 * Reads the records of one partition. The last record batch may be cut off. Records above the budget are left for the next fetch. Only the
 * first record batch of a fetch may exceed the budget; otherwise, it would never be read.
 */
export async function readRecordBatches(
  bytes: Buffer,
  budget: FetchBudget,
  maxBatchBytes = MAX_DECOMPRESSED_BATCH_BYTES,
): Promise<FetchedRecord[]> {
  const read: FetchedRecord[][] = [];
  for (let start = 0, end = batchEnd(bytes, 0); end > 0; start = end, end = batchEnd(bytes, end)) {
    const isFirst = budget.heldBytes === 0;
    const room = budget.maxBytes - budget.heldBytes;
    if (!isFirst && room <= 0) break;
    // The offset to use if the header of this batch is corrupt.
    const next = batchEnd(bytes, end) > 0 ? Number(bytes.readBigInt64BE(end)) : Number.POSITIVE_INFINITY;
    const maxBytes = isFirst ? maxBatchBytes : Math.min(room, maxBatchBytes);
    const batch = await readBatch(bytes.subarray(start, end), next, maxBytes);
    if (!isFirst && batch.bytes > room) break;
    budget.heldBytes += batch.bytes;
    read.push(batch.records);
  }
  return read.flat();
}

/** The end of the record batch at `start`; 0 if the batch is cut off or has another format. */
function batchEnd(bytes: Buffer, start: number): number {
  if (start + HEADER_BYTES > bytes.length || bytes.readInt8(start + MAGIC_AT) !== MAGIC) return 0;
  const end = start + LENGTH_BYTES + bytes.readInt32BE(start + LENGTH_BYTES - 4);
  return end > bytes.length || end < start + HEADER_BYTES ? 0 : end;
}

/**
 * Resolves with the records and their memory, which is above `maxBytes` if not all records were read. `next` is the base offset of the next
 * batch.
 */
async function readBatch(batch: Buffer, next: number, maxBytes: number) {
  const isIntact = batch.readInt32BE(CRC_AT) === crc32c(batch.subarray(ATTRIBUTES_AT));
  // The number is exact up to 2^53.
  const base = Number(batch.readBigInt64BE(0));
  const attributes = isIntact ? batch.readInt16BE(ATTRIBUTES_AT) : 0;
  const lastOffset = Math.max(base, Math.min(base + batch.readInt32BE(23), next - 1));
  const firstTimestamp = Number(batch.readBigInt64BE(27));
  const maxTimestamp = String(batch.readBigInt64BE(35));
  const count = isIntact ? batch.readInt32BE(57) : 1;
  const isControlRecord = (attributes & CONTROL) !== 0;
  const batchContext = {
    producerId: String(batch.readBigInt64BE(43)),
    inTransaction: (attributes & TRANSACTIONAL) !== 0,
    isControlBatch: isControlRecord,
  };
  /** A single record that represents all records from its offset to the end of the batch. */
  const rest = (fields: Partial<FetchedRecord>): FetchedRecord => ({
    offset: String(lastOffset),
    timestamp: maxTimestamp,
    key: null,
    value: null,
    headers: {},
    isControlRecord,
    batchContext,
    ...fields,
  });
  // Compaction removed all records of the batch, but the offsets must be committed all the same.
  if (count <= 0) return { records: [rest({ isControlRecord: true })], bytes: 0 };
  const decompress = isIntact ? DECOMPRESSORS[attributes & CODEC_MASK] : undefined;
  const { bytes, missing } = decompress ? await decompress(batch.subarray(HEADER_BYTES), maxBytes) : CORRUPT;
  const records: FetchedRecord[] = [];
  const reader = new Reader(bytes);
  for (let offset = base; records.length < count; ) {
    const { offsetDelta, timestampDelta, key, value, valueBytes, headers } = readRecord(reader);
    if (reader.isCut) {
      const first = Math.max(offset, Math.min(base + offsetDelta, lastOffset));
      const unreadable: Unreadable = {
        reason: missing ?? 'corrupt',
        first: String(first),
        last: String(lastOffset),
        valueBytes,
      };
      records.push(rest({ key: beginning(key), value: beginning(value), unreadable }));
      break;
    }
    records.push({
      offset: String(base + offsetDelta),
      timestamp: attributes & LOG_APPEND_TIME ? maxTimestamp : String(firstTimestamp + timestampDelta),
      key,
      value,
      headers,
      isControlRecord,
      batchContext,
    });
    offset = base + offsetDelta + 1;
  }
  const size = bytes.length + records.length * RECORD_OVERHEAD_BYTES;
  return { records, bytes: missing === 'too large' ? Math.max(size, maxBytes + 1) : size };
}

const beginning = (content: Buffer | null) => content && Buffer.from(content.subarray(0, BEGINNING_BYTES));

/** Reads a record. If the bytes end early, sets `reader.isCut` and returns the part that was read. */
function readRecord(reader: Reader) {
  const length = reader.varint();
  const end = reader.at + length;
  // The attributes of records are not used.
  reader.at++;
  const timestampDelta = reader.varint();
  const offsetDelta = reader.varint();
  const key = reader.sized();
  const value = reader.sized();
  const valueBytes = value === null ? 0 : reader.lastSize;
  const headers = readHeaders(reader);
  if (length < 0 || reader.at > end || end > reader.bytes.length) reader.isCut = true;
  reader.at = end;
  return { timestampDelta, offsetDelta, key, value, valueBytes, headers };
}

function readHeaders(reader: Reader): Headers {
  const count = reader.varint();
  if (count <= 0) return {};
  const headers = new Map<string, Buffer | Buffer[]>();
  for (let left = count; left > 0 && !reader.isCut; left--) {
    const name = reader.sized()?.toString() ?? '';
    // The value may be null, which kafkajs passes too although its types omit null.
    const value = reader.sized() as Buffer;
    const before = headers.get(name);
    headers.set(name, headers.has(name) ? [before as Buffer, value].flat() : value);
  }
  return Object.fromEntries(headers);
}

class Reader {
  readonly bytes: Buffer;
  at = 0;
  /** Whether the bytes ended early. */
  isCut = false;
  /** Declared size of the bytes that `sized` read last. */
  lastSize = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Reads a zigzag integer in groups of seven bits; exact up to 53 bits. */
  varint(): number {
    let low = 0;
    let factor = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) break;
      low += (byte & 0x7f) * factor;
      if (byte < 0x80) return low % 2 === 0 ? low / 2 : -(low + 1) / 2;
      factor *= 128;
    }
    this.isCut = true;
    return 0;
  }

  /** Reads bytes that follow their length; null if the length is -1. */
  sized(): Buffer | null {
    this.lastSize = this.varint();
    if (this.lastSize < 0 || this.isCut) return null;
    const start = this.at;
    this.at += this.lastSize;
    if (this.at > this.bytes.length) this.isCut = true;
    return this.bytes.subarray(start, this.at);
  }
}
