/** Requests with an idempotency key (contract 3.4): the first one claims the key, and the others meet its claim. */
import { createHash } from 'node:crypto';
import type { Idempotency, IdempotencyRefusal } from '../search-store.js';
import type { Cluster } from './cluster.js';
import { Documents, type Found, newAttempt } from './documents.js';
import type { IndexNames } from './indices.js';

interface ClaimSource {
  fingerprint: string;
  /** The contact that a creation makes, in every attempt the same. */
  contact_id: string | null;
  /** Milliseconds since the epoch, as is the other. */
  claimed_at: number;
  /** Until then the attempt counts as running; later another may take it up. */
  lease_until: number;
  attempt: string;
  outcome: unknown;
}

export interface Claim {
  /** The claim among all that were ever made. */
  token: string;
  contactId: string | null;
  /** An earlier attempt ended without an answer: it may have done its work or not. */
  resumed: boolean;
  found: Found<ClaimSource>;
}

export type Claimed<T> =
  | { kind: 'claimed'; claim: Claim }
  | { kind: 'answered'; outcome: T }
  | IdempotencyRefusal;

const KEPT_MS = 24 * 60 * 60 * 1000;
/** Longer than an attempt takes. One that takes longer still does no harm: all attempts make the same contact. */
const LEASE_MS = 10_000;

export class Claims {
  readonly #documents: Documents<ClaimSource>;

  constructor(cluster: Cluster, names: IndexNames) {
    this.#documents = new Documents(cluster, names.alias('idempotency'));
  }

  async claim<T>(
    organizationId: string,
    { route, key, fingerprint }: Idempotency,
    contactId: string | null,
    now: number,
    leaseMs = LEASE_MS,
  ): Promise<Claimed<T>> {
    const id = createHash('sha256')
      .update(JSON.stringify([organizationId, route, key]))
      .digest('hex');
    const fresh: ClaimSource = {
      fingerprint,
      contact_id: contactId,
      claimed_at: now,
      lease_until: now + leaseMs,
      attempt: newAttempt(),
      outcome: null,
    };
    for (;;) {
      const made = await this.#documents.create(id, fresh, { refresh: false });
      if (made) return { kind: 'claimed', claim: toClaim(made, false) };
      const found = await this.#documents.get(id);
      if (!found) continue;
      const { source } = found;
      // Our own claim, whose answer got lost.
      if (source.attempt === fresh.attempt) return { kind: 'claimed', claim: toClaim(found, false) };
      const isOver = source.claimed_at + KEPT_MS <= now;
      if (!isOver && source.fingerprint !== fingerprint) return { kind: 'idempotency_key_reused' };
      if (!isOver && source.outcome !== null) return { kind: 'answered', outcome: source.outcome as T };
      if (!isOver && source.lease_until > now) return { kind: 'idempotency_in_progress' };
      const next = isOver
        ? fresh
        : { ...fresh, contact_id: source.contact_id, claimed_at: source.claimed_at };
      const taken = await this.#documents.replace(found, next, { refresh: false });
      if (taken) return { kind: 'claimed', claim: toClaim(taken, !isOver) };
    }
  }

  /** The contact of the claim can no longer be made; another takes its place. False when another attempt took over. */
  async renew(claim: Claim, contactId: string): Promise<boolean> {
    const next = { ...claim.found.source, contact_id: contactId };
    const found = await this.#documents.replace(claim.found, next, { refresh: false });
    if (!found) return false;
    claim.found = found;
    claim.contactId = contactId;
    return true;
  }

  /** Keeps the outcome for the requests to come. */
  async answer(claim: Claim, outcome: unknown): Promise<void> {
    await this.#documents.replace(claim.found, { ...claim.found.source, outcome }, { refresh: false });
  }

  /** Nothing was done: the key is free again. */
  async release(claim: Claim): Promise<void> {
    await this.#documents.delete(claim.found);
  }

  /** Something failed, and it is not known what was done: the next request takes it up at once. */
  async abandon(claim: Claim): Promise<void> {
    await this.#documents.replace(claim.found, { ...claim.found.source, lease_until: 0 }, { refresh: false });
  }

  /** Drops claims that are no longer kept, at most so many. */
  async dropOld(now: number, limit: number): Promise<void> {
    const { hits } = await this.#documents.search({
      size: limit,
      track_total_hits: false,
      seq_no_primary_term: true,
      _source: false,
      query: { range: { claimed_at: { lte: now - KEPT_MS, format: 'epoch_millis' } } },
    });
    for (const { _id, _index, _seq_no = 0, _primary_term = 0 } of hits.hits) {
      await this.#documents.delete({
        id: _id as string,
        index: _index,
        source: undefined,
        seqNo: _seq_no,
        primaryTerm: _primary_term,
      });
    }
  }
}

function toClaim(found: Found<ClaimSource>, resumed: boolean): Claim {
  const { contact_id: contactId, claimed_at } = found.source;
  return { token: `${found.id.slice(0, 32)}-${claimed_at}`, contactId, resumed, found };
}
