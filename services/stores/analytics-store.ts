/** The port to advertising data: ClickHouse, in process or over HTTP, through one client and one SQL. */

import type { CampaignRecord, CompanyRecord, CreativeRecord, DeliveryRecord } from '../advertising/schema.js';
import type { Fence } from './fence.js';

export interface AnalyticsQuery {
  /** Also the metric label and the `log_comment`. */
  name: string;
  sql: string;
  /** Bound as `{name:Type}`. */
  params: Record<string, string | number | readonly string[]>;
}

export interface AnalyticsResult<Row> {
  rows: Row[];
  /** Rows before LIMIT. */
  total: number;
}

export interface AnalyticsReader {
  query<Row>(query: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsResult<Row>>;
}

/** Records are applied in order; a resolved write is durable and visible. `acceptedAt` (ms) stands in for timestamps left out. */
export interface AnalyticsWriter {
  /** Records that one write should hold where many are waiting: each write makes a file. */
  readonly batchRecords: number;
  insertCampaigns(records: readonly CampaignRecord[], acceptedAt: number, fence?: Fence): Promise<void>;
  insertCreatives(records: readonly CreativeRecord[], acceptedAt: number, fence?: Fence): Promise<void>;
  insertCompanies(records: readonly CompanyRecord[], acceptedAt: number, fence?: Fence): Promise<void>;
  insertDeliveries(records: readonly DeliveryRecord[], acceptedAt: number, fence?: Fence): Promise<void>;
}

export interface AnalyticsStore extends AnalyticsReader, AnalyticsWriter {
  /** Throws `StoreUnavailable` when the store cannot answer. */
  ping(): Promise<void>;
  /** Waits for what is running, then lets go of every resource. */
  close(): Promise<void>;
}
