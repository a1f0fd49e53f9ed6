/**
 * Both stores of a data folder store the id of the folder, and record whether the other store existed. A store whose partner is missing,
 * empty or from another folder is not served: the lost data would seem never to have existed.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readJson } from '../../shared/fs.js';
import { sql } from '../../shared/sql.js';
import { SqliteFile } from '../common/sqlite-file.js';
import { DataFolderError, toDataFolderError } from './errors.js';
import { ANALYTICS_FOLDER, PARTIAL_RESTORE_FOLDER, SEARCH_FILE } from './layout.js';

const ID_FILE = 'reachline-mark.json';

const BUSY_TIMEOUT_MS = 5000;

/** The stores that are in the folder; other stores are on servers. */
export interface UsedStores {
  records: boolean;
  analytics: boolean;
}

interface StoreId {
  id: string;
  /** Whether the folder has held the other store too. */
  hasOther: boolean;
}

/**
 * Throws `DataFolderError` if a store is missing although the other store has been used with it, if the stores come from different folders,
 * or if a restore did not finish.
 */
export function checkFolderId(dataDir: string, used: UsedStores): void {
  if (existsSync(join(dataDir, PARTIAL_RESTORE_FOLDER))) {
    throw new DataFolderError(
      `A restore into the data folder ${resolve(dataDir)} was cut short. Run it again: reachline restore <backup> --data ${resolve(dataDir)}`,
    );
  }
  const records = readRecordsId(dataDir);
  const analytics = readAnalyticsId(dataDir);
  if (used.records && !records && analytics?.hasOther) {
    throw missing(dataDir, SEARCH_FILE, 'contacts, audiences, keys and credits', `${ANALYTICS_FOLDER}/`);
  }
  if (used.analytics && !hasAnalytics(dataDir) && records?.hasOther) {
    throw missing(dataDir, `${ANALYTICS_FOLDER}/`, 'campaigns and deliveries', SEARCH_FILE);
  }
  if (used.records && used.analytics && records && analytics && records.id !== analytics.id) {
    throw new DataFolderError(
      `${SEARCH_FILE} and ${ANALYTICS_FOLDER}/ of the data folder ${resolve(dataDir)} do not belong together: one of them comes from another folder. Put back the one that was here, or restore both from the same backup.`,
    );
  }
}

function missing(dataDir: string, store: string, holding: string, other: string): DataFolderError {
  return new DataFolderError(
    `${store} of the data folder ${resolve(dataDir)}, which held ${holding}, is missing or empty, while ${other} beside it is there. Put it back, restore both from the same backup, or move ${other} away to begin with empty stores.`,
  );
}

/** Writes the id into the open stores that do not have an id yet. Throws `DataFolderError` if the disk is full. */
export function writeFolderId(dataDir: string, used: UsedStores): void {
  try {
    writeMissingIds(dataDir, used);
  } catch (error) {
    throw toDataFolderError(dataDir, error);
  }
}

function writeMissingIds(dataDir: string, used: UsedStores): void {
  const records = readRecordsId(dataDir);
  const analytics = readAnalyticsId(dataDir);
  const id = records?.id ?? analytics?.id ?? randomUUID();
  const together = used.records && used.analytics;
  if (used.records && (!records || (together && !records.hasOther))) {
    writeRecordsId(dataDir, { id, hasOther: together });
  }
  if (used.analytics && (!analytics || (together && !analytics.hasOther))) {
    writeAnalyticsId(dataDir, { id, hasOther: together });
  }
}

/** The id that the stores of a folder share; undefined before they were first opened. */
export const readFolderId = (dataDir: string): string | undefined =>
  (readRecordsId(dataDir) ?? readAnalyticsId(dataDir))?.id;

function readRecordsId(dataDir: string): StoreId | undefined {
  const path = join(dataDir, SEARCH_FILE);
  if (!statSync(path, { throwIfNoEntry: false })?.size) return undefined;
  try {
    return withDatabase(path, (database) => {
      const row = database.prepare(sql`SELECT mark, has_analytics AS other FROM mark`).get();
      const { mark, other } = row as { mark: string; other: number };
      return { id: mark, hasOther: Boolean(other) };
    });
  } catch {
    // The file is not a database, or was never migrated. Opening the database will report the reason.
    return undefined;
  }
}

function writeRecordsId(dataDir: string, { id, hasOther }: StoreId): void {
  withDatabase(join(dataDir, SEARCH_FILE), (database) => {
    database
      .prepare(sql`INSERT OR REPLACE INTO mark (only, mark, has_analytics) VALUES (1, ?, ?)`)
      .run(id, Number(hasOther));
  });
}

function withDatabase<T>(path: string, work: (database: SqliteFile) => T): T {
  const database = new SqliteFile(path, BUSY_TIMEOUT_MS);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Whether the analytics store of a folder was ever opened. */
export function hasAnalytics(dataDir: string): boolean {
  const folder = join(dataDir, ANALYTICS_FOLDER);
  return existsSync(folder) && readdirSync(folder).some((name) => name !== ID_FILE);
}

function readAnalyticsId(dataDir: string): StoreId | undefined {
  const found = readJson<{ mark: string; has_search: boolean }>(join(dataDir, ANALYTICS_FOLDER, ID_FILE));
  return found ? { id: found.mark, hasOther: found.has_search } : undefined;
}

function writeAnalyticsId(dataDir: string, { id, hasOther }: StoreId): void {
  const file = join(dataDir, ANALYTICS_FOLDER, ID_FILE);
  writeFileSync(`${file}.new`, JSON.stringify({ mark: id, has_search: hasOther }), { flush: true });
  renameSync(`${file}.new`, file);
}
