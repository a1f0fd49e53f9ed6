/**
 * Creators that would rather not make a duplicate (contract 3.3) exclude each other: of those that share a profile or a work
 * email, one at a time looks for the other and writes. Creators that accept duplicates, and imports, need no lock: they may
 * come after.
 */
import type { Clock } from '../../../shared/time.js';
import { type IdempotencyDocuments, type IdempotencySource, idempotencyId } from '../idempotency.js';
import { Lease } from '../lease.js';
import { retryWithBackoff } from '../retry.js';
import { type ContactDocuments, resolveCreation } from './creations.js';

const ROUTE = 'on_duplicate';
/** A creator that died keeps the others waiting this long. */
const LEASE_MS = 10_000;

type Lock = Lease<IdempotencySource>;

/** What is about to be created, and what tells that it is a duplicate. */
export interface DuplicateLockOptions {
  organizationId: string;
  contactId: string;
  keys: readonly string[];
}

export class DuplicateLocks {
  readonly #documents: IdempotencyDocuments;
  readonly #contacts: ContactDocuments;
  readonly #clock: Clock;

  constructor(documents: IdempotencyDocuments, contacts: ContactDocuments, clock: Clock) {
    this.#documents = documents;
    this.#contacts = contacts;
    this.#clock = clock;
  }

  /**
   * Find or create, under the lock of every key. `create` is told when a lock is lost; from then on it can create nothing, as
   * the next holder first makes that contact impossible. Throws `StoreTimeoutError` when the locks stay held for too long.
   */
  findOrCreate<T>(
    options: DuplicateLockOptions,
    find: () => Promise<T | null>,
    create: (lost: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return retryWithBackoff(async () => {
      const known = await find();
      if (known !== null) return known;
      const locks = await this.#acquireAll(options);
      if (!locks) return undefined;
      try {
        // Another may have created it between our look and our locks.
        const outcome = (await find()) ?? (await create(AbortSignal.any(locks.map(({ lost }) => lost))));
        await releaseAll(locks, { contact_id: null, claimed_at: 0 });
        return outcome;
      } catch (error) {
        // What was written is not known, so the contact stays named: the next holder resolves it.
        await releaseAll(locks, {});
        throw error;
      }
    });
  }

  /** Null when another has one of the keys. Sorted, so that of those who want the same keys one gets all. */
  async #acquireAll({ organizationId, contactId, keys }: DuplicateLockOptions): Promise<Lock[] | null> {
    const locks: Lock[] = [];
    try {
      for (const key of [...new Set(keys)].sort()) {
        const lock = await this.#acquire(organizationId, key, contactId);
        if (!lock) {
          await releaseAll(locks, { contact_id: null, claimed_at: 0 });
          return null;
        }
        locks.push(lock);
      }
      return locks;
    } catch (error) {
      await releaseAll(locks, { contact_id: null, claimed_at: 0 });
      throw error;
    }
  }

  async #acquire(organizationId: string, key: string, contactId: string): Promise<Lock | null> {
    const options = { durationMs: LEASE_MS, clock: this.#clock };
    const id = idempotencyId(organizationId, ROUTE, key);
    const acquired = await Lease.acquire<IdempotencySource, null>(
      this.#documents,
      id,
      options,
      async (before, isHeld) => {
        if (isHeld) return { refuse: null };
        const former = before?.contact_id ?? null;
        // The fence: whatever the former holder is still about to write meets the tombstone in its place.
        if (former !== null && former !== contactId) {
          const created = await resolveCreation(this.#contacts, organizationId, former, this.#clock.now());
          if (created) await this.#contacts.waitUntilSearchable(created, organizationId);
        }
        const now = this.#clock.now();
        return { take: { fingerprint: '', contact_id: contactId, claimed_at: now, outcome: null } };
      },
    );
    return 'refused' in acquired ? null : acquired.lease;
  }
}

async function releaseAll(locks: readonly Lock[], change: Partial<IdempotencySource>): Promise<void> {
  await Promise.all(locks.map((lock) => lock.release(change).catch(() => undefined)));
}
