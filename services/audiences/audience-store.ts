import type { Page, SortKey, TextQuery } from '../search/query.js';
import type { Cancellable } from '../shared/async.js';
import type { Idempotency, IdempotentResult } from '../shared/idempotency.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Audience, AudienceRecord } from './schema.js';
import type { AudienceBody, AudienceChanges } from './stored-audience.js';

export interface AudienceSearch {
  organizationId: string;
  query?: TextQuery;
  /** Number of audiences to skip. */
  offset?: number;
  after?: SortKey;
  limit: number;
}

export interface CreateAudience {
  audience: AudienceBody;
  idempotency?: Idempotency;
}

export type CreateAudienceOutcome = { kind: 'created'; audience: Audience } | { kind: 'audience_exists' };

export interface UpdateAudience {
  organizationId: string;
  audienceId: string;
  changes: AudienceChanges;
  /** When the audience last changed, as far as the request knows, in milliseconds since the epoch. */
  ifUpdatedMs?: number;
  idempotency?: Idempotency;
}

export type UpdateAudienceOutcome =
  | { kind: 'updated'; audience: Audience }
  | { kind: 'audience_not_found' }
  | { kind: 'changed_meanwhile' };

export interface DeleteAudience {
  organizationId: string;
  audienceId: string;
  /** Like `ifUpdatedMs` of `UpdateAudience`. A missing audience counts as unchanged. */
  ifUpdatedMs?: number;
  idempotency?: Idempotency;
}

/** `deleted: false` if there is no such audience. */
export type DeleteAudienceOutcome =
  | {
      kind: 'deleted';
      deleted: boolean;
      /** The audience before its deletion; null if nothing was deleted, or if an earlier attempt deleted it. */
      audience: Audience | null;
    }
  | { kind: 'changed_meanwhile' };

/** Whether an outcome is kept under its idempotency key and replayed. Any other outcome wrote nothing and frees the key. */
export const isAudienceWritten = ({
  kind,
}: CreateAudienceOutcome | UpdateAudienceOutcome | DeleteAudienceOutcome): boolean =>
  kind === 'created' || kind === 'updated' || kind === 'deleted';

/**
 * Maximum number of deleted audiences of an organization whose memberships are still stored. Readers of contacts filter them out one by
 * one, so further deletions wait until there are fewer.
 */
export const MAX_FORMER_AUDIENCES = 50;

export interface AudienceStore {
  getAudience(organizationId: string, audienceId: string, request?: Cancellable): Promise<Audience | null>;
  /** Searches audiences. A full page may be the last page. */
  searchAudiences(search: AudienceSearch, signal?: AbortSignal): Promise<Page<Audience>>;
  /** Number of contacts in each of the audiences, in their order. The ids are different. */
  countMembers(
    organizationId: string,
    audienceIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<number[]>;
  /**
   * Creates an audience. If its id was deleted before, it starts without members. Changes count as records accepted at that time (contract
   * 6.2).
   */
  createAudience(command: CreateAudience): Promise<IdempotentResult<CreateAudienceOutcome>>;
  updateAudience(command: UpdateAudience): Promise<IdempotentResult<UpdateAudienceOutcome>>;
  /**
   * Deletes an audience and its memberships: the next audience with the id starts without members. Resolves once the audience has no
   * visible members and a job is stored. The job removes the stored memberships step by step and continues after a restart. If the
   * organization has `MAX_FORMER_AUDIENCES` such jobs, resolves once some are done. Records older than the deletion do not create the
   * audience again.
   */
  deleteAudience(command: DeleteAudience): Promise<IdempotentResult<DeleteAudienceOutcome>>;
  /** Writes records of audiences in their order, like records of contacts. Each record replaces the whole audience. */
  upsertAudiences(records: readonly OrderedRecord<AudienceRecord>[]): Promise<void>;
}
