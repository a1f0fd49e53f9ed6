import { isDeepStrictEqual } from 'node:util';
import type { estypes } from '@elastic/elasticsearch';
import {
  type AudienceSearch,
  type AudienceStore,
  type CreateAudience,
  type CreateAudienceOutcome,
  type DeleteAudience,
  type DeleteAudienceOutcome,
  isAudienceWritten,
  type UpdateAudience,
  type UpdateAudienceOutcome,
} from '../../audiences/audience-store.js';
import type { Audience, AudienceRecord } from '../../audiences/schema.js';
import {
  type AudienceBody,
  applyAudienceRecord,
  createdAudience,
  type StoredAudience,
  updatedAudience,
} from '../../audiences/stored-audience.js';
import { nameKeys, nameWords } from '../../search/names.js';
import { textWords } from '../../search/words.js';
import {
  type Deletion,
  deletionAt,
  isDeletion,
  type OrderedRecord,
  type RecordVersion,
} from '../../shared/record-order.js';
import { formatTimestamp } from '../../shared/time.js';
import { applyRecords } from './apply-records.js';
import { type Documents, documentId, type VersionedDocument } from './documents.js';
import type { AcceptanceTimes } from './figures.js';
import type { IdempotencyKeys } from './idempotency.js';
import { pageSort, searchAfter, sortKey, totalHits, withDeadline } from './pages.js';
import { retryWithBackoff } from './retry.js';
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
  all: 'search.all',
  initials: 'search.initials',
  names: { whole: 'search.whole_name' },
  groups: ['search.name', 'search.tracking_utm_value'],
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
  return isDeletion(stored) ? tombstoneOf(stored) : sourceOf(stored);
}

const tombstoneOf = ({ recordOrder }: Deletion): AudienceTombstone => ({ record_order: recordOrder });

const sourceOf = ({ audience, createdMs, recordOrder }: StoredAudience): AudienceSource => ({
  organization_id: audience.organization_id,
  audience_id: audience.id,
  created_at: createdMs,
  record_order: recordOrder,
  audience,
});

const toVersion = (source: AudienceSource | AudienceTombstone): RecordVersion | Deletion =>
  isAudience(source)
    ? { createdMs: source.created_at, recordOrder: source.record_order }
    : { recordOrder: source.record_order };

export function audienceDocument(source: AudienceSource | AudienceTombstone): object {
  if (!isAudience(source)) return source;
  const { name, tracking_utm_value: tracking, description } = source.audience;
  const tokensOf = (text: string | null) => (text === null ? undefined : wordTokens(textWords(text)));
  const { whole, initials } = nameKeys([name]);
  return {
    ...source,
    search: {
      name: wordTokens(nameWords(name)),
      tracking_utm_value: tokensOf(tracking),
      all: tokensOf(description),
      whole_name: whole.map(valueToken),
      initials: wordTokens(initials),
    },
  };
}

type AudienceDocuments = Documents<AudienceSource | AudienceTombstone>;
type FoundAudience = VersionedDocument<AudienceSource | AudienceTombstone> | null;

interface AudienceStoreDeps {
  contacts: Documents<unknown>;
  audiences: AudienceDocuments;
  removeOrphanedMemberships(organizationId: string, audienceId: string): Promise<void>;
  idempotencyKeys: IdempotencyKeys;
  acceptance: AcceptanceTimes;
  searchTimeoutMs: number;
}

