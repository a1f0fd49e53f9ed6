/** Reads all contacts and audiences for the copy that SQL reads. */
import type { estypes } from '@elastic/elasticsearch';
import { toAudience } from '../../audiences/stored-audience.js';
import { fromJson } from '../../shared/json.js';
import type { CopiedKind, RecordSource } from '../common/record-copy.js';
import {
  type AudienceSource,
  type AudienceTombstone,
  isAudience,
  storedAudience,
} from './audience-documents.js';
import type { Cluster } from './client.js';
import {
  type AudienceToken,
  type ContactSource,
  currentContact,
  isTombstone,
  type Tombstone,
} from './contacts/indexed-contact.js';
import type { IndexNames } from './migrations/indices.js';

const RECORDS_PER_PAGE = 1000;
const KEEP_ALIVE = '5m';

/** Tokens of deleted audiences that contacts may still hold, by organization. */
type FormerTokens = ReadonlyMap<string, ReadonlySet<AudienceToken>>;

/** The record as the API returns it; null for a tombstone. */
const LINES: Record<CopiedKind, (source: unknown, former: FormerTokens) => string | null> = {
  contacts(given, former) {
    const source = given as ContactSource | Tombstone;
    if (isTombstone(source)) return null;
    if (former.size === 0) return source.contact;
    const tokens = former.get(fromJson(source.contact).organization_id);
    return tokens ? currentContact(source, tokens) : source.contact;
  },
  audiences(given) {
    const source = given as AudienceSource | AudienceTombstone;
    return isAudience(source) ? JSON.stringify(toAudience(storedAudience(source))) : null;
  },
};

export function recordSource(
  cluster: Cluster,
  names: IndexNames,
  { erased, formerTokens }: Pick<RecordSource, 'erased'> & { formerTokens(): Promise<FormerTokens> },
): RecordSource {
  return {
    erased,
    /** Reads from a point in time, shard by shard in document order, which needs no sorting. */
    async *read(kind) {
      const index = names.alias(kind);
      const former = await formerTokens();
      await cluster.refresh(index);
      let { id } = await cluster.run((client) => client.openPointInTime({ index, keep_alive: KEEP_ALIVE }));
      try {
        for (let last: estypes.SortResults | undefined; ; ) {
          const { hits, pit_id } = await cluster.run((client) =>
            client.search({
              size: RECORDS_PER_PAGE,
              track_total_hits: false,
              allow_partial_search_results: false,
              pit: { id, keep_alive: KEEP_ALIVE },
              sort: ['_shard_doc'],
              search_after: last,
            }),
          );
          id = pit_id ?? id;
          yield hits.hits.flatMap(({ _source }) => LINES[kind](_source, former) ?? []);
          if (hits.hits.length < RECORDS_PER_PAGE) return;
          last = hits.hits.at(-1)?.sort;
        }
      } finally {
        // If closing fails, the point in time expires by itself.
        await cluster
          .run((client) => client.closePointInTime({ id }, { ignore: [404] }))
          .catch(() => undefined);
      }
    },
  };
}
