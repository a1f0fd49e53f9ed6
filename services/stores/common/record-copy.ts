/**
 * The ports of the copy of contacts and audiences that SQL reads on a server (decision 0022). Both throw `StoreUnavailableError` and
 * `StoreTimeoutError`.
 */

import { createHash } from 'node:crypto';

export const COPIED_KINDS = ['contacts', 'audiences'] as const;
export type CopiedKind = (typeof COPIED_KINDS)[number];

/** Duration of a lease, by the clock of the server that holds the copy. */
export const COPY_LEASE_MS = 300_000;

/** Identifies a contact in a statement. Servers keep the text of statements on disk, where an id would outlive the contact. */
export interface ContactKey {
  organizationId: string;
  /** Hexadecimal. */
  hash: string;
}

/** Ids have no slash. */
export const contactKey = (organizationId: string, contactId: string): ContactKey => ({
  organizationId,
  hash: createHash('sha256').update(`${organizationId}/${contactId}`).digest('hex'),
});

export interface RecordSource {
  /**
   * All records that exist when the read begins, as lines of JSON in the form of the API. Records written during the read may be included.
   */
  read(kind: CopiedKind): AsyncIterable<string[]>;
  /** Contacts of the erasures whose proof is not complete. */
  erased(): AsyncIterable<ContactKey[]>;
}

/** Tables that nobody reads until they replace the current tables. */
export interface NewCopy {
  insert(kind: CopiedKind, lines: readonly string[]): Promise<void>;
  /** Removes contacts from the rows that were inserted. */
  hide(contacts: readonly ContactKey[]): Promise<void>;
  /** Renews the lease. Without this for `COPY_LEASE_MS`, other processes drop the tables, and every later call fails. */
  renew(): Promise<void>;
  swap(): Promise<void>;
  /** Drops the tables, which hold the former copy after a swap. */
  drop(): Promise<void>;
}

export interface RecordCopy {
  /** When the reading of the current copy began, in milliseconds since the epoch; null before the first copy. */
  beganAt(): Promise<number | null>;
  /** When the reading of each unfinished copy began. */
  unfinished(): Promise<number[]>;
  begin(now: number): Promise<NewCopy>;
  /** Drops the tables of copies whose creator died. */
  dropAbandoned(): Promise<void>;
  /** Makes contacts unreadable at once. Their bytes disappear with the next copy. */
  hide(contacts: readonly ContactKey[]): Promise<void>;
  /** Whether the copy contains no byte of the contacts, and will not get any. */
  isFreeOf(contacts: readonly ContactKey[]): Promise<boolean>;
}
