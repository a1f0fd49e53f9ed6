/** Requests with an idempotency key (contract 3.4): the first one acquires the key, and the others meet its document. */
import { createHash } from 'node:crypto';
import type { Idempotency, IdempotencyConflict } from '../../shared/idempotency.js';
import type { Clock } from '../../shared/time.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import { Lease, LeaseLostError, type LeaseSource } from './lease.js';
import type { IndexNames } from './migrations/indices.js';
import { total } from './pages.js';

export interface IdempotencySource extends LeaseSource {
  fingerprint: string;
  /** The contact that a creation makes, the same in every attempt. */
  contact_id: string | null;
  /** Milliseconds since the epoch; 0 once the key is free again. Released keys are not deleted, so that a reindex sees it. */
  claimed_at: number;
  outcome: unknown;
}

export interface AcquiredKey {
  /** Unique among all uses of all keys. */
  token: string;
  contactId: string | null;
  /** An earlier attempt ended without an answer: it may have done its work or not. */
  resumed: boolean;
  lease: Lease<IdempotencySource>;
}

export type AcquireResult<T> =
  | { kind: 'acquired'; key: AcquiredKey }
  | { kind: 'answered'; outcome: T }
  | IdempotencyConflict;

const RETENTION_MS = 24 * 60 * 60 * 1000;
const LEASE_MS = 10_000;
const PURGE = { keysPerPage: 2000, maxPages: 100 };

export type IdempotencyDocuments = Documents<IdempotencySource>;

export const idempotencyDocuments = (cluster: Cluster, names: IndexNames): IdempotencyDocuments =>
  new Documents(cluster, names.alias('idempotency'));

/** Of a key as of a lock: both are unique within one organization and route. */
export function idempotencyId(organizationId: string, route: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([organizationId, route, key]))
    .digest('hex');
}

export class IdempotencyKeys {
  readonly #documents: IdempotencyDocuments;
  readonly #clock: Clock;

  constructor(documents: IdempotencyDocuments, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  async acquire<T>(
    organizationId: string,
    { route, key, fingerprint }: Idempotency,
    contactId: string | null,
  ): Promise<AcquireResult<T>> {
    const options = { durationMs: LEASE_MS, clock: this.#clock };
    const id = idempotencyId(organizationId, route, key);
    const now = this.#clock.now();
    const isKept = (source: IdempotencySource) => source.claimed_at + RETENTION_MS > now;
    const acquired = await Lease.acquire<IdempotencySource, AcquireResult<T>>(
      this.#documents,
      id,
      options,
      (before, isHeld) => {
        const fresh = { fingerprint, contact_id: contactId, claimed_at: now, outcome: null };
        if (!before || !isKept(before)) return { take: fresh };
        if (before.fingerprint !== fingerprint) return { refuse: { kind: 'idempotency_key_reused' } };
        if (before.outcome !== null) return { refuse: { kind: 'answered', outcome: before.outcome as T } };
        if (isHeld) return { refuse: { kind: 'idempotency_in_progress' } };
        return { take: { ...fresh, contact_id: before.contact_id, claimed_at: before.claimed_at } };
      },
    );
    if ('refused' in acquired) return acquired.refused;
    const { lease, before } = acquired;
    const { claimed_at: claimedAt, contact_id } = lease.source;
    return {
      kind: 'acquired',
      key: {
        token: `${id.slice(0, 32)}-${claimedAt}`,
        contactId: contact_id,
        resumed: before !== null && isKept(before),
        lease,
      },
    };
  }

  /** The contact of the key can no longer be created; another takes its place. False when another attempt took over. */
  async reassign(key: AcquiredKey, contactId: string): Promise<boolean> {
    try {
      await key.lease.update({ contact_id: contactId });
    } catch (error) {
      if (error instanceof LeaseLostError) return false;
      throw error;
    }
    key.contactId = contactId;
    return true;
  }

  /** Keeps the outcome for the requests to come. */
  complete({ lease }: AcquiredKey, outcome: unknown): Promise<void> {
    return lease.release({ outcome });
  }

  /** Nothing was done: the key is free again. */
  release({ lease }: AcquiredKey): Promise<void> {
    return lease.release({ claimed_at: 0 });
  }

  /** Something failed, and it is not known what was done: the next request resumes the work at once. */
  expire({ lease }: AcquiredKey): Promise<void> {
    return lease.release();
  }

  async hasExpired(): Promise<boolean> {
    const { hits } = await this.#documents.search({
      size: 0,
      track_total_hits: 1,
      query: this.#expired(),
    });
    return total(hits) > 0;
  }

  /**
   * Deletes keys that are no longer kept, page after page until none is left; a bounded number in one call. Resolves with how
   * many. Only for the holder of the reindex lock: a reindex does not see what is deleted.
   */
  async purgeExpired(signal: AbortSignal): Promise<number> {
    const query = this.#expired();
    let purged = 0;
    let last: (string | number)[] | undefined;
    for (let page = 0; page < PURGE.maxPages; page++) {
      signal.throwIfAborted();
      const { hits } = await this.#documents.search({
        size: PURGE.keysPerPage,
        track_total_hits: false,
        seq_no_primary_term: true,
        _source: false,
        query,
        sort: [{ claimed_at: 'asc' }, { _seq_no: 'asc' }],
        search_after: last,
      });
      signal.throwIfAborted();
      purged += await this.#documents.deleteMany(hits.hits);
      if (hits.hits.length < PURGE.keysPerPage) break;
      last = hits.hits.at(-1)?.sort as (string | number)[];
    }
    return purged;
  }

  #expired() {
    return { range: { claimed_at: { lte: this.#clock.now() - RETENTION_MS, format: 'epoch_millis' } } };
  }
}
