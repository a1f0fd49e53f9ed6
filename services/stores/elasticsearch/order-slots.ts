/** Leases a slot of the sequence of records to this process (contract 6.2). */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type OrderSlots, SLOTS, type SlotLease } from '../../shared/record-order.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { Cluster } from './client.js';
import { Documents, type VersionedDocument } from './documents.js';
import type { LeaseSource } from './lease.js';
import type { IndexNames } from './migrations/indices.js';

/** Duration of a lease. Other processes cannot use the slot of a dead process for this long. */
const LEASE_MS = 60_000;
/** Remaining time at which a lease is renewed in the background. */
const RENEW_MS = 30_000;
/** Slots that processes lease. Slot 0 belongs to embedded stores. */
const LEASED = Array.from({ length: SLOTS - 1 }, (_, index) => index + 1);

const idOf = (slot: number) => `order-slot-${slot}`;

/**
 * The slots of a cluster. Each slot is a document whose `lease_until` is the first acceptance time that the next holder may use. Every
 * change is a compare-and-set. Requests acquire and renew the leases that they need.
 */
export function orderSlots(cluster: Cluster, names: IndexNames): OrderSlots {
  const documents = new Documents<LeaseSource>(cluster, names.alias('migrations'));
  const owner = `${randomUUID()} ${process.pid} ${Date.now()} ${hostname()}`;
  let held: { lease: SlotLease; document: VersionedDocument<LeaseSource> } | undefined;
  let renewal: Promise<SlotLease> | undefined;

  /** Writes the document of a slot; null if another process was faster. */
  async function write(
    slot: number,
    before: VersionedDocument<LeaseSource> | undefined,
    from: number,
    until: number,
  ): Promise<SlotLease | null> {
    const source: LeaseSource = { owner, lease_until: until };
    const written = before
      ? await documents.replace(before, source, { refresh: false })
      : await documents.create(idOf(slot), source, { refresh: false });
    if (!written) return null;
    const lease = { slot, from, until };
    held = { lease, document: written };
    return lease;
  }

  /** Extends the lease of the same slot; null if another process has it. */
  async function extend(now: number): Promise<SlotLease | null> {
    if (!held) return null;
    const { lease, document } = held;
    const { slot, from } = lease;
    const extended = await write(slot, document, from, now + LEASE_MS);
    if (extended) return extended;
    // The response to our own write may have been lost.
    const found = await documents.get(document.id);
    if (found?.source.owner !== owner) return null;
    return write(slot, found, from, Math.max(found.source.lease_until, now + LEASE_MS));
  }

  /** Acquires the first slot that is free at this time. */
  async function acquire(now: number): Promise<SlotLease> {
    const found = await documents.getMany(LEASED.map((slot) => ({ id: idOf(slot) })));
    for (const slot of LEASED) {
      const before = found.get(idOf(slot));
      const from = before?.source.lease_until ?? 0;
      if (from > now) continue;
      const lease = await write(slot, before, from, now + LEASE_MS);
      if (lease) return lease;
    }
    throw new StoreUnavailableError('records', {
      cause: new Error(`all ${LEASED.length} slots of records are leased`),
    });
  }

  function renew(now: number): Promise<SlotLease> {
    renewal ??= extend(now)
      .then((lease) => lease ?? acquire(now))
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  return {
    async leaseSlot(now) {
      const left = held ? held.lease.until - now : 0;
      if (left > RENEW_MS) return (held as { lease: SlotLease }).lease;
      const renewed = renew(now);
      if (left <= 0) return renewed;
      renewed.catch(() => undefined);
      return (held as { lease: SlotLease }).lease;
    },
  };
}
