/** Cleans up after processes that died. Every process runs it; concurrent runs are safe. */
import type { Clock } from '../../shared/time.js';
import type { RecoveryStatus } from '../common/search-store.js';
import type { Cluster } from './client.js';
import type { ContactWrites } from './contacts/writes.js';
import type { Ledger } from './credits.js';
import type { Erasures } from './erasure/erasures.js';
import type { IdempotencyKeys } from './idempotency.js';
import type { IndexNames } from './migrations/indices.js';
import { acquireReindexLock, recoverReindex } from './migrations/reindex-lock.js';

/** Rarely is a creation still running then, and its credits are soon returned. */
const OVERDUE_MS = 60_000;
/** A reindex that died blocks writes until its lease has expired and a job has run: shorter than writers wait. */
const INTERVAL_MS = 5000;
/** Between two log lines about failures. */
const LOG_INTERVAL_MS = 60_000;

/** After this many failures in a run, further reservations are only counted: they would probably fail too, slowly. */
const MAX_FAILURES = 20;

/** Resolves with whether the work succeeded. */
type Attempt = (step: object, work: () => Promise<void>) => Promise<boolean>;

export interface RecoveryLog {
  warn(details: object, message: string): void;
}

export interface RecoveryDeps {
  cluster: Cluster;
  names: IndexNames;
  ledger: Ledger;
  idempotencyKeys: IdempotencyKeys;
  contacts: ContactWrites;
  erasures: Erasures;
  clock: Clock;
  log?: RecoveryLog;
}

/** Runs every few seconds until stopped. Failures are counted, logged and retried by the next run. */
export class RecoveryJob {
  readonly #deps: RecoveryDeps;
  readonly #intervalMs: number;
  readonly #status: RecoveryStatus = { overdueReservations: 0, failures: 0 };
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #logAgainAt = 0;

  constructor(deps: RecoveryDeps, intervalMs = INTERVAL_MS) {
    this.#deps = deps;
    this.#intervalMs = intervalMs;
    this.#schedule();
  }

  get status(): Readonly<RecoveryStatus> {
    return this.#status;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    this.#timer = setTimeout(
      () => {
        this.#running = this.#run().then(() => {
          if (!this.#stopped) this.#schedule();
        });
      },
      this.#intervalMs * (0.75 + Math.random() / 2),
    ).unref();
  }

  /** A step that fails does not stop the others. */
  async #run(): Promise<void> {
    const { cluster, names, erasures, clock, log } = this.#deps;
    const failures: object[] = [];
    const attempt: Attempt = async (step, work) => {
      try {
        await work();
        return true;
      } catch (err) {
        failures.push({ ...step, err });
        return false;
      }
    };
    await attempt({ step: 'roll back a reindex' }, () => recoverReindex(cluster, names, clock));
    await attempt({ step: 'find overdue reservations' }, () => this.#resolveReservations(attempt));
    await attempt({ step: 'delete expired idempotency keys' }, () => this.#purge());
    await attempt({ step: 'complete erasures' }, () => erasures.complete());
    this.#status.failures += failures.length;
    if (failures.length === 0 || performance.now() < this.#logAgainAt) return;
    this.#logAgainAt = performance.now() + LOG_INTERVAL_MS;
    log?.warn(
      {
        ...failures[0],
        failures: failures.length,
        overdue_reservations: this.#status.overdueReservations,
      },
      'recovery failed and is tried again',
    );
  }

  async #resolveReservations(attempt: Attempt): Promise<void> {
    const { ledger, contacts, clock } = this.#deps;
    const now = clock.now();
    let unresolved = 0;
    for await (const { organization_id, contact_id, id, reserved_at } of ledger.overdue(now - OVERDUE_MS)) {
      if (this.#stopped) return;
      const step = { step: 'resolve a reservation', organization_id, contact_id, age_ms: now - reserved_at };
      const isResolved =
        unresolved < MAX_FAILURES &&
        (await attempt(step, () => contacts.resolveReservation(organization_id, contact_id, id, now)));
      if (!isResolved) unresolved += 1;
    }
    this.#status.overdueReservations = unresolved;
  }

  /** Skipped during a reindex; the next run retries. */
  async #purge(): Promise<void> {
    const { cluster, names, idempotencyKeys, clock } = this.#deps;
    if (!(await idempotencyKeys.hasExpired())) return;
    const lock = await acquireReindexLock(cluster, names, clock);
    if (!lock) return;
    try {
      await idempotencyKeys.purgeExpired(lock.lost);
    } finally {
      await lock.release();
    }
  }
}
