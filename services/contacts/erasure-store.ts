import type { Page, SortKey } from '../search/query.js';
import type { Json } from '../shared/json.js';
import { formatTimestamp } from '../shared/time.js';
import type { Identifier } from './suppression.js';

export interface EraseCommand {
  organizationId: string;
  proofId: string;
  /** Id of the API key that requested the erasure. */
  keyId: string;
  /**
   * Identifiers of the person. The erasure first suppresses these identifiers, whichever contacts have them, and then removes every contact
   * that has one of them.
   */
  named: readonly Identifier[];
}

/** Milliseconds that a request waits for its erasure. The erasure continues whether or not a request waits. */
export const ERASURE_WAIT_MS = {
  /** Time for removing all contacts; less than the timeout of a request. */
  removal: 20_000,
  /** Time after the removal until no byte of the contacts can be read. */
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
  /** Time of completion; null while contacts remain, or while readable data about them remains in a file of the store. */
  completed_at: string | null;
  /** Hashes of the identifiers that are now suppressed. */
  hashes: string[];
  removed: RemovedCounts;
}

/** The proof of an incomplete erasure. `now` is in milliseconds since the epoch. */
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
  /** Contacts that stay although they share an email or profile address with the erased contacts. Shared addresses are not suppressed. */
  related: string[];
  proof: ErasureProof;
}

export interface ErasureSearch {
  organizationId: string;
  limit: number;
  /** End of the previous page: `requested_at` and `proof_id`. */
  after?: SortKey;
}

export interface ErasureStore {
  /**
   * Suppresses the named identifiers, and removes every contact that has one of these identifiers, with everything derived from the
   * contact. Resolves once nothing of the contacts can be read in a file of the store, and after `ERASURE_WAIT_MS` at the latest: the proof
   * reports progress, and the erasure continues, even after a restart. A repeated command changes nothing.
   */
  eraseContacts(command: EraseCommand): Promise<ErasureResult>;
  /** Lists erasures, oldest first. */
  listErasures(search: ErasureSearch, signal?: AbortSignal): Promise<Page<Json<ErasureProof>>>;
}
