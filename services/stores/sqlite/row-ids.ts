/**
 * Rows of the text indexes come back in the order of their rowid, so rowids follow the time of creation: 39 bits of
 * time in steps of 8 ms, then 24 bits of a running number. A page is read from the newest end, and only rows of the
 * same step need sorting. Moments before 1970 and after 2109 share the first and the last step.
 */
export type Position = bigint;

const STEP_MS = 8;
const NUMBER_BITS = 24n;
const NUMBER_MASK = (1n << NUMBER_BITS) - 1n;
const LAST_STEP = 2 ** 39 - 1;

/** Running numbers repeat after this many. */
export const NUMBERS = 2 ** 24;

export const LAST_POSITION: Position = (1n << 63n) - 1n;

export function positionOf(createdMs: number, number: number): Position {
  return firstOfStep(createdMs) | BigInt(number % NUMBERS);
}

/** Lowest position a row created at this moment can have. */
export function firstOfStep(createdMs: number): Position {
  const step = Math.min(Math.max(Math.floor(createdMs / STEP_MS), 0), LAST_STEP);
  return BigInt(step) << NUMBER_BITS;
}

/** Lowest position of the step that a position is in. */
export function stepStart(position: Position): Position {
  return position & ~NUMBER_MASK;
}

export function stepEnd(position: Position): Position {
  return position | NUMBER_MASK;
}
