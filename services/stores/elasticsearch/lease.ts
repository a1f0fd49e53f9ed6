import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Mutex } from '../../shared/async.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { Clock } from '../../shared/time.js';
import type { Documents, VersionedDocument } from './documents.js';
import { retryWithBackoff } from './retry.js';

export interface LeaseSource {
  /**
   * Identifies the attempt that holds the lease, even if the response to the write of this attempt was lost: `<uuid> <process id> <since>
   * <host>`.
   */
  owner: string;
  /** Milliseconds since the epoch; 0 after a release. */
  lease_until: number;
}

/** Another process holds the lease, or this process did not renew it in time. */
export class LeaseLostError extends StoreUnavailableError {
  constructor(id: string) {
    super('records', { cause: new Error(`the lease ${id} was lost`) });
  }
}

export interface LeaseOptions {
  durationMs: number;
  clock: Clock;
}

/** The document of a lease without the fields of the lease itself. */
export type LeaseContent<Source> = Omit<Source, keyof LeaseSource>;

/** Decision of the caller: acquire the lease with new content, or reject with a reason. */
export type LeaseDecision<Source, Rejection> = { acquire: LeaseContent<Source> } | { reject: Rejection };

export type LeaseResult<Source extends LeaseSource, Rejection> =
  /** `previous` is the document that this lease replaced; null for a new document. */
  { lease: Lease<Source>; previous: Source | null } | { rejected: Rejection };

export interface LeaseHolder {
  /** Name of the holder, such as `process 12 on gateway-1`. */
  name: string;
  /** Milliseconds since the epoch. */
  since: number;
}

export function leaseHolder({ owner }: LeaseSource): LeaseHolder {
  const [, processId, since, host] = owner.split(' ');
  return { name: `process ${processId} on ${host}`, since: Number(since) };
}

export const isHeld = (source: LeaseSource, clock: Clock): boolean => source.lease_until > clock.now();

/**
 * A document with one holder at a time, until the holder releases it or the lease expires. The holder renews the lease every third of its
 * duration. Clock skew makes a lease expire early or late, but never lets two holders write: every write is a compare-and-set.
 */
export class Lease<Source extends LeaseSource> {
  readonly #documents: Documents<Source>;
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  /** Orders renewals and updates, which replace the same document. */
  readonly #mutex = new Mutex();
  #document: VersionedDocument<Source>;
  #expiresAt = 0;
  #released = false;
  #renewal: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;

  private constructor(
    documents: Documents<Source>,
    options: LeaseOptions,
    document: VersionedDocument<Source>,
  ) {
    this.#documents = documents;
    this.#options = options;
    this.#document = document;
    this.#schedule();
  }

  /**
   * Acquires a lease. `decide` gets the current document and whether a process holds the lease. It is called again after a conflicting
   * write.
   */
  static acquire<Source extends LeaseSource, Rejection>(
    documents: Documents<Source>,
    id: string,
    options: LeaseOptions,
    decide: (
      previous: Source | null,
      held: boolean,
    ) => LeaseDecision<Source, Rejection> | Promise<LeaseDecision<Source, Rejection>>,
  ): Promise<LeaseResult<Source, Rejection>> {
    const { clock, durationMs } = options;
    const owner = `${randomUUID()} ${process.pid} ${clock.now()} ${hostname()}`;
    // Most leases are new, so the first attempt does not read.
    let reads = false;
    let previous: Source | null = null;
    return retryWithBackoff(async () => {
      const found: VersionedDocument<Source> | null = reads ? await documents.get(id) : null;
      reads = true;
      // The stored lease is our own write, whose response was lost.
      if (found?.source.owner === owner) return { lease: new Lease(documents, options, found), previous };
      previous = found?.source ?? null;
      const decision = await decide(previous, previous !== null && isHeld(previous, clock));
      if ('reject' in decision) return { rejected: decision.reject };
      const source = { ...decision.acquire, owner, lease_until: clock.now() + durationMs } as Source;
      const written = found
        ? await documents.replace(found, source, { refresh: false })
        : await documents.create(id, source, { refresh: false });
      return written ? { lease: new Lease(documents, options, written), previous } : undefined;
    });
  }

  get source(): Source {
    return this.#document.source;
  }

  /** Signal that is aborted with `LeaseLostError`. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Throws `LeaseLostError` if the lease was lost, even if no timer could run yet because the process was suspended. */
  throwIfLost(): void {
    if (performance.now() >= this.#expiresAt) this.#lose();
    this.lost.throwIfAborted();
  }

  /** Renews the lease and changes its document. Throws `LeaseLostError`; also throws it after the release. */
  update(change: Partial<LeaseContent<Source>>): Promise<void> {
    return this.#mutex.runExclusive(() => {
      if (this.#released) throw new LeaseLostError(this.#document.id);
      return this.#write(change, () => this.#options.clock.now() + this.#options.durationMs);
    });
  }

  /** Frees the lease and changes its document. Does nothing if the lease was lost. */
  async release(change: Partial<LeaseContent<Source>> = {}): Promise<void> {
    // Set first, so that no later renewal begins. If a renewal is running, the write that frees the lease follows the renewal.
    this.#released = true;
    this.#clearTimers();
    try {
      await this.#mutex.runExclusive(() => this.#write(change, () => 0));
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
    }
  }

  /** Callers must hold the mutex. */
  async #write(change: Partial<LeaseContent<Source>>, leaseUntil: () => number): Promise<void> {
    await retryWithBackoff(
      async () => {
        const source: Source = { ...this.#document.source, ...change, lease_until: leaseUntil() };
        const written = await this.#documents.replace(this.#document, source, { refresh: false });
        if (written) {
          this.#document = written;
          this.#schedule();
          return null;
        }
        const found = await this.#documents.get(this.#document.id);
        if (found?.source.owner !== this.#document.source.owner) {
          this.#lose();
          throw this.lost.reason;
        }
        // A response was lost, or a reindex has moved the alias.
        this.#document = found;
        return undefined;
      },
      { signal: this.lost },
    );
  }

  #schedule(): void {
    this.#clearTimers();
    if (this.#released) return;
    const leftMs = this.#document.source.lease_until - this.#options.clock.now();
    this.#expiresAt = performance.now() + leftMs;
    // The clock was set forward during the write. Other processes may take the lease over; until then, this process can release it.
    if (leftMs <= 0) return;
    this.#expiry = setTimeout(() => this.#lose(), leftMs).unref();
    this.#scheduleRenewal();
  }

  #scheduleRenewal(): void {
    this.#renewal = setTimeout(() => {
      // Failed renewals are retried until the lease expires.
      this.update({}).catch(() => {
        if (!this.#released && !this.lost.aborted) this.#scheduleRenewal();
      });
    }, this.#options.durationMs / 3).unref();
  }

  #clearTimers(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#expiry);
  }

  #lose(): void {
    this.#clearTimers();
    if (!this.lost.aborted) this.#lost.abort(new LeaseLostError(this.#document.id));
  }
}
