import {
  type Deletion,
  isDeletion,
  nextVersion,
  type OrderedRecord,
  type RecordVersion,
} from '../shared/record-order.js';
import { orNull } from '../shared/text.js';
import type { Audience, AudienceRecord } from './schema.js';

/** Everything of an audience but its time, which is kept apart. */
export type AudienceBody = Omit<Audience, 'created_at'>;

export interface StoredAudience extends RecordVersion {
  audience: AudienceBody;
}

/** The audience after a stream record, which replaces all of it; null when the record is not newer than the last one. */
export function applyAudienceRecord(
  before: RecordVersion | Deletion | undefined,
  ordered: OrderedRecord<AudienceRecord>,
): StoredAudience | Deletion | null {
  const version = nextVersion(before, ordered);
  if (version === null || isDeletion(version)) return version;
  return { ...version, audience: toAudience(ordered.record) };
}

function toAudience(record: AudienceRecord): AudienceBody {
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
