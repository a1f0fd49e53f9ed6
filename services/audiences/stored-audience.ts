import { isDeepStrictEqual } from 'node:util';
import {
  type Deletion,
  isDeletion,
  nextVersion,
  type OrderedRecord,
  orderOfRequest,
  type RecordVersion,
} from '../shared/record-order.js';
import { orNull } from '../shared/text.js';
import { formatTimestamp, parseTimestamp } from '../shared/time.js';
import type { Audience, AudienceRecord } from './schema.js';

/** Everything of an audience but its times, which are kept apart, and what is counted. */
export type AudienceBody = Omit<Audience, 'created_at' | 'updated_at' | 'member_count'>;

/** Fields that an update sets; null clears one, an absent one stays. */
export type AudienceChanges = { [Field in keyof EditableFields]?: EditableFields[Field] | null };
type EditableFields = Omit<AudienceBody, 'id' | 'organization_id'>;

export interface StoredAudience extends RecordVersion {
  /** Milliseconds since the epoch; `createdMs` for an audience that has not changed since this is kept. */
  updatedMs: number;
  audience: AudienceBody;
}

export const toAudience = ({ audience, createdMs, updatedMs }: StoredAudience): Audience => ({
  ...audience,
  created_at: formatTimestamp(createdMs),
  updated_at: formatTimestamp(updatedMs),
});

/** The audience after a stream record, which replaces all of it; as `nextVersion`. */
export function applyAudienceRecord(
  before: StoredAudience | Deletion | undefined,
  ordered: OrderedRecord<AudienceRecord>,
): StoredAudience | Deletion | null {
  const version = nextVersion(before, ordered);
  if (version === null || isDeletion(version)) return version;
  const { record, acceptedAt } = ordered;
  const audience = audienceBody(record);
  const updatedMs = record.updated_at ? parseTimestamp(record.updated_at) : acceptedAt;
  return {
    ...version,
    updatedMs: before && !isDeletion(before) ? laterThan(before, audience, updatedMs) : updatedMs,
    audience,
  };
}

/** When an audience changed: each state has a time of its own, also by a record that is older than a request of before. */
const laterThan = (before: StoredAudience, audience: AudienceBody, updatedMs: number): number =>
  Math.max(updatedMs, before.updatedMs + (isDeepStrictEqual(audience, before.audience) ? 0 : 1));

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
  updatedMs: now,
  recordOrder: orderOfRequest(now, before ?? { recordOrder: null }),
  audience,
});

/** Whether it is another than a request knows, which says when that last changed, in milliseconds since the epoch. */
export const hasChanged = ({ updatedMs }: StoredAudience, ifUpdatedMs: number | undefined): boolean =>
  ifUpdatedMs !== undefined && ifUpdatedMs !== updatedMs;

/** `name` is never null. */
export const updatedAudience = (
  before: StoredAudience,
  changes: AudienceChanges,
  now: number,
): StoredAudience => ({
  ...before,
  updatedMs: Math.max(now, before.updatedMs + 1),
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
