import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MAX_FORMER_AUDIENCES } from '../../audiences/audience-store.js';
import { packageRoot } from '../../shared/fs.js';
import { requireRoom } from '../../shared/health.js';
import { fromJson } from '../../shared/json.js';
import { ONLY_SLOT } from '../../shared/record-order.js';
import { settingSchemas } from '../../shared/settings.js';
import { sql } from '../../shared/sql.js';
import { type Clock, systemClock } from '../../shared/time.js';
import type { RecordStore } from '../common/record-store.js';
import type { HideContacts } from '../common/sql-copy.js';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { getAudience } from './audiences.js';
import type { Connection } from './connection.js';
import { expireUnmarked } from './contacts/absences.js';
import { contactStore } from './contacts/store.js';
import { copiedRecords } from './copied-records.js';
import { readFigures } from './counts.js';
import { readCredits } from './credits.js';
import { openDatabase } from './database.js';
import { hasPendingErasures } from './erasure/proofs.js';
import { eraseContacts } from './erasure/request.js';
import { JobRunner } from './jobs/job-runner.js';
import { findKey } from './keys.js';
import type { RebuildProgress } from './migrations/rebuild.js';
import { hasOtherOrganization } from './organizations.js';
import { parsePage } from './pages.js';
import { Reader } from './reader.js';
import { listFilters } from './saved-filters.js';
import { countVisitsBefore } from './visits.js';
import { startSearchProcess } from './workers/process-client.js';
import { SearchPool } from './workers/search-pool.js';
import type { SearchOperations } from './workers/search-process.js';
import { WorkerClient } from './workers/worker-client.js';
import { answerStore } from './writes/answer-store.js';
import { RECORDS_PER_MESSAGE, type Writer, writeRecords } from './writes/record-messages.js';
import { writeOnceWith } from './writes/write-once.js';

/** Bundled files of `workers/`, with everything that they import. */
const BUNDLED = join(packageRoot, 'dist/bundled/workers/services/stores/sqlite/workers');
const WRITER = pathToFileURL(join(BUNDLED, 'writer-thread.js'));
const SEARCHES = join(BUNDLED, 'search-process.js');

/** Page caches in MiB. The cache for searches is divided among the search processes. */
const CACHE_MB = {
  migrations: 64,
  writer: 96,
  searches: { all: 192, least: 16 },
  reads: 16,
};

/** Records per batch: two messages, which together fill a transaction. */
const BATCH_RECORDS = 2 * RECORDS_PER_MESSAGE;

export interface SqliteStoreOptions {
  /** Folder of the database file. Created if absent. */
  dataDir: string;
  /** Maximum concurrent searches per organization. One additional process serves other organizations. */
  searchProcesses: number;
  searchTimeoutMs?: number;
  /** Days for which marks of deleted and erased contacts are kept; 0 keeps none. */
  changesDays?: number;
  clock?: Clock;
  /** Clock that decides what is old enough to delete; by default `clock`. */
  ageClock?: Clock;
  onRebuild?: RebuildProgress;
  /** See `JobRunner`. */
  beforeJobStep?(): Promise<void>;
  /** Hides erased contacts in the copies for SQL. */
  hideInSql?: HideContacts;
  /** Whether this process continues jobs of other processes. A server continues them; a command that soon ends does not. */
  resumesJobs?: boolean;
}

