/**
 * Throws once the caller may not write any more, as its records are another's by now. Stores ask right before a write that could
 * undo what the other has written.
 */
export type Fence = () => void;

/** What a fence throws. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}
