import type { Page, SortKey } from '../search/query.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Visit, VisitRecord } from './schema.js';

export interface VisitSearch {
  organizationId: string;
  audienceId?: string;
  /** Normal form of `normalizeCountry`; matches the country or its code. */
  country?: string;
  /** Folded whole value. */
  city?: string;
  /** Folded: the whole value, or the beginning of a word of it. */
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
  limit: number;
  after?: SortKey;
}

export interface VisitStore {
  /** Newest first. */
  searchVisits(search: VisitSearch, signal?: AbortSignal): Promise<Page<Visit>>;
  /** The first record of an id and moment stays. */
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
}
