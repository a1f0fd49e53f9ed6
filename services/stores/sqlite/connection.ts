import { LRUCache } from 'lru-cache';
import { type Sql, sql } from '../../shared/sql.js';
import { SqliteFile } from '../common/sqlite-file.js';

export type SqlValue = string | number | bigint | null;

/** Milliseconds that a statement waits for the write lock of another process. */
const BUSY_TIMEOUT_MS = 5000;

/** Maximum prepared statements. Filters of searches lead to statements of unlimited number, of up to some tens of kB each. */
const MAX_STATEMENTS = 500;

type Statement = ReturnType<SqliteFile['prepare']>;

export interface ConnectionOptions {
  /** Size of the page cache in MiB. */
  cacheMb: number;
  /** Rejects every write. */
  readOnly?: boolean;
}

/** A connection for one thread. The statements used last stay prepared. Rows are arrays, and their integers are bigint. */
export class Connection {
  readonly #file: SqliteFile;
  readonly #statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });

  constructor(path: string, options: ConnectionOptions) {
    this.#file = new SqliteFile(path, BUSY_TIMEOUT_MS);
    try {
      this.exec(sql`PRAGMA journal_mode = WAL`);
      this.exec(sql`PRAGMA synchronous = FULL`);
      this.exec(sql`PRAGMA cache_size = -${options.cacheMb * 1024}`);
      this.exec(sql`PRAGMA temp_store = MEMORY`);
      this.exec(sql`PRAGMA wal_autocheckpoint = 16000`);
      this.exec(sql`PRAGMA journal_size_limit = 0`);
      // Deleted content is overwritten, so that nothing about an erased person remains.
      this.exec(sql`PRAGMA secure_delete = ON`);
      if (options.readOnly) this.exec(sql`PRAGMA query_only = ON`);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  exec(statement: Sql): void {
    this.#file.exec(statement);
  }

  /** Runs a statement, and returns the number of changed rows. */
  run(statement: Sql, ...values: SqlValue[]): number {
    return Number(this.#statement(statement).run(...values).changes);
  }

  /** Like `run`, without the count. */
  execute(statement: Sql, ...values: SqlValue[]): void {
    this.#statement(statement).get(...values);
  }

  row<Row extends readonly unknown[]>(statement: Sql, ...values: SqlValue[]): Row | undefined {
    return this.#statement(statement).get(...values) as Row | undefined;
  }

  /** The number in the first row; undefined without a row. */
  number(statement: Sql, ...values: SqlValue[]): number | undefined {
    const row = this.row<[bigint]>(statement, ...values);
    return row && Number(row[0]);
  }

  rows<Row extends readonly unknown[]>(statement: Sql, ...values: SqlValue[]): Row[] {
    return this.#statement(statement).all(...values) as Row[];
  }

  /** Yields rows one by one, for results that would take much memory as a list. */
  each<Row extends readonly unknown[]>(statement: Sql, ...values: SqlValue[]): IterableIterator<Row> {
    const prepared = this.#statement(statement);
    const rows = prepared.iterate(...values) as unknown as IterableIterator<Row>;
    // An iterator of the driver points to its statement without keeping the statement from being collected.
    return Object.assign(rows, { prepared });
  }

  /** Runs `work` so that all its reads see one snapshot. */
  readTransaction<T>(work: () => T): T {
    return this.#transaction(sql`BEGIN`, work);
  }

  /** Runs `work` in a write transaction. Waits for writes of other processes. */
  writeTransaction<T>(work: () => T): T {
    return this.#transaction(sql`BEGIN IMMEDIATE`, work);
  }

  /** Copies the database page by page on another thread. Within a read transaction, copies the snapshot of that transaction. */
  async copyTo(path: string, onProgress: (copied: number) => void): Promise<void> {
    await this.#file.copyTo(path, onProgress);
  }

  /** Copies the write-ahead log into the database and empties it. Returns false at once if a reader needs the log. */
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
    this.#file.close();
  }

  #transaction<T>(begin: Sql, work: () => T): T {
    this.exec(begin);
    try {
      const result = work();
      this.exec(sql`COMMIT`);
      return result;
    } catch (error) {
      // SQLite rolls back by itself if the disk is full.
      if (this.#file.isInTransaction) this.exec(sql`ROLLBACK`);
      throw error;
    }
  }

  #statement(statement: Sql): Statement {
    let prepared = this.#statements.get(statement.text);
    if (!prepared) {
      prepared = this.#file.prepare(statement);
      prepared.setReadBigInts(true);
      prepared.setReturnArrays(true);
      this.#statements.set(statement.text, prepared);
    }
    return prepared;
  }
}
