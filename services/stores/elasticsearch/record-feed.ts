/** Contacts, audiences and visits in the order in which they changed, for a copy in another store. */
import type { estypes } from '@elastic/elasticsearch';
import type { Clock } from '../../shared/time.js';
import {
  type ChangedRecords,
  COPIED_KINDS,
  type CopiedKind,
  type CopyLease,
  type IndexSnapshot,
  type RecordKey,
  type RecordSource,
  type SourceIndex,
} from '../common/record-copy.js';
import { type AudienceSource, type AudienceTombstone, isAudience, toAudience } from './audiences.js';
import type { Cluster } from './client.js';
import { type ContactSource, isTombstone, type Tombstone } from './contacts/mapping.js';
import { Documents } from './documents.js';
import { unavailable } from './errors.js';
import { Lease, type LeaseSource } from './lease.js';
import type { IndexNames } from './migrations/indices.js';
import type { VisitSource } from './visits.js';

const RECORDS_PER_PAGE = 1000;
const KEYS_PER_PAGE = 10_000;
const ORGANIZATIONS_PER_PAGE = 10_000;
const KEEP_ALIVE = '5m';
const LEASE_ID = 'copy';
const LEASE_MS = 10_000;
/** Longer than an insert of a holder that died can still be on its way. */
const LATE_INSERT_MS = 35_000;

const INDEX = /^(?<alias>.+)-v\d+-\d+(?:-[0-9a-f]+)?$/;
const MONTH = /^visits-(?<year>\d{4})\.(?<month>\d\d)$/;

interface Kind {
  /** What is copied, tombstones included. */
  query: estypes.QueryDslQueryContainer;
  /** A total order of the records of an organization. */
  sort: string[];
  /** The record as the API answers it; null for a tombstone. */
  toLine(source: unknown): string | null;
}

const KINDS: Record<CopiedKind, Kind> = {
  contacts: {
    query: { match_all: {} },
    sort: ['contact_id'],
    toLine: (given) => {
      const source = given as ContactSource | Tombstone;
      return isTombstone(source) ? null : source.contact;
    },
  },
  audiences: {
    query: { match_all: {} },
    sort: ['audience_id'],
    toLine: (given) => {
      const source = given as AudienceSource | AudienceTombstone;
      return isAudience(source) ? JSON.stringify(toAudience(source)) : null;
    },
  },
  visits: {
    // Outside of these years the analytics store has no date-times.
    query: {
      range: { created_at: { gte: Date.UTC(1900, 0), lt: Date.UTC(2299, 0), format: 'epoch_millis' } },
    },
    sort: ['created_at', 'visit_id'],
    toLine: (source) => (source as VisitSource).visit,
  },
};

export class RecordFeed implements RecordSource {
  readonly #cluster: Cluster;
  readonly #names: IndexNames;
  readonly #clock: Clock;

  constructor(cluster: Cluster, names: IndexNames, clock: Clock) {
    this.#cluster = cluster;
    this.#names = names;
    this.#clock = clock;
  }

