import { join } from 'node:path';
import type { AnalyticsStore } from '../advertising/analytics-store.js';
import { ClockComparison, ClockSkewError } from '../shared/clock-comparison.js';
import type { Config } from '../shared/config.js';
import { requireRoom } from '../shared/health.js';
import { JobRuns } from '../shared/job-runs.js';
import { PeriodicJob } from '../shared/periodic-job.js';
import { retry } from '../shared/retry.js';
import { sql } from '../shared/sql.js';
import { type StoreName, StoreUnavailableError } from '../shared/store-errors.js';
import { type Clock, systemClock } from '../shared/time.js';
import type { VisitTable } from '../visits/visit-store.js';
import type { Freeze } from './backup/freeze-socket.js';
import type { ClickHouse } from './clickhouse/client.js';
import type { Engine } from './clickhouse/engine.js';
import { FolderInUseError } from './clickhouse/errors.js';
import { analyticsStoreOnDemand } from './clickhouse/on-demand.js';
import { requireEngine } from './clickhouse/open.js';
import type { RecordStore } from './common/record-store.js';
import type { HideContacts, SqlCopies, SqlCopy } from './common/sql-copy.js';
import type { StoreLog } from './common/store-log.js';
import { allCopies } from './copy/all-copies.js';
import { SqlFollower } from './copy/follower.js';
import { LockHeldError, toDataFolderError } from './data-folder/errors.js';
import { readLastBackup } from './data-folder/last-backup.js';
import { ANALYTICS_FOLDER } from './data-folder/layout.js';
import type { FolderLock } from './data-folder/lock.js';
import { loadSqlite } from './sqlite/load.js';
import type { RebuildProgress } from './sqlite/migrations/rebuild.js';

/** Both stores of a process, opened and migrated. */
export interface Stores {
  records: RecordStore;
  analytics: AnalyticsStore & VisitTable;
  /**
   * Resolves with the engine of the embedded analytics store, and opens the store if needed; null if analytics is on a server. Must not be
   * used once the stores close.
   */
  engine: (() => Promise<Engine>) | null;
  /** Copies contacts, audiences and visits for SQL. */
  follower: SqlFollower;
  /** Runs of the background jobs of this process. */
  jobs: JobRuns;
  /**
   * Compares the clock of this process with the clocks of the servers, or with the time recorded in the data folder; null if the caller
   * passed only a clock.
   */
  clocks: ClockComparison | null;
  /**
   * Returns the time of the last backup of the data folder in milliseconds since the epoch, or null before the first backup. The function
   * itself is null if both stores are on servers.
   */
  lastBackup: (() => number | null) | null;
  /** Records the port of this process in the data folder, if the stores have a data folder. */
  announcePort(port: number): void;
  /** Finishes running requests and releases the data folder. */
  close(): Promise<void>;
}

/** The parts of the stores that a gateway uses. A process without background jobs omits the optional parts. */
export type GatewayStores = Pick<Stores, 'records' | 'analytics'> &
  Partial<Pick<Stores, 'follower' | 'jobs' | 'lastBackup' | 'clocks'>>;

export type StoresConfig = Pick<Config, 'dataDir' | 'searchProcesses'> &
  Partial<Pick<Config, 'searchTimeoutMs' | 'changesDays' | 'elasticsearch' | 'clickhouse'>>;

/** Options of a process that waits at its start for servers that are not up yet. */
export interface StartupRetryOptions {
  timeoutMs: number;
  /** Called before each retry, about once a second. */
  onRetry(store: StoreName): void;
}

export interface OpenStoresOptions {
  startupRetry?: StartupRetryOptions;
  clock?: Clock;
  /** Comparison that belongs to `clock`; if absent, `clock` is not compared. */
  clocks?: ClockComparison;
  /** Log of the background jobs of the stores. */
  log?: StoreLog;
  /**
   * Whether this process builds sums of months and follows the records store for SQL in the background. A server does this; a command that soon ends
   * does not.
   */
  maintainsAnalytics?: boolean;
  /**
   * Opens an embedded analytics store at its first use, because most commands use only the records store. That use throws the errors of
   * opening the store. With `new`, this applies only if the folder has no analytics store yet, so that a damaged store is reported at once.
   */
  analyticsOnDemand?: boolean | 'new';
  /** Called while an embedded store rebuilds its search terms. */
  onRebuild?: RebuildProgress;
}

const STARTUP_BACKOFF = { firstMs: 1000, maxMs: 1000 };

/**
 * Opens each store according to the settings. Throws `DataFolderError` if an embedded store cannot use the data folder or another process
 * holds the folder, `MissingPackageError` if the package of an embedded store is not installed, and the errors of the migrations. Throws
 * `StoreUnavailableError` if a server does not respond, after `startupRetry.timeoutMs` if that option is given.
 */
