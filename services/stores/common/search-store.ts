/**
 * The port to contacts, audiences, visits, keys and credits.
 *
 * Every method is scoped by organization. A resolved write is durable and visible to every later read of any process.
 * A store that cannot answer throws `StoreUnavailable`; nothing else of a store's own words crosses this port.
 * A read whose `signal` is aborted stops as soon as the store can and rejects with the signal's reason. The signal is also
 * aborted when the request it belongs to is over: until then a store may count what it answered as under way.
 */

import type { Audience, AudienceRecord } from '../../audiences/schema.js';
import type { Contact, ContactRecord } from '../../contacts/schema.js';
import type { AudienceSearch, ContactSearch, Page, VisitSearch } from '../../search/query.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import type { Visit, VisitRecord } from '../../visits/schema.js';

/** The write was asked for under an idempotency key. Kept 24 hours for one organization and route. */
export interface Idempotency {
  route: string;
  key: string;
  /** Of the body and the query parameters. */
  fingerprint: string;
}

/** Why an idempotency key could not be used: its request is still running, or it was used for another body. */
export type IdempotencyRefusal = { kind: 'idempotency_in_progress' } | { kind: 'idempotency_key_reused' };

/** A write's outcome, and whether it is the saved one of an earlier request with the same idempotency key. */
export type Once<T> = { kind: 'done'; value: T; replayed: boolean } | IdempotencyRefusal;

export interface CreateContact {
  contact: Contact;
  audienceId: string;
  requiredCredits: number;
  onDuplicate: 'create' | 'return' | 'reject';
  dryRun: boolean;
  idempotency?: Idempotency;
}

/** Credits are null where the organization is not metered. Only `created` and `returned` are kept for replay. */
export type CreateOutcome =
  | {
      kind: 'created';
      contact: Contact;
      creditsConsumed: number | null;
      creditBalance: number | null;
      duplicates: string[];
    }
  /** The existing contact that joined the audience instead (`onDuplicate: 'return'`). */
  | {
      kind: 'returned';
      contact: Contact;
      creditsConsumed: number | null;
      creditBalance: number | null;
      duplicates: string[];
    }
  | { kind: 'audience_not_found' }
  | { kind: 'contact_exists'; contactId: string }
  /** The existing contact cannot join one more. */
  | { kind: 'too_many_audiences' }
  | { kind: 'insufficient_credits'; creditBalance: number };

export interface Membership {
  organizationId: string;
  audienceId: string;
  contactId: string;
  idempotency?: Idempotency;
}

/** Only `added` is kept for replay. */
export type AddOutcome =
  | { kind: 'added'; contact: Contact }
  | { kind: 'audience_not_found' }
  | { kind: 'too_many_audiences' }
  | { kind: 'contact_not_found' };

/** Only `removed` is kept for replay. `removed: false` when the contact is unknown or was no member. */
export type RemoveOutcome = { kind: 'removed'; removed: boolean } | { kind: 'audience_not_found' };

export interface ContactStore {
  getContact(organizationId: string, contactId: string, signal?: AbortSignal): Promise<Contact | null>;
  /** Ordered as contract 3.9 with a query, newest first without. */
  searchContacts(search: ContactSearch, signal?: AbortSignal): Promise<Page<Contact>>;
  /** Audience, duplicates, credits and the contact itself: all of it or nothing. */
  createContact(command: CreateContact): Promise<Once<CreateOutcome>>;
  addMembership(membership: Membership): Promise<Once<AddOutcome>>;
  removeMembership(membership: Membership): Promise<Once<RemoveOutcome>>;
  /**
   * A record changes a contact only when it comes after the last one that did, in the order of contract 6.2. Throws
   * `RecordsRefused` when some would give a contact more than it may have; all others are written.
   */
  upsertContacts(records: readonly OrderedRecord<ContactRecord>[]): Promise<void>;
}

export interface AudienceStore {
  getAudience(organizationId: string, audienceId: string, signal?: AbortSignal): Promise<Audience | null>;
  searchAudiences(
    search: AudienceSearch,
    signal?: AbortSignal,
  ): Promise<{ items: Audience[]; total: number }>;
  /** As records of contacts, each whole. */
  upsertAudiences(records: readonly OrderedRecord<AudienceRecord>[]): Promise<void>;
}

export interface VisitStore {
  /** Newest first. */
  searchVisits(search: VisitSearch, signal?: AbortSignal): Promise<Page<Visit>>;
  /** The first record of an id and moment stays. */
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
}

/** An API key as stored: never the secret itself. Times are ISO 8601 UTC. */
export interface StoredKey {
  id: string;
  /** SHA-256 of the secret, hexadecimal. */
  secretHash: string;
  organizationId: string;
  name: string | null;
  scopes: string[];
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
}

export interface KeyStore {
  findKey(keyId: string, signal?: AbortSignal): Promise<StoredKey | null>;
  insertKey(key: StoredKey): Promise<void>;
  /** Oldest first; of one organization, or all. */
  listKeys(organizationId?: string): Promise<StoredKey[]>;
  /** False when no key has the id. Revoking twice keeps the first time. */
  revokeKey(keyId: string, revokedAt: string): Promise<boolean>;
}

export interface CreditStore {
  /** Null when the organization is not metered. */
  getCredits(organizationId: string): Promise<number | null>;
  /** Makes the organization metered with this balance. */
  setCredits(organizationId: string, balance: number): Promise<void>;
  /** Adds to the balance and returns the new one. Null when the organization is not metered, which it stays. */
  grantCredits(organizationId: string, amount: number): Promise<number | null>;
}

/** Records of streams are durable once they are written. */
export interface RecordSearch {
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

export interface SearchStore
  extends ContactStore,
    AudienceStore,
    VisitStore,
    RecordSearch,
    KeyStore,
    CreditStore {
  /** Records of a stream that one write should hold where many are waiting. */
  readonly batchRecords: number;
  /** Absent where nothing can be left behind, as a write is one transaction. */
  readonly recovery?: Readonly<RecoveryStatus>;
  /** Whether any record, key or credit account belongs to another organization than this one. */
  hasOtherOrganization(organizationId: string): Promise<boolean>;
  /** Throws `StoreUnavailable` when the store cannot answer. */
  ping(): Promise<void>;
  /** Finishes what is running, then lets go of every resource. */
  close(): Promise<void>;
}
