import type { OrderedRecord } from '../../shared/record-order.js';
import type { ErrorMessage } from './sqlite-error.js';
import { isUnavailable, toErrorMessage } from './sqlite-error.js';
import type { AnswerMessage, CallMessage } from './thread-messages.js';
import { type RecordWriter, recordWriters, writeOperations } from './write-operations.js';
import type { WriteSession } from './write-session.js';

/**
 * A transaction of records should take about this long: requests are served in between. But never fewer records than
 * `min`: a page of an index is written once for all records of a transaction that touch it.
 */
const SLICE_MS = 100;
const RECORDS = { min: 2000, max: 5000, start: 2000 };

interface RecordsJob {
  call: number;
  writer: RecordWriter;
  records: OrderedRecord<unknown>[];
  done: number;
}

/**
 * Writes of all callers, made durable in groups: all requests that wait share one transaction, and records are written
 * in slices between them. An answer goes out only after the commit it depends on.
 */
export class WriteQueue {
  readonly #session: WriteSession;
  readonly #operations: Record<string, (...values: never[]) => string>;
  readonly #answer: (message: AnswerMessage) => void;
  #requests: CallMessage[] = [];
  readonly #jobs: RecordsJob[] = [];
  #sliceRecords = RECORDS.start;
  /** So many jobs are written one at a time, because one of them failed in company. */
  #alone = 0;

  constructor(session: WriteSession, answer: (message: AnswerMessage) => void) {
    this.#session = session;
    this.#operations = writeOperations(session);
    this.#answer = answer;
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0 && this.#jobs.length === 0;
  }

  add(message: CallMessage): void {
    if (!(message.operation in recordWriters)) {
      this.#requests.push(message);
      return;
    }
    const [json] = message.values as [string];
    this.#jobs.push({
      call: message.call,
      writer: message.operation as RecordWriter,
      records: JSON.parse(json) as OrderedRecord<unknown>[],
      done: 0,
    });
  }

  /** One transaction for the requests that wait, and one for a slice of the records. Never throws. */
  work(): void {
    if (this.#requests.length > 0) this.#writeRequests();
    if (this.#jobs.length > 0) this.#writeSlice();
  }

  #writeRequests(): void {
    const requests = this.#requests;
    this.#requests = [];
    let answers: AnswerMessage[];
    try {
      answers = this.#session.transaction(() => requests.map((request) => this.#writeRequest(request)));
    } catch (error) {
      answers = requests.map(({ call }) => ({ call, error: toErrorMessage(error) }));
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
    const parts = this.#nextParts();
    const begun = performance.now();
    let error: ErrorMessage | undefined;
    try {
      this.#session.transaction(() => {
        for (const { job, end } of parts) {
          recordWriters[job.writer](this.#session, job.records.slice(job.done, end));
        }
      });
    } catch (failure) {
      error = toErrorMessage(failure);
    }
    if (error && !error.unavailable && parts.length > 1) {
      this.#alone = parts.length;
      return;
    }
    this.#alone = Math.max(0, this.#alone - 1);
    const records = parts.reduce((sum, { job, end }) => sum + end - job.done, 0);
    this.#adapt(records, performance.now() - begun);
    for (const { job, end } of parts) {
      job.done = end;
      if (error) this.#answer({ call: job.call, error });
      else if (end === job.records.length) this.#answer({ call: job.call, json: 'null' });
      if (error || end === job.records.length) this.#jobs.shift();
    }
  }

  #nextParts(): { job: RecordsJob; end: number }[] {
    const parts: { job: RecordsJob; end: number }[] = [];
    let room = this.#sliceRecords;
    for (const job of this.#jobs) {
      const end = Math.min(job.records.length, job.done + room);
      parts.push({ job, end });
      room -= end - job.done;
      if (room <= 0 || this.#alone > 0) break;
    }
    return parts;
  }

  #adapt(records: number, milliseconds: number): void {
    if (records < RECORDS.min) return;
    const fitting = (records * SLICE_MS) / Math.max(milliseconds, 1);
    const next = Math.min(fitting, this.#sliceRecords * 2);
    this.#sliceRecords = Math.round(Math.min(Math.max(next, RECORDS.min), RECORDS.max));
  }
}
