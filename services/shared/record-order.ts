/** The total order of records (contract 6.2): the same in every store, and assigned before a record is written. */
import { type Sql, sql } from './sql.js';
import { RecordRejectedError, StoreUnavailableError } from './store-errors.js';
import { type Clock, formatTimestamp, parseTimestamp, systemClock } from './time.js';

/** A record with its acceptance time and its position in its source. */
export interface OrderedRecord<Record> {
  record: Record;
  /** Milliseconds since the epoch. */
  acceptedAt: number;
  /** Position of the record, at most 10 digits: offset and partition in Kafka, otherwise slot, request and line. */
  sequence: number;
}

/** A record of any stream in the records store. */
export type OrganizationRecord = { organization_id: string } | { organizationId: string };

export function organizationOf(record: OrganizationRecord): string {
  return 'organization_id' in record ? record.organization_id : record.organizationId;
}

/** Makes an event time positive and 16 digits long for every year from 0 to 9999. */
const TIME_OFFSET_MS = 1_100_000_000_000_000;
/** Multiplier that leaves room for 13 digits of milliseconds. */
const ACCEPTED_DIGITS = 1e13;
/** Upper bound of acceptance times, in the year 2128. Larger numbers are used for event times with microseconds. */
const MAX_ACCEPTED = 5e12;
/**
 * Multiplier that leaves room for 10 digits of sequence. Large offsets wrap around, which only matters for two records accepted in the same
 * millisecond.
 */
const SEQUENCE_DIGITS = 1e10;

/**
 * The sort key of a record: 39 digits of event time (by default acceptance time), acceptance time and sequence. Keys compare in the same
 * way as strings and as numbers, and fit into 128 bits. Microseconds of the event time come before the acceptance; further digits are cut.
 * Throws RangeError if `time` is not a date-time.
 */
export function recordOrder(time: string | null | undefined, acceptedAt: number, sequence: number): string {
  const accepted = Math.min(Math.max(0, acceptedAt), MAX_ACCEPTED - 1);
  const { ms, micros } = time ? eventTime(time) : { ms: accepted, micros: 0 };
  const order = String(TIME_OFFSET_MS + ms);
  if (micros > 0) return order + finerOrder(micros, accepted, sequence);
  return (
    order +
    String(ACCEPTED_DIGITS + accepted).slice(1) +
    String(SEQUENCE_DIGITS + (sequence % SEQUENCE_DIGITS)).slice(1)
  );
}

/**
 * The 23 digits of acceptance time and sequence for an event time with microseconds. They are above every acceptance with the same event
 * time without microseconds.
 */
const FINER = {
  from: 50_000_000_000_000_000_000_000n,
  perMicrosecond: 50_000_000_000_000_000_000n,
  firstAccepted: 1_000_000_000_000,
  lastAccepted: 3_499_999_999_999,
  perMillisecond: 20_000_000,
};

/** Keeps only the last digits of the sequence, because a millisecond has room for 20 million. */
function finerOrder(micros: number, acceptedAt: number, sequence: number): string {
  const { from, perMicrosecond, firstAccepted, lastAccepted, perMillisecond } = FINER;
  const accepted = Math.min(Math.max(firstAccepted, acceptedAt), lastAccepted) - firstAccepted;
  const place = BigInt(accepted) * BigInt(perMillisecond) + BigInt(sequence % perMillisecond);
  return String(from + BigInt(micros) * perMicrosecond + place);
}

/** The time of a record from the key that `recordOrder` made, in UTC with microseconds: its event time, otherwise its acceptance. */
export function timeOfOrder(order: string): string {
  const text = formatTimestamp(Number(order.slice(0, 16)) - TIME_OFFSET_MS);
  const place = BigInt(order.slice(16)) - FINER.from;
  if (place < 0n) return text;
  const micros = String(place / FINER.perMicrosecond).padStart(3, '0');
  return text.replace(/Z$/, `${micros}Z`);
}

/** SQL of ClickHouse: the acceptance time of the order `version`, in milliseconds since the epoch. */
export function acceptedMsSql(version: Sql): Sql {
  // A number as SQL: ClickHouse would read larger number literals as floats.
  const number = (value: bigint | number) => sql`toUInt128('${BigInt(value)}')`;
  const { from, perMicrosecond, firstAccepted, perMillisecond } = FINER;
  const place = sql`${version} % ${number(BigInt(ACCEPTED_DIGITS) * BigInt(SEQUENCE_DIGITS))}`;
  const finer = sql`intDiv((${place} - ${number(from)}) % ${number(perMicrosecond)}, ${number(perMillisecond)}) + ${number(firstAccepted)}`;
  const plain = sql`intDiv(${place}, ${number(SEQUENCE_DIGITS)})`;
  return sql`toUInt64(if(${place} < ${number(from)}, ${plain}, ${finer}))`;
}

interface EventTime {
  ms: number;
  /** Microseconds within the millisecond. */
  micros: number;
}

/** The last text that was parsed: records of a report mostly have the same time. */
let lastRead: EventTime & { text: string } = { text: '', ms: Number.NaN, micros: 0 };

function eventTime(text: string): EventTime {
  if (lastRead.text !== text) lastRead = { text, ms: parseTimestamp(text), micros: microsecondsOf(text) };
  return lastRead;
}

function microsecondsOf(text: string): number {
  const digits = /\.\d{3}(\d{1,3})/.exec(text)?.[1];
  return digits === undefined ? 0 : Number(digits.padEnd(3, '0'));
}

