import { randomUUID } from 'node:crypto';
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
  hasChanged,
  type StoredAudience,
  toAudience,
  updatedAudience,
} from '../../audiences/stored-audience.js';
import { nameKeys, nameWords } from '../../search/names.js';
import { textWords } from '../../search/words.js';
import { type Deletion, deletionAt, isDeletion, type OrderedRecord } from '../../shared/record-order.js';
import { applyRecords } from './apply-records.js';
import {
  type AudienceSource,
  type AudienceTombstone,
  generationsOf,
  isAudience,
  storedAudience,
} from './audience-documents.js';
import type { ContactDocuments } from './contacts/documents.js';
import { audienceToken } from './contacts/indexed-contact.js';
import type { AcceptanceTimes } from './counts.js';
import { type Documents, documentId, type VersionedDocument } from './documents.js';
import type { IdempotencyKeys } from './idempotency.js';
import type { JobRunner } from './jobs/job-runner.js';
import { membersOf } from './jobs/members.js';
import { pageSort, searchAfter, sortKey, totalHits, withDeadline } from './pages.js';
import { retryWithBackoff } from './retry.js';
import { matchText, type TextFields } from './text/text-query.js';
import { valueToken, wordTokens } from './text/tokens.js';

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

/** Applies a record like `applyAudienceRecord`, from document to document. */
function applyToSource(
  before: AudienceSource | AudienceTombstone | undefined,
  ordered: OrderedRecord<AudienceRecord>,
): AudienceSource | AudienceTombstone | null {
  const stored = applyAudienceRecord(before && toVersion(before), ordered);
  if (stored === null) return null;
  const { generation } = before ?? {};
  return isDeletion(stored) ? tombstoneOf(stored, generation) : sourceOf(stored, generation);
}

const tombstoneOf = ({ recordOrder }: Deletion, generation?: number): AudienceTombstone => ({
  record_order: recordOrder,
  generation,
});

const sourceOf = (
  { audience, createdMs, updatedMs, recordOrder }: StoredAudience,
  generation?: number,
  change?: string,
): AudienceSource => ({
  generation,
  updated_at: updatedMs,
  change,
  organization_id: audience.organization_id,
  audience_id: audience.id,
  created_at: createdMs,
  record_order: recordOrder,
  audience,
});

const toVersion = (source: AudienceSource | AudienceTombstone): StoredAudience | Deletion =>
  isAudience(source) ? storedAudience(source) : { recordOrder: source.record_order };

const answerOf = (source: AudienceSource): Audience => toAudience(storedAudience(source));

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
  contacts: ContactDocuments;
  audiences: AudienceDocuments;
  jobs: Pick<JobRunner, 'addFormer' | 'start'>;
  idempotencyKeys: IdempotencyKeys;
  acceptance: AcceptanceTimes;
  searchTimeoutMs: number;
}

