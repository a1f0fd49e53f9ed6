/** What a step of the ingest says about a record. Steps only say; the pipeline's loop acts on it. */

export interface Accepted<Record> {
  kind: 'ok';
  record: Record;
}

/** The record can never be accepted as it is. `pointer` is a JSON Pointer into it, '' for the whole. */
export interface DeadLetter {
  kind: 'dead_letter';
  code: string;
  pointer: string;
  detail: string;
}

/** The store is out; the same write will do later. */
export interface Retry {
  kind: 'retry';
  reason: Error;
}

export type DecodeOutcome<Record> = Accepted<Record> | DeadLetter;
export type WriteOutcome = { kind: 'written' } | { kind: 'refused'; reason: unknown } | Retry;

export const ok = <Record>(record: Record): Accepted<Record> => ({ kind: 'ok', record });

export const deadLetter = (code: string, pointer: string, detail: string): DeadLetter => ({
  kind: 'dead_letter',
  code,
  pointer,
  detail,
});

export const retry = (reason: Error): Retry => ({ kind: 'retry', reason });
