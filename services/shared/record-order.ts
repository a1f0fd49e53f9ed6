/** The total order of records (contract 6.2): equal in every store, and assigned before a record is written. */
import { RecordRejectedError } from './store-errors.js';
import { type Clock, parseTimestamp, systemClock } from './time.js';

/** A record with its acceptance time and its position in its source. */
export interface OrderedRecord<Record> {
  record: Record;
  /** Milliseconds since the epoch. */
  acceptedAt: number;
  /** The offset in its partition, or the line in its request. */
  sequence: number;
}

/** A record of any stream that a search store holds. */
export type Organized = { organization_id: string } | { organizationId: string };

export function organizationOf(record: Organized): string {
  return 'organization_id' in record ? record.organization_id : record.organizationId;
}

/** Makes an event time positive and 16 digits long for every year from 0 to 9999. */
const TIME_OFFSET_MS = 1_100_000_000_000_000;
/** 13 digits of milliseconds: until the year 2286. */
export const ACCEPTED_DIGITS = 1e13;
/** 10 digits. Larger offsets wrap around, which only matters for two records accepted in the same millisecond. */
export const SEQUENCE_DIGITS = 1e10;

/**
 * The sort key of a record: 39 digits of event time (else acceptance time), acceptance time, sequence. Keys compare alike as strings and
 * as numbers, and fit into 128 bits. Throws RangeError when `time` is not a date-time.
 */
export function recordOrder(time: string | null | undefined, acceptedAt: number, sequence: number): string {
  const accepted = Math.min(Math.max(0, acceptedAt), ACCEPTED_DIGITS - 1);
  const eventMs = time ? eventTime(time) : accepted;
  return (
    String(TIME_OFFSET_MS + eventMs) +
    String(ACCEPTED_DIGITS + accepted).slice(1) +
    String(SEQUENCE_DIGITS + (sequence % SEQUENCE_DIGITS)).slice(1)
  );
}

/** The text that was read last, as the records of a report mostly have one time. */
let lastRead = { text: '', ms: Number.NaN };

function eventTime(text: string): number {
  if (lastRead.text !== text) lastRead = { text, ms: parseTimestamp(text) };
  return lastRead.ms;
}

/** What a stored record is versioned by. */
export interface RecordVersion {
  /** Milliseconds since the epoch. */
  createdMs: number;
  /** Order of the last record that was applied; null while there was none. */
  recordOrder: string | null;
}

/** What is left of a deleted record: an older one does not bring it back. */
export interface Deletion {
  createdMs?: never;
  recordOrder: string;
}

export const isDeletion = (stored: { createdMs?: number }): stored is Deletion =>
  stored.createdMs === undefined;

type VersionedRecord = OrderedRecord<{
  created_at?: string | null;
  updated_at?: string | null;
  deleted?: boolean | null;
}>;

/** Code of records without effect, because a newer one is there. They count as accepted. */
const STALE = 'stale';

export const isStale = (reason: unknown): boolean =>
  reason instanceof RecordRejectedError && reason.code === STALE;

/**
 * The version after a record; null when the record is the last one again, and so changes nothing. Throws `RecordRejectedError`
 * (`isStale`) when a newer one is there.
 */
export function nextVersion(
  before: RecordVersion | Deletion | undefined,
  { record, acceptedAt, sequence }: VersionedRecord,
): (RecordVersion & { recordOrder: string }) | Deletion | null {
  const order = recordOrder(record.updated_at, acceptedAt, sequence);
  if (before?.recordOrder === order) return null;
  if (before && before.recordOrder !== null && order < before.recordOrder)
    throw new RecordRejectedError(STALE, '', 'A newer record is there.');
  if (record.deleted) return { recordOrder: order };
  const createdBefore = before && !isDeletion(before) ? before.createdMs : acceptedAt;
  const createdMs = record.created_at ? parseTimestamp(record.created_at) : createdBefore;
  return { createdMs, recordOrder: order };
}

/**
 * The order of a change that a request makes: it applies whatever was written before, and records that are older than the request do
 * not undo it. `now` in milliseconds since the epoch.
 */
export function orderOfRequest(now: number, before: Pick<RecordVersion, 'recordOrder'>): string {
  const order = recordOrder(undefined, now, 0);
  return before.recordOrder !== null && before.recordOrder > order ? before.recordOrder : order;
}

/** The deletion that a request makes. `now` in milliseconds since the epoch. */
export const deletionAt = (now: number, before: Pick<RecordVersion, 'recordOrder'>): Deletion => ({
  recordOrder: orderOfRequest(now, before),
});

/** Acceptance of a request: its clock tells when each record is accepted, whose sequence is that of the request plus its line. */
export interface Acceptance extends Clock {
  sequence: number;
}

/** Sequence numbers reserved per request. */
const LINES_PER_REQUEST = 1e8;
const SEQUENCES = SEQUENCE_DIGITS / LINES_PER_REQUEST;

/**
 * Assigns acceptances that strictly increase within a process, also within one millisecond and when the clock is set back: the time
 * then stands still. Requests at once have different sequences, so that no two of their records tie.
 */
export function acceptanceClock(clock: Clock = systemClock): () => Acceptance {
  let latest = 0;
  let requests = 0;
  const now = () => {
    latest = Math.max(latest, clock.now());
    return latest;
  };
  return () => {
    if (requests === SEQUENCES) {
      latest = now() + 1;
      requests = 0;
    }
    return { now, sequence: requests++ * LINES_PER_REQUEST };
  };
}

/** Assigns consecutive sequences to records accepted together. */
export function inOrder<Record>(
  records: readonly Record[],
  acceptedAt: number,
  sequence = 0,
): OrderedRecord<Record>[] {
  return records.map((record, index) => ({ record, acceptedAt, sequence: sequence + index }));
}
