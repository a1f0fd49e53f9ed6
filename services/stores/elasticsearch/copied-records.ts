/** What the follower of the SQL copy reads (decision 0022), except the feed of changes. */
import { toAudience } from '../../audiences/stored-audience.js';
import type { Clock } from '../../shared/time.js';
import type { CopiedRecords } from '../common/sql-copy.js';
import {
  type AudienceSource,
  type AudienceTombstone,
  isAudience,
  storedAudience,
} from './audience-documents.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import { lastOperations } from './erasure/expunge.js';
import { DELETED, type JournalDocuments, journalPages } from './erasure/journals.js';
import { Lease, type LeaseSource } from './lease.js';
import type { IndexNames } from './migrations/indices.js';
import { isCoveredBy, readShards } from './shard-positions.js';

const AUDIENCES_PER_PAGE = 1000;
/** Milliseconds for which a killed follower keeps other processes waiting. */
const LEASE_MS = 15_000;

interface CopiedRecordsDeps {
  cluster: Cluster;
  names: IndexNames;
  audiences: Documents<AudienceSource | AudienceTombstone>;
  erasures: JournalDocuments;
  clock: Clock;
  keepsMarks: boolean;
}

export function copiedRecords({
  cluster,
  names,
  audiences,
  erasures,
  clock,
  keepsMarks,
}: CopiedRecordsDeps): CopiedRecords & { close(): Promise<void> } {
  const leases = new Documents<LeaseSource>(cluster, names.alias('migrations'));
  let lease: Lease<LeaseSource> | null = null;
  return {
    keepsMarks,
    hasRecords: async () => true,
    async readAudienceVersion() {
      return JSON.stringify(await lastOperations(cluster, names.alias('audiences')));
    },
    async *readAudiences() {
      await audiences.refresh();
      const pages = audiences.pages({
        size: AUDIENCES_PER_PAGE,
        query: { exists: { field: 'audience_id' } },
        sort: [{ organization_id: 'asc' }, { audience_id: 'asc' }],
      });
      for await (const hits of pages) {
        yield hits.flatMap(({ _source }) =>
          _source && isAudience(_source) ? JSON.stringify(toAudience(storedAudience(_source))) : [],
        );
      }
    },
    async hasErasedSince(position) {
      for await (const journals of journalPages(erasures, DELETED)) {
        if (journals.length === 0) return false;
        const index = await readShards(cluster, names);
        if (journals.some(({ source }) => !isCoveredBy(position, source.deleted_up_to ?? {}, index)))
          return true;
      }
      return false;
    },
    async holdsLease() {
      if (lease) {
        try {
          lease.throwIfLost();
          return true;
        } catch {
          lease = null;
        }
      }
      const options = { durationMs: LEASE_MS, clock };
      const result = await Lease.acquire<LeaseSource, null>(leases, 'sql-copy', options, (_, held) =>
        held ? { reject: null } : { acquire: {} },
      );
      if ('rejected' in result) return false;
      ({ lease } = result);
      return true;
    },
    async close() {
      await lease?.release().catch(() => undefined);
    },
  };
}
