import type { Page, SortKey, TextQuery } from '../search/query.js';
import type { Cancellable } from '../shared/async.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Audience, AudienceRecord } from './schema.js';

export interface AudienceSearch {
  organizationId: string;
  query?: TextQuery;
  /** Audiences to skip. */
  offset?: number;
  after?: SortKey;
  limit: number;
}

export interface AudienceStore {
  getAudience(organizationId: string, audienceId: string, request?: Cancellable): Promise<Audience | null>;
  /** Behind a full page there may be nothing more. */
  searchAudiences(search: AudienceSearch, signal?: AbortSignal): Promise<Page<Audience>>;
  /** As records of contacts, each whole. */
  upsertAudiences(records: readonly OrderedRecord<AudienceRecord>[]): Promise<void>;
}
