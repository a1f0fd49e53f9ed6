import { orNull } from '../shared/text.js';
import type { Audience, AudienceRecord } from './schema.js';

/** The audience a stream record makes: each is whole (contract 6.2). */
export function toAudience(record: AudienceRecord): Audience {
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
