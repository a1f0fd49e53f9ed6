import {
  backup,
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite';

export type SqlValue = string | number | bigint | null;

/** How long a statement waits for the write lock of another process. */
const BUSY_TIMEOUT_MS = 5000;

/** About 8 MiB. */
const PAGES_PER_COPY_STEP = 2000;

export interface ConnectionOptions {
  /** Page cache in MiB. */
  cacheMb: number;
  /** Rejects every write. */
  readOnly?: boolean;
}

/** A connection for one thread. Statements are prepared once; rows are arrays, and their integers are bigint. */
export class Connection {
  readonly #db: DatabaseSyncInstance;
  readonly #statements = new Map<string, StatementSyncInstance>();

  constructor(path: string, options: ConnectionOptions) {
    this.#db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      this.#db.exec(`PRAGMA journal_mode = WAL`);
      this.#db.exec(`PRAGMA synchronous = FULL`);
      this.#db.exec(`PRAGMA cache_size = -${options.cacheMb * 1024}`);
      this.#db.exec(`PRAGMA temp_store = MEMORY`);
      this.#db.exec(`PRAGMA wal_autocheckpoint = 16000`);
      this.#db.exec(`PRAGMA journal_size_limit = 0`);
      // What is deleted is overwritten, so that nothing of an erased person is left.
      this.#db.exec(`PRAGMA secure_delete = ON`);
      if (options.readOnly) this.#db.exec(`PRAGMA query_only = ON`);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** The number of rows changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** As `run`, without the count. */
  execute(sql: string, ...values: SqlValue[]): void {
    this.#statement(sql).get(...values);
  }

  row<Row extends readonly unknown[]>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  /** The number in the first row; undefined where there is no row. */
  number(sql: string, ...values: SqlValue[]): number | undefined {
    const row = this.row<[bigint]>(sql, ...values);
    return row && Number(row[0]);
  }

  rows<Row extends readonly unknown[]>(sql: string, ...values: SqlValue[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  /** Rows one by one, where all of them would take much memory. */
  each<Row extends readonly unknown[]>(sql: string, ...values: SqlValue[]): IterableIterator<Row> {
    return this.#statement(sql).iterate(...values) as unknown as IterableIterator<Row>;
  }

  /** All reads of `work` see one snapshot. */
  readTransaction<T>(work: () => T): T {
    return this.#transaction('BEGIN', work);
  }

  /** Waits for writes of other processes. */
  writeTransaction<T>(work: () => T): T {
    return this.#transaction('BEGIN IMMEDIATE', work);
  }

  /** Copies the database page by page, on another thread; within a read transaction, as that sees it. */
  async copyTo(path: string, onProgress: (copied: number) => void): Promise<void> {
    await backup(this.#db, path, {
      rate: PAGES_PER_COPY_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress(1 - remainingPages / totalPages),
    });
  }

  /** Copies the write-ahead log into the database and empties it. False where a reader needs it: this waits for none. */
  truncateLog(): boolean {
    this.#db.exec('PRAGMA busy_timeout = 0');
    try {
      return this.number('PRAGMA wal_checkpoint(TRUNCATE)') === 0;
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #transaction<T>(begin: string, work: () => T): T {
    this.exec(begin);
    try {
      const result = work();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      // SQLite has rolled back already on a full disk.
      if (this.#db.isTransaction) this.exec('ROLLBACK');
      throw error;
    }
  }

  #statement(sql: string): StatementSyncInstance {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
