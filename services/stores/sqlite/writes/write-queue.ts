import type { OrderedRecord } from '../../../shared/record-order.js';
import { isUnavailable, serializeError } from '../errors.js';
import { FairQueue } from '../workers/fair-queue.js';
import type { RpcRequest, RpcResponse } from '../workers/rpc.js';
import type { BatchResult } from './write-batch.js';
import { type RecordWriter, recordWriters, writeOperations } from './write-operations.js';
import type { WriteSession } from './write-session.js';

/** A transaction of records should take about this long: requests are served in between. */
const TARGET_TRANSACTION_MS = 100;

/** But never fewer records than `min`: a page of an index is written once for all records of a transaction that touch it. */
const RECORDS_PER_TRANSACTION = { min: 2000, max: 5000, start: 2000 };

/** After this time a transaction ends all the same, however few of its requests or records were written. */
const MAX_TRANSACTION_MS = 300;

interface RecordsJob {
  call: number;
  tenant: string;
  writer: RecordWriter;
  records: OrderedRecord<unknown>[];
  done: number;
  refused: BatchResult['refused'];
}

/** The writes of a job in one transaction. */
interface Part {
  job: RecordsJob;
  written: BatchResult;
}

/**
 * Writes of all callers, made durable in groups: requests that wait share a transaction, and records are written in slices
 * between them. Organizations take turns with both. An answer goes out only after the commit it depends on.
 */
export class WriteQueue {
  readonly #session: WriteSession;
  readonly #operations: Record<string, (...values: never[]) => string>;
  readonly #answer: (message: RpcResponse) => void;
  readonly #requests = new FairQueue<RpcRequest>();
  readonly #jobs = new FairQueue<RecordsJob>();
  #recordsPerTransaction = RECORDS_PER_TRANSACTION.start;
  /** So many jobs are written one at a time, because one of them failed in company. */
  #isolateRemaining = 0;

  constructor(session: WriteSession, answer: (message: RpcResponse) => void) {
    this.#session = session;
    this.#operations = writeOperations(session);
    this.#answer = answer;
  }

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#jobs.size === 0;
  }

  add(message: RpcRequest): void {
    const { call, operation, values, tenant = '' } = message;
    if (!(operation in recordWriters)) {
      this.#requests.push(tenant, message);
      return;
    }
    const [json] = values as [string];
    const records = JSON.parse(json) as OrderedRecord<unknown>[];
    const writer = operation as RecordWriter;
    this.#jobs.push(tenant, { call, tenant, writer, records, done: 0, refused: [] });
  }

  /** One transaction for requests that wait, and one for a slice of the records. Never throws. */
  work(): void {
    if (this.#requests.size > 0) this.#writeRequests();
    if (this.#jobs.size > 0) this.#writeRecords();
  }

  #writeRequests(): void {
    const isTimeUp = timer(MAX_TRANSACTION_MS);
    const answers: RpcResponse[] = [];
    const taken: RpcRequest[] = [];
    try {
      this.#session.transaction(() => {
        while (taken.length === 0 || !isTimeUp()) {
          const request = this.#requests.shift(anyTenant);
          if (!request) break;
          taken.push(request);
          answers.push(this.#writeRequest(request));
        }
      });
    } catch (error) {
      for (const { call } of taken) this.#answer({ call, error: serializeError(error) });
      return;
    }
    for (const answer of answers) this.#answer(answer);
  }

  /** A request that fails does not take the others with it, unless the store itself failed. */
  #writeRequest({ call, operation, values }: RpcRequest): RpcResponse {
    try {
      const run = this.#operations[operation] as (...values: unknown[]) => string;
      return { call, json: this.#session.savepoint(() => run(...values)) };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      return { call, error: serializeError(error) };
    }
  }

  #writeRecords(): void {
    const isTimeUp = timer(MAX_TRANSACTION_MS);
    const begun = performance.now();
    const taken: RecordsJob[] = [];
    let parts: Part[] = [];
    try {
      parts = this.#session.transaction(() => this.#writeParts(taken, isTimeUp));
    } catch (failure) {
      this.#failed(taken, failure);
      return;
    }
    this.#isolateRemaining = Math.max(0, this.#isolateRemaining - 1);
    const records = parts.reduce((sum, { written }) => sum + written.done, 0);
    this.#adapt(records, performance.now() - begun);
    for (const { job, written } of parts) {
      for (const refused of written.refused) {
        job.refused.push({ ...refused, index: job.done + refused.index });
      }
      job.done += written.done;
      if (job.done < job.records.length) this.#jobs.unshift(job.tenant, job);
      else this.#answer({ call: job.call, json: JSON.stringify(job.refused) });
    }
  }

  #writeParts(taken: RecordsJob[], isTimeUp: () => boolean): Part[] {
    const parts: Part[] = [];
    let room = this.#recordsPerTransaction;
    while (room > 0 && (parts.length === 0 || (this.#isolateRemaining === 0 && !isTimeUp()))) {
      const job = this.#jobs.shift(anyTenant);
      if (!job) break;
      taken.push(job);
      const records = job.records.slice(job.done, job.done + room);
      const written = recordWriters[job.writer](this.#session, records, isTimeUp);
      parts.push({ job, written });
      room -= written.done;
    }
    return parts;
  }

  /** One job that the store cannot take must not take others with it. */
  #failed(taken: RecordsJob[], failure: unknown): void {
    if (taken.length > 1 && !isUnavailable(failure)) {
      this.#isolateRemaining = taken.length;
      for (const job of taken.reverse()) this.#jobs.unshift(job.tenant, job);
      return;
    }
    this.#isolateRemaining = Math.max(0, this.#isolateRemaining - 1);
    for (const { call } of taken) this.#answer({ call, error: serializeError(failure) });
  }

  #adapt(records: number, milliseconds: number): void {
    if (records < RECORDS_PER_TRANSACTION.min) return;
    const fitting = (records * TARGET_TRANSACTION_MS) / Math.max(milliseconds, 1);
    const next = Math.min(fitting, this.#recordsPerTransaction * 2);
    this.#recordsPerTransaction = Math.round(
      Math.min(Math.max(next, RECORDS_PER_TRANSACTION.min), RECORDS_PER_TRANSACTION.max),
    );
  }
}

const anyTenant = () => true;

function timer(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds;
  return () => performance.now() > end;
}
