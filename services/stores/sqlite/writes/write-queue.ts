import { FairQueue } from '../../../shared/fair-queue.js';
import { isUnavailable, serializeError } from '../errors.js';
import type { RpcRequest, RpcResponse } from '../workers/rpc.js';
import type { BatchResult } from './write-batch.js';
import {
  maintenanceOperations,
  type RecordOperations,
  type RecordWriter,
  recordWriters,
  writeOperations,
} from './write-operations.js';
import type { WriteSession } from './write-session.js';

/** Target duration of a transaction of records; requests are written in between. */
const TARGET_TRANSACTION_MS = 100;

/** At least `min`, as a page of an index is written once for all records of a transaction that touch it. */
const RECORDS_PER_TRANSACTION = { min: 2000, max: 5000, initial: 2000 };

/** Hard limit of a transaction, however few requests or records it has written. */
const MAX_TRANSACTION_MS = 300;

interface RecordsJob {
  id: number;
  tenant: string;
  writer: RecordWriter;
  /** Parsed when its turn comes. */
  json: string;
  records?: unknown[];
  done: number;
  rejected: BatchResult['rejected'];
}

/** What one transaction wrote of a job. */
interface JobBatch {
  job: RecordsJob;
  result: BatchResult;
}

/**
 * Group commit for all callers: waiting requests share a transaction, and batches of records are written between them. Organizations
 * take turns with both. A response is sent only after its commit.
 */
export class WriteQueue {
  readonly #session: WriteSession;
  readonly #operations: Record<string, (...args: never[]) => string>;
  readonly #maintenance: Record<string, (...args: never[]) => string>;
  readonly #respond: (message: RpcResponse) => void;
  readonly #requests = new FairQueue<RpcRequest>();
  readonly #jobs = new FairQueue<RecordsJob>();
  readonly #maintenanceRequests: RpcRequest[] = [];
  #recordsPerTransaction = RECORDS_PER_TRANSACTION.initial;
  /** Jobs still to be written in a transaction each, after one of them made a shared transaction fail. */
  #isolateRemaining = 0;

  constructor(session: WriteSession, respond: (response: RpcResponse) => void) {
    this.#session = session;
    this.#operations = writeOperations(session);
    this.#maintenance = maintenanceOperations(session);
    this.#respond = respond;
  }

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#jobs.size === 0 && this.#maintenanceRequests.length === 0;
  }

  add(request: RpcRequest): void {
    const { id, operation, args, tenant = '' } = request;
    if (operation in this.#maintenance) {
      this.#maintenanceRequests.push(request);
      return;
    }
    if (!(operation in recordWriters)) {
      this.#requests.push(tenant, request);
      return;
    }
    const [json] = args as Parameters<RecordOperations[RecordWriter]>;
    this.#jobs.push(tenant, { id, tenant, writer: operation as RecordWriter, json, done: 0, rejected: [] });
  }

  /** Runs one transaction of waiting requests and one of records, else maintenance. Never throws: errors go to the callers. */
  work(): void {
    if (this.#requests.size > 0) this.#writeRequests();
    if (this.#jobs.size > 0) this.#writeRecords();
    const request = this.#maintenanceRequests.shift();
    if (request) this.#maintain(request);
  }

  #maintain({ id, operation, args }: RpcRequest): void {
    try {
      const run = this.#maintenance[operation] as (...args: unknown[]) => string;
      this.#respond({ id, json: run(...args) });
    } catch (error) {
      this.#respond({ id, error: serializeError(error) });
    }
  }

  #writeRequests(): void {
    const isTimeUp = deadline(MAX_TRANSACTION_MS);
    const responses: RpcResponse[] = [];
    const taken: RpcRequest[] = [];
    try {
      this.#session.transaction(() => {
        while (taken.length === 0 || !isTimeUp()) {
          const request = this.#requests.shift();
          if (!request) break;
          taken.push(request);
          responses.push(this.#writeRequest(request));
        }
      });
    } catch (error) {
      for (const { id } of taken) this.#respond({ id, error: serializeError(error) });
      return;
    }
    for (const response of responses) this.#respond(response);
  }

  /** A request fails alone, unless the store itself failed. */
  #writeRequest({ id, operation, args }: RpcRequest): RpcResponse {
    try {
      const run = this.#operations[operation] as (...args: unknown[]) => string;
      return { id, json: this.#session.savepoint(() => run(...args)) };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      return { id, error: serializeError(error) };
    }
  }

  #writeRecords(): void {
    const isTimeUp = deadline(MAX_TRANSACTION_MS);
    const startedAt = performance.now();
    const taken: RecordsJob[] = [];
    let batches: JobBatch[] = [];
    try {
      batches = this.#session.transaction(() => this.#writeBatches(taken, isTimeUp));
    } catch (failure) {
      this.#retryOrFail(taken, failure);
      return;
    }
    this.#isolateRemaining = Math.max(0, this.#isolateRemaining - 1);
    const records = batches.reduce((sum, { result }) => sum + result.done, 0);
    this.#adapt(records, performance.now() - startedAt);
    for (const { job, result } of batches) {
      for (const rejected of result.rejected) {
        job.rejected.push({ ...rejected, index: job.done + rejected.index });
      }
      job.done += result.done;
      if (job.done < (job.records as unknown[]).length) this.#jobs.unshift(job.tenant, job);
      else this.#respond({ id: job.id, json: JSON.stringify(job.rejected) });
    }
  }

  #writeBatches(taken: RecordsJob[], isTimeUp: () => boolean): JobBatch[] {
    const batches: JobBatch[] = [];
    let room = this.#recordsPerTransaction;
    while (room > 0 && (batches.length === 0 || (this.#isolateRemaining === 0 && !isTimeUp()))) {
      const job = this.#jobs.shift();
      if (!job) break;
      taken.push(job);
      job.records ??= JSON.parse(job.json) as unknown[];
      const records = job.records.slice(job.done, job.done + room);
      const result = recordWriters[job.writer](this.#session, records, isTimeUp);
      batches.push({ job, result });
      room -= result.done;
    }
    return batches;
  }

  /** A job that cannot be written must not fail others: they are written again, each in a transaction of its own. */
  #retryOrFail(taken: RecordsJob[], failure: unknown): void {
    if (taken.length > 1 && !isUnavailable(failure)) {
      this.#isolateRemaining = taken.length;
      for (const job of taken.reverse()) this.#jobs.unshift(job.tenant, job);
      return;
    }
    this.#isolateRemaining = Math.max(0, this.#isolateRemaining - 1);
    for (const { id } of taken) this.#respond({ id, error: serializeError(failure) });
  }

  #adapt(records: number, durationMs: number): void {
    if (records < RECORDS_PER_TRANSACTION.min) return;
    const fitting = (records * TARGET_TRANSACTION_MS) / Math.max(durationMs, 1);
    const next = Math.min(fitting, this.#recordsPerTransaction * 2);
    this.#recordsPerTransaction = Math.round(
      Math.min(Math.max(next, RECORDS_PER_TRANSACTION.min), RECORDS_PER_TRANSACTION.max),
    );
  }
}

function deadline(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}
