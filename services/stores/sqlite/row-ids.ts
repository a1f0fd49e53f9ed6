/**
 * Rows of the text indexes come back in the order of their rowid, so rowids follow the time of creation: 39 bits of
 * time in steps of 8 ms, then 24 bits of a running number. A page is read from the newest end, and only rows of the
 * same step need sorting. Moments before 1970 and after 2109 share the first and the last step.
 */
export type RowId = bigint;

const BUCKET_MS = 8;
const SEQUENCE_BITS = 24n;
const SEQUENCE_MASK = (1n << SEQUENCE_BITS) - 1n;
const LAST_BUCKET = 2 ** 39 - 1;

/** Running numbers repeat after this many. */
export const SEQUENCE_SIZE = 2 ** 24;

export const LAST_ROW_ID: RowId = (1n << 63n) - 1n;

export function rowIdOf(createdMs: number, number: number): RowId {
  return bucketStartAt(createdMs) | BigInt(number % SEQUENCE_SIZE);
}

/** Lowest position a row created at this moment can have. */
export function bucketStartAt(createdMs: number): RowId {
  const step = Math.min(Math.max(Math.floor(createdMs / BUCKET_MS), 0), LAST_BUCKET);
  return BigInt(step) << SEQUENCE_BITS;
}

/** Lowest position of the step that a position is in. */
export function bucketStart(position: RowId): RowId {
  return position & ~SEQUENCE_MASK;
}

export function bucketEnd(position: RowId): RowId {
  return position | SEQUENCE_MASK;
}
