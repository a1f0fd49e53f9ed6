import type { estypes } from '@elastic/elasticsearch';
import { REJECTION_LIMITS, type Rejection, type RejectionStore } from '../../rejections/rejection-store.js';
import { toJson } from '../../shared/json.js';
import type { Clock } from '../../shared/time.js';
import type { Cluster } from './client.js';
import { Documents, versionOfHit } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { fetchPage, searchAfter } from './pages.js';

export interface RejectionSource {
  id: string;
  organization_id: string;
  stream: string;
  /** Milliseconds since the epoch. */
  rejected_at: number;
  record: Rejection;
}

const DOCUMENTS_PER_PAGE = 1000;
const NEWEST_FIRST: estypes.SortCombinations[] = [{ rejected_at: 'desc' }, { id: 'desc' }];
/**
 * Deletes rejections that name one of the contacts. Resolves with the number of deleted rejections. An organization keeps a bounded number
 * of rejections.
 */
export async function eraseRejections(
  documents: Documents<RejectionSource>,
  organizationId: string,
  contactIds: ReadonlySet<string>,
): Promise<number> {
  if (contactIds.size === 0) return 0;
  await documents.refresh();
  const query = { term: { organization_id: organizationId } };
  const request = { size: DOCUMENTS_PER_PAGE, seq_no_primary_term: true, query, sort: NEWEST_FIRST };
  let erased = 0;
  for await (const hits of documents.pages(request)) {
    const named = hits.filter(({ _source }) => contactIds.has(_source?.record.record_id ?? ''));
    if (named.length > 0) erased += await documents.deleteMany(named.map(versionOfHit));
  }
  return erased;
}

export function rejectionStore(cluster: Cluster, names: IndexNames, clock: Clock): RejectionStore {
  const documents = new Documents<RejectionSource>(cluster, names.alias('rejections'));

  /** Deletes the rejections that match, except rejections that changed meanwhile: another process has deleted these. */
  async function deleteAll(query: estypes.QueryDslQueryContainer): Promise<void> {
    const request = { size: DOCUMENTS_PER_PAGE, seq_no_primary_term: true, _source: false, query };
    for await (const hits of documents.pages({ ...request, sort: NEWEST_FIRST })) {
      await documents.deleteMany(hits.map(versionOfHit));
    }
  }

  /**
   * Deletes the oldest rejections above the limits. Counts only rejections that searches find, so rejections of the last second may exceed
   * the limits.
   */
  async function deleteOldest(organizationId: string): Promise<void> {
    const ofOrganization = { term: { organization_id: organizationId } };
    const { hits } = await documents.search({
      from: REJECTION_LIMITS.records - 1,
      size: 1,
      track_total_hits: false,
      query: ofOrganization,
      sort: NEWEST_FIRST,
    });
    const oldest = hits.hits[0]?._source?.rejected_at ?? 0;
    const before = Math.max(oldest, clock.now() - REJECTION_LIMITS.ageMs + 1);
    await deleteAll({ bool: { filter: [ofOrganization, { range: { rejected_at: { lt: before } } }] } });
  }

  return {
    async keepRejections(organizationId, rejections) {
      const sources = rejections.map((record) => ({
        id: record.id,
        organization_id: organizationId,
        stream: record.stream,
        rejected_at: Date.parse(record.rejected_at),
        record,
      }));
      await documents.writeMany(
        sources.map((source) => ({ id: source.id, json: () => JSON.stringify(source) })),
      );
      await deleteOldest(organizationId);
    },
    async listRejections({ organizationId, stream, limit, after }, signal) {
      await documents.refresh();
      const filter = [
        ...(organizationId === undefined ? [] : [{ term: { organization_id: organizationId } }]),
        ...(stream === undefined ? [] : [{ term: { stream } }]),
      ];
      const { result } = await fetchPage<RejectionSource, Rejection>(
        documents,
        { query: { bool: { filter } }, sort: NEWEST_FIRST, search_after: searchAfter(after, null) },
        { limit, bestScore: null, toJson: ({ record }) => toJson(record) },
        signal,
      );
      return result;
    },
    async deleteRejections(ids) {
      if (ids.length === 0) return;
      await documents.refresh();
      await deleteAll({ terms: { id: [...ids] } });
      await documents.refresh();
    },
  };
}
