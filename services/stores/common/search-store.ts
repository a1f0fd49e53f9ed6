/**
 * The port to contacts, audiences, visits, keys and credits.
 *
 * Every method is scoped by organization. A resolved write is durable and visible to every later read of any process.
 * A store that cannot answer throws `StoreUnavailableError`; nothing else of a store's own words crosses this port.
 * A read whose `signal` is aborted stops as soon as the store can and rejects with the signal's reason. The signal is also
 * aborted when the request it belongs to is over: until then a store may count what it answered as under way.
 */

import type { CreditStore } from '../../accounts/credit-store.js';
import type { KeyStore } from '../../accounts/key-store.js';
import type { AudienceStore } from '../../audiences/audience-store.js';
import type { ContactStore } from '../../contacts/contact-store.js';
import type { VisitStore } from '../../visits/visit-store.js';

/** Records of streams are durable once they are written. */
export interface Refreshable {
  /** Resolves when searches find every record that was written before. */
  refresh(): Promise<void>;
}

/** How far the store is with what processes that died have left behind. */
export interface RecoveryStatus {
  /** Reservations of credits that are older than a minute and could not be resolved in the last run. */
  overdueReservations: number;
  /** What failed since the process started. */
  failures: number;
}

/** What a command needs that administers an organization. */
export type AdminStore = Pick<KeyStore, 'insertKey' | 'listKeys' | 'revokeKey'> &
  CreditStore &
  Pick<AudienceStore, 'getAudience' | 'upsertAudiences'> &
  Refreshable & { close(): Promise<void> };

export interface SearchStore
  extends ContactStore,
    AudienceStore,
    VisitStore,
    Refreshable,
    KeyStore,
    CreditStore {
  /** Records of a stream that one write should hold where many are waiting. */
  readonly preferredBatchSize: number;
  /** Absent where nothing can be left behind, as a write is one transaction. */
  readonly recovery?: Readonly<RecoveryStatus>;
  /** Whether any record, key or credit account belongs to another organization than this one. */
  hasOtherOrganization(organizationId: string): Promise<boolean>;
  /** Throws `StoreUnavailableError` when the store cannot answer. */
  ping(): Promise<void>;
  /** Finishes what is running, then lets go of every resource. */
  close(): Promise<void>;
}
