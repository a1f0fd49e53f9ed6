/** Copies all contacts and audiences into the tables that SQL reads on a server (decision 0022). Several processes may copy at once. */
import { PeriodicJob, type PeriodicJobOptions } from '../../shared/periodic-job.js';
import type { Clock } from '../../shared/time.js';
import { COPIED_KINDS, COPY_LEASE_MS, type RecordCopy, type RecordSource } from '../common/record-copy.js';

const INSERT_BYTES = 8 * 1024 * 1024;
const INSERT_RECORDS = 20_000;
const LOOK_MS = 60_000;
const RENEW_MS = COPY_LEASE_MS / 5;

export interface RecordCopierOptions {
  source: RecordSource;
  copy: RecordCopy;
  clock: Clock;
  log?: PeriodicJobOptions['log'];
}

export class RecordCopier {
  readonly #options: RecordCopierOptions;

  constructor(options: RecordCopierOptions) {
    this.#options = options;
  }

  /** When the reading of the current copy began, in milliseconds since the epoch; null before the first copy. */
  followedAt(): Promise<number | null> {
    return this.#options.copy.beganAt();
  }

  /** Copies everything. Resolves with the number of records. Throws the errors of the stores, and the reason of the signal. */
  async run(signal?: AbortSignal, onProgress?: (records: number) => void): Promise<number> {
    const { source, copy, clock } = this.#options;
    const beganAt = clock.now();
    await copy.dropAbandoned();
    const made = await copy.begin(beganAt);
    const renewal = new PeriodicJob(() => made.renew(), {
      name: 'copy_lease',
      intervalMs: RENEW_MS,
      failure:
        'the lease of a copy for SQL could not be renewed; without it for five minutes, others drop the copy',
      log: this.#options.log,
    }).start();
    try {
      let records = 0;
      for (const kind of COPIED_KINDS) {
        for await (const lines of batches(source.read(kind))) {
          signal?.throwIfAborted();
          await made.insert(kind, lines);
          records += lines.length;
          onProgress?.(records);
        }
      }
      // Hides persons whose erasure began during this read. If an erasure begins later, it finds the copy after the swap.
      for await (const contacts of source.erased()) await made.hide(contacts);
      await made.swap();
      for await (const contacts of source.erased()) await copy.hide(contacts);
      return records;
    } finally {
      await renewal.stop();
      await made.drop();
    }
  }

  /** Copies about every `intervalMs`, unless another process copies. */
  startEvery(intervalMs: number, options: Pick<PeriodicJobOptions, 'log' | 'runs'>): PeriodicJob {
    const { copy, clock } = this.#options;
    const work = async (signal: AbortSignal) => {
      // Drops the tables of processes that died, because every proof of erasure waits for these tables.
      await copy.dropAbandoned();
      const copies = [await copy.beganAt(), ...(await copy.unfinished())];
      const last = Math.max(...copies.map((each) => each ?? 0));
      if (clock.now() - last >= intervalMs) await this.run(signal);
    };
    const failure = 'copying contacts and audiences for SQL failed and is tried again';
    return new PeriodicJob(work, {
      ...options,
      name: 'copy',
      intervalMs: Math.min(LOOK_MS, intervalMs),
      dueMs: intervalMs,
      failure,
    }).start();
  }
}

/** Groups lines into batches, one for each insert. */
async function* batches(pages: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for await (const lines of pages) {
    for (const line of lines) {
      batch.push(line);
      bytes += line.length;
      if (bytes < INSERT_BYTES && batch.length < INSERT_RECORDS) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
