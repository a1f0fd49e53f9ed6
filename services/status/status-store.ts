import type { Pingable } from '../shared/health.js';

/** What is stored of a stream of one organization. */
export interface StreamFigures {
  records: number;
  /** Whether `records` counts stored rows, some of which may be versions of one record; absent where it is exact. */
  isApproximate?: boolean;
  /** When the newest of its records was accepted, in milliseconds since the epoch; null before the first. */
  lastAcceptedAt: number | null;
}

export interface RecordFigures {
  contacts: StreamFigures;
  audiences: StreamFigures;
  /** `lastCreatedAt` in milliseconds since the epoch. */
  visits: StreamFigures & { lastCreatedAt: number | null };
}

export interface RecordFiguresStore {
  readFigures(organizationId: string, signal?: AbortSignal): Promise<RecordFigures>;
}

/** The queue of records for the workers. */
export interface Intake extends Pingable {
  /** Records that the workers have not stored yet, by stream, of all organizations. Rejects when no broker answers. */
  lag(): Promise<Readonly<Record<string, number>>>;
}
