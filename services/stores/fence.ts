/**
 * Throws once the caller may not write any more, as its records are another's by now. Stores ask right before a write that could
 * undo what the other has written. Answers with the moment from which on they may be another's, in milliseconds since the epoch: a
 * process that stands still after it asked sends its write later than that.
 */
export type Fence = () => number;

/** What a fence throws. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}
