import type { DeadLetter } from './outcome.js';

/** A record before it is decoded. */
export interface RawRecord {
  /** Line in a text, or index in an array, from 1. */
  line: number;
  /** The line on which the record ends, if that is not `line`. */
  lastLine?: number;
  /** Position among all records, if a line holds several; by default the line. */
  order?: number;
  /** Text of the record, or one piece of an over-long line. */
  bytes: Buffer;
  /** The text as received, if that is not `bytes`. */
  untouched?: Buffer;
  /** The Kafka record. Its key is parsed when it is read. */
  keyed?: { readonly key: Buffer | null };
  /** The parsed value, if the source parsed it. */
  value?: unknown;
  /** The record of the stream that a mapping produced. */
  mapped?: object;
  /** Number of placeholders that the mapping left out, such as `#N/A`. */
  leftOut?: number | undefined;
  /** The reason why the source could not parse the record. */
  rejection?: DeadLetter | undefined;
  /** The error with which the mapping of the record failed, for the log. */
  fault?: unknown;
  /** Whether the mapping leaves the record out: such a record is neither accepted nor rejected. */
  isSkipped?: boolean;
  /** A piece of a line that is too long; `last` on its last piece. */
  overlong?: 'piece' | 'last';
}

/** Position in the order of the records of a source. */
export const orderOf = ({ line, order = line }: RawRecord): number => order;

/** The port of sources: records in order, in small chunks, so that the pipeline can yield to the event loop in between. */
export type RecordSource = AsyncIterable<RawRecord[]>;

/** The input as a whole cannot be parsed. None of its records was accepted, except rows of CSV before the broken place. */
export class UnreadableInputError extends Error {
  override readonly name = 'UnreadableInputError';
  readonly code: 'invalid_json' | 'invalid_body';

  constructor(code: 'invalid_json' | 'invalid_body', message: string) {
    super(message);
    this.code = code;
  }
}
