/**
 * One schedule: a topic, a few workers that crash, freeze and lose their partitions, and stores that fail and report wrong outcomes.
 * Then all faults end, and the state is compared with the state that follows from the records alone.
 */

import { groupWrites } from '../../ingest/group-writes.js';
import type { Batch } from '../../ingest/sources/kafka/consumer.js';
import type { OutgoingRecord, RecordSender } from '../../ingest/sources/kafka/producer.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';
import { STREAMS } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { createBatchProcessor } from '../../ingest/worker/batch-processor.js';
import {
  deadLetterSender,
  headerText,
  type SendDeadLetters,
  stripDeadLetterHeaders,
} from '../../ingest/worker/dead-letters.js';
import { createRecordWriter } from '../../ingest/worker/record-writer.js';
import type { Write } from '../../ingest/write-records.js';
import { Mutex } from '../../services/shared/async.js';
import { Group, type Member } from './group.js';
import { type Actor, Scheduler } from './scheduler.js';
import { SharedStores, type StoreFaults, storesOf, UNSTORABLE } from './stores.js';
import { Topic } from './topic.js';

const PARTITIONS = 3;
const KEYS = 5;
const SESSION_MS = 300;
const HEARTBEAT_MS = 50;
/** Fewer records than a batch may have, so that batches are split. */
const RECORDS_AFTER_REJECTION = 3;
const GROUP_LIMITS = { maxSize: 12, maxWrites: 2 };
/** A header that the code under test does not know and must keep. */
const ORIGIN = 'simulation-origin';
/** Virtual milliseconds with faults. */
const FAULTY_MS = 1500;

export interface Outcome {
  digest: string;
  steps: number;
  log: readonly string[];
  /** Empty if every property holds. */
  violations: string[];
}

interface WorkerProcess extends Actor {
  /** Aborted when the process is to end: batches under way are aborted. */
  stop: AbortController;
}

type StreamName = 'contacts' | 'network-a-deliveries';

/** Replaces a part of the worker by a faulty part, to see that a schedule finds it. */
export interface Mutant {
  write?(write: Write): Write;
  sendDeadLetters?(send: SendDeadLetters): SendDeadLetters;
  processBatch?(process: (batch: Batch) => Promise<void>): (batch: Batch) => Promise<void>;
  replayed?(record: OutgoingRecord): OutgoingRecord;
}

const NO_FAULTS: StoreFaults = { unavailable: 0, lostAnswer: 0, late: 0, partial: 0 };
const ignored = () => undefined;
export async function runSchedule(
  seed: number,
  { keepLog = false, mutant = {} }: { keepLog?: boolean; mutant?: Mutant } = {},
): Promise<Outcome> {
  return new Schedule(seed, keepLog, mutant).run();
}

class Schedule {
  readonly #mutant: Mutant;
  readonly #scheduler: Scheduler;
  readonly #streamName: StreamName;
  readonly #stream: Stream;
  readonly #topic = new Topic(PARTITIONS);
  readonly #deadLetters = new Topic(1);
  readonly #group: Group;
  readonly #shared = new SharedStores();
  readonly #faults: StoreFaults;
  readonly #deadLetterFaults: number;
  readonly #isMended: boolean;
  #isReplayed: boolean;
  #isFaulty = true;
  #processes = 0;
  #letters = 0;

