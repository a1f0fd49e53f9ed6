import type { Pingable } from '../shared/health.js';

/** Counts of a stream of one organization. */
export interface StreamCounts {
  records: number;
  /** Whether `records` counts stored rows, some of which may be versions of one record; absent if it is exact. */
  isApproximate?: boolean;
  /** When its newest record was accepted, in milliseconds since the epoch; null before the first. */
  lastAcceptedAt: number | null;
}

export interface RecordCounts {
  contacts: StreamCounts;
  audiences: StreamCounts;
  /** `lastCreatedAt` is in milliseconds since the epoch. */
  visits: StreamCounts & { lastCreatedAt: number | null };
}

export interface RecordCountsStore {
  readCounts(organizationId: string, signal?: AbortSignal): Promise<RecordCounts>;
}

/** The queue of records for the workers. */
export interface Intake extends Pingable {
  /** Number of records that the workers have not stored yet, by stream, for all organizations. Rejects if no broker responds. */
  lag(): Promise<Readonly<Record<string, number>>>;
}
