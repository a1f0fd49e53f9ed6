/** Requests with an idempotency key (contract 3.4): the first one acquires the key, the others meet its document. */
import { createHash } from 'node:crypto';
import { type Identifier, showsAny } from '../../contacts/suppression.js';
import {
  IDEMPOTENCY_RETENTION_MS,
  type Idempotency,
  type IdempotencyConflict,
  type IdempotentResult,
} from '../../shared/idempotency.js';
import type { Clock } from '../../shared/time.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import { Lease, LeaseLostError, type LeaseSource } from './lease.js';
import type { IndexNames } from './migrations/indices.js';
import { totalHits } from './pages.js';

export interface IdempotencySource extends LeaseSource {
  fingerprint: string;
  /** Absent in documents of before mapping version 3, which expire within a day. */
  organization_id?: string;
  /** The contact to be created, the same in every attempt. */
  contact_id: string | null;
  /** Milliseconds since the epoch; 0 once released. A released key is not deleted, because a reindex does not see deletions. */
  claimed_at: number;
  outcome: unknown;
}

export interface AcquiredKey {
  /** Unique per use of a key. */
  useId: string;
  /** An earlier attempt ended without an outcome: its work may be done or not. */
  resumed: boolean;
  lease: Lease<IdempotencySource>;
}

export interface IdempotentRequest {
  organizationId: string;
  idempotency?: Idempotency;
  /** Of the contact to be created. */
  newContactId?: string;
}

type AcquireResult<T> =
  | { kind: 'acquired'; key: AcquiredKey }
  | { kind: 'completed'; outcome: T }
  | IdempotencyConflict;

const LEASE_MS = 10_000;
const PURGE_BATCH = 2000;
const MAX_PURGE_BATCHES = 100;

export type IdempotencyDocuments = Documents<IdempotencySource>;

export const idempotencyDocuments = (cluster: Cluster, names: IndexNames): IdempotencyDocuments =>
  new Documents(cluster, names.alias('idempotency'));

/** Document id of a key or lock, which is unique per organization and route. */
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

  /** Runs a write once per idempotency key: while its outcome is kept, it is replayed. Without a key, `work` just runs. */
  async runIdempotent<T>(
    request: IdempotentRequest,
    work: (key: AcquiredKey | undefined, now: number) => Promise<T>,
    isKept: (outcome: T) => boolean,
  ): Promise<IdempotentResult<T>> {
    const now = this.#clock.now();
    if (!request.idempotency) return { kind: 'done', value: await work(undefined, now), replayed: false };
    const acquired = await this.#acquire<T>(request, request.idempotency);
    if (acquired.kind === 'completed') return { kind: 'done', value: acquired.outcome, replayed: true };
    if (acquired.kind !== 'acquired') return acquired;
    const { key } = acquired;
    try {
      const value = await work(key, now);
      if (isKept(value)) await complete(key, value);
      else await release(key);
      return { kind: 'done', value, replayed: false };
    } catch (error) {
      await expire(key).catch(() => undefined);
      throw error;
    }
  }

  async #acquire<T>(
    { organizationId, newContactId = null }: { organizationId: string; newContactId?: string | null },
    { route, key, fingerprint }: Idempotency,
  ): Promise<AcquireResult<T>> {
    const id = idempotencyId(organizationId, route, key);
    const now = this.#clock.now();
    const isKept = (source: IdempotencySource) => source.claimed_at + IDEMPOTENCY_RETENTION_MS > now;
    const result = await Lease.acquire<IdempotencySource, AcquireResult<T>>(
      this.#documents,
      id,
      { durationMs: LEASE_MS, clock: this.#clock },
      (previous, held) => {
        const fresh = {
          fingerprint,
          organization_id: organizationId,
          contact_id: newContactId,
          claimed_at: now,
          outcome: null,
        };
        if (!previous || !isKept(previous)) return { acquire: fresh };
        if (previous.fingerprint !== fingerprint) return { reject: { kind: 'idempotency_key_reused' } };
        if (previous.outcome !== null) {
          return { reject: { kind: 'completed', outcome: previous.outcome as T } };
        }
        if (held) return { reject: { kind: 'idempotency_in_progress' } };
        return { acquire: { ...fresh, contact_id: previous.contact_id, claimed_at: previous.claimed_at } };
      },
    );
    if ('rejected' in result) return result.rejected;
    const { lease, previous } = result;
    const useId = `${id.slice(0, 32)}-${lease.source.claimed_at}`;
    return {
      kind: 'acquired',
      key: { useId, resumed: previous !== null && isKept(previous), lease },
    };
  }

  /** Overwrites the answers that show a contact of the organization with one of the identifiers; resolves with how many. */
  async forgetContacts(organizationId: string, identifiers: readonly Identifier[]): Promise<number> {
    const isShown = showsAny(organizationId, identifiers);
    let forgotten = 0;
    await this.#documents.refresh();
    const pages = this.#documents.pages({
      size: PURGE_BATCH,
      query: {
        bool: {
          should: [
            { term: { organization_id: organizationId } },
            { bool: { must_not: { exists: { field: 'organization_id' } } } },
          ],
        },
      },
      sort: [{ claimed_at: 'asc' }, { _seq_no: 'asc' }],
    });
    for await (const hits of pages) {
      for (const { _id, _source } of hits) {
        if (!isShown((_source as IdempotencySource).outcome)) continue;
        await this.#documents.update(_id as string, (source) => ({
          ...source,
          outcome: null,
          claimed_at: 0,
        }));
        forgotten++;
      }
    }
    return forgotten;
  }

  async hasExpired(): Promise<boolean> {
    const { hits } = await this.#documents.search({
      size: 0,
      track_total_hits: 1,
      query: this.#expired(),
    });
    return totalHits(hits) > 0;
  }

  /**
   * Deletes expired keys, a bounded number per call; resolves with how many. Only for the holder of the reindex lock, because a
   * reindex does not see deletions.
   */
  async purgeExpired(signal: AbortSignal): Promise<number> {
    let purged = 0;
    let batches = 0;
    const pages = this.#documents.pages({
      size: PURGE_BATCH,
      seq_no_primary_term: true,
      _source: false,
      query: this.#expired(),
      sort: [{ claimed_at: 'asc' }, { _seq_no: 'asc' }],
    });
    for await (const hits of pages) {
      signal.throwIfAborted();
      purged += await this.#documents.deleteMany(hits);
      if (++batches === MAX_PURGE_BATCHES) break;
    }
    return purged;
  }

  #expired() {
    return {
      range: { claimed_at: { lte: this.#clock.now() - IDEMPOTENCY_RETENTION_MS, format: 'epoch_millis' } },
    };
  }
}

/** Stores the outcome, which later requests replay. */
const complete = ({ lease }: AcquiredKey, outcome: unknown) => lease.release({ outcome });

/** Nothing was written: the key can be used again. */
const release = ({ lease }: AcquiredKey) => lease.release({ claimed_at: 0 });

/** Unknown whether anything was written: the next request resumes the work at once. */
const expire = ({ lease }: AcquiredKey) => lease.release();

/** Names another contact, where the first can no longer be created. False when another attempt took over. */
export async function reassign({ lease }: AcquiredKey, contactId: string): Promise<boolean> {
  try {
    await lease.update({ contact_id: contactId });
    return true;
  } catch (error) {
    if (error instanceof LeaseLostError) return false;
    throw error;
  }
}
