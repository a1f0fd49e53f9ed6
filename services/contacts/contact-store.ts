import { maxMatchBytes } from '../search/explain.js';
import type { FacetedPage } from '../search/facets.js';
import type {
  MATCH_MODES,
  Page,
  PartialMatch,
  QueryTerm,
  Sort,
  SortKey,
  TextQuery,
} from '../search/query.js';
import type { Cancellable } from '../shared/async.js';
import type { Idempotency, IdempotentResult } from '../shared/idempotency.js';
import type { Json } from '../shared/json.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { FieldError } from '../shared/validation.js';
import type { KnownPeople, PeopleQuery } from './duplicates.js';
import type { PresenceField } from './field-types.js';
import type { ContactSort, FacetField } from './fields.js';
import type { Contact, ContactRecord } from './schema.js';
import type { ValueField, WordField } from './searchable.js';
import type { ContactChanges } from './stored-contact.js';

/**
 * A word of a filter. The word matches a field if one of its spellings is a word of the field or begins a word of the field, if one of
 * `whole` is a word of the field, or if the field has all words of an equivalent.
 */
export interface FilterWord {
  spellings: string[];
  whole: string[];
  equivalents: string[][];
}

export type ContactFilter =
  | { kind: 'words'; field: WordField; words: FilterWord[] }
  /** The field has one of these values, in normal form. */
  | { kind: 'value'; field: ValueField; values: string[] }
  /** A work or personal email, normalized by `normalizeEmail`, with an @. */
  | { kind: 'email'; email: string }
  /** The contact matches one of these terms of a query. */
  | { kind: 'terms'; terms: QueryTerm[] }
  | { kind: 'has'; field: PresenceField }
  | { kind: 'lacks'; field: PresenceField };

/** Conditions that must all hold. Times are milliseconds since the epoch. */
export interface ContactCriteria {
  audienceId?: string;
  filters: ContactFilter[];
  /** Exclusive. */
  updatedAfter?: number;
  /** Inclusive. */
  createdFrom?: number;
  /** Exclusive. */
  createdBefore?: number;
}

export interface ContactSearch extends ContactCriteria {
  organizationId: string;
  /** At least one of these must hold. Also absent if one of them would select every contact. */
  anyOf?: ContactCriteria[];
  /** None of these may hold. */
  noneOf?: ContactCriteria[];
  query?: TextQuery;
  /** Order of a search without a query; by default the newest contacts come first. */
  sort?: Sort<ContactSort>;
  /**
   * What the search does if no contact matches every term: return the best contacts, or say which terms no contact matches. If absent, the
   * search does neither.
   */
  match?: (typeof MATCH_MODES)[number];
  /** Fields whose values are counted over all matches, not only over the page. Null is not counted. */
  facets?: readonly FacetField[];
  /** Whether the page includes ranks, and leaves room for an explanation of each contact. */
  explain?: true;
  limit: number;
  after?: SortKey;
  /** Whether the total stays 0, because counting reads every match. Used with `after`. */
  skipsTotal?: boolean;
}

export interface ContactPage extends FacetedPage<Json<Contact>, FacetField> {
  /** Present if no contact matches every term and the search has a `match`. */
  partial?: PartialMatch;
}

/** Whether criteria select every contact. */
export const selectsAll = ({
  audienceId,
  filters,
  updatedAfter,
  createdFrom,
  createdBefore,
}: ContactCriteria): boolean =>
  filters.length === 0 &&
  [audienceId, updatedAfter, createdFrom, createdBefore].every((each) => each === undefined);

/** Bytes to reserve for the explanation of a contact. */
export const explanationBytes = ({ explain, query }: ContactSearch): number =>
  explain && query ? maxMatchBytes(query) : 0;

export interface CreateContact {
  contact: Contact;
  audienceId: string;
  requiredCredits: number;
  onDuplicate: 'create' | 'return' | 'update' | 'reject';
  dryRun: boolean;
  idempotency?: Idempotency;
}

