import type { TSchema } from 'typebox';
import type { AnalyticsWriter } from '../../services/advertising/analytics-store.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import type { FieldError } from '../../services/shared/validation.js';
import type { SearchStore } from '../../services/stores/common/search-store.js';

type SearchWriter = Pick<
  SearchStore,
  'preferredBatchSize' | 'upsertContacts' | 'upsertAudiences' | 'insertVisits' | 'refresh'
>;

/** What the streams write to. */
export interface IngestStores {
  search: SearchWriter;
  analytics: AnalyticsWriter;
}

/** One of the seven streams (contract 6.1). The declaration is its contract; the pipeline does the work. */
export interface Stream<Record extends object = object> {
  name: string;
  summary: string;
  schema: TSchema;
  organizationField: 'organization_id' | 'organizationId';
  /** The one store its records go to. */
  store: keyof IngestStores;
  /** Fields that hold money: a number given for one is kept to the digit. */
  moneyFields?: readonly string[];
  /** Puts values into the form they are kept in. */
  normalize?(record: Record): void;
  /** A rule that spans fields, or depends on when the record was accepted (milliseconds); null when it holds. */
  check?(record: Record, acceptedAt: number): FieldError | null;
  /** What its records are ordered within. */
  key(record: Record): string;
  /** Makes what was written appear in searches; absent where it does so by itself. */
  refresh?(stores: IngestStores): Promise<void>;
  write(stores: IngestStores, records: readonly OrderedRecord<Record>[]): Promise<void>;
}
