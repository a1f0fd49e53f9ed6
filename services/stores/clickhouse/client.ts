import type { AnalyticsQuery, AnalyticsResult } from '../../advertising/analytics-store.js';
import type { Sql } from '../../shared/sql.js';
import type { Engine } from './engine.js';
import type { EngineEndedError } from './errors.js';
import type { Rows } from './rows.js';

/** The databases of the tables and of the views over them. */
export interface Layout {
  tables: string;
  /** Database in which the tables of contacts and audiences are prepared; analysts may not read it. */
  copies: string;
  /** The views that analysts read. */
  views: string;
  /** Whether each server is a replica. */
  isReplicated: boolean;
}

export interface EmbeddedOptions {
  /** Folder of the embedded engine; created when missing. */
  path: string;
  /** Milliseconds after which the engine cancels a statement. */
  timeoutMs?: number;
  /** Configuration of the engine in place of ours. */
  configFile?: string;
  /** Told when the process of the engine ends; it starts again. */
  onEnded?(error: EngineEndedError): void;
}

export interface HttpOptions {
  /** Addresses of the replicas, or of the single server. */
  urls: readonly string[];
  username: string;
  password: string;
  /** Database of the views; the tables are in one of the same name with `_tables`. */
  database: string;
  /** Name of the cluster of the replicas; null for a single server. */
  cluster: string | null;
  timeoutMs?: number;
}

export type ClickHouseOptions = EmbeddedOptions | HttpOptions;

/** Hard-links the parts of all tables into `shadow/<name>` of the folder. Throws as statements do. */
export type FreezeParts = (name: string) => Promise<void>;

export interface InsertOptions {
  /** Small inserts that arrive at the same time share a part; over HTTP only. */
  grouped?: boolean;
  /** On replicas, repeating an insert with its token adds nothing, whichever replica takes it. */
  token?: string;
}

/** Runs statements. Throws `StoreTimeoutError` or `StoreUnavailableError` only, or the reason of the caller's abort. */
export interface ClickHouse {
  readonly layout: Layout;
  /** The embedded engine; null over HTTP. */
  readonly engine: Engine | null;
  /** Each server by itself; none where the engine is embedded. */
  readonly servers: readonly ClickHouseServer[];
  /** Runs `work` between inserts, whose rows and the sums derived from them are then in the tables. Null over HTTP. */
  readonly pauseInserts: (<T>(work: (freeze: FreezeParts) => Promise<T>) => Promise<T>) | null;
  query<Row>(query: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsResult<Row>>;
  insert(name: string, rows: Rows, options?: InsertOptions): Promise<void>;
  /** Runs an `INSERT … FORMAT …` with its rows. Over HTTP only. */
  insertLines(name: string, statement: Sql, text: string): Promise<void>;
  /** One in the background does not wait for inserts, nor they for it. */
  command(name: string, statement: Sql, inBackground?: boolean): Promise<void>;
  /** Creates the database of the tables when it is missing. */
  createDatabase(): Promise<void>;
  close(): Promise<void>;
}

/** One server, over HTTP. */
export interface ClickHouseServer extends ClickHouse {
  readonly url: string;
  /** Whether it answers within a second. Never rejects. */
  answers(): Promise<boolean>;
}
