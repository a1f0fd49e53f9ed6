import type { estypes } from '@elastic/elasticsearch';
import type { AudienceSearch, AudienceStore } from '../../audiences/audience-store.js';
import type { Audience, AudienceRecord } from '../../audiences/schema.js';
import { type AudienceBody, applyAudienceRecord } from '../../audiences/stored-audience.js';
import { nameKeys, nameWords } from '../../search/names.js';
import { textWords } from '../../search/words.js';
import {
  type Deletion,
  isDeletion,
  type OrderedRecord,
  type RecordVersion,
} from '../../shared/record-order.js';
import { formatTimestamp } from '../../shared/time.js';
import { applyRecords } from './apply-records.js';
import { letterTokens } from './contacts/mapping.js';
import { type Documents, documentId } from './documents.js';
import type { AcceptanceTimes } from './figures.js';
import { pageSort, searchAfter, sortKey, totalHits, withDeadline } from './pages.js';
import { matchText, type TextFields } from './text/text-query.js';
import { valueToken, wordTokens } from './text/tokens.js';

export interface AudienceSource {
  organization_id: string;
  audience_id: string;
  /** Milliseconds since the epoch. */
  created_at: number;
  /** Order of the last record. */
  record_order: string | null;
  audience: AudienceBody;
}

/** Of a deleted audience: a record older than this does not bring it back. */
export interface AudienceTombstone {
  record_order: string;
}

export const isAudience = (source: AudienceSource | AudienceTombstone): source is AudienceSource =>
  'audience' in source;

export const toAudience = ({ audience, created_at }: AudienceSource): Audience => ({
  ...audience,
  created_at: formatTimestamp(created_at),
});

const FIELDS: TextFields = {
  prefix: 'search.',
  all: { words: 'search.all', letters: 'search.letters' },
  initials: 'search.initials',
  names: { whole: 'search.whole_name' },
  groups: ['name', 'tracking_utm_value'].map((group) => ({
    words: `search.${group}`,
    letters: `search.letters_of_${group}`,
  })),
};

function audienceQuery({ organizationId, query, offset, limit, after }: AudienceSearch): {
  request: estypes.SearchRequest;
  bestScore: number | null;
} {
  const match = query && matchText(query, FIELDS);
  const bestScore = match && match.should.length > 0 ? match.bestScore : null;
  const request = {
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
    sort: pageSort('audience_id', bestScore !== null),
    search_after: searchAfter(after, bestScore),
  };
  return { request, bestScore };
}

/** As `applyAudienceRecord`, from document to document. */
function applyToSource(
  before: AudienceSource | AudienceTombstone | undefined,
  ordered: OrderedRecord<AudienceRecord>,
): AudienceSource | AudienceTombstone | null {
  const stored = applyAudienceRecord(before && toVersion(before), ordered);
  if (stored === null) return null;
  if (isDeletion(stored)) return { record_order: stored.recordOrder };
  return {
    organization_id: stored.audience.organization_id,
    audience_id: stored.audience.id,
    created_at: stored.createdMs,
    record_order: stored.recordOrder,
    audience: stored.audience,
  };
}

const toVersion = (source: AudienceSource | AudienceTombstone): RecordVersion | Deletion =>
  isAudience(source)
    ? { createdMs: source.created_at, recordOrder: source.record_order }
    : { recordOrder: source.record_order };

export function audienceDocument(source: AudienceSource | AudienceTombstone): object {
  if (!isAudience(source)) return source;
  const { name, tracking_utm_value: tracking, description } = source.audience;
  const fields = [
    nameWords(name),
    ...[tracking, description].map((text) => (text === null ? [] : textWords(text))),
  ];
  const [names, trackings, descriptions] = fields.map((words) =>
    words.length === 0 ? undefined : { words: wordTokens(words), letters: letterTokens(words).join(' ') },
  );
  const { whole, initials } = nameKeys([name]);
  return {
    ...source,
    search: {
      name: names?.words,
      letters_of_name: names?.letters,
      tracking_utm_value: trackings?.words,
      letters_of_tracking_utm_value: trackings?.letters,
      all: descriptions?.words,
      letters: descriptions?.letters,
      whole_name: whole.map(valueToken),
      initials: wordTokens(initials),
    },
  };
}

type AudienceDocuments = Documents<AudienceSource | AudienceTombstone>;

export function audienceStore(
  audiences: AudienceDocuments,
  acceptance: AcceptanceTimes,
  searchTimeoutMs: number,
): AudienceStore {
  return {
    async getAudience(organizationId, audienceId, request) {
      const id = documentId(organizationId, audienceId);
      const found = await audiences.get(id, organizationId, request?.signal);
      return found && isAudience(found.source) ? toAudience(found.source) : null;
    },

    searchAudiences(search, caller) {
      const { request, bestScore } = audienceQuery(search);
      return withDeadline(caller, searchTimeoutMs, async (signal) => {
        const { hits } = await audiences.search(request, signal);
        const last = hits.hits.length < search.limit ? undefined : hits.hits.at(-1);
        return {
          items: hits.hits.map(({ _source }) => toAudience(_source as AudienceSource)),
          total: totalHits(hits),
          next: last ? sortKey(last.sort as (string | number)[], bestScore) : null,
        };
      });
    },

    upsertAudiences(records) {
      const written = applyRecords(audiences, records, {
        idOf: ({ record }) => documentId(record.organization_id, record.id),
        routingOf: ({ record }) => record.organization_id,
        fromSource: (source) => source,
        apply: applyToSource,
        toDocument: audienceDocument,
      });
      return acceptance.noteWritten('audiences', records, written);
    },
  };
}