/**
 * Opens the embedded records store and migrates it. Several processes may have it open at once. The writer thread and the search processes
 * start with the first request that needs them. Throws the errors of `openDatabase`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<RecordStore> {
  const {
    dataDir,
    searchProcesses,
    searchTimeoutMs = settingSchemas.REACHLINE_SEARCH_TIMEOUT_MS.default,
    clock = systemClock,
    ageClock = clock,
    changesDays = settingSchemas.REACHLINE_CHANGES_DAYS.default,
  } = options;
  const connection = await openDatabase(dataDir, CACHE_MB.migrations, options.onRebuild);
  if (changesDays > 0) expireUnmarked(connection);
  connection.close();
  const path = join(dataDir, SEARCH_FILE);
  const writer: Writer = new WorkerClient(WRITER, {
    path,
    cacheMb: CACHE_MB.writer,
    keepsMarks: changesDays > 0,
  });
  const reader = new Reader({ path, cacheMb: CACHE_MB.reads });
  const cacheMb = Math.max(CACHE_MB.searches.least, Math.floor(CACHE_MB.searches.all / searchProcesses));
  const searches = new SearchPool<SearchOperations>({
    maxProcesses: searchProcesses + 1,
    timeoutMs: searchTimeoutMs,
    startProcess: (handlers) => startSearchProcess(SEARCHES, { path, cacheMb }, handlers),
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
  const read = async <T>(work: (connection: Connection) => T): Promise<T> => reader.read(work);
  const writeOnce = writeOnceWith(writer, clock, ageClock);
  const jobs = new JobRunner({ writer, reader, clock, beforeStep: options.beforeJobStep });
  if (options.resumesJobs) {
    jobs.resume();
    if (reader.read(hasPendingErasures)) void writer.call('wake').catch(() => undefined);
  }
  return {
    preferredBatchSize: BATCH_RECORDS,
    /** Nothing to do, because reads always see earlier writes. */
    refresh: async () => undefined,
    ...answerStore(writer, ageClock),
    ...contactStore({ writer, writeOnce, searches, reader, clock, ageClock, changesDays }),
    copied: copiedRecords(reader, writer, changesDays > 0),
    eraseContacts: (command) =>
      eraseContacts({ writer, reader, clock, jobs, hide: options.hideInSql }, command),
    listErasures: async (search, signal) =>
      parsePage(await searches.call(search.organizationId, 'listErasures', [search], signal)),
    getAudience: (organizationId, id) =>
      read((connection) => fromJson(getAudience(connection, organizationId, id))),
    searchAudiences: async (search, signal) =>
      fromJson(await searches.call(search.organizationId, 'searchAudiences', [search], signal)),
    countMembers: async (organizationId, audienceIds, signal) =>
      fromJson(await searches.call(organizationId, 'countMembers', [organizationId, audienceIds], signal)),
    async createAudience(command) {
      const result = await writeOnce(command.audience.organization_id, 'createAudience', command);
      // Continues the removal of memberships that records assigned to the id since its deletion.
      jobs.resume();
      return result;
    },
    updateAudience: (command) => writeOnce(command.organizationId, 'updateAudience', command),
    async deleteAudience(command) {
      const { organizationId } = command;
      const result = await writeOnce(organizationId, 'deleteAudience', command);
      jobs.resume();
      await jobs.untilFew(organizationId, 'remove-memberships', MAX_FORMER_AUDIENCES);
      return result;
    },
    upsertAudiences: (audiences) => writeRecords(writer, 'upsertAudiences', audiences),
    searchVisits: async (search, signal) =>
      parsePage(await searches.call(search.organizationId, 'searchVisits', [search], signal)),
    countDomainDays: async (kind, query, signal) =>
      fromJson(await searches.call(query.organizationId, 'countDomainDays', [kind, query], signal)),
    findOldest: async (kind, query, signal) =>
      fromJson(await searches.call(query.organizationId, 'findOldest', [kind, query], signal)),
    countPlaced: async (kind, organizationId, span, signal) =>
      fromJson(await searches.call(organizationId, 'countPlaced', [kind, organizationId, span], signal)),
    countVisitsByCompany: async (search, signal) =>
      fromJson(await searches.call(search.organizationId, 'countVisitsByCompany', [search], signal)),
    insertVisits: (visits) => writeRecords(writer, 'insertVisits', visits),
    countVisitsBefore: (createdMs) => read((connection) => countVisitsBefore(connection, createdMs)),
    ...writer.calls('deleteVisitsBefore', 'insertKey', 'revokeKey', 'recordKeyUse'),
    ...writer.calls('setCredits', 'grantCredits', 'deleteRejections', 'saveFilter', 'deleteFilter'),
    findKey: (keyId) => read((connection) => findKey(connection, keyId)),
    async listKeys(search, signal) {
      const page = parsePage(await searches.call(search.organizationId ?? '', 'listKeys', [search], signal));
      return { ...page, items: page.items.map(fromJson) };
    },
    countDescendants: async (organizationId, keyId, now, signal) =>
      fromJson(await searches.call(organizationId, 'countDescendants', [keyId, now], signal)),
    getCredits: (organizationId) => read((connection) => readCredits(connection, organizationId)),
    listFilters: (organizationId, view) =>
      read((connection) => listFilters(connection, organizationId, view)),
    listRejections: async (search, signal) =>
      parsePage(await searches.call(search.organizationId ?? '', 'listRejections', [search], signal)),
    readCounts: (organizationId) => read((connection) => readFigures(connection, organizationId)),
    hasOtherOrganization: (organizationId) =>
      read((connection) => hasOtherOrganization(connection, organizationId)),
    async ping() {
      await read((connection) => connection.row(sql`SELECT 1 FROM schema_migrations`));
      await requireRoom(dataDir, 'records');
    },
    async keepRejections(organizationId, rejections) {
      for (let start = 0; start < rejections.length; start += RECORDS_PER_MESSAGE) {
        const part = rejections.slice(start, start + RECORDS_PER_MESSAGE);
        await writer.callFor(organizationId, 'keepRejections', organizationId, part, ageClock.now());
      }
    },
    ...ONLY_SLOT,
    pauseWrites: (work) => writer.runExclusive(work),
    async close() {
      jobs.close();
      await Promise.all([writer.close(), searches.close()]);
      // The reader closes last: a write that ended while the writer closed may still read its result.
      reader.close();
    },
  };
}
