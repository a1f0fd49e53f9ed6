import type { OrderedRecord } from '../../../shared/record-order.js';
import { isUnavailable, toErrorMessage } from '../errors.js';
import { FairQueue } from '../workers/fair-queue.js';
import type { AnswerMessage, CallMessage } from '../workers/rpc.js';
import type { Written } from './write-each.js';
import { type RecordWriter, recordWriters, writeOperations } from './write-operations.js';
import type { WriteSession } from './write-session.js';

/** A transaction of records should take about this long: requests are served in between. */
const SLICE_MS = 100;

/** But never fewer records than `min`: a page of an index is written once for all records of a transaction that touch it. */
const RECORDS = { min: 2000, max: 5000, start: 2000 };

/** After this time a transaction ends all the same, however few of its requests or records were written. */
const MOST_MS = 300;

interface RecordsJob {
  call: number;
  tenant: string;
  writer: RecordWriter;
  records: OrderedRecord<unknown>[];
  done: number;
  refused: Written['refused'];
}

/** The writes of a job in one transaction. */
interface Part {
  job: RecordsJob;
  written: Written;
}

/**
 * Writes of all callers, made durable in groups: requests that wait share a transaction, and records are written in slices
 * between them. Organizations take turns with both. An answer goes out only after the commit it depends on.
 */
export class WriteQueue {
  readonly #session: WriteSession;
  readonly #operations: Record<string, (...values: never[]) => string>;
  readonly #answer: (message: AnswerMessage) => void;
  readonly #requests = new FairQueue<CallMessage>();
  readonly #jobs = new FairQueue<RecordsJob>();
  #sliceRecords = RECORDS.start;
  /** So many jobs are written one at a time, because one of them failed in company. */
  #alone = 0;

  constructor(session: WriteSession, answer: (message: AnswerMessage) => void) {
    this.#session = session;
    this.#operations = writeOperations(session);
    this.#answer = answer;
  }

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#jobs.size === 0;
  }

  add(message: CallMessage): void {
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
    if (this.#jobs.size > 0) this.#writeSlice();
  }

  #writeRequests(): void {
    const isOver = timer(MOST_MS);
    const answers: AnswerMessage[] = [];
    const taken: CallMessage[] = [];
    try {
      this.#session.transaction(() => {
        while (taken.length === 0 || !isOver()) {
          const request = this.#requests.shift(everybody);
          if (!request) break;
          taken.push(request);
          answers.push(this.#writeRequest(request));
        }
      });
    } catch (error) {
      for (const { call } of taken) this.#answer({ call, error: toErrorMessage(error) });
      return;
    }
    for (const answer of answers) this.#answer(answer);
  }

  /** A request that fails does not take the others with it, unless the store itself failed. */
  #writeRequest({ call, operation, values }: CallMessage): AnswerMessage {
    try {
      const run = this.#operations[operation] as (...values: unknown[]) => string;
      return { call, json: this.#session.savepoint(() => run(...values)) };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      return { call, error: toErrorMessage(error) };
    }
  }

  #writeSlice(): void {
    const isOver = timer(MOST_MS);
    const begun = performance.now();
    const taken: RecordsJob[] = [];
    let parts: Part[] = [];
    try {
      parts = this.#session.transaction(() => this.#writeParts(taken, isOver));
    } catch (failure) {
      this.#failed(taken, failure);
      return;
    }
    this.#alone = Math.max(0, this.#alone - 1);
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

  #writeParts(taken: RecordsJob[], isOver: () => boolean): Part[] {
    const parts: Part[] = [];
    let room = this.#sliceRecords;
    while (room > 0 && (parts.length === 0 || (this.#alone === 0 && !isOver()))) {
      const job = this.#jobs.shift(everybody);
      if (!job) break;
      taken.push(job);
      const records = job.records.slice(job.done, job.done + room);
      const written = recordWriters[job.writer](this.#session, records, isOver);
      parts.push({ job, written });
      room -= written.done;
    }
    return parts;
  }

  /** One job that the store cannot take must not take others with it. */
  #failed(taken: RecordsJob[], failure: unknown): void {
    if (taken.length > 1 && !isUnavailable(failure)) {
      this.#alone = taken.length;
      for (const job of taken.reverse()) this.#jobs.unshift(job.tenant, job);
      return;
    }
    this.#alone = Math.max(0, this.#alone - 1);
    for (const { call } of taken) this.#answer({ call, error: toErrorMessage(failure) });
  }

  #adapt(records: number, milliseconds: number): void {
    if (records < RECORDS.min) return;
    const fitting = (records * SLICE_MS) / Math.max(milliseconds, 1);
    const next = Math.min(fitting, this.#sliceRecords * 2);
    this.#sliceRecords = Math.round(Math.min(Math.max(next, RECORDS.min), RECORDS.max));
  }
}

const everybody = () => true;

function timer(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds;
  return () => performance.now() > end;
}
