/** The only file that imports the SQLite driver. Statements are typed fragments; errors are the errors of SQLite. */
import {
  backup,
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite';
import type { Sql } from '../../shared/sql.js';

/** Pages per step of a copy: about 8 MiB. */
const PAGES_PER_COPY_STEP = 2000;

/** A database file. A missing file is created. */
export class SqliteFile {
  readonly #database: DatabaseSyncInstance;

  /** `busyTimeoutMs`: milliseconds that a statement waits for the write lock of another process. */
  constructor(path: string, busyTimeoutMs = 0) {
    this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Runs statements that return no rows. */
  exec(statements: Sql): void {
    this.#database.exec(statements.text);
  }

  prepare(statement: Sql): StatementSyncInstance {
    return this.#database.prepare(statement.text);
  }

  /** Copies the database page by page on another thread. Within a read transaction, copies the snapshot of that transaction. */
  async copyTo(path: string, onProgress: (copied: number) => void): Promise<void> {
    await backup(this.#database, path, {
      rate: PAGES_PER_COPY_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress(1 - remainingPages / totalPages),
    });
  }

  close(): void {
    this.#database.close();
  }
}
