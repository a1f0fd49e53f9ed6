import type { Page, VisitSearch } from '../search/query.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Visit, VisitRecord } from './schema.js';

export interface VisitStore {
  /** Newest first. */
  searchVisits(search: VisitSearch, signal?: AbortSignal): Promise<Page<Visit>>;
  /** The first record of an id and moment stays. */
  insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void>;
}
