import type { Page, SortKey } from '../search/query.js';
import { newId } from '../shared/ids.js';
import type { Json } from '../shared/json.js';
import { DAY_MS } from '../shared/time.js';

/** Limits of the newest rejections that are kept per organization. Topics of dead letters are kept for the same time. */
export const REJECTION_LIMITS = { records: 10_000, ageMs: 30 * DAY_MS };

/** An id that sorts by the time of the rejection, in milliseconds since the epoch, then by its sequence. */
export const rejectionId = (rejectedMs: number, sequence: number): string =>
  newId('rej', rejectedMs, sequence);

/** Place and reason of a record that HTTP ingest rejected. Only the caller has its values. */
export interface Rejection {
  /** See `rejectionId`: lists order by `rejected_at` and id. */
  id: string;
  organization_id: string;
  stream: string;
  /** Line of the request, or position in its array, from 1. */
  line: number;
  code: string;
  /** JSON Pointer into the record; '' for the whole record. */
  pointer: string;
  /** ISO 8601. With `sequence`, it orders the record (`OrderedRecord`), also when it is corrected. */
  rejected_at: string;
  sequence: number;
  /** Identifier of the record, if it could be read. */
  record_id: string | null;
}

export interface RejectionSearch {
  /** Absent to list the rejections of all organizations. */
  organizationId?: string;
  stream?: string;
  limit: number;
  /** End of the previous page: `rejected_at` and `id`. */
  after?: SortKey;
}

export interface RejectionStore {
  /** Keeps rejections, and deletes rejections of the organization beyond `REJECTION_LIMITS`. */
  keepRejections(organizationId: string, rejections: readonly Rejection[]): Promise<void>;
  /** Newest first. */
  listRejections(search: RejectionSearch, signal?: AbortSignal): Promise<Page<Json<Rejection>>>;
  deleteRejections(ids: readonly string[]): Promise<void>;
}
