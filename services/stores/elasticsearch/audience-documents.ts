/** Audiences as documents of their index. */
import type { Audience } from '../../audiences/schema.js';
import type { AudienceBody } from '../../audiences/stored-audience.js';
import { formatTimestamp } from '../../shared/time.js';
import { type Documents, documentId } from './documents.js';

export interface AudienceSource {
  organization_id: string;
  audience_id: string;
  /** Milliseconds since the epoch. */
  created_at: number;
  /** Order of the last record. */
  record_order: string | null;
  audience: AudienceBody;
  generation?: number;
}

/** What is left of a deleted audience: a record older than this does not bring it back. */
export interface AudienceTombstone {
  record_order: string;
  /** How many audiences of the id had members that a deletion ended; absent for none. */
  generation?: number;
}

export const isAudience = (source: AudienceSource | AudienceTombstone): source is AudienceSource =>
  'audience' in source;

export const toAudience = ({ audience, created_at }: AudienceSource): Audience => ({
  ...audience,
  created_at: formatTimestamp(created_at),
});

/** Generations of audiences by the ids of their documents, without those that are 0. */
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