  async indices(): Promise<SourceIndex[]> {
    const { indices = {} } = await this.#cluster.run((client) =>
      client.indices.stats({
        index: COPIED_KINDS.map((kind) => this.#names.alias(kind)),
        metric: 'docs',
        level: 'shards',
        filter_path: [
          'indices.*.uuid',
          'indices.*.shards.*.routing.primary',
          'indices.*.shards.*.seq_no.global_checkpoint',
        ],
      }),
    );
    return Object.entries(indices).map(([index, stats]) => this.#toSource(index, stats));
  }

  #toSource(index: string, { uuid = '', shards = {} }: estypes.IndicesStatsIndicesStats): SourceIndex {
    const alias = INDEX.exec(index)?.groups?.alias ?? index;
    const name = alias.slice(this.#names.prefix.length + 1);
    const kind = COPIED_KINDS.find((each) => name === each || name.startsWith(`${each}-`));
    const positions = Object.entries(shards).map(([shard, copies]): [number, number] => {
      const primary = copies.find(({ routing }) => routing?.primary);
      if (!primary?.seq_no) throw unavailable(`no shard ${shard} of ${index}`);
      return [Number(shard), primary.seq_no.global_checkpoint];
    });
    if (!kind || positions.length === 0) throw unavailable(`no shards of ${index}`);
    const { year, month } = MONTH.exec(name)?.groups ?? {};
    return { name, kind, month: Number(`${year ?? ''}${month ?? ''}`), uuid, shards: new Map(positions) };
  }

  async open({ name, kind, shards }: SourceIndex): Promise<IndexSnapshot> {
    const alias = `${this.#names.prefix}-${name}`;
    await this.#cluster.run((client) => client.indices.refresh({ index: alias }));
    const opened = new Map<number, PointInTime>();
    const close = async () => {
      for (const point of opened.values()) await point.close();
    };
    try {
      for (const shard of shards.keys()) {
        opened.set(shard, await PointInTime.open(this.#cluster, alias, shard, KINDS[kind].query));
      }
    } catch (error) {
      await close();
      throw error;
    }
    return new Snapshot(KINDS[kind], opened, close);
  }

  /** Clock skew makes it expire early or late: see `Lease`. */
  async acquireLease(): Promise<CopyLease | null> {
    const clock = this.#clock;
    const result = await Lease.acquire<LeaseSource, null>(
      new Documents<LeaseSource>(this.#cluster, this.#names.alias('migrations')),
      LEASE_ID,
      { durationMs: LEASE_MS, clock },
      (previous, held) => {
        // 0 when it was released, with every insert answered.
        const expiredAt = previous?.lease_until ?? 0;
        const mayInsert = expiredAt > 0 && expiredAt + LATE_INSERT_MS > clock.now();
        return held || mayInsert ? { reject: null } : { acquire: {} };
      },
    );
    return 'rejected' in result ? null : result.lease;
  }
}

class Snapshot implements IndexSnapshot {
  readonly #kind: Kind;
  readonly #points: ReadonlyMap<number, PointInTime>;
  /** Shards by organization: all records of one are on one. */
  readonly #shards = new Map<string, PointInTime>();
  readonly close: () => Promise<void>;

  constructor(kind: Kind, points: ReadonlyMap<number, PointInTime>, close: () => Promise<void>) {
    this.#kind = kind;
    this.#points = points;
    this.close = close;
  }

  async *changes(shard: number, after: number): AsyncGenerator<ChangedRecords> {
    const pages = this.#points.get(shard)?.pages({
      size: RECORDS_PER_PAGE,
      query: { range: { _seq_no: { gt: after } } },
      sort: [{ _seq_no: 'asc' }],
    });
    for await (const hits of pages ?? []) {
      const lines: string[] = [];
      const deleted: ChangedRecords['deleted'] = [];
      for (const { _id, _source } of hits) {
        const line = this.#kind.toLine(_source);
        if (line !== null) lines.push(line);
        else deleted.push(keyOf(_id as string));
      }
      yield { lines, deleted, seqNo: Number(hits.at(-1)?.sort?.[0]) };
    }
  }

  async counts(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const point of this.#points.values()) {
      for (let after: estypes.AggregationsCompositeAggregateKey | undefined; ; ) {
        const { aggregations = {} } = await point.search({
          size: 0,
          aggs: {
            organizations: {
              composite: {
                size: ORGANIZATIONS_PER_PAGE,
                sources: [{ id: { terms: { field: 'organization_id' } } }],
                after,
              },
            },
          },
        });
        const { buckets, after_key } = aggregations.organizations as estypes.AggregationsCompositeAggregate;
        for (const { key, doc_count } of buckets as estypes.AggregationsCompositeBucket[]) {
          counts.set(String(key.id), doc_count);
          this.#shards.set(String(key.id), point);
        }
        if (!after_key) break;
        after = after_key;
      }
    }
    return counts;
  }

  async *keys(organizationId: string): AsyncGenerator<RecordKey[]> {
    const pages = this.#shards.get(organizationId)?.pages({
      size: KEYS_PER_PAGE,
      _source: false,
      query: { term: { organization_id: organizationId } },
      sort: this.#kind.sort.map((field) => ({ [field]: 'asc' as const })),
    });
    for await (const hits of pages ?? []) {
      yield hits.map(({ sort = [] }) =>
        this.#kind.sort.length === 1
          ? { id: String(sort[0]) }
          : { createdMs: Number(sort[0]), id: String(sort[1]) },
      );
    }
  }
}

function keyOf(documentId: string): { organizationId: string; id: string } {
  const slash = documentId.indexOf('/');
  return { organizationId: documentId.slice(0, slash), id: documentId.slice(slash + 1) };
}

/** A shard as it is at one moment. */
class PointInTime {
  readonly #cluster: Cluster;
  readonly #filter: estypes.QueryDslQueryContainer;
  #id: string;

  private constructor(cluster: Cluster, id: string, filter: estypes.QueryDslQueryContainer) {
    this.#cluster = cluster;
    this.#id = id;
    this.#filter = filter;
  }

  static async open(
    cluster: Cluster,
    index: string,
    shard: number,
    filter: estypes.QueryDslQueryContainer,
  ): Promise<PointInTime> {
    const { id } = await cluster.run((client) =>
      client.openPointInTime({ index, keep_alive: KEEP_ALIVE, preference: `_shards:${shard}` }),
    );
    return new PointInTime(cluster, id, filter);
  }

  async search({ query, ...request }: estypes.SearchRequest): Promise<estypes.SearchResponse<unknown>> {
    const found = await this.#cluster.run((client) =>
      client.search({
        track_total_hits: false,
        allow_partial_search_results: false,
        ...request,
        query: { bool: { filter: query ? [this.#filter, query] : [this.#filter] } },
        pit: { id: this.#id, keep_alive: KEEP_ALIVE },
      }),
    );
    this.#id = found.pit_id ?? this.#id;
    return found;
  }

  async *pages(
    request: estypes.SearchRequest & { size: number },
  ): AsyncGenerator<estypes.SearchHit<unknown>[]> {
    for (let last: estypes.SortResults | undefined; ; ) {
      const { hits } = (await this.search({ ...request, search_after: last })).hits;
      if (hits.length > 0) yield hits;
      if (hits.length < request.size) return;
      last = hits.at(-1)?.sort;
    }
  }

  async close(): Promise<void> {
    await this.#cluster
      .run((client) => client.closePointInTime({ id: this.#id }, { ignore: [404] }))
      // It expires by itself.
      .catch(() => undefined);
  }
}