/** Version of a stored record. */
export interface RecordVersion {
  /** Milliseconds since the epoch. */
  createdMs: number;
  /** Order of the last record that was applied; null if there was none. */
  recordOrder: string | null;
}

/** Remains of a deleted record, so that an older record does not create the record again. */
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

/** Code of records that have no effect, because a newer record exists. Such records count as accepted. */
const STALE = 'stale';

export const isStale = (reason: unknown): boolean =>
  reason instanceof RecordRejectedError && reason.code === STALE;

/**
 * The version after a record; null if the record is the last record again, which changes nothing. Throws `RecordRejectedError` (`isStale`)
 * if a newer record exists.
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
 * The order of a change by a request. The change applies whatever was written before, and records older than the request do not undo the
 * change. `now` is in milliseconds since the epoch.
 */
export function orderOfRequest(now: number, before: Pick<RecordVersion, 'recordOrder'>): string {
  const order = recordOrder(undefined, now, 0);
  return before.recordOrder !== null && before.recordOrder > order ? before.recordOrder : order;
}

/** The mark of a record that a request deletes. `now` is in milliseconds since the epoch. */
export const deletionAt = (now: number, before: Pick<RecordVersion, 'recordOrder'>): Deletion => ({
  recordOrder: orderOfRequest(now, before),
});

/** The mark of a record whose import is undone: a newer record, such as a row of the corrected file, is stored again. */
export const deletionOfImport = (now: number, before: Pick<RecordVersion, 'recordOrder'>): Deletion =>
  before.recordOrder === null ? deletionAt(now, before) : { recordOrder: before.recordOrder };

/** Number of slots. The sequence of a record from HTTP or a file has 3 digits of slot, 1 of request and 6 of line. */
export const SLOTS = 1000;
const REQUESTS = 10;
const LINES = 1e6;
/** A request takes a new time after this many milliseconds, so that the order follows the time at which a record was read. */
const BLOCK_MS = 10;

/**
 * A slot, and the acceptance times that only its holder may use. The lease covers times of orders, not elapsed time: the next holder of a
 * slot begins where the previous lease ends, so neither a pause nor a wrong clock can assign an order twice.
 */
export interface SlotLease {
  slot: number;
  /** The first time of the lease, in milliseconds since the epoch. */
  from: number;
  /** The first time after the lease, which another process may use. */
  until: number;
}

/** Leases a separate slot to each process that accepts records. */
export interface OrderSlots {
  /** Resolves with a lease that includes `now` or begins later. Throws `StoreUnavailableError` if no slot is free. */
  leaseSlot(now: number): Promise<SlotLease>;
}

/** The slot of the only process on an embedded store. Also used for records whose topic determines their order. */
export const ONLY_SLOT: OrderSlots = {
  leaseSlot: async () => ({ slot: 0, from: 0, until: Number.POSITIVE_INFINITY }),
};

type Acceptances = Pick<OrderedRecord<unknown>, 'acceptedAt' | 'sequence'>;

/** Acceptance of one request or input. */
export interface Acceptance {
  /**
   * The acceptance of a record. Each record has its own line (from 1), in ascending order. Throws `StoreUnavailableError` if the lease has
   * ended, so that there are no more orders to assign.
   */
  at(line: number): Acceptances;
}

/** Acceptance of records that are not written. The sequence of a record is its line. */
export const acceptedByLine = (clock: Clock): Acceptance => ({
  at: (line) => ({ acceptedAt: clock.now(), sequence: line }),
});

/** Lines of one request that share a time. */
interface Block {
  time: number;
  sequence: number;
}

/**
 * Assigns acceptances whose orders strictly increase within a request, and are unique across requests and processes. The time never goes
 * back: it stands still if the clock is set back, and moves to the next millisecond after `REQUESTS` requests in one millisecond. Rejects
 * with `StoreUnavailableError` while no slot can be leased.
 */
export function acceptanceClock(slots: OrderSlots, clock: Clock = systemClock): () => Promise<Acceptance> {
  let lease: SlotLease = { slot: 0, from: 0, until: 0 };
  let latest = 0;
  let requests = 0;
  const renew = async () => {
    lease = await slots.leaseSlot(Math.max(latest, clock.now()));
  };
  /** The next block; null if its time is after the lease. */
  const nextBlock = (): Block | null => {
    const earliest = Math.max(lease.from, clock.now(), requests === REQUESTS ? latest + 1 : latest);
    if (earliest >= lease.until) return null;
    if (earliest > latest) requests = 0;
    latest = earliest;
    return { time: latest, sequence: (lease.slot * REQUESTS + requests++) * LINES };
  };
  const requireBlock = (): Block => {
    const block = nextBlock();
    if (block) return block;
    throw new StoreUnavailableError('records', { cause: new Error('the lease of the slot has lapsed') });
  };
  return async () => {
    await renew();
    let block = requireBlock();
    let page = 0;
    return {
      at(line) {
        const itsPage = Math.floor(line / LINES);
        if (itsPage !== page) {
          block = requireBlock();
          page = itsPage;
        } else if (clock.now() >= block.time + BLOCK_MS) {
          // If the lease has ended, this request continues with the rest of the block, which no other process uses.
          block = nextBlock() ?? block;
          renew().catch(() => undefined);
        }
        return { acceptedAt: block.time, sequence: block.sequence + (line % LINES) };
      },
    };
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
