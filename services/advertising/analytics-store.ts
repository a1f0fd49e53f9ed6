/** The port to advertising data: ClickHouse, embedded or over HTTP, with one SQL. */

import type { Month } from '../shared/month.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Sql } from '../shared/sql.js';
import type {
  CampaignRecord,
  CompanyRecord,
  CreativeRecord,
  CurrencyRateRecord,
  DeliveryRecord,
} from './records.js';

export interface AnalyticsQuery {
  /** Name of the query, also as metric label and as `log_comment`. */
  name: string;
  sql: Sql;
  /** Bound as `{name:Type}`. */
  params: Record<string, string | number | readonly string[]>;
}

export interface AnalyticsResult<Row> {
  rows: Row[];
  /** Rows before LIMIT. */
  total: number;
}

export interface AnalyticsReader {
  /** True while nothing was ever written, which an engine that has not started need not be asked. */
  readonly isEmpty?: boolean;
  query<Row>(query: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsResult<Row>>;
}

/** The last record of a key in the record order (contract 6.2) wins, in whatever order they are written. A resolved write is durable and visible. */
export interface AnalyticsWriter {
  /** Records that one write should hold where many are waiting: each write makes a file. */
  readonly preferredBatchSize: number;
  insertCampaigns(records: readonly OrderedRecord<CampaignRecord>[]): Promise<void>;
  insertCreatives(records: readonly OrderedRecord<CreativeRecord>[]): Promise<void>;
  insertCompanies(records: readonly OrderedRecord<CompanyRecord>[]): Promise<void>;
  insertDeliveries(records: readonly OrderedRecord<DeliveryRecord>[]): Promise<void>;
  insertCurrencyRates(records: readonly OrderedRecord<CurrencyRateRecord>[]): Promise<void>;
}

export interface MonthOfDeliveries {
  month: Month;
  rows: number;
}

export interface AnalyticsStore extends AnalyticsReader, AnalyticsWriter {
  /** Months before a month that have deliveries, ascending, with the rows of all tables. */
  countDeliveriesBefore(month: Month): Promise<MonthOfDeliveries[]>;
  /** Deletes the deliveries of the months before a month; resolves with the months that it deleted. */
  dropDeliveriesBefore(month: Month): Promise<Month[]>;
  /** Throws `StoreUnavailableError` when the store cannot answer. */
  ping(): Promise<void>;
  /** Waits for running statements, then releases every resource. */
  close(): Promise<void>;
}
