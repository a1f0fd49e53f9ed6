import type { OrderedRecord } from '../../services/shared/record-order.js';
import { RecordRejectedError } from '../../services/shared/store-errors.js';

/** What a step of the ingest says about a record. Steps only say; the pipeline's loop acts on it. */

export interface Accepted<Record> extends OrderedRecord<Record> {
  kind: 'ok';
}

/** The record can never be accepted as it is. `pointer` is a JSON Pointer into it, '' for the whole. */
export interface DeadLetter {
  kind: 'dead_letter';
  code: string;
  pointer: string;
  detail: string;
}

export type DecodeOutcome<Record> = Accepted<Record> | DeadLetter;

export const ok = <Record>(record: Record, acceptedAt: number, sequence: number): Accepted<Record> => ({
  kind: 'ok',
  record,
  acceptedAt,
  sequence,
});

export const deadLetter = (code: string, pointer: string, detail: string): DeadLetter => ({
  kind: 'dead_letter',
  code,
  pointer,
  detail,
});

const notStorable = deadLetter('not_storable', '', 'The store cannot hold this record.');

/** What is said of a record that the store refused by itself. */
export function refusedBy(reason: unknown): DeadLetter {
  return reason instanceof RecordRejectedError
    ? deadLetter(reason.code, reason.pointer, reason.message)
    : notStorable;
}
