import type { TObject, TSchema } from 'typebox';
import type { AnalyticsWriter } from '../../services/advertising/analytics-store.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import type { FieldError } from '../../services/shared/validation.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import type { VisitTable } from '../../services/visits/visit-store.js';

type RecordWriter = Pick<
  RecordStore,
  'preferredBatchSize' | 'upsertContacts' | 'upsertAudiences' | 'insertVisits' | 'refresh'
>;

/** The stores that streams write to. */
export interface IngestStores {
  records: RecordWriter;
  analytics: AnalyticsWriter & Pick<VisitTable, 'insertVisits'>;
}

/** One of the eight streams (contract 6.1). The declaration is its contract; the pipeline does the work. */
export interface Stream<Record extends object = object> {
  name: string;
  summary: string;
  schema: TSchema;
  organizationField: 'organization_id' | 'organizationId';
  /** The store that answers for its records. */
  store: keyof IngestStores;
  /** Fields that an export has and no record: computed from others, so they are dropped. */
  derivedFields?: readonly string[];
  /**
   * Fields that name a record besides its organization. With them and `deleted: true` a record deletes what it names; absent where
   * records cannot be deleted.
   */
  deletableBy?: readonly string[];
  /** Fields in which two rows of one mapped file differ, or are equal in all others; absent where rows may repeat. */
  rowKey?: readonly string[];
  /** Names that an export has besides the one of a record, for the same value: dropped where they are equal. */
  aliases?: Readonly<{ [alias: string]: string }>;
  /** Fields with money: every digit of their numbers is kept. */
  moneyFields?: readonly string[];
  /** The field with a domain, which is stored in its normal form; a text that is none is left out. */
  domainField?: string;
  /** Changes values to their stored form. */
  normalize?(record: Record): void;
  /** Checks rules that span fields or depend on `acceptedAt` (milliseconds since the epoch); null when they hold. */
  check?(record: Record, acceptedAt: number): FieldError | null;
  /** The Kafka key: records with the same key keep their order. */
  key(record: Record): string;
  /** Makes written records visible to searches; absent where they are at once. */
  refresh?(stores: IngestStores): Promise<void>;
  write(stores: IngestStores, records: readonly OrderedRecord<Record>[]): Promise<void>;
}

/** The fields of an exported item that its record lacks. */
export function derivedFields(item: TSchema, record: TSchema): string[] {
  const fields = (record as TObject).properties;
  return Object.keys((item as TObject).properties).filter((name) => !(name in fields));
}
