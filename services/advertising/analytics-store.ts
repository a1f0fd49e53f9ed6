/** The port to advertising data: ClickHouse, embedded or over HTTP, with the same SQL. */

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
  /** Name of the query, also used as metric label and as `log_comment`. */
  name: string;
  sql: Sql;
  /** Values of the parameters that the statement names as `{name:Type}`. */
  params: Record<string, string | number | readonly string[]>;
}

export interface AnalyticsResult<Row> {
  rows: Row[];
  /** Number of rows before LIMIT. */
  total: number;
}

export interface AnalyticsReader {
  /** True while nothing was ever written, so that callers need not start the engine. */
  readonly isEmpty?: boolean;
  query<Row>(query: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsResult<Row>>;
}

/**
 * Writes records. The last record of a key in the record order (contract 6.2) wins, regardless of the order of writes. A resolved write is
 * durable and visible.
 */
export interface AnalyticsWriter {
  /** Number of records per write if many records are waiting, because each write makes a file. */
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
  /** Lists the months before the given month that have deliveries, ascending, with the number of rows in all tables. */
  countDeliveriesBefore(month: Month): Promise<MonthOfDeliveries[]>;
  /** Deletes the deliveries of all months before the given month. Resolves with the deleted months. */
  dropDeliveriesBefore(month: Month): Promise<Month[]>;
  /** Throws `StoreUnavailableError` if the store does not respond. */
  ping(): Promise<void>;
  /** Waits for running statements, then releases every resource. */
  close(): Promise<void>;
}
