import type { AnalyticsQuery, AnalyticsResult } from '../../advertising/analytics-store.js';
import type { Engine } from './engine.js';
import type { Layout } from './layout.js';

export interface EmbeddedOptions {
  /** Folder of the embedded engine; made when missing. */
  path: string;
  /** Milliseconds after which the engine gives up on a statement. */
  timeoutMs?: number;
}

export interface HttpOptions {
  url: string;
  username: string;
  password: string;
  /** What analysts see; the tables lie in one of the same name with `_tables`. */
  database: string;
  /** Null for a single server. */
  cluster: string | null;
  timeoutMs?: number;
}

export type ClickHouseOptions = EmbeddedOptions | HttpOptions;

/** Rows of one table as TabSeparated text, every row ending with a line feed. */
export interface Rows {
  table: string;
  columns: readonly string[];
  text: string;
}

/** Statements against ClickHouse. Fails with `StoreTimeoutError` or `StoreUnavailableError` only, or with the caller's abort. */
export interface ClickHouse {
  readonly layout: Layout;
  /** Null over HTTP. */
  readonly engine: Engine | null;
  query<Row>(query: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsResult<Row>>;
  insert(name: string, rows: Rows): Promise<void>;
  command(name: string, sql: string): Promise<void>;
  /** Makes the database of the tables where it is missing. */
  createDatabase(): Promise<void>;
  close(): Promise<void>;
}
