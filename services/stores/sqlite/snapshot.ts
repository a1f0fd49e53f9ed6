import { existsSync } from 'node:fs';
import { sql } from '../../shared/sql.js';
import { Connection } from './connection.js';

const CACHE_MB = 8;

/** Counts of records, over all organizations. */
export interface RecordCounts {
  contacts: number;
  audiences: number;
  visits: number;
}

/** The content of a database at one moment, while others continue to write. The write-ahead log grows until the snapshot is closed. */
export class DatabaseSnapshot {
  readonly #connection: Connection;

  /** Undefined if there is no database. Throws SQLite's errors. */
  static open(path: string): DatabaseSnapshot | undefined {
    return existsSync(path) ? new DatabaseSnapshot(path) : undefined;
  }

  private constructor(path: string) {
    this.#connection = new Connection(path, { cacheMb: CACHE_MB });
    this.#connection.exec(sql`BEGIN`);
    // The transaction begins only with this first read.
    this.#connection.row(sql`SELECT count(*) FROM sqlite_schema`);
  }

  get bytes(): number {
    const pages = this.#connection.number(sql`PRAGMA page_count`) as number;
    return pages * (this.#connection.number(sql`PRAGMA page_size`) as number);
  }

  /** Counts records. All counts are 0 for a database that was never migrated. */
  counts(): RecordCounts {
    const isMigrated = this.#connection.row(sql`SELECT 1 FROM sqlite_schema WHERE name = 'audiences'`);
    const [contacts, visits, audiences] = isMigrated
      ? (this.#connection.row<[bigint, bigint, bigint]>(
          sql`SELECT coalesce(sum(contacts), 0), coalesce(sum(visits), 0),
             (SELECT count(*) FROM audiences WHERE position IS NOT NULL) FROM organizations`,
        ) as [bigint, bigint, bigint])
      : [0n, 0n, 0n];
    return { contacts: Number(contacts), audiences: Number(audiences), visits: Number(visits) };
  }

  /** Writes the database to a file, and flushes it to disk. `onProgress` receives the completed fraction, from 0 to 1. */
  copyTo(path: string, onProgress: (copied: number) => void): Promise<void> {
    return this.#connection.copyTo(path, onProgress);
  }

  close(): void {
    this.#connection.close();
  }
}
