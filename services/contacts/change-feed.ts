/** The port to the feed of changed contacts: each contact stands in the feed once, at its last effective change (decision 0039). */
import type { Json } from '../shared/json.js';
import type { ContactSearch } from './contact-store.js';
import type { Contact } from './schema.js';

/** A position in the feed. Only the store that wrote a position interprets its numbers. */
export interface ChangePosition {
  /** Id of the numbering. A store that is rebuilt, reindexed or restored begins another epoch. */
  epoch: string;
  /** Number of the last change before the position, for each shard of the store. */
  after: number[];
  /** Position at which the run began. The run leaves out absent contacts whose last change is not after it. */
  start: number[];
}

export interface Numbering {
  epoch: string;
  /** Signs cursors. Whoever knows only the epoch does not know it. */
  secret: string;
}

export interface ChangesRequest {
  /** If absent, the changes of all organizations, which are available even if the store keeps no marks of deletions. */
  organizationId?: string;
  /** Contacts that do not match count as absent. If absent, every contact counts as present. */
  search?: Omit<ContactSearch, 'organizationId' | 'limit' | 'after' | 'skipsTotal'>;
  /** If absent, the run begins with the oldest change; with `now`, behind the newest change. */
  after?: ChangePosition | 'now';
  /** Maximum changes of the page. The page ends early at 4 MiB, or after many changes that it leaves out. */
  limit: number;
}

export interface ContactChange {
  organizationId: string;
  contactId: string;
  /** The contact as it is now; null if it is deleted, erased or does not match. */
  contact: Json<Contact> | null;
}

export interface ChangesPage {
  kind: 'page';
  numbering: Numbering;
  /** Ordered by the last change of each contact. */
  changes: ContactChange[];
  next: ChangePosition;
  /** False if the page reached the newest change and no job is left that changes contacts. */
  more: boolean;
}

export type ChangesResult =
  | ChangesPage
  /** The position is from another epoch or beyond the newest change, or marks of deletions after the position are gone. */
  | { kind: 'expired'; numbering: Numbering }
  /** The store keeps no marks of deletions. */
  | { kind: 'unavailable' };

export interface ChangeFeed {
  readChanges(request: ChangesRequest, signal?: AbortSignal): Promise<ChangesResult>;
  /**
   * Deletes marks of deleted and erased contacts by age. Called about once an hour: the more often, the more exactly a store knows the
   * ages.
   */
  deleteOldMarks(): Promise<void>;
}
