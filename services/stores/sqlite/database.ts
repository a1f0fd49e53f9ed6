import { dirname, join } from 'node:path';
import { checkFolderId } from '../data-folder/folder-id.js';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { makePrivate, makePrivateFile } from '../data-folder/lock.js';
import { Connection } from './connection.js';
import { withStoreErrors } from './errors.js';
import { migrate } from './migrations/migrate.js';

/**
 * Opens the database of a data folder, creates it where there is none, and migrates its schema. Throws `DataFolderError` when it is
 * missing beside its analytics store, `MigrationChangedError` when another version created it, `StoreUnavailableError` when SQLite
 * cannot use it, and errors of the file system as they are.
 */
export function openDatabase(dataDir: string, cacheMb: number): Connection {
  checkFolderId(dataDir, { search: true, analytics: false });
  const path = join(dataDir, SEARCH_FILE);
  return withStoreErrors(() => {
    makePrivate(dirname(path));
    makePrivateFile(path);
    const connection = new Connection(path, { cacheMb });
    try {
      migrate(connection);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  });
}
