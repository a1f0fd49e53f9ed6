/**
 * Follows the records store: writes contacts, audiences and visits into the tables that SQL reads (decision 0022). A batch of contacts
 * carries the position that it reaches, so a killed follower repeats at most one batch, and of several rows of a contact the newest counts.
 */
import type { ChangePosition, ContactChange } from '../../contacts/change-feed.js';
import { Mutex, withOwnSignal } from '../../shared/async.js';
import { PeriodicJob, type PeriodicJobOptions } from '../../shared/periodic-job.js';
import type { Clock } from '../../shared/time.js';
import type { CopyPosition, FollowedStore, NewTables, SqlCopy } from '../common/sql-copy.js';

const INTERVAL_MS = 1000;
/** Time after which an alert may say that the copy does not follow. */
const DUE_MS = 60_000;
const LOG_INTERVAL_MS = 600_000;
/** Time after which an idle follower writes that it still follows, for other processes. */
const HEARTBEAT_MS = 10_000;
const CONTACTS_PER_READ = 1000;
const CONTACTS_PER_BATCH = 10_000;
const CHARACTERS_PER_BATCH = 16 * 1024 * 1024;
const VISITS_PER_BATCH = 2000;
/** Pause between whole copies of a store whose feed does not name deleted contacts. */
const COPY_WITHOUT_MARKS_MS = 3_600_000;
/** The pause after a copy for erasures, as a multiple of its duration: such copies take at most a fifth of the time. */
const PAUSE_PER_COPY = 4;
const pauseEnd = (begun: number) => performance.now() + PAUSE_PER_COPY * (performance.now() - begun);

const NEVER_ABORTED = new AbortController().signal;

export interface SqlFollowerOptions {
  records: FollowedStore;
  /** One on each server, or the one of the embedded engine. */
  copies: readonly SqlCopy[];
  clock: Clock;
}

export class SqlFollower {
  readonly #followers: readonly CopyFollower[];

  constructor({ copies, ...options }: SqlFollowerOptions) {
    this.#followers = copies.map(
      (copy, index) => new CopyFollower({ ...options, copy, index, count: copies.length }),
    );
  }

  /** Time up to which SQL shows every change on every server, in milliseconds since the epoch; null before the first copy. */
  async followedAt(): Promise<number | null> {
    const times = await Promise.all(this.#followers.map((each) => each.followedAt()));
    return times.includes(null) ? null : Math.min(...(times as number[]));
  }

  /**
   * Copies what was acknowledged before the call, unless another process follows. Throws the errors of the stores, and the reason of the
   * signal.
   */
  async run(signal: AbortSignal = NEVER_ABORTED, isPaced = false): Promise<void> {
    const running = this.#followers.map((each) => each.run(signal, isPaced));
    await Promise.allSettled(running);
    await Promise.all(running);
  }

  /** Follows about once a second. */
  start(options: Pick<PeriodicJobOptions, 'log' | 'runs'>): PeriodicJob {
    return new PeriodicJob((signal) => this.run(signal, true), {
      ...options,
      name: 'sql_copy',
      intervalMs: INTERVAL_MS,
      firstRunMs: 0,
      dueMs: DUE_MS,
      logIntervalMs: LOG_INTERVAL_MS,
      failure: 'SQL does not show the newest contacts, audiences and visits; the copy is tried again',
    }).start();
  }
}

/** A position; `contacts` is null for a copy that begins. */
type NewPosition = Omit<CopyPosition, 'contacts'> & { contacts: CopyPosition['contacts'] | null };

type ContactWriter = Pick<NewTables, 'insertContacts'>;

/** The position of the copy has expired, or another process follows. */
class CannotFollowError extends Error {
  override readonly name = 'CannotFollowError';
}

interface CopyFollowerOptions {
  records: FollowedStore;
  copy: SqlCopy;
  index: number;
  /** Number of copies. */
  count: number;
  clock: Clock;
}

class CopyFollower {
  readonly #options: CopyFollowerOptions;
  /** One run at a time. */
  readonly #mutex = new Mutex();
  /** Position of the tables that SQL reads; undefined if it must be read, null if a new copy must begin. */
  #position: CopyPosition | null | undefined;
  /** Time up to which this process has followed; null if it does not follow. */
  #followedAt: number | null = null;
  /** Monotonic time before which no copy is made for erasures. */
  #nextCopyAt = -Infinity;
  #copiedAllAt = -Infinity;
  /** Monotonic time before which paced runs write no audiences. */
  #nextAudiencesAt = -Infinity;

