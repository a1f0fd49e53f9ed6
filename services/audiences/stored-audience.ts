import {
  type Deletion,
  isDeletion,
  nextVersion,
  type OrderedRecord,
  orderOfRequest,
  type RecordVersion,
} from '../shared/record-order.js';
import { orNull } from '../shared/text.js';
import { formatTimestamp } from '../shared/time.js';
import type { Audience, AudienceRecord } from './schema.js';

/** Everything of an audience but its time, which is kept apart, and what is counted. */
export type AudienceBody = Omit<Audience, 'created_at' | 'member_count'>;

/** Fields that an update sets; null clears one, an absent one stays. */
export type AudienceChanges = { [Field in keyof EditableFields]?: EditableFields[Field] | null };
type EditableFields = Omit<AudienceBody, 'id' | 'organization_id'>;

export interface StoredAudience extends RecordVersion {
  audience: AudienceBody;
}

export const toAudience = ({ audience, createdMs }: StoredAudience): Audience => ({
  ...audience,
  created_at: formatTimestamp(createdMs),
});

/** The audience after a stream record, which replaces all of it; as `nextVersion`. */
export function applyAudienceRecord(
  before: RecordVersion | Deletion | undefined,
  ordered: OrderedRecord<AudienceRecord>,
): StoredAudience | Deletion | null {
  const version = nextVersion(before, ordered);
  if (version === null || isDeletion(version)) return version;
  return { ...version, audience: audienceBody(ordered.record) };
}

/** The audience that a create request describes. */
export const newAudience = (
  organizationId: string,
  id: string,
  fields: AudienceChanges & { name: string },
): AudienceBody => audienceBody({ ...fields, organization_id: organizationId, id });

/** `before` is the deletion of an earlier audience with the id. */
export const createdAudience = (
  audience: AudienceBody,
  now: number,
  before: Deletion | undefined,
): StoredAudience => ({
  createdMs: now,
  recordOrder: orderOfRequest(now, before ?? { recordOrder: null }),
  audience,
});

/** `name` is never null. */
export const updatedAudience = (
  before: StoredAudience,
  changes: AudienceChanges,
  now: number,
): StoredAudience => ({
  ...before,
  recordOrder: orderOfRequest(now, before),
  audience: audienceBody({ ...before.audience, ...(changes as AudienceChanges & { name?: string }) }),
});

function audienceBody(record: AudienceRecord): AudienceBody {
  return {
    id: record.id,
    organization_id: record.organization_id,
    name: record.name,
    description: orNull(record.description),
    network_a: record.network_a ?? false,
    network_b: record.network_b ?? false,
    network_c: record.network_c ?? false,
    tracking_utm_value: orNull(record.tracking_utm_value),
  };
}
