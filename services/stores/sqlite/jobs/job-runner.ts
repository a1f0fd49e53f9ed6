/** Works on jobs step by step: each step is a request to the writer, so that organizations take turns and other writes pass between. */
import type { Clock } from '../../../shared/time.js';
import type { Reader } from '../reader.js';
import type { Writer } from '../writes/record-messages.js';
import { type JobKind, pendingJobs } from './job-table.js';

/** Time until work that failed is tried again. */
const RETRY_MS = 10_000;
/** Organizations that are looked up at once. */
const MAX_PENDING = 100;

export interface JobRunnerDeps {
  writer: Writer;
  reader: Reader;
  clock: Clock;
  /** Awaited before each step; where it throws, the work stops there until another process or a retry goes on. */
  beforeStep?(): Promise<void>;
}

export class JobRunner {
  readonly #deps: JobRunnerDeps;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps;
  }

  /** Resolves when no job of the kind is left in the organization. Where it throws, the work is tried again later. */
  async finish(organizationId: string, kind: JobKind): Promise<void> {
    const { writer, clock, beforeStep } = this.#deps;
    try {
      let isLeft = true;
      while (isLeft) {
        await beforeStep?.();
        isLeft = await writer.callFor(organizationId, 'stepJob', organizationId, kind, clock.now());
      }
    } catch (error) {
      this.#resumeLater();
      throw error;
    }
  }

  /** Goes on with jobs that an earlier process left. Never rejects. */
  async resume(): Promise<void> {
    try {
      for (;;) {
        if (this.#isClosed) return;
        const pending = this.#deps.reader.read((connection) => pendingJobs(connection, MAX_PENDING));
        if (pending.length === 0) return;
        await Promise.all(pending.map(({ organizationId, kind }) => this.finish(organizationId, kind)));
      }
    } catch {
      this.#resumeLater();
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
  }

  #resumeLater(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.resume(), RETRY_MS).unref();
  }
}
