/** Contacts and audiences as a whole, for the copy that SQL reads. */
import type { estypes } from '@elastic/elasticsearch';
import type { CopiedKind, RecordSource } from '../common/record-copy.js';
import { type AudienceSource, type AudienceTombstone, isAudience, toAudience } from './audiences.js';
import type { Cluster } from './client.js';
import { type ContactSource, isTombstone, type Tombstone } from './contacts/mapping.js';
import type { IndexNames } from './migrations/indices.js';

const RECORDS_PER_PAGE = 1000;
const KEEP_ALIVE = '5m';

/** The record as the API answers it; null for a tombstone. */
const LINES: Record<CopiedKind, (source: unknown) => string | null> = {
  contacts(given) {
    const source = given as ContactSource | Tombstone;
    return isTombstone(source) ? null : source.contact;
  },
  audiences(given) {
    const source = given as AudienceSource | AudienceTombstone;
    return isAudience(source) ? JSON.stringify(toAudience(source)) : null;
  },
};

export function recordSource(
  cluster: Cluster,
  names: IndexNames,
  erased: RecordSource['erased'],
): RecordSource {
  return {
    erased,
    /** From a point in time, shard by shard in the order of documents, which needs no sorting. */
    async *read(kind) {
      const index = names.alias(kind);
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
          yield hits.hits.flatMap(({ _source }) => LINES[kind](_source) ?? []);
          if (hits.hits.length < RECORDS_PER_PAGE) return;
          last = hits.hits.at(-1)?.sort;
        }
      } finally {
        // It expires by itself.
        await cluster
          .run((client) => client.closePointInTime({ id }, { ignore: [404] }))
          .catch(() => undefined);
      }
    },
  };
}
