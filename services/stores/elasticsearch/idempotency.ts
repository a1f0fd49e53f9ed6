/** Requests with an idempotency key (contract 3.4). The first request acquires the key; later requests find its document. */
import { createHash } from 'node:crypto';
import type { ContactBody } from '../../contacts/stored-contact.js';
import {
  type Identifier,
  identifiersOf,
  identifierText,
  readIdentifier,
} from '../../contacts/suppression.js';
import {
  type AnswerClaim,
  IDEMPOTENCY_RETENTION_MS,
  type Idempotency,
  type IdempotencyConflict,
  type IdempotentResult,
} from '../../shared/idempotency.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { Clock } from '../../shared/time.js';
import type { Cluster } from './client.js';
import { Documents, versionOfHit } from './documents.js';
import type { SuppressionList } from './erasure/suppression.js';
import { Lease, LeaseLostError, type LeaseSource } from './lease.js';
import type { IndexNames } from './migrations/indices.js';
import { totalHits } from './pages.js';
import { retryWithBackoff } from './retry.js';

/** A person that an outcome shows, stored so that an erasure finds the outcome. */
interface ShownPerson {
  organization_id?: string;
  identifiers?: string[];
}

export interface IdempotencySource extends LeaseSource, ShownPerson {
  fingerprint: string;
  /** The id of the contact or audience to be created, which all attempts share. */
  contact_id: string | null;
  /** Milliseconds since the epoch; 0 once the key is released. A released key is not deleted, because a reindex does not see deletions. */
  claimed_at: number;
  outcome: unknown;
}

export interface AcquiredKey {
  /** Id of one use of a key; unique for each use. */
  useId: string;
  /** Whether an earlier attempt ended without an outcome, so that its work may or may not be done. */
  resumed: boolean;
  lease: Lease<IdempotencySource>;
}

export interface IdempotentRequest {
  organizationId: string;
  idempotency?: Idempotency;
  /** Id of the contact or audience to be created. */
  newId?: string;
}

type AcquireResult<T> =
  | { kind: 'acquired'; key: AcquiredKey }
  | { kind: 'completed'; outcome: T; identifiers: readonly string[] }
  | IdempotencyConflict;

const LEASE_MS = 10_000;
const PURGE_BATCH = 2000;
const MAX_PURGE_BATCHES = 100;
const FORGOTTEN_PER_WRITE = 1000;
/** Elasticsearch accepts at most 65 536 terms in a query. */
const IDENTIFIERS_PER_SEARCH = 10_000;

const FORGOTTEN: IdempotencySource = {
  fingerprint: '',
  contact_id: null,
  claimed_at: 0,
  lease_until: 0,
  owner: '',
  outcome: null,
};

const shownContact = (outcome: unknown): ContactBody | undefined =>
  ((outcome ?? {}) as { contact?: ContactBody }).contact;

const shownIdentifiers = (outcome: unknown): Identifier[] => {
  const contact = shownContact(outcome);
  return contact ? identifiersOf(contact) : [];
};

export function shownPerson(outcome: unknown): ShownPerson {
  const contact = shownContact(outcome);
  if (!contact) return {};
  return {
    organization_id: contact.organization_id,
    identifiers: identifiersOf(contact).map(identifierText),
  };
}

export type IdempotencyDocuments = Documents<IdempotencySource>;

export const idempotencyDocuments = (cluster: Cluster, names: IndexNames): IdempotencyDocuments =>
  new Documents(cluster, names.alias('idempotency'));

/** Document id of a key or lock, unique per organization and route. */
export function idempotencyId(organizationId: string, route: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([organizationId, route, key]))
    .digest('hex');
}

export class IdempotencyKeys {
  readonly #cluster: Cluster;
  readonly #documents: IdempotencyDocuments;
  readonly #suppression: SuppressionList;
  readonly #clock: Clock;

  constructor(cluster: Cluster, documents: IdempotencyDocuments, suppression: SuppressionList, clock: Clock) {
    this.#cluster = cluster;
    this.#documents = documents;
    this.#suppression = suppression;
    this.#clock = clock;
  }

  /**
   * Runs a write once per idempotency key: if the key has a stored outcome, returns that outcome. Without a key, `work` just runs. After
   * storing an outcome and before returning a stored outcome, checks whether the person was erased: an erasure that did not find the
   * outcome had already suppressed the person.
   */
  runIdempotent<T>(
    request: IdempotentRequest,
    work: (key: AcquiredKey | undefined, now: number) => Promise<T>,
    isKept: (outcome: T) => boolean,
  ): Promise<IdempotentResult<T>> {
    return this.#cluster.failIfNodeHangs(this.#runIdempotent(request, work, isKept));
  }

