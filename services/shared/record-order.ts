/** The total order of records (contract 6.2): the same in every store, and fixed before a record is written. */
import type { Clock } from './time.js';
import { parseTimestamp } from './time.js';

/** A record, when it was accepted, and its place in its source. */
export interface OrderedRecord<Record> {
  record: Record;
  /** Milliseconds since the epoch. */
  acceptedAt: number;
  /** The offset in its partition, or the line in its request. */
  sequence: number;
}

/** Makes the time it speaks of positive and 16 digits long, for every year from 0 to 9999. */
const TIME_OFFSET_MS = 1_100_000_000_000_000;
/** 13 digits of milliseconds: until the year 2286. */
const ACCEPTED_DIGITS = 1e13;
/** 10 digits. Offsets beyond begin anew at 0, which matters only to two records accepted in one millisecond. */
const SEQUENCE_DIGITS = 1e10;

/**
 * What a record is compared by: 39 digits of (the time it speaks of, else of its acceptance; its acceptance; its sequence). Two of
 * them compare as texts as they do as numbers, and the number fits into 128 bits.
 */
export function recordOrder(time: string | null | undefined, acceptedAt: number, sequence: number): string {
  const accepted = Math.min(Math.max(0, acceptedAt), ACCEPTED_DIGITS - 1);
  const spokenOf = time ? parseTimestamp(time) : accepted;
  return (
    String(TIME_OFFSET_MS + spokenOf) +
    String(ACCEPTED_DIGITS + accepted).slice(1) +
    String(SEQUENCE_DIGITS + (sequence % SEQUENCE_DIGITS)).slice(1)
  );
}

/** What a stored record is versioned by. */
export interface RecordVersion {
  /** Milliseconds since the epoch. */
  createdMs: number;
  /** Order of the last record that was applied; null while there was none. */
  recordOrder: string | null;
}

/** The version after a record; null when the record does not come after the last one, and so changes nothing. */
export function nextVersion(
  before: RecordVersion | undefined,
  { record, acceptedAt, sequence }: OrderedRecord<{ created_at?: string | null; updated_at?: string | null }>,
): (RecordVersion & { recordOrder: string }) | null {
  const order = recordOrder(record.updated_at, acceptedAt, sequence);
  if (before && before.recordOrder !== null && order <= before.recordOrder) return null;
  const createdMs = record.created_at ? parseTimestamp(record.created_at) : (before?.createdMs ?? acceptedAt);
  return { createdMs, recordOrder: order };
}

/** When a request was accepted. The sequence of a record is its line added to that of its request. */
export interface Acceptance {
  acceptedAt: number;
  sequence: number;
}

/** Lines of a request of which none reaches into the sequence of the next. */
const LINES_PER_REQUEST = 1e8;
const REQUESTS_PER_MILLISECOND = SEQUENCE_DIGITS / LINES_PER_REQUEST;

/**
 * Accepts requests one after another. No two of one process tie, also when they come in one millisecond or the clock is set back:
 * time stands still then, and the sequence goes on.
 */
export function acceptanceClock(clock: Clock): () => Acceptance {
  let acceptedAt = 0;
  let requests = 0;
  return () => {
    const now = clock.now();
    requests = now > acceptedAt ? 0 : requests + 1;
    acceptedAt = Math.max(now, acceptedAt);
    if (requests === REQUESTS_PER_MILLISECOND) {
      acceptedAt++;
      requests = 0;
    }
    return { acceptedAt, sequence: requests * LINES_PER_REQUEST };
  };
}

/** Records in the order in which they are given. */
export function inOrder<Record>(
  records: readonly Record[],
  acceptedAt: number,
  sequence = 0,
): OrderedRecord<Record>[] {
  return records.map((record, index) => ({ record, acceptedAt, sequence: sequence + index }));
}
