import type { Page, SortKey } from '../search/query.js';
import type { Json } from '../shared/json.js';
import { formatTimestamp } from '../shared/time.js';
import type { Identifier } from './suppression.js';

export interface EraseCommand {
  organizationId: string;
  proofId: string;
  /** Id of the API key that asked for it. */
  keyId: string;
  /** Identifiers of the person. They are suppressed first, whoever has them; then every contact that has one is removed. */
  named: readonly Identifier[];
}

/** How long a request waits for its erasure; the erasure goes on whether or not a request waits. */
export const ERASURE_WAIT_MS = {
  /** Until every contact is removed: less than a request may take. */
  removal: 20_000,
  /** After the removal, until no byte of the contacts can be read. */
  completion: 2000,
};

export interface RemovedCounts {
  contacts: number;
  memberships: number;
  idempotency_answers: number;
  rejections: number;
}

/** Proof of an erasure, without personal data. Times are ISO 8601 UTC. */
export interface ErasureProof {
  proof_id: string;
  organization_id: string;
  key_id: string;
  requested_at: string;
  /** Null while contacts are left, or a file of the store holds something of them that can be read. */
  completed_at: string | null;
  /** Hashes of the identifiers that are suppressed since. */
  hashes: string[];
  removed: RemovedCounts;
}

/** The proof of an erasure that is not completed. `now` in milliseconds since the epoch. */
export const pendingProof = (
  { proofId, organizationId, keyId }: EraseCommand,
  { hashes, removed }: Pick<ErasureProof, 'hashes' | 'removed'>,
  now: number,
): ErasureProof => ({
  proof_id: proofId,
  organization_id: organizationId,
  key_id: keyId,
  requested_at: formatTimestamp(now),
  completed_at: null,
  hashes: [...hashes].sort(),
  removed,
});

export interface ErasureResult {
  /** Ids of the contacts that were removed so far. */
  erased: string[];
  /** Contacts that stay although they share an email or profile address with the erased; shared addresses are not suppressed. */
  related: string[];
  proof: ErasureProof;
}

export interface ErasureSearch {
  organizationId: string;
  limit: number;
  /** End of the page before, by `requested_at` and `proof_id`. */
  after?: SortKey;
}

export interface ErasureStore {
  /**
   * Suppresses the named identifiers, and removes every contact that has one with everything derived from it. Resolves once nothing of
   * them can be read in a file of the store, at the latest after `ERASURE_WAIT_MS`: the proof says how far it is, and the erasure goes on,
   * also after a restart. A repeated command changes nothing.
   */
  eraseContacts(command: EraseCommand): Promise<ErasureResult>;
  /** Oldest first. */
  listErasures(search: ErasureSearch, signal?: AbortSignal): Promise<Page<Json<ErasureProof>>>;
}
