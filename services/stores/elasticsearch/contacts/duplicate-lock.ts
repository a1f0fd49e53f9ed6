/**
 * Locks for creations that do not accept duplicates (contract 3.3). Creations with the same profile or work email exclude each other: one
 * at a time looks for a duplicate and writes. Creations that accept duplicates, and imports, need no lock.
 */
import type { Clock } from '../../../shared/time.js';
import { type IdempotencyDocuments, type IdempotencySource, idempotencyId } from '../idempotency.js';
import { Lease } from '../lease.js';
import { retryWithBackoff } from '../retry.js';
import { type ContactDocuments, resolveCreation } from './documents.js';

const ROUTE = 'on_duplicate';
/** Milliseconds for which a creator that died blocks other creators. */
const LEASE_MS = 10_000;
/** Content of a lock under which nothing was written, so that the next holder has nothing to resolve. */
const UNUSED = { contact_id: null, claimed_at: 0 };

type Lock = Lease<IdempotencySource>;

/** The contact to be created, and the keys that its duplicates would share. */
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
   * Finds or creates, under one lock per key. If a lock is lost, `lost` is aborted and `create` can no longer write: the next holder first
   * writes a tombstone. Throws `StoreTimeoutError` if the locks stay held for too long.
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
        // Another creator may have written between the first search for duplicates and the locks.
        const outcome = (await find()) ?? (await create(AbortSignal.any(locks.map(({ lost }) => lost))));
        await releaseAll(locks, UNUSED);
        return outcome;
      } catch (error) {
        // It is unknown whether the contact was written, so its id stays in the lock: the next holder resolves the id.
        await releaseAll(locks);
        throw error;
      }
    });
  }

  /** Acquires all locks, or none: null if another process holds one of the keys. Keys are sorted to avoid deadlock. */
  async #acquireAll({ organizationId, contactId, keys }: DuplicateLockOptions): Promise<Lock[] | null> {
    const locks: Lock[] = [];
    let isComplete = false;
    try {
      for (const key of [...new Set(keys)].sort()) {
        const lock = await this.#acquire(organizationId, key, contactId);
        if (!lock) return null;
        locks.push(lock);
      }
      isComplete = true;
      return locks;
    } finally {
      if (!isComplete) await releaseAll(locks, UNUSED);
    }
  }

  async #acquire(organizationId: string, key: string, contactId: string): Promise<Lock | null> {
    const result = await Lease.acquire<IdempotencySource, null>(
      this.#documents,
      idempotencyId(organizationId, ROUTE, key),
      { durationMs: LEASE_MS, clock: this.#clock },
      async (previous, held) => {
        if (held) return { reject: null };
        const unresolved = previous?.contact_id ?? null;
        // This tombstone is a fence: a late write of the former holder conflicts with the tombstone.
        if (unresolved !== null && unresolved !== contactId) {
          const now = this.#clock.now();
          const created = await resolveCreation(this.#contacts, organizationId, unresolved, now);
          if (created) await this.#contacts.waitUntilSearchable(created, organizationId);
        }
        const claimed_at = this.#clock.now();
        return { acquire: { fingerprint: '', contact_id: contactId, claimed_at, outcome: null } };
      },
    );
    return 'rejected' in result ? null : result.lease;
  }
}

async function releaseAll(locks: readonly Lock[], change: Partial<IdempotencySource> = {}): Promise<void> {
  await Promise.all(locks.map((lock) => lock.release(change).catch(() => undefined)));
}
