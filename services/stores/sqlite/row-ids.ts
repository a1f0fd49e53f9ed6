/**
 * Row ids of the text indexes, stored in the columns `position` of their tables: 39 bits of creation time in units of 8 ms, then 24 bits of
 * a sequence. FTS5 returns rows by row id, so a page is read from the newest end, and only rows of one unit (bucket) need sorting. Times
 * before 1970 share the first bucket, and times after 2109 the last.
 */
export type RowId = bigint;

const BUCKET_MS = 8;
const SEQUENCE_BITS = 24n;
const SEQUENCE_MASK = (1n << SEQUENCE_BITS) - 1n;
const LAST_BUCKET = 2 ** 39 - 1;

/** The sequence wraps around after this many row ids. */
export const SEQUENCE_SIZE = 2 ** 24;

export const LAST_ROW_ID: RowId = (1n << 63n) - 1n;

export function rowIdOf(createdMs: number, sequence: number): RowId {
  return bucketStartAt(createdMs) | BigInt(sequence % SEQUENCE_SIZE);
}

/** Lowest row id of the bucket of a creation time. */
export function bucketStartAt(createdMs: number): RowId {
  const bucket = Math.min(Math.max(Math.floor(createdMs / BUCKET_MS), 0), LAST_BUCKET);
  return BigInt(bucket) << SEQUENCE_BITS;
}

/** Lowest row id of the bucket of a row. */
export const bucketStart = (rowId: RowId): RowId => (rowId >> SEQUENCE_BITS) << SEQUENCE_BITS;

export function bucketEnd(rowId: RowId): RowId {
  return rowId | SEQUENCE_MASK;
}
