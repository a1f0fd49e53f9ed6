import { randomUUID } from 'node:crypto';
import { Mutex } from '../../shared/async.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { Clock } from '../../shared/time.js';
import type { Documents, VersionedDocument } from './documents.js';
import { retryWithBackoff } from './retry.js';

export interface LeaseSource {
  /** The attempt that holds it, by which a write whose answer was lost is recognized. */
  owner: string;
  /** Milliseconds since the epoch; 0 once it was released. */
  lease_until: number;
}

/** Another process holds the lease, or it could not be renewed in time. */
export class LeaseLostError extends StoreUnavailableError {
  constructor(id: string) {
    super('search', { cause: new Error(`the lease ${id} was lost`) });
  }
}

export interface LeaseOptions {
  durationMs: number;
  clock: Clock;
}

/** What a lease's document says beside who holds it. */
export type LeaseContent<Source> = Omit<Source, keyof LeaseSource>;

/** Whether to take the lease as it was found, and with what; a refusal is the caller's own. */
export type LeaseDecision<Source, Refusal> = { take: LeaseContent<Source> } | { refuse: Refusal };

export type Acquired<Source extends LeaseSource, Refusal> =
  /** `before` is what the lease said when it was taken over; null when it is new. */
  { lease: Lease<Source>; before: Source | null } | { refused: Refusal };

/**
 * A document that one holder at a time owns: until it is released, or was not renewed for its duration. Renewed every third
 * of it. Clocks that differ make a lease end early or late, never two holders whose writes both count: every write of it is
 * a compare-and-set.
 */
export class Lease<Source extends LeaseSource> {
  readonly #documents: Documents<Source>;
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  /** Renewals and updates replace the same document, so they follow one another. */
  readonly #mutex = new Mutex();
  #found: VersionedDocument<Source>;
  #expiresAt = 0;
  #renewal: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;

  private constructor(documents: Documents<Source>, options: LeaseOptions, found: VersionedDocument<Source>) {
    this.#documents = documents;
    this.#options = options;
    this.#found = found;
    this.#schedule();
  }

  /** `bid` is asked with the document as found, and whether its lease still runs; again when another was faster. */
  static acquire<Source extends LeaseSource, Refusal>(
    documents: Documents<Source>,
    id: string,
    options: LeaseOptions,
    bid: (
      before: Source | null,
      isHeld: boolean,
    ) => LeaseDecision<Source, Refusal> | Promise<LeaseDecision<Source, Refusal>>,
  ): Promise<Acquired<Source, Refusal>> {
    const { clock, durationMs } = options;
    const owner = randomUUID();
    // Most leases are new, so the first attempt does not look.
    let looks = false;
    let before: Source | null = null;
    return retryWithBackoff(async () => {
      const found: VersionedDocument<Source> | null = looks ? await documents.get(id) : null;
      looks = true;
      // Our own write, whose answer was lost.
      if (found?.source.owner === owner) return { lease: new Lease(documents, options, found), before };
      before = found?.source ?? null;
      const offer = await bid(before, before !== null && before.lease_until > clock.now());
      if ('refuse' in offer) return { refused: offer.refuse };
      const source = { ...offer.take, owner, lease_until: clock.now() + durationMs } as Source;
      const written = found
        ? await documents.replace(found, source, { refresh: false })
        : await documents.create(id, source, { refresh: false });
      return written ? { lease: new Lease(documents, options, written), before } : undefined;
    });
  }

  get source(): Source {
    return this.#found.source;
  }

  /** Aborted with `LeaseLostError`. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Throws `LeaseLostError`; sees the end of the lease even when no timer could run, as after a process stood still. */
  throwIfLost(): void {
    if (performance.now() >= this.#expiresAt) this.#lose();
    this.lost.throwIfAborted();
  }

  /** Renews the lease and changes its document. Throws `LeaseLostError`. */
  update(change: Partial<LeaseContent<Source>>): Promise<void> {
    return this.#write(change, () => this.#options.clock.now() + this.#options.durationMs);
  }

  /** Lets the next holder in at once. Does nothing when the lease was lost. */
  async release(change: Partial<LeaseContent<Source>> = {}): Promise<void> {
    clearTimeout(this.#renewal);
    try {
      await this.#write(change, () => 0);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
    } finally {
      clearTimeout(this.#renewal);
      clearTimeout(this.#expiry);
    }
  }

  #write(change: Partial<LeaseContent<Source>>, leaseUntil: () => number): Promise<void> {
    return this.#mutex
      .runExclusive(() =>
        retryWithBackoff(
          async () => {
            const source: Source = { ...this.#found.source, ...change, lease_until: leaseUntil() };
            const written = await this.#documents.replace(this.#found, source, { refresh: false });
            if (written) {
              this.#found = written;
              this.#schedule();
              return null;
            }
            const found = await this.#documents.get(this.#found.id);
            if (found?.source.owner !== this.#found.source.owner) {
              this.#lose();
              throw this.lost.reason;
            }
            // An answer was lost, or the index behind the alias is another one.
            this.#found = found;
            return undefined;
          },
          { signal: this.lost },
        ),
      )
      .then(() => undefined);
  }

  #schedule(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#expiry);
    const leftMs = this.#found.source.lease_until - this.#options.clock.now();
    this.#expiresAt = performance.now() + leftMs;
    if (leftMs <= 0) return;
    this.#expiry = setTimeout(() => this.#lose(), leftMs).unref();
    this.#renewal = setTimeout(() => this.#renew(), this.#options.durationMs / 3).unref();
  }

  /** What fails is tried again until the lease ends. */
  #renew(): void {
    this.update({}).catch(() => {
      if (this.lost.aborted) return;
      this.#renewal = setTimeout(() => this.#renew(), this.#options.durationMs / 3).unref();
    });
  }

  #lose(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#expiry);
    if (!this.lost.aborted) this.#lost.abort(new LeaseLostError(this.#found.id));
  }
}
