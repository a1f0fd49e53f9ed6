/**
 * The ports of the copy of contacts and audiences that SQL reads on a server (decision 0022). Both throw `StoreUnavailableError` and
 * `StoreTimeoutError`.
 */

import { createHash } from 'node:crypto';

export const COPIED_KINDS = ['contacts', 'audiences'] as const;
export type CopiedKind = (typeof COPIED_KINDS)[number];

/** Milliseconds for which a lease holds, by the clock of the server that holds the copy. */
export const COPY_LEASE_MS = 300_000;

/**
 * Identifies a contact in a statement. Servers keep the text of statements on disk, where an id would outlive the contact, so a hash
 * replaces the id.
 */
export interface ContactKey {
  organizationId: string;
  /** Hash in hexadecimal. */
  hash: string;
}

/** Key of a contact. Joining with a slash is unambiguous, because ids have no slash. */
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

/** Tables of a copy in progress. No process reads them until they replace the current tables. */
export interface NewCopy {
  insert(kind: CopiedKind, lines: readonly string[]): Promise<void>;
  /** Removes contacts from the rows that were inserted so far. */
  hide(contacts: readonly ContactKey[]): Promise<void>;
  /** Renews the lease. If it is not renewed for `COPY_LEASE_MS`, other processes drop the tables, and every later call fails. */
  renew(): Promise<void>;
  swap(): Promise<void>;
  /** Drops the tables of this copy. After a swap, these hold the former copy. */
  drop(): Promise<void>;
}

export interface RecordCopy {
  /** When the reading of the current copy began, in milliseconds since the epoch; null before the first copy. */
  beganAt(): Promise<number | null>;
  /** Times at which the reading of each unfinished copy began, in milliseconds since the epoch. */
  unfinished(): Promise<number[]>;
  begin(now: number): Promise<NewCopy>;
  /** Drops the tables of copies whose creator died. */
  dropAbandoned(): Promise<void>;
  /** Makes contacts unreadable at once. Their bytes disappear with the next copy. */
  hide(contacts: readonly ContactKey[]): Promise<void>;
  /** Whether the copy contains no byte of the contacts, and no running copy will add any. */
  isFreeOf(contacts: readonly ContactKey[]): Promise<boolean>;
}