export async function openStores(
  config: StoresConfig,
  {
    startupRetry,
    clock: givenClock,
    clocks: givenClocks,
    log,
    maintainsAnalytics,
    analyticsOnDemand,
    onRebuild,
  }: OpenStoresOptions = {},
): Promise<Stores> {
  const { elasticsearch, clickhouse, dataDir } = config;
  const clock = givenClock ?? systemClock;
  const clocks = givenClocks ?? (givenClock ? null : new ClockComparison());
  const jobs = new JobRuns();
  const rollups = maintainsAnalytics ? { log, jobs } : undefined;
  const used = { records: !elasticsearch, analytics: !clickhouse };
  const lock = elasticsearch && clickhouse ? null : await lockFolder(dataDir);
  const opened: Closable[] = [{ close: async () => lock?.release() }];
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closeAll(opened.toReversed());
    return closing;
  };
  try {
    // Reads the note before the database is opened, because the last write of the database may be the only known time.
    if (lock) clocks?.remember((await import('./data-folder/time-note.js')).timeNoteOf(dataDir));
    const folderId = lock && (await import('./data-folder/folder-id.js'));
    folderId?.checkFolderId(dataDir, used);
    // The first start fails on a full disk. A later start serves reads.
    if (folderId && analyticsOnDemand === 'new' && folderId.readFolderId(dataDir) === undefined) {
      await withDataFolderErrors(dataDir, () => requireRoom(dataDir, 'records'));
    }
    let sqlCopies: readonly SqlCopy[] | undefined;
    let follower: SqlFollower | undefined;
    const copies = (): SqlCopies | undefined => {
      if (!sqlCopies) return undefined;
      const all = allCopies(sqlCopies);
      const hide: HideContacts = async (...contacts) => {
        await all.hide(...contacts);
        // Copies the contacts anew, which the proof of the erasure waits for.
        if (maintainsAnalytics) void follower?.run().catch(() => undefined);
      };
      return { ...all, hide };
    };
    const records: RecordStore = elasticsearch
      ? await retryUntilAvailable(startupRetry, async () => {
          // Loaded only if used, because this import loads 120 files.
          const { openElasticsearchStore } = await import('./elasticsearch/store.js');
          return openElasticsearchStore(elasticsearch, {
            clock,
            clocks: clocks ?? undefined,
            log,
            jobs,
            copies,
            searchTimeoutMs: config.searchTimeoutMs,
            changesDays: config.changesDays,
          });
        })
      : await withDataFolderErrors(dataDir, async () =>
          (await loadSqlite()).openSqliteStore({
            ...config,
            clock,
            ageClock: clocks?.corrected,
            onRebuild,
            resumesJobs: true,
            hideInSql: async (...contacts) => copies()?.hide(...contacts),
          }),
        );
    opened.push(records);
    folderId?.writeFolderId(dataDir, { ...used, analytics: false });
    const exists = () => folderId?.hasAnalytics(dataDir) ?? false;
    const onDemand = !clickhouse && (analyticsOnDemand === 'new' ? !exists() : analyticsOnDemand);
    if (analyticsOnDemand === 'new' && onDemand) requireEngine();
    const openAnalytics = async () => {
      const { openAnalyticsStore } = await import('./clickhouse/store.js');
      const analytics = clickhouse
        ? await retryUntilAvailable(startupRetry, () => openAnalyticsStore(clickhouse, rollups, log))
        : await withDataFolderErrors(dataDir, () =>
            openAnalyticsStore({ path: join(dataDir, ANALYTICS_FOLDER) }, rollups, log),
          );
      folderId?.writeFolderId(dataDir, used);
      return analytics;
    };
    const {
      store: analytics,
      engine,
      pauseInserts,
      sqlCopies: openedCopies,
    } = onDemand
      ? analyticsStoreOnDemand({
          dataDir,
          open: analyticsOnDemand === 'new' ? () => openAnalytics().catch(throwUnavailable) : openAnalytics,
          exists,
        })
      : await openAnalytics();
    opened.push(analytics);
    if (clickhouse) clocks?.add('analytics', () => readServerTime(analytics));
    if (clocks) {
      // Compares the clocks before the first request, which might otherwise treat a stored response as too old.
      await clocks.compare();
      opened.push(startComparing(clocks, log));
    }
    if (maintainsAnalytics) opened.push(startDeletingMarks(records, { log, jobs, clocks }));
    sqlCopies = openedCopies;
    follower = new SqlFollower({ records, copies: sqlCopies, clock });
    if (maintainsAnalytics) {
      const job = follower.start({ log, runs: jobs });
      opened.push({ close: () => job.stop() });
    }
    if (lock) opened.push(await acceptBackups(dataDir, { records, pauseInserts, log }));
    const announcePort = (port: number) => lock?.announcePort(port);
    const lastBackup = lock && (() => Date.parse(readLastBackup(dataDir)?.taken_at ?? '') || null);
    return { records, analytics, engine, follower, jobs, clocks, lastBackup, announcePort, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const COMPARE_INTERVAL_MS = 60_000;
const FIRST_COMPARISON_MS = 500;
const LOG_INTERVAL_MS = 600_000;

/** Compares the clocks at start and once a minute, and logs a difference. */
function startComparing(clocks: ClockComparison, log: StoreLog | undefined): Closable {
  const compare = async () => {
    await clocks.compare();
    for (const problem of clocks.problems()) throw new ClockSkewError(problem);
  };
  const job = new PeriodicJob(compare, {
    name: 'clock_comparison',
    intervalMs: COMPARE_INTERVAL_MS,
    firstRunMs: FIRST_COMPARISON_MS,
    failure: 'the clock of this process is wrong or was set, so nothing is deleted by age',
    logIntervalMs: LOG_INTERVAL_MS,
    log,
    details: (error) => ({ detail: (error as Error).message }),
  }).start();
  return { close: () => job.stop() };
}

const MARKS_INTERVAL_MS = 3_600_000;
const FIRST_MARKS_MS = 60_000;

/** Deletes marks of deleted and erased contacts once they are old enough. */
function startDeletingMarks(
  records: RecordStore,
  { log, jobs, clocks }: { log?: StoreLog; jobs: JobRuns; clocks: ClockComparison | null },
): Closable {
  const job = new PeriodicJob(() => records.deleteOldMarks(), {
    name: 'change_marks',
    runs: jobs,
    deletes: clocks ?? undefined,
    intervalMs: MARKS_INTERVAL_MS,
    firstRunMs: FIRST_MARKS_MS,
    failure: 'marks of deleted contacts could not be deleted; this is tried again',
    log,
  }).start();
  return { close: () => job.stop() };
}

const TIME_QUERY = {
  name: 'read_time',
  sql: sql`SELECT toUnixTimestamp64Milli(now64(3)) AS ms`,
  params: {},
};

async function readServerTime(analytics: AnalyticsStore): Promise<number> {
  const { rows } = await analytics.query<{ ms: string }>(TIME_QUERY);
  return Number(rows[0]?.ms ?? Number.NaN);
}

interface Closable {
  close(): Promise<void>;
}

/** Closes the stores one after another. If a store fails to close, continues with the others and then throws the first failure. */
async function closeAll(opened: readonly Closable[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of opened) await each.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

interface PausableStores {
  records: RecordStore;
  pauseInserts: ClickHouse['pauseInserts'];
  log: StoreLog | undefined;
}

/** Allows commands to back up the folder while this process has it open. */
async function acceptBackups(dataDir: string, { records, pauseInserts, log }: PausableStores) {
  const { listenForFreezes } = await import('./backup/freeze-socket.js');
  const pauseRecords = <T>(work: () => Promise<T>) => records.pauseWrites?.(work) ?? work();
  const freeze: Freeze = (name, work) =>
    pauseInserts
      ? pauseInserts((freezeParts) => pauseRecords(() => freezeParts(name).then(work)))
      : pauseRecords(work);
  return listenForFreezes(dataDir, freeze, (error) =>
    log?.warn(
      { err: error },
      'the data folder takes no socket, so a backup needs this process to be stopped',
    ),
  );
}

/** Opens a store of a server, and retries while it is unavailable. */
function retryUntilAvailable<T>(
  startupRetry: StartupRetryOptions | undefined,
  open: () => Promise<T>,
): Promise<T> {
  if (!startupRetry) return open();
  return retry({ ...STARTUP_BACKOFF, timeoutMs: startupRetry.timeoutMs }, open, {
    isRetriable: (error) => error instanceof StoreUnavailableError,
    onRetry: (error) => startupRetry.onRetry((error as StoreUnavailableError).store),
  });
}

async function lockFolder(dataDir: string): Promise<FolderLock> {
  // The lock needs the package too, because it is a database. So a missing package is reported here first.
  await loadSqlite();
  const { lockDataFolder } = await import('./data-folder/lock.js');
  return lockDataFolder(dataDir);
}

/** Throws the error that a request answers with 503 when the analytics store cannot be opened; a full disk has its own error. */
function throwUnavailable(error: Error): never {
  throw error.cause instanceof StoreUnavailableError
    ? error.cause
    : new StoreUnavailableError('analytics', { cause: error });
}

/** Opens an embedded store; its errors say what to do about the data folder. */
async function withDataFolderErrors<T>(dataDir: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const isHeld = error instanceof FolderInUseError;
    const isFolderError =
      isHeld || error instanceof StoreUnavailableError || (error instanceof Error && 'errno' in error);
    if (!isFolderError) throw error;
    if (isHeld) throw new LockHeldError(dataDir);
    throw toDataFolderError(dataDir, error);
  }
}
