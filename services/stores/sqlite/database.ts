import { dirname, join } from 'node:path';
import { checkFolderId } from '../data-folder/folder-id.js';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { makePrivate, makePrivateFile } from '../data-folder/lock.js';
import { Connection } from './connection.js';
import { isUnavailable, serializeError, toStoreError, withStoreErrors } from './errors.js';
import { migrate } from './migrations/migrate.js';
import { type RebuildProgress, rebuildDerived } from './migrations/rebuild.js';

/**
 * Opens the database of a data folder. Creates a missing database, migrates the schema, and rebuilds fields that were derived by other
 * search rules. Throws `DataFolderError` if there is an analytics store but no database, `UnreleasedVersionError` if a version before the
 * first release created the database, and `StoreUnavailableError` if SQLite cannot use the database. Errors of the file system pass
 * unchanged.
 */
export async function openDatabase(
  dataDir: string,
  cacheMb: number,
  onRebuild?: RebuildProgress,
): Promise<Connection> {
  checkFolderId(dataDir, { records: true, analytics: false });
  const path = join(dataDir, SEARCH_FILE);
  const connection = withStoreErrors(() => {
    makePrivate(dirname(path));
    makePrivateFile(path);
    return new Connection(path, { cacheMb });
  });
  try {
    migrate(connection);
    await rebuildDerived(connection, onRebuild);
    return connection;
  } catch (error) {
    connection.close();
    throw isUnavailable(error) ? toStoreError(serializeError(error)) : error;
  }
}
