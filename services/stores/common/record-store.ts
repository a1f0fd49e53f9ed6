/**
 * The port to contacts, audiences, visits, saved filters, keys and credits. Every method is scoped by organization. A resolved write is durable and
 * visible to every later read of any process. An unavailable store throws `StoreUnavailableError`; messages of its library stay in `cause`.
 * A read whose `signal` is aborted stops as soon as the store can stop it, and rejects with the reason of the signal. The signal is also
 * aborted when its request ends; until then, a store may count the response of the read as in flight.
 */

import type { CreditStore } from '../../accounts/credit-store.js';
import type { KeyStore } from '../../accounts/key-store.js';
import type { AudienceStore } from '../../audiences/audience-store.js';
import type { ChangeFeed } from '../../contacts/change-feed.js';
import type { ContactStore } from '../../contacts/contact-store.js';
import type { ErasureStore } from '../../contacts/erasure-store.js';
import type { RejectionStore } from '../../rejections/rejection-store.js';
import type { SavedFilterStore } from '../../saved-filters/saved-filter-store.js';
import type { DomainActivityStore } from '../../search/domain-activity.js';
import type { AnswerStore } from '../../shared/idempotency.js';
import type { OrderSlots } from '../../shared/record-order.js';
import type { RecordCountsStore } from '../../status/status-store.js';
import type { VisitStore } from '../../visits/visit-store.js';
import type { FollowedStore } from './sql-copy.js';

export interface Refreshable {
  /** Resolves when searches find every record written before. */
  refresh(): Promise<void>;
}

/** Progress of the recovery from processes that died. */
export interface RecoveryStatus {
  /** Credit reservations older than a minute that the last run could not resolve. */
  overdueReservations: number;
  /** Failed runs since the process started. */
  failures: number;
}

export interface RecordStore
  extends ContactStore,
    ChangeFeed,
    ErasureStore,
    AudienceStore,
    VisitStore,
    DomainActivityStore,
    RecordCountsStore,
    Refreshable,
    KeyStore,
    CreditStore,
    RejectionStore,
    SavedFilterStore,
    AnswerStore,
    OrderSlots,
    FollowedStore {
  /** Number of records per write if many records are waiting. */
  readonly preferredBatchSize: number;
  /** Status of the recovery; absent if every write is one transaction, which needs no recovery. */
  readonly recovery?: Readonly<RecoveryStatus>;
  /** Runs `work` after all running writes and before the next write begins. Absent if the store is a server. */
  pauseWrites?<T>(work: () => Promise<T>): Promise<T>;
  /** Whether a record, key or credit account belongs to another organization. */
  hasOtherOrganization(organizationId: string): Promise<boolean>;
  /** Throws `StoreUnavailableError` if the store does not respond. */
  ping(): Promise<void>;
  /** Finishes running requests, then releases every resource. */
  close(): Promise<void>;
}
