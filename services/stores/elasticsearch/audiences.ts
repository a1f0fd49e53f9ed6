import type { estypes } from '@elastic/elasticsearch';
import type { AudienceSearch } from '../../audiences/audience-store.js';
import type { Audience, AudienceRecord } from '../../audiences/schema.js';
import { toAudience } from '../../audiences/stored-audience.js';
import { textWords } from '../../search/words.js';
import { type OrderedRecord, recordOrder } from '../../shared/record-order.js';
import { parseTimestamp } from '../../shared/time.js';
import { letterTokens } from './contacts/mapping.js';
import { pageSort } from './pages.js';
import { matchText } from './text/text-query.js';
import { wordTokens } from './text/tokens.js';

export interface AudienceSource {
  organization_id: string;
  audience_id: string;
  /** Milliseconds since the epoch. */
  created_at: number;
  /** Order of the last record. */
  record_order: string;
  audience: Audience;
}

const FIELDS = {
  all: 'search.all',
  letters: 'search.letters',
  groups: ['search.name', 'search.tracking_utm_value'],
};

export function audienceQuery({
  organizationId,
  query,
  offset,
  limit,
}: AudienceSearch): estypes.SearchRequest {
  const match = query && matchText(query, FIELDS);
  return {
    routing: organizationId,
    from: offset,
    size: limit,
    query: {
      bool: {
        filter: [{ term: { organization_id: organizationId } }, ...(match?.filter ?? [])],
        must_not: match?.mustNot,
        should: match?.should,
        minimum_should_match: 0,
      },
    },
    sort: pageSort('audience_id', match !== undefined && match.should.length > 0),
  };
}

/** The audience after a stream record; null when the record does not come after the last one. */
export function applyAudienceRecord(
  before: AudienceSource | undefined,
  { record, acceptedAt, sequence }: OrderedRecord<AudienceRecord>,
): AudienceSource | null {
  const order = recordOrder(record.updated_at, acceptedAt, sequence);
  if (before && order <= before.record_order) return null;
  return {
    organization_id: record.organization_id,
    audience_id: record.id,
    created_at: record.created_at ? parseTimestamp(record.created_at) : (before?.created_at ?? acceptedAt),
    record_order: order,
    audience: toAudience(record),
  };
}

export function audienceDocument(source: AudienceSource): object {
  const { name, tracking_utm_value: tracking, description } = source.audience;
  const words = [name, tracking, description].map((text) => (text === null ? [] : textWords(text)));
  const [names, trackings, descriptions] = words.map((value) =>
    value.length === 0 ? undefined : wordTokens(value),
  );
  return {
    ...source,
    search: {
      name: names,
      tracking_utm_value: trackings,
      all: descriptions,
      letters: letterTokens(words.flat()).join(' '),
    },
  };
}
