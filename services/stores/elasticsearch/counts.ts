/** Counts stored records of an organization by stream, and records when the newest record was accepted. */
import type { estypes } from '@elastic/elasticsearch';
import {
  isStale,
  type OrderedRecord,
  type OrganizationRecord,
  organizationOf,
} from '../../shared/record-order.js';
import { PartialWriteError } from '../../shared/store-errors.js';
import type { RecordCounts } from '../../status/status-store.js';
import type { BulkOperation, Cluster } from './client.js';
import { Documents, documentId } from './documents.js';
import { itemError } from './errors.js';
import type { IndexNames } from './migrations/indices.js';
import { totalHits } from './pages.js';
import { retryWhileBlocked } from './retry.js';

const STREAMS = ['contacts', 'audiences', 'visits'] as const;
type Stream = (typeof STREAMS)[number];

interface AcceptanceSource {
  organization_id: string;
  /** Milliseconds since the epoch. */
  accepted_at: number;
}

/** Acceptance times, one document per organization and stream. */
export class AcceptanceTimes {
  readonly #cluster: Cluster;
  readonly #documents: Documents<AcceptanceSource>;

  constructor(cluster: Cluster, names: IndexNames) {
    this.#cluster = cluster;
    this.#documents = new Documents(cluster, names.alias('streams'));
  }

  /** Records the acceptance of records that a write does not reject, including stale records. */
  async noteWritten(
    stream: Stream,
    records: readonly OrderedRecord<OrganizationRecord>[],
    written: Promise<void>,
  ): Promise<void> {
    try {
      await written;
      await this.#note(stream, records);
    } catch (error) {
      if (error instanceof PartialWriteError) {
        await this.#note(
          stream,
          records.filter((_, index) => !error.rejected.has(index) || isStale(error.rejected.get(index))),
        );
      }
      throw error;
    }
  }

  /**
   * The acceptance time is the version of its document, so the newest time stays, whichever process writes it. A failure here rejects no
   * record: the next record writes a newer time.
   */
  async #note(stream: Stream, records: readonly OrderedRecord<OrganizationRecord>[]): Promise<void> {
    const newest = new Map<string, number>();
    for (const { record, acceptedAt } of records) {
      const organization = organizationOf(record);
      newest.set(organization, Math.max(newest.get(organization) ?? 0, acceptedAt));
    }
    const operation = ([organization_id, accepted_at]: [string, number]): BulkOperation => {
      const _id = documentId(organization_id, stream);
      const version = { version: accepted_at, version_type: 'external_gte' };
      const source: AcceptanceSource = { organization_id, accepted_at };
      return [{ index: { _id, require_alias: true, ...version } }, JSON.stringify(source)];
    };
    await retryWhileBlocked(this.#cluster, async () => {
      let failure: Error | undefined;
      await this.#cluster.bulk(this.#documents.alias, newest, operation, (_, status, error) => {
        if (status !== 409) failure ??= itemError(status, error);
      });
      if (failure) throw failure;
    }).catch(() => undefined);
  }

  /** Reads the acceptance times by stream, in milliseconds since the epoch; null before the first record. */
  async read(organizationId: string): Promise<Record<Stream, number | null>> {
    const ids = STREAMS.map((stream) => ({ id: documentId(organizationId, stream) }));
    const found = await this.#documents.getMany(ids);
    const newest = ids.map(({ id }) => found.get(id)?.source.accepted_at ?? null);
    return Object.fromEntries(STREAMS.map((stream, index) => [stream, newest[index]])) as Record<
      Stream,
      number | null
    >;
  }
}

/** A search over the records of an organization. Tombstones belong to no organization, so they are left out. */
const inOrganization = (organizationId: string): estypes.SearchRequest => ({
  routing: organizationId,
  query: { bool: { filter: [{ term: { organization_id: organizationId } }] } },
});

export async function readFigures(
  { contacts, audiences, visits }: Record<Stream, Documents<unknown>>,
  acceptance: AcceptanceTimes,
  organizationId: string,
  signal?: AbortSignal,
): Promise<RecordCounts> {
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
