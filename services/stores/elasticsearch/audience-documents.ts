/** Audiences as documents of their index. */
import type { AudienceBody, StoredAudience } from '../../audiences/stored-audience.js';
import { type Documents, documentId } from './documents.js';

export interface AudienceSource {
  organization_id: string;
  audience_id: string;
  /** Milliseconds since the epoch. */
  created_at: number;
  /** Milliseconds since the epoch. */
  updated_at: number;
  /** Id of the request that last changed the audience. */
  change?: string;
  /** `record_order` of the last record. */
  record_order: string | null;
  audience: AudienceBody;
  generation?: number;
}

/** Remains of a deleted audience, so that an older record does not create the audience again. */
export interface AudienceTombstone {
  record_order: string;
  /** Number of deleted audiences with this id that had members; absent if there were none. */
  generation?: number;
}

export const isAudience = (source: AudienceSource | AudienceTombstone): source is AudienceSource =>
  'audience' in source;

export const storedAudience = ({
  audience,
  created_at: createdMs,
  updated_at: updatedMs,
  record_order: recordOrder,
}: AudienceSource): StoredAudience => ({ createdMs, updatedMs, recordOrder, audience });

/** Generations of audiences by the ids of their documents, except generation 0. */
export async function generationsOf(
  audiences: Pick<Documents<AudienceSource | AudienceTombstone>, 'getMany'>,
  wanted: readonly { organizationId: string; audienceId: string }[],
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const ids = new Map(
    wanted.map(({ organizationId, audienceId }) => {
      const id = documentId(organizationId, audienceId);
      return [id, { id, routing: organizationId }];
    }),
  );
  const found = await audiences.getMany([...ids.values()], signal);
  return new Map(
    [...found].flatMap(([id, { source }]) => (source.generation ? [[id, source.generation]] : [])),
  );
}