/** Outcome of a creation. Credits are null if the organization is not metered. */
export type CreateOutcome =
  | {
      /** With `returned` and `updated`, the existing contact joined the audience; `updated` also set the given fields. */
      kind: 'created' | 'returned' | 'updated';
      contact: Contact;
      creditsConsumed: number | null;
      creditBalance: number | null;
      duplicates: string[];
    }
  | { kind: 'audience_not_found' }
  | { kind: 'contact_suppressed' }
  /** `contactIds` is present if several contacts could be updated, oldest first. */
  | { kind: 'contact_exists'; contactId: string; contactIds?: string[] }
  /** The existing contact is in the maximum number of audiences. */
  | { kind: 'too_many_audiences' }
  /** The existing contact would be too large with the given fields. */
  | { kind: 'too_large'; error: FieldError }
  | { kind: 'insufficient_credits'; creditBalance: number };

export interface UpdateContact {
  organizationId: string;
  contactId: string;
  /** Changes of fields. Null clears a field. */
  changes: ContactChanges;
  /** When the contact last changed, as far as the request knows, in milliseconds since the epoch. */
  ifUpdatedMs?: number;
  idempotency?: Idempotency;
}

export type UpdateOutcome =
  | { kind: 'updated'; contact: Contact }
  | { kind: 'contact_not_found' }
  | { kind: 'changed_meanwhile' }
  | { kind: 'too_large'; error: FieldError }
  | { kind: 'contact_suppressed' }
  /** Another contact has an email or profile address that the changes add. */
  | { kind: 'contact_exists'; contactId: string };

export interface Membership {
  organizationId: string;
  audienceId: string;
  contactId: string;
  idempotency?: Idempotency;
}

export type AddOutcome =
  | { kind: 'added'; contact: Contact }
  | { kind: 'audience_not_found' }
  | { kind: 'too_many_audiences' }
  | { kind: 'contact_not_found' };

/** Contacts that join or leave an audience together. The ids are distinct, at most 1 000. */
export interface MembershipChange {
  organizationId: string;
  audienceId: string;
  contactIds: readonly string[];
  change: 'join' | 'leave';
}

export type MembershipChangeOutcome =
  | {
      kind: 'changed';
      changed: string[];
      /** Number of contacts whose membership was already as requested. */
      unchanged: number;
      notFound: string[];
      /** Ids of contacts that are in the maximum number of audiences. */
      full: string[];
    }
  | { kind: 'audience_not_found' };

/** A batch of contacts. Each contact occurs once, in the requested order. */
export interface ContactBatch {
  contacts: Json<Contact>[];
  /** Ids without a contact. */
  missing: string[];
  /** Ids that were not read: the first contact that had no room, and all ids after it. */
  notReturned: string[];
}

/** Contacts to delete. The ids are distinct. */
export interface DeleteContacts {
  organizationId: string;
  contactIds: readonly string[];
  /**
   * Whether the response has the deleted contacts. In that case, the deletion ends early if the contacts would take more than
   * `MAX_DELETED_BYTES`.
   */
  returnsContacts?: boolean;
  /** If given, deletes only contacts that this import created and that nothing else has changed since. */
  ofImport?: string;
}

/** Maximum JSON size of deleted contacts in a response, in bytes. The first contact may be larger. */
export const MAX_DELETED_BYTES = 1024 * 1024;

/** Result of a deletion for one id. `contact` is present if the caller requests it and no erasure of the person is running. */
export type OneDeletion =
  | { id: string; kind: 'deleted'; contact?: Json<Contact> }
  | { id: string; kind: 'missing' }
  /** The contact is not as its import created it. */
  | { id: string; kind: 'kept' }
  | { id: string; kind: 'no_room' };

/** Result of a deletion. The ids of each list are distinct, and in the requested order. */
export interface DeletionResult {
  deleted: string[];
  missing: string[];
  /** Ids of contacts that are not as their import created them. */
  kept: string[];
  /** Ids of contacts that were not deleted, because they had no room in the response. */
  notDeleted: string[];
  /** The contacts as they were before their deletion. */
  contacts: Json<Contact>[];
}

