import { FairQueue } from '../../../shared/fair-queue.js';
import { isUnavailable, serializeError } from '../errors.js';
import type { RpcRequest, RpcResponse } from '../workers/rpc.js';
import type { SteppedWork } from './stepped-work.js';
import type { BatchResult, IsTimeUp } from './write-batch.js';
import {
  type RecordOperations,
  type RecordWriter,
  recordWriters,
  steppedOperations,
  writeOperations,
} from './write-operations.js';
import type { WriteSession } from './write-session.js';

/** Records per transaction. An index page is written once for all records of a transaction that touch it. */
const RECORDS_PER_TRANSACTION = 2000;

/** Hard limit of a transaction, even if it has written few requests or records. */
const MAX_TRANSACTION_MS = 300;

/** Limit of one step of work over many rows. */
const MAX_STEP_MS = 50;

interface RecordsJob {
  id: number;
  organizationId: string;
  writer: RecordWriter;
  /** JSON that is parsed when the turn of the request comes. */
  json: string;
  records?: unknown[];
  done: number;
  rejected: BatchResult['rejected'];
}

type Queued = Pick<RpcRequest, 'id' | 'organizationId'>;

/** `work` is the rest of a request. */
type SteppedRequest = RpcRequest & { work?: SteppedWork<unknown> };

/**
 * Group commit for all callers: waiting requests share a transaction. Between these transactions, the queue runs steps of work over many
 * rows, and writes batches of records. Organizations take turns in all three. A response is sent only after its commit.
 */
export class WriteQueue {
  readonly #session: WriteSession;
  readonly #operations: Record<string, (...args: never[]) => string>;
  readonly #steppedOperations: Record<string, (...args: never[]) => SteppedWork<unknown>>;
  readonly #respond: (message: RpcResponse) => void;
  readonly #requests = new FairQueue<RpcRequest>();
  /** A separate queue: after each step, all waiting requests run before the next step. */
  readonly #stepped = new FairQueue<SteppedRequest>();
  readonly #jobs = new FairQueue<RecordsJob>();
  /** Number of transactions that run with a single item each, after one item made a transaction of several items fail. */
  #alone = 0;

  constructor(session: WriteSession, respond: (response: RpcResponse) => void) {
    this.#session = session;
    this.#operations = writeOperations(session);
    this.#steppedOperations = steppedOperations(session);
    this.#respond = respond;
  }

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#stepped.size === 0 && this.#jobs.size === 0;
  }

  add(request: RpcRequest): void {
    const { id, operation, args, organizationId = '' } = request;
    if (!(operation in recordWriters)) {
      const queue = operation in this.#steppedOperations ? this.#stepped : this.#requests;
      queue.push(organizationId, request);
      return;
    }
    const [json] = args as Parameters<RecordOperations[RecordWriter]>;
    this.#jobs.push(organizationId, {
      id,
      organizationId,
      writer: operation as RecordWriter,
      json,
      done: 0,
      rejected: [],
    });
  }

  /** Runs one transaction of waiting requests, one step and one transaction of records. Never throws: errors go to the callers. */
  work(): void {
    if (this.#requests.size > 0) this.#writeRequests();
    const step = this.#stepped.shift();
    if (step) this.#writeStep(step);
    if (this.#jobs.size > 0) this.#writeRecords();
  }

  #writeRequests(): void {
    this.#transaction(this.#requests, (request) => {
      const { id, operation, args } = request;
      const run = this.#operations[operation] as (...args: unknown[]) => string;
      const json = run(...args);
      return () => this.#respond({ id, json });
    });
  }

  /** Writes a step in its own transaction, so that no request waits for more than one step. */
  #writeStep(request: SteppedRequest): void {
    const { id, operation, args, organizationId = '' } = request;
    const start = this.#steppedOperations[operation] as (...args: unknown[]) => SteppedWork<unknown>;
    request.work ??= start(...args);
    const { work } = request;
    const end = performance.now() + MAX_STEP_MS;
    try {
      const { commit, result } = this.#session.transaction(() => work.step(() => performance.now() > end));
      commit?.();
      if (result === undefined) this.#stepped.unshift(organizationId, request);
      else this.#respond({ id, json: result });
    } catch (error) {
      this.#respond({ id, error: serializeError(error) });
    }
  }

  #writeRecords(): void {
    let room = RECORDS_PER_TRANSACTION;
    const write = (job: RecordsJob, isTimeUp: IsTimeUp) => {
      job.records ??= JSON.parse(job.json) as unknown[];
      const { length } = job.records;
      const records = job.records.slice(job.done, job.done + room);
      const { done, rejected } = recordWriters[job.writer](this.#session, records, isTimeUp);
      room -= done;
      return () => {
        for (const each of rejected) job.rejected.push({ ...each, index: job.done + each.index });
        job.done += done;
        if (job.done < length) this.#jobs.unshift(job.organizationId, job);
        else this.#respond({ id: job.id, json: JSON.stringify(job.rejected) });
      };
    };
    this.#transaction(this.#jobs, write, () => room > 0);
  }

  /** Writes waiting items until there is no room or time. Calls the functions that `write` returned after the commit. */
  #transaction<Item extends Queued>(
    queue: FairQueue<Item>,
    write: (item: Item, isTimeUp: IsTimeUp) => () => void,
    hasRoom = () => true,
  ): void {
    const end = performance.now() + MAX_TRANSACTION_MS;
    const isTimeUp = () => performance.now() > end;
    const isAlone = this.#alone > 0;
    if (isAlone) this.#alone--;
    const taken: Item[] = [];
    const committed: (() => void)[] = [];
    try {
      this.#session.transaction(() => {
        while (taken.length === 0 || (!isAlone && hasRoom() && !isTimeUp())) {
          const item = queue.shift();
          if (!item) break;
          taken.push(item);
          committed.push(write(item, isTimeUp));
        }
      });
    } catch (error) {
      this.#fail(queue, taken, error);
      return;
    }
    for (const respond of committed) respond();
  }

  /**
   * A single item fails by itself. If several items failed together, each is written again in its own transaction, unless the store itself
   * failed.
   */
  #fail<Item extends Queued>(queue: FairQueue<Item>, taken: Item[], error: unknown): void {
    if (taken.length > 1 && !isUnavailable(error)) {
      this.#alone += taken.length;
      for (const item of taken.reverse()) queue.unshift(item.organizationId ?? '', item);
      return;
    }
    for (const { id } of taken) this.#respond({ id, error: serializeError(error) });
  }
}
