import type { OrderedRecord } from '../../services/shared/record-order.js';
import { RecordRejectedError } from '../../services/shared/store-errors.js';

/** The outcome of decoding or writing a record. */

export interface AcceptedRecord<Record> extends OrderedRecord<Record> {
  kind: 'ok';
  /** Line that the record is on, if a line holds several records. */
  line?: number;
  /** Whether an amount had more decimal places than are stored. */
  isRounded?: boolean;
  /** Whether the domain of the record was not a domain, and was left out. */
  hadInvalidDomain?: boolean;
  /** Whether the mapping left out placeholders of the record. */
  hadInvalidValue?: boolean;
  /** Whether the record had unknown fields, which were left out. */
  hadUnknownFields?: boolean;
  /** Kind of the person, if people are looked up. */
  person?: PersonKind;
}

/**
 * Relation of a record to stored contacts: a new person, a contact with the same id, a person with one other id, or a person with several
 * other ids.
 */
export type PersonKind = 'created' | 'updated' | 'matched' | 'ambiguous';

/** The rejection of a record that can never be accepted unchanged. `pointer` is a JSON Pointer into the record, '' for the whole record. */
export interface DeadLetter {
  kind: 'dead_letter';
  code: string;
  pointer: string;
  detail: string;
}

export type DecodeOutcome<Record> = AcceptedRecord<Record> | DeadLetter;

export const ok = <Record>(record: Record, acceptedAt: number, sequence: number): AcceptedRecord<Record> => ({
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

/** Decoding failed with an unexpected error, which is logged. */
export const NOT_DECODABLE = deadLetter('not_decodable', '', 'The record cannot be read; the log says why.');

const REJECTED_BY_STORE = deadLetter('not_storable', '', 'The store cannot hold this record.');

/** The dead letter of a record that its store rejected with `reason`. */
export function deadLetterOf(reason: unknown): DeadLetter {
  return reason instanceof RecordRejectedError
    ? deadLetter(reason.code, reason.pointer, reason.message)
    : REJECTED_BY_STORE;
}