/** The contacts that name an import as their `data_import_id`. */
export interface ImportCounts {
  id: string;
  contacts: number;
  /** Contacts that the import created and that nothing else has changed since. */
  unchanged: number;
  /** When the newest of these contacts was accepted, in milliseconds since the epoch. */
  acceptedMs: number;
}

export const MAX_LISTED_IMPORTS = 100;

/** Combines the results of single deletions, which are in the requested order. */
export function deletionResult(deletions: readonly OneDeletion[]): DeletionResult {
  const idsOf = (wanted: OneDeletion['kind']) =>
    deletions.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  return {
    deleted: idsOf('deleted'),
    missing: idsOf('missing'),
    kept: idsOf('kept'),
    notDeleted: idsOf('no_room'),
    contacts: deletions.flatMap((each) => ('contact' in each && each.contact ? [each.contact] : [])),
  };
}

/** Outcome of a removal. `removed` is false if the contact is unknown or was not a member. */
export type RemoveOutcome = { kind: 'removed'; removed: boolean } | { kind: 'audience_not_found' };

const REPLAYABLE_KINDS: ReadonlySet<string> = new Set(['created', 'returned', 'updated', 'added', 'removed']);

/** Whether the store keeps an outcome under its idempotency key, to return it again. Any other outcome wrote nothing and frees the key. */
export function isReplayable(
  { kind }: CreateOutcome | UpdateOutcome | AddOutcome | RemoveOutcome,
  dryRun = false,
): boolean {
  return !dryRun && REPLAYABLE_KINDS.has(kind);
}

export interface ContactStore {
  getContact(organizationId: string, contactId: string, request?: Cancellable): Promise<Json<Contact> | null>;
  /** Gets contacts by distinct ids. A batch ends early if its contacts would take more than 4 MiB. */
  getContacts(
    organizationId: string,
    contactIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ContactBatch>;
  /** Finds contacts by their ids and by duplicate keys: at most 1 000 ids and 10 000 keys. */
  findPeople(query: PeopleQuery, signal?: AbortSignal): Promise<KnownPeople>;
  /** Finds contacts, ordered by relevance (contract 3.9) if the search has a query, otherwise by the sort of the search. */
  searchContacts(search: ContactSearch, request?: Cancellable): Promise<ContactPage>;
  /**
   * Sort keys of the contacts that a search finds, in the order of the search, at most 10 000. A full page may be the last page. Facets,
   * explanations and partial matches are not supported.
   */
  searchContactKeys(search: ContactSearch, request?: Cancellable): Promise<Page<SortKey>>;
  /** Counts the contacts that each filter matches. */
  countContacts(
    organizationId: string,
    filters: readonly ContactFilter[],
    request?: Cancellable,
  ): Promise<number[]>;
  /** Creates a contact. Writes audience, duplicates, credits and the contact atomically. */
  createContact(command: CreateContact): Promise<IdempotentResult<CreateOutcome>>;
  /** Updates a contact. Checks and writes atomically: no other change comes between. */
  updateContact(command: UpdateContact): Promise<IdempotentResult<UpdateOutcome>>;
  addMembership(membership: Membership): Promise<IdempotentResult<AddOutcome>>;
  removeMembership(membership: Membership): Promise<IdempotentResult<RemoveOutcome>>;
  /** Changes memberships. Searches find the change after `refresh`. */
  changeMemberships(change: MembershipChange): Promise<MembershipChangeOutcome>;
  /**
   * Deletes contacts with their memberships. Records older than the deletion do not create these contacts again. Returns each contact as it
   * was right before its deletion: no change comes between.
   */
  deleteContacts(command: DeleteContacts): Promise<DeletionResult>;
  /** The imports that contacts name: the 100 that created a contact last, newest first. */
  listImports(organizationId: string, signal?: AbortSignal): Promise<ImportCounts[]>;
  /**
   * Applies stream records. A record changes a contact only if it comes after the last record that changed the contact, in the order of
   * contract 6.2. Throws `PartialWriteError` if some records would give a contact more than the contact may have; all other records are
   * written.
   */
  upsertContacts(records: readonly OrderedRecord<ContactRecord>[]): Promise<void>;
}