  constructor(options: CopyFollowerOptions) {
    this.#options = options;
  }

  async followedAt(): Promise<number | null> {
    return this.#followedAt ?? (await this.#options.copy.readPosition())?.followedAt ?? null;
  }

  run(signal: AbortSignal, isPaced: boolean): Promise<void> {
    return this.#mutex.runExclusive(async () => {
      try {
        await this.#follow(signal, isPaced);
      } catch (error) {
        // The position is read again, because a statement may have succeeded although its response was lost.
        this.#position = undefined;
        this.#followedAt = null;
        if (!(error instanceof CannotFollowError) && !signal.aborted) throw error;
      }
    });
  }

  async #follow(signal: AbortSignal, isPaced: boolean): Promise<void> {
    const { records, copy, clock, index, count } = this.#options;
    const now = clock.now();
    await this.#requireLease();
    if (this.#position === undefined) {
      await copy.dropAbandoned();
      this.#position = await copy.readPosition();
      if (this.#position) await records.copied.noteCopy?.(index, count, this.#position.contacts);
    }
    if (this.#position && !(await this.#advance(this.#position, signal, isPaced))) {
      // A restored data folder may hold contacts in SQL whose erasure it has adopted.
      const { noteCopy, hasErasedSince } = records.copied;
      if (noteCopy && (await hasErasedSince(this.#position.contacts))) await copy.clearContacts();
      this.#position = null;
    }
    const isOld = performance.now() - this.#copiedAllAt > COPY_WITHOUT_MARKS_MS;
    if (isOld && !records.copied.keepsMarks) this.#position = null;
    if (!this.#position) {
      if (await records.copied.hasRecords()) {
        await records.copied.noteCopy?.(index, count, null);
        this.#position = await this.#copyAll(now, signal);
        this.#copiedAllAt = performance.now();
      }
      this.#followedAt = now;
    } else if (
      performance.now() >= this.#nextCopyAt &&
      (await records.copied.hasErasedSince(this.#position.contacts))
    ) {
      const begun = performance.now();
      this.#position = await this.#copyContacts(this.#position, signal);
      this.#nextCopyAt = pauseEnd(begun);
    }
  }

  async #requireLease(): Promise<void> {
    const { copied } = this.#options.records;
    if (copied.holdsLease && !(await copied.holdsLease()))
      throw new CannotFollowError('another process follows');
  }

  /** Writes what has changed since the position. False if the position has expired. */
  async #advance(from: CopyPosition, signal: AbortSignal, isPaced: boolean): Promise<boolean> {
    const { records, copy, clock } = this.#options;
    const now = clock.now();
    const reached = await this.#writeContacts(copy, from, signal);
    if (!reached) return false;
    this.#position = reached;
    const visits = await this.#writeVisits(copy, reached.visits, signal);
    const version = await records.copied.readAudienceVersion();
    const isChanged = version !== reached.audiences;
    const isPostponed = isChanged && isPaced && performance.now() < this.#nextAudiencesAt;
    const audiences = isPostponed ? reached.audiences : version;
    if (audiences !== reached.audiences) {
      const begun = performance.now();
      const made = await copy.begin(['audiences']);
      try {
        for await (const lines of records.copied.readAudiences()) await made.insertAudiences(lines);
        await made.swap();
      } finally {
        await made.drop();
      }
      this.#nextAudiencesAt = pauseEnd(begun);
    }
    const position = { ...reached, visits, audiences, followedAt: isPostponed ? reached.followedAt : now };
    const isMoved = visits !== reached.visits || audiences !== reached.audiences;
    const isSilent = records.copied.holdsLease !== undefined && now - reached.followedAt > HEARTBEAT_MS;
    // A process that migrates may have replaced the table.
    if (isSilent && !(await copy.readPosition())) return false;
    if (isMoved || isSilent) this.#position = await this.#insert(copy, [], position);
    if (!isPostponed) this.#followedAt = now;
    return true;
  }

  /** Fills new tables from the beginning, and swaps them in. */
  async #copyAll(now: number, signal: AbortSignal): Promise<CopyPosition> {
    const { records, copy } = this.#options;
    const follows = records.copied.readVisits ? (['website_visits'] as const) : [];
    const made = await copy.begin(['contacts', 'audiences', ...follows]);
    try {
      const audiences = await records.copied.readAudienceVersion();
      for await (const lines of records.copied.readAudiences()) await made.insertAudiences(lines);
      const visits = await this.#writeVisits(made, 0, signal);
      const from = { version: 0, contacts: null, audiences, visits, followedAt: now };
      return await this.#swapIn(made, await this.#writeContacts(made, from, signal));
    } finally {
      await made.drop();
    }
  }

  /** Copies the contacts anew, so that no byte of erased contacts is left, while the copy that SQL reads follows on. */
  async #copyContacts(current: CopyPosition, signal: AbortSignal): Promise<CopyPosition> {
    const made = await this.#options.copy.begin(['contacts']);
    try {
      const from = { ...current, contacts: null };
      const filled = await this.#writeContacts(made, from, signal, async () => {
        if (!this.#position || !(await this.#advance(this.#position, signal, true)))
          throw new CannotFollowError('the position has expired');
      });
      const { visits, audiences } = this.#position as CopyPosition;
      return await this.#swapIn(made, filled && { ...filled, visits, audiences });
    } finally {
      await made.drop();
    }
  }

  async #swapIn(made: NewTables, filled: CopyPosition | null): Promise<CopyPosition> {
    if (!filled) throw new CannotFollowError('the feed expired while it was read');
    const position = await this.#insert(made, [], filled);
    await made.swap();
    await made.drop();
    const { records, index, count } = this.#options;
    await records.copied.noteCopy?.(index, count, position.contacts);
    return position;
  }

  /** Reads the feed up to the present. Null if the position has expired. */
  async #writeContacts(
    tables: ContactWriter,
    from: NewPosition,
    signal: AbortSignal,
    afterBatch: () => Promise<void> = async () => undefined,
  ): Promise<CopyPosition | null> {
    const { records } = this.#options;
    let position = from;
    let batch: ContactChange[] = [];
    let characters = 0;
    for (;;) {
      signal.throwIfAborted();
      const { contacts } = position;
      const page = await withOwnSignal(signal, (own) =>
        records.readChanges({ ...(contacts && { after: contacts }), limit: CONTACTS_PER_READ }, own),
      );
      if (page.kind === 'unavailable') throw new Error('the store has no feed of changes');
      if (page.kind === 'expired') return null;
      batch.push(...page.changes);
      for (const { contact } of page.changes) characters += contact?.length ?? 0;
      const reached = { ...position, contacts: page.next };
      // While a job changes contacts, `more` stays true even if nothing more is in the feed yet.
      const isLast = !page.more || (page.changes.length === 0 && !isBehindStart(page.next));
      const isFull = batch.length >= CONTACTS_PER_BATCH || characters >= CHARACTERS_PER_BATCH;
      if (batch.length > 0 && (isLast || isFull)) {
        position = await this.#insert(tables, batch, reached);
        batch = [];
        characters = 0;
        await afterBatch();
      } else position = reached;
      if (isLast) return { ...position, contacts: page.next };
    }
  }

  /** Writes visits up to the present. Resolves with the number of the last one. */
  async #writeVisits(
    tables: Pick<NewTables, 'insertVisits'>,
    after: number,
    signal: AbortSignal,
  ): Promise<number> {
    const { records } = this.#options;
    let last = after;
    if (!records.copied.readVisits) return last;
    for (;;) {
      signal.throwIfAborted();
      const page = await records.copied.readVisits(last, VISITS_PER_BATCH);
      if (page.visits.length === 0) return last;
      await tables.insertVisits(page.visits);
      last = page.last;
    }
  }

  /** Inserts contacts and their position, under the next version. */
  async #insert(
    tables: ContactWriter,
    changes: readonly ContactChange[],
    reached: CopyPosition,
  ): Promise<CopyPosition> {
    await this.#requireLease();
    const position = { ...reached, version: Math.max(reached.version + 1, this.#options.clock.now()) };
    await tables.insertContacts(changes, position);
    return position;
  }
}

/** Whether the run still has to read changes from before the moment at which it began. */
const isBehindStart = ({ after, start }: ChangePosition) =>
  after.some((number, index) => number < (start[index] as number));
