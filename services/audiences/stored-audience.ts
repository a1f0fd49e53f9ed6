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

/** All fields of an audience except its times, which are stored separately, and its counts. */
export type AudienceBody = Omit<Audience, 'created_at' | 'updated_at' | 'member_count'>;

/** Fields that an update sets. Null clears a field; an absent field stays. */
export type AudienceChanges = { [Field in keyof EditableFields]?: EditableFields[Field] | null };
type EditableFields = Omit<AudienceBody, 'id' | 'organization_id'>;

export interface StoredAudience extends RecordVersion {
  /** Milliseconds since the epoch. */
  updatedMs: number;
  audience: AudienceBody;
}

export const toAudience = ({ audience, createdMs, updatedMs }: StoredAudience): Audience => ({
  ...audience,
  created_at: formatTimestamp(createdMs),
  updated_at: formatTimestamp(updatedMs),
});

/** The audience after a stream record, which replaces all of it. Compares orders like `nextVersion`. */
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

/** Time of a change: each state has its own time, even after a record that is older than an earlier request. */
const laterThan = (before: StoredAudience, audience: AudienceBody, updatedMs: number): number =>
  Math.max(updatedMs, before.updatedMs + (isDeepStrictEqual(audience, before.audience) ? 0 : 1));

/** The audience that a create request describes. */
export const newAudience = (
  organizationId: string,
  id: string,
  fields: AudienceChanges & { name: string },
): AudienceBody => audienceBody({ ...fields, organization_id: organizationId, id });

/** `before` is the deletion of an earlier audience with the same id. */
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

/** Whether the audience has changed since `ifUpdatedMs`, in milliseconds since the epoch. */
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

/**
 * The body of an audience, as it is stored and answered. Reads return the stored body: after adding a field here, raise
 * `SEARCH_RULES_VERSION`, so that stores write the bodies of older audiences again.
 */
export function audienceBody(record: AudienceRecord): AudienceBody {
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
