import type { FacetedPage } from '../search/facets.js';
import type { SortKey } from '../search/query.js';
import type { Json } from '../shared/json.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Visit, VisitFacet, VisitRecord } from './schema.js';

export interface VisitSearch {
  organizationId: string;
  audienceId?: string;
  /** Normal form of `normalizeCountry`; matches the country or its code. */
  country?: string;
  /** Folded whole value. */
  city?: string;
  /** Normal form of `normalizeWordStarts`; a substring of the visit's. */
  browser?: string;
  platform?: string;
  hasRecording?: boolean;
  /** Inclusive range of `addressKey`s. */
  address?: { from: string; to: string };
  /** Normal form of `normalizeUrlText`; a substring of the visit's. */
  startUrl?: string;
  /** Milliseconds, inclusive. */
  createdFrom?: number;
  /** Milliseconds, exclusive. */
  createdBefore?: number;
  minIntentScore?: number;
  /** Counted over all matches, not over the page. */
  facets?: readonly VisitFacet[];
  limit: number;
  after?: SortKey;
  /** With `after`: leaves the total at 0, because counting passes over every match. */
  skipsTotal?: boolean;
}

/** Days with visits that the facet `day` holds: the newest. */
export const MAX_FACET_DAYS = 1000;

export interface VisitStore {
  /** Newest first. */
  searchVisits(search: VisitSearch, signal?: AbortSignal): Promise<FacetedPage<Json<Visit>, VisitFacet>>;
  /** The first record of an id and moment stays. */
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
  /** How many visits of all organizations are from before a moment, in milliseconds since the epoch; `MAX_COUNTED_VISITS` at most. */
  countVisitsBefore(createdMs: number): Promise<number>;
  /**
   * Deletes visits of all organizations from before a moment, in milliseconds since the epoch: about `limit`, so that other writes run in
   * between. Resolves with how many; 0 once none is left, or while the store is being reindexed.
   */
  deleteVisitsBefore(createdMs: number, limit: number): Promise<number>;
}

/** Visits that SQL reads on a server. They are stored beside the visits of the records store, which the embedded engine reads. */
export interface VisitTable {
  /** As `VisitStore`. */
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
  /** Like `VisitStore`; 0 in the embedded engine. */
  countVisitsBefore(createdMs: number): Promise<number>;
  /** Deletes visits that began before a moment, in milliseconds since the epoch. */
  deleteVisitsBefore(createdMs: number): Promise<void>;
}
