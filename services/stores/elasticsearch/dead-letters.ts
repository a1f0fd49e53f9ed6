import type { estypes } from '@elastic/elasticsearch';
import type { Clock } from '../../shared/time.js';
import {
  DEAD_LETTER_LIMITS,
  DEAD_LETTER_TARGET_RATIO,
  type DeadLetterQuery,
  type StoredDeadLetter,
} from '../common/dead-letters.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { totalHits } from './pages.js';

interface DeadLetterSource {
  id: string;
  organization_id: string;
  /** Milliseconds since the epoch. */
  accepted_at: number;
  sequence: number;
  bytes: number;
  record: StoredDeadLetter;
}

const DOCUMENTS_PER_PAGE = 1000;

const sortOf = (order: 'asc' | 'desc'): estypes.Sort => [
  { accepted_at: order },
  { sequence: order },
  { id: order },
];
const ofOrganization = (organizationId: string) => ({ term: { organization_id: organizationId } });

export class DeadLetters {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #documents: Documents<DeadLetterSource>;

  constructor(cluster: Cluster, names: IndexNames, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#documents = new Documents(cluster, names.alias('dead-letters'));
  }

  async keep(records: readonly StoredDeadLetter[]): Promise<void> {
    await this.#documents.writeMany(
      records.map((record) => ({ id: record.id, json: () => JSON.stringify(toSource(record)) })),
    );
    for (const organizationId of new Set(records.map((record) => record.organizationId))) {
      await this.#deleteOldest(organizationId);
    }
    const expired = { range: { accepted_at: { lte: this.#clock.now() - DEAD_LETTER_LIMITS.ageMs } } };
    // A page per write is enough to keep up.
    await this.#delete(expired, 1);
  }

  async list({ organizationId, after, limit }: DeadLetterQuery): Promise<StoredDeadLetter[]> {
    if (!after) await this.#cluster.run((client) => client.indices.refresh({ index: this.#documents.alias }));
    const { hits } = await this.#documents.search({
      size: limit,
      track_total_hits: false,
      query: organizationId === undefined ? { match_all: {} } : ofOrganization(organizationId),
      sort: sortOf('asc'),
      ...(after ? { search_after: [after.acceptedAt, after.sequence, after.id] } : {}),
    });
    return hits.hits.map(({ _source }) => (_source as DeadLetterSource).record);
  }

  async delete(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#documents.refresh();
    await this.#delete({ terms: { id: [...ids] } });
    await this.#documents.refresh();
  }

  /** Counts what searches find, so that the newest second may be above the limits. */
  async #deleteOldest(organizationId: string): Promise<void> {
    const query = ofOrganization(organizationId);
    const { hits, aggregations } = await this.#documents.search({
      size: 0,
      query,
      aggs: { bytes: { sum: { field: 'bytes' } } },
    });
    const all = (aggregations?.bytes as estypes.AggregationsSumAggregate | undefined)?.value ?? 0;
    if (totalHits(hits) <= DEAD_LETTER_LIMITS.records && all <= DEAD_LETTER_LIMITS.bytes) return;
    const pages = this.#documents.pages({
      size: DOCUMENTS_PER_PAGE,
      _source: ['accepted_at', 'sequence', 'bytes'],
      query,
      sort: sortOf('desc'),
    });
    let records = 0;
    let bytes = 0;
    for await (const page of pages) {
      for (const { _source } of page) {
        const { accepted_at, sequence, ...size } = _source as DeadLetterSource;
        records++;
        bytes += size.bytes;
        const isWithin =
          records <= DEAD_LETTER_LIMITS.records * DEAD_LETTER_TARGET_RATIO &&
          bytes <= DEAD_LETTER_LIMITS.bytes * DEAD_LETTER_TARGET_RATIO;
        if (isWithin) continue;
        const earlier = { range: { accepted_at: { lt: accepted_at } } };
        const sameTime = [{ term: { accepted_at } }, { range: { sequence: { lte: sequence } } }];
        await this.#delete({
          bool: {
            filter: [query],
            should: [earlier, { bool: { filter: sameTime } }],
            minimum_should_match: 1,
          },
        });
        return;
      }
    }
  }

  /**
   * Those that changed meanwhile are left: another process has deleted them. Not `_delete_by_query`, which is a module that not every
   * distribution has.
   */
  async #delete(query: estypes.QueryDslQueryContainer, maxPages = Number.POSITIVE_INFINITY): Promise<void> {
    let done = 0;
    const pages = this.#documents.pages({
      size: DOCUMENTS_PER_PAGE,
      seq_no_primary_term: true,
      _source: false,
      query,
      sort: sortOf('asc'),
    });
    for await (const hits of pages) {
      await this.#documents.deleteMany(hits);
      if (++done >= maxPages) break;
    }
  }
}

const toSource = (record: StoredDeadLetter): DeadLetterSource => ({
  id: record.id,
  organization_id: record.organizationId,
  accepted_at: record.acceptedAt,
  sequence: record.sequence,
  bytes: Buffer.byteLength(JSON.stringify(record)),
  record,
});