  async #runIdempotent<T>(
    request: IdempotentRequest,
    work: (key: AcquiredKey | undefined, now: number) => Promise<T>,
    isKept: (outcome: T) => boolean,
  ): Promise<IdempotentResult<T>> {
    const now = this.#clock.now();
    if (!request.idempotency) return { kind: 'done', value: await work(undefined, now), replayed: false };
    const acquired = await this.#acquire<T>(request, request.idempotency);
    if (acquired.kind === 'completed') {
      if (await this.#deleteIfErased(request, shownIdentifiers(acquired.outcome)))
        return this.#runIdempotent(request, work, isKept);
      return { kind: 'done', value: acquired.outcome, replayed: true };
    }
    if (acquired.kind !== 'acquired') return acquired;
    const { key } = acquired;
    try {
      const value = await work(key, now);
      if (isKept(value)) {
        await complete(key, value);
        await this.#deleteIfErased(request, shownIdentifiers(value));
      } else await release(key);
      return { kind: 'done', value, replayed: false };
    } catch (error) {
      const expired = expire(key).catch(() => undefined);
      // An unavailable store would delay this write as it delayed the write that has just failed.
      if (!(error instanceof StoreUnavailableError)) await expired;
      throw error;
    }
  }

  /** Implements `AnswerStore`. An encrypted response is an outcome that cannot be read. */
  claimAnswer(request: Required<Omit<IdempotentRequest, 'newId'>>): Promise<AnswerClaim> {
    return this.#cluster.failIfNodeHangs(this.#claimAnswer(request));
  }

  async #claimAnswer(request: Required<Omit<IdempotentRequest, 'newId'>>): Promise<AnswerClaim> {
    const acquired = await this.#acquire<{ sealed: string }>(request, request.idempotency);
    if (acquired.kind === 'completed') {
      const isErased = await this.#deleteIfErased(request, acquired.identifiers.map(readIdentifier));
      return isErased ? { kind: 'outcome_unknown' } : { kind: 'kept', sealed: acquired.outcome.sealed };
    }
    if (acquired.kind !== 'acquired') return acquired;
    const { key } = acquired;
    if (key.resumed) {
      await expire(key);
      return { kind: 'outcome_unknown' };
    }
    return {
      kind: 'claimed',
      claim: {
        keep: async ({ sealed, shown }) => {
          await key.lease.release({
            outcome: { sealed },
            organization_id: request.organizationId,
            identifiers: shown.map(identifierText),
          });
          await this.#deleteIfErased(request, shown);
        },
        release: () => release(key),
        leave: () => expire(key),
      },
    };
  }

  async #acquire<T>(
    { organizationId, newId = null }: { organizationId: string; newId?: string | null },
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
        const fresh = { fingerprint, contact_id: newId, claimed_at: now, outcome: null };
        if (!previous || !isKept(previous)) return { acquire: fresh };
        if (previous.fingerprint !== fingerprint) return { reject: { kind: 'idempotency_key_reused' } };
        if (previous.outcome !== null) {
          return {
            reject: {
              kind: 'completed',
              outcome: previous.outcome as T,
              identifiers: previous.identifiers ?? [],
            },
          };
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

  /** Overwrites the outcomes that show one of the persons. Resolves with the number of overwritten outcomes. */
  async deleteOutcomes(organizationId: string, identifiers: readonly Identifier[]): Promise<number> {
    const texts = identifiers.map(identifierText);
    let forgotten = 0;
    for (let start = 0; start < texts.length; start += IDENTIFIERS_PER_SEARCH) {
      const part = texts.slice(start, start + IDENTIFIERS_PER_SEARCH);
      const filter = [{ term: { organization_id: organizationId } }, { terms: { identifiers: part } }];
      await retryWithBackoff(async () => {
        await this.#documents.refresh();
        const request = { size: FORGOTTEN_PER_WRITE, seq_no_primary_term: true, _source: false };
        const { hits } = (await this.#documents.search({ ...request, query: { bool: { filter } } })).hits;
        const conflicts = await this.#documents.writeMany(
          hits.map((hit) => ({
            id: hit._id as string,
            before: versionOfHit(hit),
            json: () => JSON.stringify(FORGOTTEN),
          })),
        );
        forgotten += hits.length - conflicts.size;
        return hits.length === 0 ? true : undefined;
      });
    }
    return forgotten;
  }

  /** Overwrites a stored outcome that shows an erased person. */
  async #deleteIfErased(
    { organizationId, idempotency }: IdempotentRequest,
    identifiers: readonly Identifier[],
  ): Promise<boolean> {
    if (identifiers.length === 0 || !idempotency) return false;
    if (!(await this.#suppression.includes({ organizationId, identifiers: [...identifiers] }))) return false;
    const { route, key } = idempotency;
    await this.#documents.update(idempotencyId(organizationId, route, key), (source) =>
      // A key without an outcome is in use again.
      source.outcome === null ? null : FORGOTTEN,
    );
    return true;
  }

  /** Number of expired keys, at most as many as one call deletes, and the time up to which they expired. */
  async countExpired(): Promise<{ keys: number; before: number }> {
    const before = this.#clock.now() - IDEMPOTENCY_RETENTION_MS;
    const { hits } = await this.#documents.search({
      size: 0,
      track_total_hits: PURGE_BATCH * MAX_PURGE_BATCHES,
      query: this.#expired(),
    });
    return { keys: totalHits(hits), before };
  }

  /**
   * Deletes a bounded number of expired keys, and resolves with the number of deleted keys. Only the holder of the reindex lock may call
   * this, because a reindex does not see deletions.
   */
  async deleteExpired(signal: AbortSignal): Promise<number> {
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
      purged += await this.#documents.deleteMany(hits.map(versionOfHit));
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

/** Stores the outcome, which later requests return. */
const complete = ({ lease }: AcquiredKey, outcome: unknown) =>
  lease.release({ outcome, ...shownPerson(outcome) });

/** Frees the key for a new request, because nothing was written. */
const release = ({ lease }: AcquiredKey) => lease.release({ claimed_at: 0 });

/** Frees the key so that the next request resumes the work at once: something may have been written. */
const expire = ({ lease }: AcquiredKey) => lease.release();

/** Assigns another contact id, if the first id can no longer be used for a creation. Resolves with false if another attempt took over. */
export async function reassign({ lease }: AcquiredKey, contactId: string): Promise<boolean> {
  try {
    await lease.update({ contact_id: contactId });
    return true;
  } catch (error) {
    if (error instanceof LeaseLostError) return false;
    throw error;
  }
}
