import type { Page, SortKey } from '../search/query.js';
import type { Json } from '../shared/json.js';
import { formatTimestamp } from '../shared/time.js';
import type { Identifier } from './suppression.js';

export interface EraseCommand {
  organizationId: string;
  proofId: string;
  /** Id of the API key that asked for it. */
  keyId: string;
  contactIds: readonly string[];
  /** What the request named, suppressed also where no contact has it. */
  named: readonly Identifier[];
}

/** Proof of an erasure, without personal data. Times are ISO 8601 UTC. */
export interface ErasureProof {
  proof_id: string;
  organization_id: string;
  key_id: string;
  requested_at: string;
  /** Null while the log or segments may still hold the removed data. */
  completed_at: string | null;
  /** Of the identifiers that are suppressed since. */
  hashes: string[];
  removed: { contacts: number; memberships: number; idempotency_answers: number; dead_letters: number };
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
  erased: string[];
  /** Contacts that stay although they share an email or profile address with the erased; shared addresses are not suppressed. */
  related: string[];
  proof: ErasureProof;
}

export interface ErasureSearch {
  organizationId: string;
  limit: number;
  /** Where the page before ended, by `requested_at` and `proof_id`. */
  after?: SortKey;
}

export interface ErasureStore {
  /**
   * Removes contacts and everything derived from them, and suppresses their identifiers. Resolves when no byte of them is left in the
   * files of the store; a process that dies before is followed by one that finishes. A repeated command changes nothing.
   */
  eraseContacts(command: EraseCommand): Promise<ErasureResult>;
  /** Oldest first. */
  listErasures(search: ErasureSearch, signal?: AbortSignal): Promise<Page<Json<ErasureProof>>>;
}
