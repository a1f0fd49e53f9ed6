import type { TObject, TSchema } from 'typebox';
import type { AnalyticsWriter } from '../../services/advertising/analytics-store.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import type { FieldError } from '../../services/shared/validation.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import type { VisitTable } from '../../services/visits/visit-store.js';

type RecordWriter = Pick<
  RecordStore,
  'preferredBatchSize' | 'upsertContacts' | 'upsertAudiences' | 'insertVisits' | 'refresh' | 'copied'
>;

/** The stores into which streams write. */
export interface IngestStores {
  records: RecordWriter;
  analytics: AnalyticsWriter & Pick<VisitTable, 'insertVisits'>;
}

/** One of the eight streams (contract 6.1). The declaration defines the stream; the pipeline implements it. */
export interface Stream<Record extends object = object> {
  name: string;
  summary: string;
  schema: TSchema;
  organizationField: 'organization_id' | 'organizationId';
  /** The store that keeps the records of this stream. */
  store: keyof IngestStores;
  /** Fields that exports have, but records do not, because the fields are computed. Ingest drops these fields. */
  derivedFields?: readonly string[];
  /**
   * Fields that identify a record besides its organization. A record with these fields and `deleted: true` deletes the record that the
   * fields identify. Absent if records cannot be deleted.
   */
  deletableBy?: readonly string[];
  /**
   * Fields that identify a row of a mapped file: two rows with the same values must agree in all other fields. Absent if rows may repeat.
   */
  rowKey?: readonly string[];
  /** Other names that exports use for the same value. Ingest drops such a field if its value equals the value of the field. */
  aliases?: Readonly<{ [alias: string]: string }>;
  /** Fields with money. Every digit of their numbers is kept. */
  moneyFields?: readonly string[];
  /** The field with a domain, which is stored in normal form. Text that is not a domain is left out. */
  domainField?: string;
  /** Changes values to their stored form. */
  normalize?(record: Record): void;
  /** Checks rules that span fields or depend on `acceptedAt` (milliseconds since the epoch). Null if the record is valid. */
  check?(record: Record, acceptedAt: number): FieldError | null;
  /** The Kafka key of a record. Records with the same key keep their order. */
  key(record: Record): string;
  /** Makes written records visible to searches; absent if written records are visible at once. */
  refresh?(stores: IngestStores): Promise<void>;
  write(stores: IngestStores, records: readonly OrderedRecord<Record>[]): Promise<void>;
}

/** The fields of an exported item that records do not have. */
export function derivedFields(item: TSchema, record: TSchema): string[] {
  const fields = (record as TObject).properties;
  return Object.keys((item as TObject).properties).filter((name) => !(name in fields));
}
