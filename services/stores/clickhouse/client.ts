import type { AnalyticsQuery, AnalyticsResult } from '../../advertising/analytics-store.js';
import type { Sql } from '../../shared/sql.js';
import type { Engine } from './engine.js';
import type { EngineEndedError } from './errors.js';
import type { Rows } from './rows.js';

/** Names of the databases: one for the tables, and one for the views over these tables. */
export interface Layout {
  tables: string;
  /** Database in which tables that SQL will read are filled; analysts may not read it. */
  copies: string;
  /** The views that analysts read. */
  views: string;
  /** Whether the servers are replicas of the same data. */
  isReplicated: boolean;
}

export interface EmbeddedOptions {
  /** Folder of the embedded engine; created if missing. */
  path: string;
  /** Milliseconds after which the engine cancels a statement. */
  timeoutMs?: number;
  /** Configuration file of the engine, which replaces Reachline's file. */
  configFile?: string;
  /** Called when the engine process ends. The engine then starts again. */
  onEnded?(error: EngineEndedError): void;
}

export interface HttpOptions {
  /** Addresses of the replicas, or of the single server. */
  urls: readonly string[];
  username: string;
  password: string;
  /** Database of the views. The tables are in another database, whose name has the suffix `_tables`. */
  database: string;
  /** Name of the cluster of the replicas; null for a single server. */
  cluster: string | null;
  timeoutMs?: number;
}

export type ClickHouseOptions = EmbeddedOptions | HttpOptions;

/** Hard-links the parts of all tables into `shadow/<name>` of the folder. Throws like statements. */
export type FreezeParts = (name: string) => Promise<void>;

export interface InsertOptions {
  /** Lets small concurrent inserts share a part; only over HTTP. */
  grouped?: boolean;
  /** Token of the insert. On replicas, repeating an insert with the same token adds nothing, whichever replica receives it. */
  token?: string;
}

/** Runs statements. Throws only `StoreTimeoutError`, `StoreUnavailableError`, or the reason of the caller's abort. */
export interface ClickHouse {
  readonly layout: Layout;
  /** The embedded engine; null over HTTP. */
  readonly engine: Engine | null;
  /** The servers, each with its own connections; empty for the embedded engine. */
  readonly servers: readonly ClickHouseServer[];
  /**
   * Runs `work` between inserts, once the rows of earlier inserts and the sums derived from these rows are in the tables. Null over HTTP.
   */
  readonly pauseInserts: (<T>(work: (freeze: FreezeParts) => Promise<T>) => Promise<T>) | null;
  query<Row>(query: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsResult<Row>>;
  insert(name: string, rows: Rows, options?: InsertOptions): Promise<void>;
  /**
   * Runs a statement without a result. In the background, the statement does not wait for inserts, and inserts do not wait for the
   * statement.
   */
  command(name: string, statement: Sql, inBackground?: boolean): Promise<void>;
  /** Creates the database of the tables if it is missing. */
  createDatabase(): Promise<void>;
  close(): Promise<void>;
}

/** A server that is reached over HTTP. */
export interface ClickHouseServer extends ClickHouse {
  readonly url: string;
  /** Whether the server responds within a second. Never rejects. */
  answers(): Promise<boolean>;
}
