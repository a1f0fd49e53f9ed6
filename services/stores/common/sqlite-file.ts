/** The only file that imports the SQLite driver. Statements are typed fragments; errors are SQLite's. */
import {
  backup,
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite';
import type { Sql } from '../../shared/sql.js';

/** About 8 MiB per step. */
const PAGES_PER_COPY_STEP = 2000;

/** A database file, which is created if there is none. */
export class SqliteFile {
  readonly #database: DatabaseSyncInstance;

  /** `busyTimeoutMs` is how long a statement waits for the write lock of another process. */
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

  /** Copies the database page by page on another thread. Within a read transaction, copies the snapshot that it sees. */
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
