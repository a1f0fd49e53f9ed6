import type { DeadLetter } from './outcome.js';

/** One record as it came. */
export interface RawRecord {
  /** Where a person finds it: line of a text from 1, or index in an array from 1. */
  line: number;
  /** Its text. Of an over-long line, one piece. */
  bytes: Buffer;
  /** The text with what was stripped from it, where that differs. */
  untouched?: Buffer;
  /** The parsed value, where the source had to parse it. */
  value?: unknown;
  /** Why the source could not make a record of it. */
  refusal?: DeadLetter;
  /** A piece of a line that is too long; `last` on its last piece. */
  overlong?: 'piece' | 'last';
}

/** The port of sources: records in order, a handful at a time, so that the loop between can let others run. */
export type RecordSource = AsyncIterable<RawRecord[]>;

/** The input as a whole cannot be read; nothing of it was taken. */
export class UnreadableInput extends Error {
  override readonly name = 'UnreadableInput';
  readonly code: 'invalid_json' | 'invalid_body';

  constructor(code: 'invalid_json' | 'invalid_body', message: string) {
    super(message);
    this.code = code;
  }
}
