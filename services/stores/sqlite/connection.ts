import {
  backup,
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite';
import { Sql, sql } from '../../shared/sql.js';

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
      this.exec(sql`PRAGMA journal_mode = WAL`);
      this.exec(sql`PRAGMA synchronous = FULL`);
      this.exec(sql`PRAGMA cache_size = -${options.cacheMb * 1024}`);
      this.exec(sql`PRAGMA temp_store = MEMORY`);
      this.exec(sql`PRAGMA wal_autocheckpoint = 16000`);
      this.exec(sql`PRAGMA journal_size_limit = 0`);
      // What is deleted is overwritten, so that nothing of an erased person is left.
      this.exec(sql`PRAGMA secure_delete = ON`);
      if (options.readOnly) this.exec(sql`PRAGMA query_only = ON`);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  exec(statement: Sql | string): void {
    this.#db.exec(textOf(statement));
  }

  /** The number of rows changed. */
  run(statement: Sql | string, ...values: SqlValue[]): number {
    return Number(this.#statement(statement).run(...values).changes);
  }

  /** As `run`, without the count. */
  execute(statement: Sql | string, ...values: SqlValue[]): void {
    this.#statement(statement).get(...values);
  }

  row<Row extends readonly unknown[]>(statement: Sql | string, ...values: SqlValue[]): Row | undefined {
    return this.#statement(statement).get(...values) as Row | undefined;
  }

  /** The number in the first row; undefined where there is no row. */
  number(statement: Sql | string, ...values: SqlValue[]): number | undefined {
    const row = this.row<[bigint]>(statement, ...values);
    return row && Number(row[0]);
  }

  rows<Row extends readonly unknown[]>(statement: Sql | string, ...values: SqlValue[]): Row[] {
    return this.#statement(statement).all(...values) as Row[];
  }

  /** Rows one by one, where all of them would take much memory. */
  each<Row extends readonly unknown[]>(
    statement: Sql | string,
    ...values: SqlValue[]
  ): IterableIterator<Row> {
    return this.#statement(statement).iterate(...values) as unknown as IterableIterator<Row>;
  }

  /** All reads of `work` see one snapshot. */
  readTransaction<T>(work: () => T): T {
    return this.#transaction(sql`BEGIN`, work);
  }

  /** Waits for writes of other processes. */
  writeTransaction<T>(work: () => T): T {
    return this.#transaction(sql`BEGIN IMMEDIATE`, work);
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
    this.exec(sql`PRAGMA busy_timeout = 0`);
    try {
      return this.number(sql`PRAGMA wal_checkpoint(TRUNCATE)`) === 0;
    } finally {
      this.exec(sql`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #transaction<T>(begin: Sql, work: () => T): T {
    this.exec(begin);
    try {
      const result = work();
      this.exec(sql`COMMIT`);
      return result;
    } catch (error) {
      // SQLite has rolled back already on a full disk.
      if (this.#db.isTransaction) this.exec(sql`ROLLBACK`);
      throw error;
    }
  }

  #statement(statement: Sql | string): StatementSyncInstance {
    const text = textOf(statement);
    let prepared = this.#statements.get(text);
    if (!prepared) {
      prepared = this.#db.prepare(text);
      prepared.setReadBigInts(true);
      prepared.setReturnArrays(true);
      this.#statements.set(text, prepared);
    }
    return prepared;
  }
}

const textOf = (statement: Sql | string): string => (statement instanceof Sql ? statement.text : statement);