  constructor(seed: number, keepLog: boolean, mutant: Mutant) {
    this.#mutant = mutant;
    this.#scheduler = new Scheduler(seed, { keepLog });
    const { random } = this.#scheduler;
    // Members that cannot wait lose their partitions during a write; members that can wait may still commit it.
    this.#group = new Group(PARTITIONS, SESSION_MS, () =>
      random.chance(0.5) ? 0 : random.between(50, 1000),
    );
    this.#streamName = random.chance(0.5) ? 'contacts' : 'network-a-deliveries';
    this.#stream = STREAMS[this.#streamName] as Stream;
    const share = () => (random.chance(0.5) ? 0 : random.next() * 0.25);
    this.#faults = { unavailable: share(), lostAnswer: share(), late: share(), partial: share() };
    this.#deadLetterFaults = share();
    this.#isMended = random.chance(0.5);
    this.#isReplayed = !this.#isMended;
  }

  async run(): Promise<Outcome> {
    const scheduler = this.#scheduler;
    const { random } = scheduler;
    void this.#produce(random.between(8, 30));
    for (let count = random.between(1, 3); count > 0; count--) this.#startWorker();
    void this.#harm();
    const isDone = () => !this.#isFaulty && this.#isReplayed && this.#isDrained();
    const ended = await scheduler.run(isDone);
    const violations = ended ? this.#check() : [`no progress after ${scheduler.steps} steps`];
    // Writes that were reported as failures may still be applied.
    await scheduler.run(() => this.#shared.pendingWrites === 0);
    violations.push(...this.#check().map((violation) => `at last, ${violation}`));
    return { digest: scheduler.digest, steps: scheduler.steps, log: scheduler.log, violations };
  }

  /** Appends records, some of which are repeated, older than earlier records, or invalid. */
  async #produce(count: number): Promise<void> {
    const { random, now } = this.#scheduler;
    const start = now;
    for (let index = 0; index < count; index++) {
      const key = random.between(0, KEYS - 1);
      const partition = key % PARTITIONS;
      const earlier = this.#topic.partitions[partition]?.filter(
        ({ key: other }) => String(other) === `key-${key}`,
      );
      const repeated = earlier?.length && random.chance(0.15) ? random.pick(earlier) : null;
      const value = repeated?.value ?? this.#value(key, index, start);
      const origin = `${partition}/${this.#topic.partitions[partition]?.length}/${this.#scheduler.now}`;
      const headers = { [ORIGIN]: origin };
      this.#topic.append(partition, { key: `key-${key}`, value, headers }, this.#scheduler.now);
      // Several records often share one millisecond.
      await this.#scheduler.step(
        null,
        `appended to ${partition}`,
        this.#scheduler.random.chance(0.5) ? 0 : 90,
      );
    }
  }

  #value(key: number, index: number, start: number): string {
    const { random } = this.#scheduler;
    const kind = random.next();
    if (kind < 0.05) return random.pick(['{', '[]', '{"organization_id":"org"}', 'null']);
    const isUnstorable = kind < 0.12;
    // Few different moments, so that many records have the same.
    const moment = random.chance(0.3)
      ? {}
      : { at: new Date(start + random.between(-3, 3) * 1000).toISOString() };
    const record =
      this.#streamName === 'contacts'
        ? {
            organization_id: 'org',
            contact_id: `key-${key}`,
            first_name: `value ${index}`,
            job_title: isUnstorable ? UNSTORABLE : 'fine',
            updated_at: moment.at,
          }
        : {
            organization_id: 'org',
            date: '2023-11-01',
            campaign_id: `key-${key}`,
            creative_id: 'creative',
            impressions: index,
            lead_form_opens: isUnstorable ? 13 : 0,
            reported_at: moment.at,
          };
    return JSON.stringify(record);
  }

  /** Crashes, freezes, starts and stops processes, rebalances, and replays dead letters; then ends all faults. */
  async #harm(): Promise<void> {
    const scheduler = this.#scheduler;
    const { random } = scheduler;
    const until = scheduler.now + FAULTY_MS;
    while (scheduler.now < until) {
      await scheduler.step(null, 'time passes', 200);
      const running = this.#workers.filter(({ crashed, stop }) => !crashed && !stop.signal.aborted);
      const victim = running.length > 0 ? random.pick(running) : null;
      const kind = random.next();
      if (victim && kind < 0.25) {
        scheduler.note(`${victim.name} crashes`);
        victim.crashed = true;
      } else if (victim && kind < 0.5) {
        victim.frozenUntil = scheduler.now + random.between(0, 4 * SESSION_MS);
        scheduler.note(`${victim.name} stands still`);
      } else if (kind < 0.65) {
        this.#startWorker();
      } else if (kind < 0.75) {
        scheduler.note('the group rebalances');
        this.#group.rebalance(scheduler.now);
      } else if (kind < 0.85) {
        this.#replay();
      } else if (victim) {
        scheduler.note(`${victim.name} receives SIGTERM`);
        victim.stop.abort(new Error('the worker stops'));
      }
    }
    scheduler.note('all is well');
    this.#isFaulty = false;
    this.#startWorker();
    if (!this.#isMended) return;
    // Records that were rejected before can be stored now.
    while (!this.#isDrained()) await scheduler.step(null, 'waits', 200);
    this.#shared.acceptsEverything = true;
    this.#replay();
    this.#isReplayed = true;
  }

  readonly #workers: WorkerProcess[] = [];

  #startWorker(): void {
    const name = `worker ${++this.#processes}`;
    const worker = { name, crashed: false, frozenUntil: 0, stop: new AbortController() };
    this.#workers.push(worker);
    void this.#work(worker);
  }

  /** A process: joins the group, and processes batches of its partitions until it crashes. */
  async #work(actor: WorkerProcess): Promise<void> {
    const scheduler = this.#scheduler;
    const mutant = this.#mutant;
    const send = deadLetterSender(this.#producer(actor));
    const sendDeadLetters = mutant.sendDeadLetters?.(send) ?? send;
    const stores = storesOf(actor, this.#shared, scheduler, () =>
      this.#isFaulty ? this.#faults : NO_FAULTS,
    );
    const writeAll: Write = (records) => this.#stream.write(stores, records);
    const write = mutant.write?.(writeAll) ?? writeAll;
    const processAsWritten = createBatchProcessor(this.#stream, {
      writer: createRecordWriter(this.#stream.store, write, groupWrites(write, GROUP_LIMITS)),
      sendDeadLetters,
      decoding: new Mutex(),
      onProgress: ignored,
      onCommitted: ignored,
      onOutage: ignored,
      signal: actor.stop.signal,
      sleep: (milliseconds) => scheduler.sleep(actor, 'waits for the store', milliseconds),
      now: () => scheduler.now,
      random: () => scheduler.random.next(),
      recordsAfterRejection: RECORDS_AFTER_REJECTION,
      newTimeSlice: () => ({ shouldYield: () => false, yieldToEventLoop: async () => undefined }),
    });
    const processBatch = mutant.processBatch?.(processAsWritten) ?? processAsWritten;
    const membership = new SimulatedMembership(actor, this.#group, scheduler);
    while (!actor.stop.signal.aborted) {
      await scheduler.step(actor, 'joins', 20);
      const member = this.#group.join(actor, scheduler.now);
      if (!member) continue;
      membership.joined(member);
      await Promise.all(
        member.partitions.map(async (partition) => {
          while (
            !actor.stop.signal.aborted &&
            (await this.#fetchOnce(actor, membership, partition, processBatch))
          );
        }),
      );
    }
  }

  /** Fetches records of a partition and processes them; false if the member has to join again. */
  async #fetchOnce(
    actor: WorkerProcess,
    membership: SimulatedMembership,
    partition: number,
    processBatch: (batch: Batch) => Promise<void>,
  ): Promise<boolean> {
    const scheduler = this.#scheduler;
    await scheduler.step(actor, `fetches of ${partition}`, 30);
    if (!membership.heartbeat()) return false;
    const from = membership.positions[partition] as number;
    const records = (this.#topic.partitions[partition] ?? []).slice(
      from,
      from + scheduler.random.between(1, 8),
    );
    if (records.length === 0) return true;
    const { epoch } = membership;
    const isAssigned = () => membership.isAssigned(epoch);
    if (membership.isRebalancing || actor.stop.signal.aborted) return membership.heartbeat();
    try {
      await processBatch({
        topic: 'topic',
        partition,
        records,
        lag: 0,
        isAssigned,
        isRebalancing: () => membership.isRebalancing,
        withHeartbeats: (work) => membership.withHeartbeats(work),
        async done(last) {
          await scheduler.step(actor, `commits ${last.offset} of ${partition}`);
          const offset = Number(last.offset) + 1;
          if (!membership.commit(partition, offset)) throw new Error('not a member');
          scheduler.note(`committed ${offset} of ${partition}`);
          membership.positions[partition] = offset;
        },
      });
    } catch {
      scheduler.note(`${actor.name} learns that a batch failed`);
    }
    return membership.heartbeat();
  }

  /** Sends dead letters: a send may fail before or after they are appended. */
  #producer(actor: Actor): RecordSender {
    const scheduler = this.#scheduler;
    const send = async (_: string, messages: readonly OutgoingRecord[]) => {
      await scheduler.step(actor, 'dead letters sent');
      const chance = this.#isFaulty ? scheduler.random.next() : 1;
      if (chance < this.#deadLetterFaults / 2) throw new Error('no broker');
      for (const message of messages) this.#deadLetters.append(0, message, scheduler.now);
      await scheduler.step(actor, 'dead letters appended');
      if (chance < this.#deadLetterFaults) throw new Error('the answer was lost');
    };
    return { send };
  }

  /** Replays the dead letters that were not replayed yet. */
  #replay(): void {
    const letters = this.#deadLetters.records.slice(this.#letters);
    this.#letters += letters.length;
    for (const letter of letters) {
      this.#scheduler.note(`replays ${String(letter.key)}`);
      const record = stripDeadLetterHeaders(letter);
      const replayed = this.#mutant.replayed?.(record) ?? record;
      this.#topic.append(originOf(letter).partition, replayed, this.#scheduler.now);
    }
  }

  #isDrained(): boolean {
    return this.#topic.partitions.every(
      (records, partition) => this.#group.committed[partition] === records.length,
    );
  }

  /** Compares the state with the state that follows from the records, computed without the code under test. */
  #check(): string[] {
    const violations: string[] = [];
    const expected = new Map<string, { order: bigint; value: string }>();
    const rejected = new Set<string>();
    const perhapsRejected = new Set<string>();
    for (const record of this.#topic.records) {
      const origin = originOf(record);
      const said = readRecord(record);
      if (!said || (said.isUnstorable && !this.#isMended)) {
        rejected.add(origin.id);
        continue;
      }
      if (said.isUnstorable) perhapsRejected.add(origin.id);
      const order =
        (BigInt((said.at ?? origin.acceptedAt) + 1e15) << 80n) |
        (BigInt(origin.acceptedAt) << 32n) |
        BigInt(origin.offset);
      const before = expected.get(said.key);
      if (!before || before.order < order) expected.set(said.key, { order, value: said.value });
    }
    const actual = new Map<string, string>();
    for (const [key, { body }] of this.#shared.contacts)
      actual.set(key, String((body as { first_name?: string }).first_name));
    for (const [key, { impressions }] of this.#shared.deliveries)
      actual.set(String(key.split(' ')[1]), impressions);
    for (const [key, { value }] of expected) {
      if (actual.get(key) !== value) violations.push(`${key} is ${actual.get(key)} instead of ${value}`);
    }
    for (const key of actual.keys()) if (!expected.has(key)) violations.push(`${key} came from nowhere`);
    const letters = new Set(this.#deadLetters.records.map((letter) => originOf(letter).id));
    for (const id of rejected)
      if (!letters.has(id)) violations.push(`record ${id} is neither stored nor a dead letter`);
    for (const id of letters)
      if (!rejected.has(id) && !perhapsRejected.has(id))
        violations.push(`record ${id} is a dead letter for nothing`);
    return violations;
  }
}

/** Membership of a worker in its group, and the offset that it fetches next. */
class SimulatedMembership {
  epoch = 0;
  isRebalancing = false;
  /** Offset of the next fetch, by partition. */
  positions: number[] = [];
  readonly #actor: Actor;
  readonly #group: Group;
  readonly #scheduler: Scheduler;
  #generation = 0;
  #isLost = false;
  #seenAt = 0;

  constructor(actor: Actor, group: Group, scheduler: Scheduler) {
    this.#actor = actor;
    this.#group = group;
    this.#scheduler = scheduler;
  }

  joined({ generation }: Readonly<Member>): void {
    this.epoch++;
    this.isRebalancing = false;
    this.positions = [...this.#group.committed];
    this.#generation = generation;
    this.#isLost = false;
    this.#seenAt = this.#scheduler.now;
  }

  isAssigned(epoch: number): boolean {
    return epoch === this.epoch && !this.#isLost && this.#scheduler.now - this.#seenAt < SESSION_MS;
  }

  /** Whether the member continues without joining again. */
  heartbeat(): boolean {
    const result = this.#group.heartbeat(this.#actor, this.#generation, this.#scheduler.now);
    if (result === 'unknown member') this.#isLost = true;
    else this.#seenAt = this.#scheduler.now;
    if (result === 'rebalancing' && !this.isRebalancing) {
      this.isRebalancing = true;
      this.#scheduler.note(`${this.#actor.name} learns of a rebalance`);
    }
    return result === 'ok';
  }

  /** Commits with the generation that the member knows. The group rejects commits of earlier generations only. */
  commit(partition: number, offset: number): boolean {
    return this.#group.commit(this.#actor, this.#generation, partition, offset, this.#scheduler.now);
  }

  async withHeartbeats<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const beating = async () => {
      while (!isSettled && !this.#isLost) {
        await this.#scheduler.sleep(this.#actor, 'heartbeat', HEARTBEAT_MS);
        if (!isSettled) this.heartbeat();
      }
    };
    void beating();
    const result = await work.finally(() => {
      isSettled = true;
    });
    if (this.#isLost) throw new Error('the session is over');
    return result;
  }
}

/** Position and time at which a record, or the original of a dead letter, was first appended. */
function originOf({ headers }: KafkaRecord): {
  id: string;
  partition: number;
  offset: number;
  acceptedAt: number;
} {
  const id = headerText(headers, ORIGIN);
  const [partition, offset, acceptedAt] = id.split('/').map(Number) as [number, number, number];
  return { id, partition, offset, acceptedAt };
}

interface Statement {
  key: string;
  value: string;
  /** Milliseconds; null if the record has no time. */
  at: number | null;
  isUnstorable: boolean;
}

/** Null for an invalid record. */
function readRecord({ value }: KafkaRecord): Statement | null {
  let record: Record<string, string | number>;
  try {
    record = JSON.parse(String(value));
  } catch {
    return null;
  }
  const key = record?.contact_id ?? record?.campaign_id;
  if (key === undefined) return null;
  const moment = record.updated_at ?? record.reported_at;
  return {
    key: String(key),
    value: String(record.first_name ?? record.impressions),
    at: moment === undefined ? null : Date.parse(String(moment)),
    isUnstorable: record.job_title === UNSTORABLE || record.lead_form_opens === 13,
  };
}
