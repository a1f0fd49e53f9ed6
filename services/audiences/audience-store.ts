import type { Page, SortKey, TextQuery } from '../search/query.js';
import type { Cancellable } from '../shared/async.js';
import type { Idempotency, IdempotentResult } from '../shared/idempotency.js';
import type { OrderedRecord } from '../shared/record-order.js';
import type { Audience, AudienceRecord } from './schema.js';
import type { AudienceBody, AudienceChanges } from './stored-audience.js';

export interface AudienceSearch {
  organizationId: string;
  query?: TextQuery;
  /** Audiences to skip. */
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
  /** As of `UpdateAudience`. An audience that is not there has not changed. */
  ifUpdatedMs?: number;
  idempotency?: Idempotency;
}

/** `deleted: false` when there is no such audience. */
export type DeleteAudienceOutcome =
  | {
      kind: 'deleted';
      deleted: boolean;
      /** As it was; null where nothing was deleted, or where an earlier attempt deleted it. */
      audience: Audience | null;
    }
  | { kind: 'changed_meanwhile' };

/** Whether an outcome is kept under its idempotency key and replayed. Any other wrote nothing and frees the key. */
export const isAudienceWritten = ({
  kind,
}: CreateAudienceOutcome | UpdateAudienceOutcome | DeleteAudienceOutcome): boolean =>
  kind === 'created' || kind === 'updated' || kind === 'deleted';

/**
 * Deleted audiences of an organization whose memberships are still stored. Whoever reads a contact leaves them out one by one, so further
 * deletions of the organization wait until there are fewer.
 */
export const MAX_FORMER_AUDIENCES = 50;

export interface AudienceStore {
  getAudience(organizationId: string, audienceId: string, request?: Cancellable): Promise<Audience | null>;
  /** Behind a full page there may be nothing more. */
  searchAudiences(search: AudienceSearch, signal?: AbortSignal): Promise<Page<Audience>>;
  /** How many contacts are in each of the audiences, in their order. The ids are different. */
  countMembers(
    organizationId: string,
    audienceIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<number[]>;
  /** An audience whose id was deleted before starts without members. Changes count as records accepted then (contract 6.2). */
  createAudience(command: CreateAudience): Promise<IdempotentResult<CreateAudienceOutcome>>;
  updateAudience(command: UpdateAudience): Promise<IdempotentResult<UpdateAudienceOutcome>>;
  /**
   * Deletes an audience, and with it its memberships: the audience that has the id next starts without members. Resolves once nobody is a
   * member any more and a job is noted, which removes what is stored of the memberships step by step and goes on after a restart; with
   * `MAX_FORMER_AUDIENCES` of the organization, once some are done. Records older than the deletion do not bring the audience back.
   */
  deleteAudience(command: DeleteAudience): Promise<IdempotentResult<DeleteAudienceOutcome>>;
  /** As records of contacts, each whole. */
  upsertAudiences(records: readonly OrderedRecord<AudienceRecord>[]): Promise<void>;
}
