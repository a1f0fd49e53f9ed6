/** The ports of the copy of contacts, audiences and visits that SQL reads (decision 0022). */
import type { ChangeFeed, ChangePosition, ContactChange } from '../../contacts/change-feed.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import type { VisitRecord } from '../../visits/schema.js';

/** How far a copy has followed the records store. */
export interface CopyPosition {
  /** Rises with every batch. Of two rows of a contact the one with the greater version counts. */
  version: number;
  contacts: ChangePosition;
  /** Version of the audiences in the copy. */
  audiences: string;
  /** Number of the last visit in the copy, if the copy follows visits. */
  visits: number;
  /** Every change up to this time is in the copy; milliseconds since the epoch. */
  followedAt: number;
}

export interface VisitPage {
  visits: OrderedRecord<VisitRecord>[];
  /** Number of the last visit of the page. */
  last: number;
}

/** Makes contacts unreadable for SQL. */
export type HideContacts = (organizationId: string, contactIds: readonly string[]) => Promise<void>;

/** What a copy follows besides the feed of changes. Throws `StoreUnavailableError` and `StoreTimeoutError`. */
export interface CopiedRecords {
  /** Whether the feed of changes names deleted contacts. */
  readonly keepsMarks: boolean;
  /** Whether there is anything to copy. */
  hasRecords(): Promise<boolean>;
  /** Text that changes whenever an audience changes. */
  readAudienceVersion(): Promise<string>;
  /** All audiences as lines of JSON. */
  readAudiences(): AsyncIterable<string[]>;
  /** Visits that were written after a number. Absent if each write of visits goes to both stores. */
  readVisits?(after: number, limit: number): Promise<VisitPage>;
  /** Whether contacts were erased after a run of the feed began, so that a copy of this run may hold their bytes. */
  hasErasedSince(position: ChangePosition): Promise<boolean>;
  /**
   * Keeps the position of one of several copies in the records store, so that erasures from before its run began may complete. Null before the first
   * contact is copied. Absent if erasures ask the copies themselves for their positions.
   */
  noteCopy?(copy: number, copies: number, position: ChangePosition | null): Promise<void>;
  /** Whether this process, of all processes, writes the copies. Absent if there is only one process. */
  holdsLease?(): Promise<boolean>;
}

/** Tables of a copy that is being made. No statement reads them until the swap. */
export interface NewTables {
  insertContacts(changes: readonly ContactChange[], position: CopyPosition): Promise<void>;
  insertAudiences(lines: readonly string[]): Promise<void>;
  insertVisits(visits: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
  /** Replaces the tables that SQL reads. */
  swap(): Promise<void>;
  /** Drops the tables. After a swap, these are the former ones. */
  drop(): Promise<void>;
}

export const COPIED_TABLES = ['contacts', 'audiences', 'website_visits'] as const;
export type CopiedTable = (typeof COPIED_TABLES)[number];

/** How the name of a table begins that is not yet read, or no longer. In the embedded engine, this is the name. */
export const nextOf = (table: CopiedTable): string => `${table}_next`;

/** The tables on one server or in the embedded engine. Throws `StoreUnavailableError` and `StoreTimeoutError`. */
export interface SqlCopy {
  /** Null before the first copy. */
  readPosition(): Promise<CopyPosition | null>;
  /** Writes the contacts and the position in one step. */
  insertContacts: NewTables['insertContacts'];
  insertVisits: NewTables['insertVisits'];
  /** Creates empty tables. */
  begin(tables: readonly CopiedTable[]): Promise<NewTables>;
  /** Removes all contacts from the table that SQL reads. */
  clearContacts(): Promise<void>;
  /** Whether there are tables besides those that SQL reads: tables that are being made, or former tables that are not dropped yet. */
  hasOtherTables(): Promise<boolean>;
  /** Drops tables that a killed process left. */
  dropAbandoned(): Promise<void>;
  /** Hides contacts at once, also in tables that are being made, whatever a follower still writes about them. */
  hide: HideContacts;
}

/** The copies of all servers, for erasures. */
export interface SqlCopies {
  hide: HideContacts;
  /** Positions of the feed that the copies have followed; null while a copy has other tables (`hasOtherTables`). */
  readPositions(): Promise<readonly ChangePosition[] | null>;
}

export interface FollowedStore extends ChangeFeed {
  readonly copied: CopiedRecords;
}
