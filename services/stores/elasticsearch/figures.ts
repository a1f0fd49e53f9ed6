/** What is stored of the streams of an organization, and when their newest records were accepted. */
import type { estypes } from '@elastic/elasticsearch';
import { PeriodicJob } from '../../shared/periodic-job.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import { PartialWriteError } from '../../shared/store-errors.js';
import type { SearchFigures } from '../../status/status-store.js';
import type { BulkOperation, Cluster } from './client.js';
import { Documents, documentId } from './documents.js';
import { itemError } from './errors.js';
import type { IndexNames } from './migrations/indices.js';
import { totalHits } from './pages.js';

const STREAMS = ['contacts', 'audiences', 'visits'] as const;
type Stream = (typeof STREAMS)[number];

/** Between two writes of acceptance times, so that they cost a stream of small writes next to nothing. */
const WRITE_INTERVAL_MS = 1000;

interface AcceptanceSource {
  organization_id: string;
  /** Milliseconds since the epoch. */
  accepted_at: number;
}

/** Acceptance times, one document per organization and stream. */
export class AcceptanceTimes {
  readonly #cluster: Cluster;
  readonly #documents: Documents<AcceptanceSource>;
  /** By document id; not written yet. */
  readonly #pending = new Map<string, AcceptanceSource>();
  readonly #job = new PeriodicJob(() => this.#write(), {
    intervalMs: WRITE_INTERVAL_MS,
    failure: 'acceptance times are written with the next records',
  });

  constructor(cluster: Cluster, names: IndexNames) {
    this.#cluster = cluster;
    this.#documents = new Documents(cluster, names.alias('streams'));
    this.#job.start();
  }

  /** Notes the records that a write does not reject. */
  async noteWritten(
    stream: Stream,
    records: readonly OrderedRecord<object>[],
    written: Promise<void>,
  ): Promise<void> {
    try {
      await written;
      this.#note(stream, records);
    } catch (error) {
      if (error instanceof PartialWriteError) {
        this.#note(
          stream,
          records.filter((_, index) => !error.rejected.has(index)),
        );
      }
      throw error;
    }
  }

  /** Notes records that were written. Their times are written in the background: no record fails or waits for its time. */
  #note(stream: Stream, records: readonly OrderedRecord<object>[]): void {
    for (const { record, acceptedAt } of records) {
      const { organization_id, organizationId } = record as {
        organization_id?: string;
        organizationId?: string;
      };
      const organization = organization_id ?? organizationId ?? '';
      this.#add(documentId(organization, stream), { organization_id: organization, accepted_at: acceptedAt });
    }
  }

  /** Milliseconds since the epoch, by stream; null before the first record. */
  async read(organizationId: string): Promise<Record<Stream, number | null>> {
    const ids = STREAMS.map((stream) => ({ id: documentId(organizationId, stream) }));
    const found = await this.#documents.getMany(ids);
    const newest = ids.map(({ id }) => {
      const times = [found.get(id)?.source, this.#pending.get(id)].flatMap(
        (source) => source?.accepted_at ?? [],
      );
      return times.length === 0 ? null : Math.max(...times);
    });
    return Object.fromEntries(STREAMS.map((stream, index) => [stream, newest[index]])) as Record<
      Stream,
      number | null
    >;
  }

  /** Resolves when all figures are written, or could not be. */
  async close(): Promise<void> {
    await this.#job.stop();
    await this.#write().catch(() => undefined);
  }

  #add(id: string, source: AcceptanceSource): void {
    const before = this.#pending.get(id);
    if (!before || before.accepted_at < source.accepted_at) this.#pending.set(id, source);
  }

  /** What could not be written stays pending. */
  async #write(): Promise<void> {
    const written = [...this.#pending];
    if (written.length === 0) return;
    await this.#writeMany(written);
    for (const [id, source] of written) if (this.#pending.get(id) === source) this.#pending.delete(id);
  }

  /** The acceptance time is the version of its document, so that the newest stays, whichever process writes it. */
  async #writeMany(sources: readonly [string, AcceptanceSource][]): Promise<void> {
    const operation = ([_id, source]: [string, AcceptanceSource]): BulkOperation => {
      const version = { version: source.accepted_at, version_type: 'external_gte' };
      return [{ index: { _id, require_alias: true, ...version } }, JSON.stringify(source)];
    };
    let failure: Error | undefined;
    await this.#cluster.bulk(this.#documents.alias, sources, operation, (_, status, error) => {
      if (status !== 409) failure ??= itemError(status, error);
    });
    if (failure) throw failure;
  }
}

/** Without tombstones, which belong to no organization. */
const inOrganization = (organizationId: string): estypes.SearchRequest => ({
  routing: organizationId,
  query: { bool: { filter: [{ term: { organization_id: organizationId } }] } },
});

export async function readFigures(
  { contacts, audiences, visits }: Record<Stream, Documents<unknown>>,
  acceptance: AcceptanceTimes,
  organizationId: string,
  signal?: AbortSignal,
): Promise<SearchFigures> {
  const all = inOrganization(organizationId);
  const newestFirst = { ...all, size: 1, _source: false, sort: [{ created_at: 'desc' as const }] };
  const [accepted, foundContacts, foundAudiences, foundVisits] = await Promise.all([
    acceptance.read(organizationId),
    contacts.search({ ...all, size: 0 }, signal),
    audiences.search({ ...all, size: 0 }, signal),
    visits.search(newestFirst, signal),
  ]);
  const newest = foundVisits.hits.hits[0]?.sort?.[0];
  return {
    contacts: { records: totalHits(foundContacts.hits), lastAcceptedAt: accepted.contacts },
    audiences: { records: totalHits(foundAudiences.hits), lastAcceptedAt: accepted.audiences },
    visits: {
      records: totalHits(foundVisits.hits),
      lastAcceptedAt: accepted.visits,
      lastCreatedAt: newest === undefined ? null : Number(newest),
    },
  };
}