export function audienceStore(deps: AudienceStoreDeps): AudienceStore {
  const { contacts, audiences, removeOrphanedMemberships, idempotencyKeys, acceptance, searchTimeoutMs } =
    deps;

  /** Repeats `attempt` with the current document while it resolves with undefined, because its write met another. */
  function changeAudience<T>(
    organizationId: string,
    audienceId: string,
    attempt: (
      found: FoundAudience,
      write: (next: AudienceSource | AudienceTombstone) => Promise<boolean>,
    ) => Promise<T | undefined>,
  ): Promise<T> {
    const id = documentId(organizationId, audienceId);
    const options = { routing: organizationId, refresh: 'wait_for' } as const;
    return audiences.keyedMutex.runExclusive([id], () =>
      retryWithBackoff(async () => {
        const found = await audiences.get(id, organizationId);
        return attempt(found, async (next) => {
          const document = audienceDocument(next);
          const written = found
            ? await audiences.replace(found, document, options)
            : await audiences.create(id, document, options);
          return written !== null;
        });
      }),
    );
  }

  /** `resumed`: an earlier attempt of the request may have created it. */
  function create(audience: AudienceBody, resumed: boolean, now: number): Promise<CreateAudienceOutcome> {
    const { organization_id: organizationId, id } = audience;
    return changeAudience<CreateAudienceOutcome>(organizationId, id, async (found, write) => {
      if (found && isAudience(found.source)) {
        const { source } = found;
        // Also where the response to the write of this attempt was lost.
        const isOwn = isDeepStrictEqual(source.audience, audience) && (resumed || source.created_at === now);
        if (!isOwn) return { kind: 'audience_exists' };
        await audiences.waitUntilSearchable(found, organizationId);
        return { kind: 'created', audience: toAudience(source) };
      }
      const deletion = found ? { recordOrder: found.source.record_order as string } : undefined;
      const source = sourceOf(createdAudience(audience, now, deletion));
      return (await write(source)) ? { kind: 'created', audience: toAudience(source) } : undefined;
    });
  }

  function update(
    { organizationId, audienceId, changes }: UpdateAudience,
    now: number,
  ): Promise<UpdateAudienceOutcome> {
    return changeAudience<UpdateAudienceOutcome>(organizationId, audienceId, async (found, write) => {
      if (!found || !isAudience(found.source)) return { kind: 'audience_not_found' };
      const { audience, created_at: createdMs, record_order: recordOrder } = found.source;
      const source = sourceOf(updatedAudience({ audience, createdMs, recordOrder }, changes, now));
      return (await write(source)) ? { kind: 'updated', audience: toAudience(source) } : undefined;
    });
  }

  /** Leaves the memberships. `resumed`: an earlier attempt of the request may have deleted it. */
  function remove(
    { organizationId, audienceId }: DeleteAudience,
    resumed: boolean,
    now: number,
  ): Promise<DeleteAudienceOutcome> {
    let attempted: string | undefined;
    return changeAudience<DeleteAudienceOutcome>(organizationId, audienceId, async (found, write) => {
      if (!found) return { kind: 'deleted', deleted: false };
      const { source } = found;
      if (!isAudience(source)) {
        // The response to the write may have been lost.
        return { kind: 'deleted', deleted: resumed || source.record_order === attempted };
      }
      const deletion = deletionAt(now, { recordOrder: source.record_order });
      attempted = deletion.recordOrder;
      return (await write(tombstoneOf(deletion))) ? { kind: 'deleted', deleted: true } : undefined;
    });
  }

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

    countMembers(organizationId, audienceIds, caller) {
      return withDeadline(caller, searchTimeoutMs, async (signal) => {
        const ids = [...audienceIds];
        const field = 'audience_ids';
        const { aggregations } = await contacts.search(
          {
            routing: organizationId,
            size: 0,
            track_total_hits: false,
            query: {
              bool: { filter: [{ term: { organization_id: organizationId } }, { terms: { [field]: ids } }] },
            },
            aggs: { members: { terms: { field, include: ids, size: ids.length } } },
          },
          signal,
        );
        const { members } = aggregations as { members: estypes.AggregationsStringTermsAggregate };
        const counts = new Map(
          (members.buckets as estypes.AggregationsStringTermsBucket[]).map(({ key, doc_count }) => [
            key,
            doc_count,
          ]),
        );
        return ids.map((id) => counts.get(id) ?? 0);
      });
    },

    async createAudience({ audience, idempotency }: CreateAudience) {
      const { organization_id: organizationId, id } = audience;
      await removeOrphanedMemberships(organizationId, id);
      return idempotencyKeys.runIdempotent(
        { organizationId, idempotency, newId: id },
        (key, now) =>
          create({ ...audience, id: key?.lease.source.contact_id ?? id }, key?.resumed ?? false, now),
        isAudienceWritten,
      );
    },

    updateAudience(command) {
      return idempotencyKeys.runIdempotent(command, (_, now) => update(command, now), isAudienceWritten);
    },

    async deleteAudience(command) {
      const result = await idempotencyKeys.runIdempotent(
        command,
        (key, now) => remove(command, key?.resumed ?? false, now),
        isAudienceWritten,
      );
      const { organizationId, audienceId } = command;
      if (result.kind === 'done') await removeOrphanedMemberships(organizationId, audienceId);
      return result;
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
