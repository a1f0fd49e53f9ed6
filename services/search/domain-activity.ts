/** The port to records by domain, for every kind of record that has a domain. Times are in milliseconds since the epoch. */

/** Kinds of records that may belong to a company by their domain. */
export const DOMAIN_RECORDS = ['contacts', 'visits'] as const;
export type DomainRecords = (typeof DOMAIN_RECORDS)[number];

/** A time with its beginning and its exclusive end. */
export interface TimeSpan {
  from: number;
  before: number;
}

/** A domain in normal form (contract 3.8), and a time. */
export type DomainWindow = TimeSpan & { domain: string };

export interface DomainDaysQuery {
  organizationId: string;
  /** Each domain once. Windows begin and end at midnight, UTC. */
  windows: readonly DomainWindow[];
  /** Whether records before a window count on its first day; otherwise they are left out. */
  countsEarlier: boolean;
  /** Maximum number of days in the result. */
  limit: number;
}

/** Records of a domain on a UTC day. */
export interface DomainDay {
  domain: string;
  /** Beginning of the day. */
  day: number;
  count: number;
  /** Time of the earliest record. */
  first: number;
}

export interface OldestQuery {
  organizationId: string;
  windows: readonly DomainWindow[];
  /** Maximum number of ids per window. */
  limit: number;
}

/** Number of records, and number of those without a domain. */
export interface PlacedCounts {
  all: number;
  withoutDomain: number;
}

export interface DomainActivityStore {
  /** Counts records by domain and day, in no order. */
  countDomainDays(kind: DomainRecords, query: DomainDaysQuery, signal?: AbortSignal): Promise<DomainDay[]>;
  /** Ids of the oldest records of each window, oldest first; records of the same time are ordered by id. */
  findOldest(kind: DomainRecords, query: OldestQuery, signal?: AbortSignal): Promise<string[][]>;
  /** Counts the records of an organization. */
  countPlaced(
    kind: DomainRecords,
    organizationId: string,
    span: TimeSpan,
    signal?: AbortSignal,
  ): Promise<PlacedCounts>;
}
