import type { FacetedPage } from '../search/facets.js';
import type { SortKey } from '../search/query.js';
import type { Json } from '../shared/json.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Visit, VisitFacet, VisitRecord } from './schema.js';

export interface VisitSearch {
  organizationId: string;
  audienceId?: string;
  /** Country normalized by `normalizeCountry`. Matches the country or its code. */
  country?: string;
  /** Whole value, folded. */
  city?: string;
  /** Browser name normalized by `normalizeWordStarts`; a substring of the visit's value. */
  browser?: string;
  platform?: string;
  hasRecording?: boolean;
  /** Inclusive range of `addressKey` values. */
  address?: { from: string; to: string };
  /** Domain normalized by `normalizeDomain`. */
  companyDomain?: string;
  /** Page address normalized by `normalizeUrlText`; a substring of the visit's value. */
  startUrl?: string;
  /** Milliseconds, inclusive. */
  createdFrom?: number;
  /** Milliseconds, exclusive. */
  createdBefore?: number;
  minIntentScore?: number;
  /** Counted over all matches, not only over the page. */
  facets?: readonly VisitFacet[];
  limit: number;
  after?: SortKey;
  /** Used with `after`: leaves the total at 0, because counting reads every match. */
  skipsTotal?: boolean;
}

/** Visits of a company. */
export interface CompanyVisits {
  domain: string;
  count: number;
  /** Time of the newest visit, in milliseconds since the epoch. */
  lastMs: number;
}

/** The companies that visited. Visits whose company is unknown are only counted. */
export interface VisitingCompanies {
  companies: CompanyVisits[];
  withoutDomain: number;
}

/** The days whose visits are counted, in milliseconds since the epoch. `limit` is the largest number of companies to return. */
export interface VisitingCompaniesSearch {
  organizationId: string;
  /** Returns only these companies. `withoutDomain` stays the same. */
  domains?: readonly string[] | undefined;
  /** Beginning of a day, inclusive. */
  createdFrom: number;
  /** Beginning of a day, exclusive. */
  createdBefore: number;
  limit: number;
}

/** Maximum days in the facet `day`; the newest days are kept. */
export const MAX_FACET_DAYS = 1000;

export interface VisitStore {
  /** Newest first. */
  searchVisits(search: VisitSearch, signal?: AbortSignal): Promise<FacetedPage<Json<Visit>, VisitFacet>>;
  /**
   * Counts visits by company, in no order. If there are more companies than the limit, some are missing, and `withoutDomain` may be wrong.
   */
  countVisitsByCompany(search: VisitingCompaniesSearch, signal?: AbortSignal): Promise<VisitingCompanies>;
  /** Inserts visits. The first record with an id and moment stays. */
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
  /** Number of visits of all organizations before a moment, in milliseconds since the epoch; at most `MAX_COUNTED_VISITS`. */
  countVisitsBefore(createdMs: number): Promise<number>;
  /**
   * Deletes about `limit` visits of all organizations before a moment, in milliseconds since the epoch, so that other writes run in
   * between. Resolves with their number: 0 once none is left, or while the store is being reindexed.
   */
  deleteVisitsBefore(createdMs: number, limit: number): Promise<number>;
}

/** Visits that SQL reads on a server. They are a second copy. The embedded engine reads the visits of the records store instead. */
export interface VisitTable {
  /** Stores visits; see `VisitStore`. */
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
  /** Like the method of `VisitStore`; 0 for the embedded engine. */
  countVisitsBefore(createdMs: number): Promise<number>;
  /** Deletes visits that began before a moment, in milliseconds since the epoch. */
  deleteVisitsBefore(createdMs: number): Promise<void>;
}
