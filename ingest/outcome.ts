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

export type DecodeOutcome<Record> = Accepted<Record> | DeadLetter;

export const ok = <Record>(record: Record): Accepted<Record> => ({ kind: 'ok', record });

export const deadLetter = (code: string, pointer: string, detail: string): DeadLetter => ({
  kind: 'dead_letter',
  code,
  pointer,
  detail,
});

export const notStorable = deadLetter('not_storable', '', 'The store cannot hold this record.');