export function audienceStore(deps: AudienceStoreDeps): AudienceStore {
  const { contacts, audiences, jobs, idempotencyKeys, acceptance, searchTimeoutMs } = deps;

  /**
   * Ends the memberships under the current token of an audience: `write` writes the next generation. The job is recorded before the write,
   * so that no crash loses the job, and again after the write, in case another process dropped the job as given up. Resolves with the
   * result of `write`.
   */
  async function endMemberships<T>(
    organizationId: string,
    audienceId: string,
    { generation = 0 }: { generation?: number },
    write: (generation: number) => Promise<T>,
  ): Promise<T> {
    const former = { audience_id: audienceId, generation };
    await jobs.addFormer(organizationId, former);
    const written = await write(generation + 1);
    await jobs.addFormer(organizationId, former);
    return written;
  }

  /** Whether records may have made a contact a member of the deleted audience. */
  async function hasMembers(organizationId: string, audienceId: string, generation?: number) {
    await contacts.refresh();
    const { hits } = await contacts.search({
      ...membersOf(organizationId, audienceToken(audienceId, generation)),
      size: 0,
      terminate_after: 1,
    });
    return totalHits(hits) > 0;
  }

  /** Repeats `attempt` with the current document while `attempt` resolves with undefined, because another write conflicted. */
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

  /** `resumed` is true if an earlier attempt of the request may have created the audience. */
  function create(audience: AudienceBody, resumed: boolean, now: number): Promise<CreateAudienceOutcome> {
    const { organization_id: organizationId, id } = audience;
    return changeAudience<CreateAudienceOutcome>(organizationId, id, async (found, write) => {
      if (found && isAudience(found.source)) {
        const { source } = found;
        // Also true if an earlier attempt wrote the audience and its response was lost.
        const isOwn = isDeepStrictEqual(source.audience, audience) && (resumed || source.created_at === now);
        if (!isOwn) return { kind: 'audience_exists' };
        await audiences.waitUntilSearchable(found, organizationId);
        return { kind: 'created', audience: answerOf(source) };
      }
      const deletion = found ? { recordOrder: found.source.record_order as string } : undefined;
      const created = createdAudience(audience, now, deletion);
      const { generation } = found?.source ?? {};
      let source = sourceOf(created, generation);
      if (!found || !(await hasMembers(organizationId, id, generation)))
        return (await write(source)) ? { kind: 'created', audience: answerOf(source) } : undefined;
      return endMemberships(organizationId, id, found.source, async (next) => {
        source = sourceOf(created, next);
        return (await write(source)) ? { kind: 'created', audience: answerOf(source) } : undefined;
      });
    });
  }

  /** `change` is the id of the request, which all attempts share. */
  function update(
    { organizationId, audienceId, changes, ifUpdatedMs }: UpdateAudience,
    change: string,
    now: number,
  ): Promise<UpdateAudienceOutcome> {
    return changeAudience<UpdateAudienceOutcome>(organizationId, audienceId, async (found, write) => {
      if (!found || !isAudience(found.source)) return { kind: 'audience_not_found' };
      if (found.source.change === change) {
        await audiences.waitUntilSearchable(found, organizationId);
        return { kind: 'updated', audience: answerOf(found.source) };
      }
      const stored = storedAudience(found.source);
      if (hasChanged(stored, ifUpdatedMs)) return { kind: 'changed_meanwhile' };
      const source = sourceOf(updatedAudience(stored, changes, now), found.source.generation, change);
      return (await write(source)) ? { kind: 'updated', audience: answerOf(source) } : undefined;
    });
  }

  /**
   * Ends the memberships of the audience at once; a job removes stored memberships. `resumed` is true if an earlier attempt may have
   * deleted the audience.
   */
  function remove(
    { organizationId, audienceId, ifUpdatedMs }: DeleteAudience,
    resumed: boolean,
    now: number,
  ): Promise<DeleteAudienceOutcome> {
    let attempted: string | undefined;
    let removed: Audience | null = null;
    return changeAudience<DeleteAudienceOutcome>(organizationId, audienceId, async (found, write) => {
      if (!found) return { kind: 'deleted', deleted: false, audience: null };
      const { source } = found;
      if (!isAudience(source)) {
        // Our own write may have succeeded although its response was lost.
        const isOwn = source.record_order === attempted;
        const outcome = {
          kind: 'deleted',
          deleted: resumed || isOwn,
          audience: isOwn ? removed : null,
        } as const;
        if (!(await hasMembers(organizationId, audienceId, source.generation))) return outcome;
        return endMemberships(organizationId, audienceId, source, async (generation) =>
          (await write({ ...source, generation })) ? outcome : undefined,
        );
      }
      const stored = storedAudience(source);
      if (hasChanged(stored, ifUpdatedMs)) return { kind: 'changed_meanwhile' };
      const audience = toAudience(stored);
      const deletion = deletionAt(now, stored);
      attempted = deletion.recordOrder;
      removed = audience;
      return endMemberships(organizationId, audienceId, source, async (generation) =>
        (await write(tombstoneOf(deletion, generation)))
          ? { kind: 'deleted', deleted: true, audience }
          : undefined,
      );
    });
  }

  return {
    async getAudience(organizationId, audienceId, request) {
      const id = documentId(organizationId, audienceId);
      const found = await audiences.get(id, organizationId, request?.signal);
      return found && isAudience(found.source) ? answerOf(found.source) : null;
    },

    searchAudiences(search, caller) {
      const { request, bestScore } = audienceQuery(search);
      return withDeadline(caller, searchTimeoutMs, async (signal) => {
        const { hits } = await audiences.search(request, signal);
        const last = hits.hits.length < search.limit ? undefined : hits.hits.at(-1);
        return {
          items: hits.hits.map(({ _source }) => answerOf(_source as AudienceSource)),
          total: totalHits(hits),
          next: last ? sortKey(last.sort as (string | number)[], bestScore) : null,
        };
      });
    },

    countMembers(organizationId, audienceIds, caller) {
      return withDeadline(caller, searchTimeoutMs, async (signal) => {
        const generations = await generationsOf(
          audiences,
          audienceIds.map((audienceId) => ({ organizationId, audienceId })),
          signal,
        );
        const ids = audienceIds.map((id) =>
          audienceToken(id, generations.get(documentId(organizationId, id))),
        );
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
      return idempotencyKeys.runIdempotent(
        { organizationId, idempotency, newId: id },
        (key, now) =>
          create({ ...audience, id: key?.lease.source.contact_id ?? id }, key?.resumed ?? false, now),
        isAudienceWritten,
      );
    },

    updateAudience(command) {
      return idempotencyKeys.runIdempotent(
        command,
        (key, now) => update(command, key?.useId ?? randomUUID(), now),
        isAudienceWritten,
      );
    },

    async deleteAudience(command) {
      const result = await idempotencyKeys.runIdempotent(
        command,
        (key, now) => remove(command, key?.resumed ?? false, now),
        isAudienceWritten,
      );
      if (result.kind === 'done') await jobs.start(command.organizationId);
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
