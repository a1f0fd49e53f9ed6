import type { DeadLetter } from './outcome.js';

/** A record before it is decoded. */
export interface RawRecord {
  /** Line of a text, or index in an array; from 1. */
  line: number;
  /** The line on which it ends, where that is another one. */
  lastLine?: number;
  /** Its place among all records, where a line holds several; its line where it is absent. */
  order?: number;
  /** Its text, or one piece of an over-long line. */
  bytes: Buffer;
  /** The text as received, where it differs. */
  untouched?: Buffer;
  /** The Kafka record: its key is made when it is read. */
  keyed?: { readonly key: Buffer | null };
  /** The parsed value, where the source had to parse it. */
  value?: unknown;
  /** The record of the stream that a mapping made of it. */
  mapped?: object;
  /** Values that the mapping left out because they are none, such as `#N/A`. */
  leftOut?: number | undefined;
  /** Why the source could not parse it. */
  rejection?: DeadLetter | undefined;
  /** The error that its mapping failed with, for the log. */
  fault?: unknown;
  /** The mapping leaves it out: it is neither accepted nor rejected. */
  isSkipped?: boolean;
  /** A piece of a line that is too long; `last` on its last piece. */
  overlong?: 'piece' | 'last';
}

/** Its place in the order of the records of a source. */
export const orderOf = ({ line, order = line }: RawRecord): number => order;

/** The port of sources: records in order, in small chunks, so that the pipeline can yield to the event loop in between. */
export type RecordSource = AsyncIterable<RawRecord[]>;

/** The input as a whole cannot be parsed; none of its records was accepted, except rows of CSV before the place where it ends. */
export class UnreadableInputError extends Error {
  override readonly name = 'UnreadableInputError';
  readonly code: 'invalid_json' | 'invalid_body';

  constructor(code: 'invalid_json' | 'invalid_body', message: string) {
    super(message);
    this.code = code;
  }
}
