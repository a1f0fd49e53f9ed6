import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FULL_DISK_BYTES } from '../../shared/health.js';
import { fromJson } from '../../shared/json.js';
import { settingSchemas } from '../../shared/settings.js';
import { DiskFullError } from '../../shared/store-errors.js';
import { type Clock, systemClock } from '../../shared/time.js';
import type { SearchStore } from '../common/search-store.js';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { contactStore } from './contacts/store.js';
import { openDatabase } from './database.js';
import type { RebuildProgress } from './migrations/rebuild.js';
import { parsePage } from './pages.js';
import { PointReads } from './point-reads.js';
import type { LookupOperations } from './workers/lookup-thread.js';
import { startSearchProcess } from './workers/process-client.js';
import { SearchPool } from './workers/search-pool.js';
import type { SearchOperations } from './workers/search-process.js';
import { WorkerClient } from './workers/worker-client.js';
import { RECORDS_PER_MESSAGE, RecordMessages, type Writer } from './writes/record-messages.js';

const WRITER = new URL('./workers/writer-thread.js', import.meta.url);
const LOOKUPS = new URL('./workers/lookup-thread.js', import.meta.url);
const SEARCHES = fileURLToPath(new URL('./workers/search-process.js', import.meta.url));

/** Page caches in MiB; that of the searches is shared between their processes. */
const CACHE_MB = {
  migrations: 64,
  writer: 96,
  searches: { all: 192, least: 16 },
  lookups: 8,
  points: 16,
};

/** Two messages: together they fill transactions. */
const BATCH_RECORDS = 2 * RECORDS_PER_MESSAGE;

export interface SqliteStoreOptions {
  /** Folder of the database file, created when absent. */
  dataDir: string;
  /** Concurrent searches per organization; one more process is kept for the others. */
  searchThreads: number;
  searchTimeoutMs?: number;
  clock?: Clock;
  onRebuild?: RebuildProgress;
}

/**
 * Opens the embedded search store and migrates it. Several processes may have it open at once; threads and processes start
 * with the first request that needs them. Throws as `openDatabase` does, and `StoreUnavailableError` when a thread cannot start.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SearchStore> {
  const {
    dataDir,
    searchThreads,
    searchTimeoutMs = settingSchemas.REACHLINE_SEARCH_TIMEOUT_MS.default,
    clock = systemClock,
  } = options;
  const connection = await openDatabase(dataDir, CACHE_MB.migrations, options.onRebuild);
  connection.close();
  const path = join(dataDir, SEARCH_FILE);
  const writer: Writer = new WorkerClient(WRITER, { path, cacheMb: CACHE_MB.writer });
  const lookups = new WorkerClient<LookupOperations>(LOOKUPS, { path, cacheMb: CACHE_MB.lookups });
  const cacheMb = Math.max(CACHE_MB.searches.least, Math.floor(CACHE_MB.searches.all / searchThreads));
  const searches = new SearchPool<SearchOperations>({
    maxProcesses: searchThreads + 1,
    timeoutMs: searchTimeoutMs,
    startProcess: (handlers) => startSearchProcess(SEARCHES, { path, cacheMb }, handlers),
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
  const points = new PointReads({ path, cacheMb: CACHE_MB.points });
  const store = composeStore(writer, lookups, searches, points, clock, dataDir);
  try {
    await lookups.call('ping');
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

function composeStore(
  writer: Writer,
  lookups: WorkerClient<LookupOperations>,
  searches: SearchPool<SearchOperations>,
  points: PointReads,
  clock: Clock,
  dataDir: string,
): SearchStore {
  const records = new RecordMessages(writer);
  return {
    preferredBatchSize: BATCH_RECORDS,
    /** Reads always see earlier writes. */
    refresh: async () => undefined,
    ...contactStore({ writer, records, lookups, searches, points, clock }),
    getAudience: async (organizationId, audienceId) => points.getAudience(organizationId, audienceId),
    searchAudiences: async (search, signal) =>
      fromJson(await searches.call(search.organizationId, 'searchAudiences', [search], signal)),
    upsertAudiences: (audiences) => records.write('upsertAudiences', audiences),
    searchVisits: async (search, signal) =>
      parsePage(await searches.call(search.organizationId, 'searchVisits', [search], signal)),
    insertVisits: (visits) => records.write('insertVisits', visits),
    ...writer.calls('deleteVisitsBefore', 'insertKey', 'revokeKey', 'recordKeyUse'),
    ...writer.calls('setCredits', 'grantCredits', 'deleteRejections'),
    ...lookups.calls('findKey', 'listKeys', 'getCredits', 'listRejections'),
    ...lookups.calls('readFigures', 'hasOtherOrganization'),
    async ping() {
      await lookups.call('ping');
      const { bavail, bsize } = await statfs(dataDir);
      if (bavail * bsize < FULL_DISK_BYTES) throw new DiskFullError('search');
    },
    async keepRejections(organizationId, rejections) {
      for (let start = 0; start < rejections.length; start += RECORDS_PER_MESSAGE) {
        const part = rejections.slice(start, start + RECORDS_PER_MESSAGE);
        await writer.callFor(organizationId, 'keepRejections', organizationId, part, clock.now());
      }
    },
    pauseWrites: (work) => writer.runExclusive(work),
    async close() {
      await records.idle();
      points.close();
      await Promise.all([writer.close(), lookups.close(), searches.close()]);
    },
  };
}
