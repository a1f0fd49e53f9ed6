import { LRUCache } from 'lru-cache';
import type { AnalyticsReader } from '../advertising/analytics-store.js';
import { addDays, lastFinalDay } from '../advertising/calendar.js';
import { withTimeout } from '../shared/async.js';
import { cached } from '../shared/cache.js';
import { checkHealth, type Pingable } from '../shared/health.js';
import { type Clock, formatTimestamp, utcDate } from '../shared/time.js';
import { readAdvertisingCounts } from './advertising-counts.js';
import type { StatusResponse } from './schema.js';
import type { Intake, RecordCounts, RecordCountsStore, StreamCounts } from './status-store.js';

export interface StatusDeps {
  records: RecordCountsStore & Pingable;
  analytics: AnalyticsReader & Pingable;
  /** Absent without Kafka. */
  intake?: Intake;
  /** Absent in a process without stores. */
  follower?: { followedAt(): Promise<number | null> } | null;
  clock: Clock;
  provisionalDays: number;
  version: string;
}

/** How long a status is cached, in milliseconds: consoles and probes read it every few seconds, and counting takes time. */
const CACHE_TTL_MS = 3000;
const MAX_ORGANIZATIONS = 1000;
const READ_TIMEOUT_MS = 2000;

/** Reads the status of organizations (contract 6.5). Concurrent callers share one read, and its result for 3 s. */
export class StatusReader {
  readonly #deps: StatusDeps;
  readonly #statuses = new LRUCache<string, Promise<StatusResponse>>({
    max: MAX_ORGANIZATIONS,
    ttl: CACHE_TTL_MS,
  });
  readonly #readStores = cached(CACHE_TTL_MS, () => this.#checkStores());

  constructor(deps: StatusDeps) {
    this.#deps = deps;
  }

  /** Never rejects, and resolves within about 2 s. Values of a store that does not respond are null. */
  read(organizationId: string): Promise<StatusResponse> {
    let status = this.#statuses.get(organizationId);
    if (!status) {
      status = this.#load(organizationId);
      this.#statuses.set(organizationId, status);
    }
    return status;
  }

  /** Checks the parts of the status that are the same for every organization. */
  async #checkStores() {
    const { records, analytics, intake, follower } = this.#deps;
    const [recordsState, analyticsState, intakeState, lag, copiedAt] = await Promise.all([
      checkReads(records),
      checkReads(analytics),
      intake && checkReads(intake),
      intake && orNull(() => intake.lag()),
      follower && orNull(() => follower.followedAt()),
    ]);
    return {
      stores: {
        records: recordsState,
        analytics: analyticsState,
        ...(intakeState && { intake: intakeState }),
      },
      lag,
      copiedAt,
    };
  }

  async #load(organizationId: string): Promise<StatusResponse> {
    const { records, analytics, clock, provisionalDays, version } = this.#deps;
    const now = clock.now();
    const count = <Counts>(
      read: (reader: AnalyticsReader, id: string, abort: AbortSignal) => Promise<Counts>,
    ) => orNull((signal) => read(analytics, organizationId, signal));
    const [{ stores, lag, copiedAt }, found, campaigns, creatives, companies, deliveries, rates] =
      await Promise.all([
        this.#readStores(),
        orNull((signal) => records.readCounts(organizationId, signal)),
        count(readAdvertisingCounts.campaigns),
        count(readAdvertisingCounts.creatives),
        count(readAdvertisingCounts.companies),
        count(readAdvertisingCounts.deliveries),
        count(readAdvertisingCounts.currencyRates),
      ]);
    const stream = (name: string, counts: StreamCounts | null | undefined) => ({
      records: counts?.records ?? null,
      approximate: counts?.isApproximate ?? false,
      last_accepted_at: timestamp(counts?.lastAcceptedAt),
      ...(lag !== undefined && { lag: lag?.[name] ?? null }),
    });
    const { contacts, audiences, visits }: Partial<RecordCounts> = found ?? {};
    return {
      organization_id: organizationId,
      streams: {
        contacts: stream('contacts', contacts),
        audiences: stream('audiences', audiences),
        'website-visits': {
          ...stream('website-visits', visits),
          last_created_at: timestamp(visits?.lastCreatedAt),
        },
        'network-a-campaigns': stream('network-a-campaigns', campaigns),
        'network-a-creatives': stream('network-a-creatives', creatives),
        'network-a-companies': stream('network-a-companies', companies),
        'network-a-deliveries': {
          ...stream('network-a-deliveries', deliveries),
          last_date: deliveries?.lastDate ?? null,
          provisional_from: addDays(lastFinalDay(utcDate(now), provisionalDays), 1),
        },
        'currency-rates': stream('currency-rates', rates),
      },
      stores,
      sql_copied_at: timestamp(copiedAt),
      version,
      checked_at: formatTimestamp(now),
    };
  }
}

const timestamp = (milliseconds: number | null | undefined) =>
  milliseconds === null || milliseconds === undefined ? null : formatTimestamp(milliseconds);

/** Null if the read fails or takes too long. */
const orNull = <T>(read: (signal: AbortSignal) => Promise<T>): Promise<T | null> =>
  withTimeout(READ_TIMEOUT_MS, read).catch(() => null);

/** A store with a full disk still serves reads; `/readyz` distinguishes this. */
async function checkReads(store: Pingable): Promise<'ok' | 'unavailable'> {
  return (await checkHealth(store)) === 'unavailable' ? 'unavailable' : 'ok';
}
