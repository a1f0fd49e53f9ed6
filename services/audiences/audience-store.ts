import type { TextQuery } from '../search/query.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Audience, AudienceRecord } from './schema.js';

export interface AudienceSearch {
  organizationId: string;
  query?: TextQuery;
  offset: number;
  limit: number;
}

export interface AudienceStore {
  getAudience(organizationId: string, audienceId: string, signal?: AbortSignal): Promise<Audience | null>;
  searchAudiences(
    search: AudienceSearch,
    signal?: AbortSignal,
  ): Promise<{ items: Audience[]; total: number }>;
  /** As records of contacts, each whole. */
  upsertAudiences(records: readonly OrderedRecord<AudienceRecord>[]): Promise<void>;
}
