import type { ClockComparison } from '../../shared/clock-comparison.js';
import type { ElasticsearchConfig } from '../../shared/config.js';
import type { JobRuns } from '../../shared/job-runs.js';
import { settingSchemas } from '../../shared/settings.js';
import { DiskFullError, ReadOnlyError } from '../../shared/store-errors.js';
import { type Clock, systemClock } from '../../shared/time.js';
import type { RecordStore } from '../common/record-store.js';
import type { StoreLog } from '../common/store-log.js';
import type { AudienceSource, AudienceTombstone } from './audience-documents.js';
import { audienceStore } from './audiences.js';
import { findBlocks, isOfFullDisk } from './blocks.js';
import { Cluster } from './client.js';
import { DuplicateLocks } from './contacts/duplicate-lock.js';
import type { ContactSource, Tombstone } from './contacts/indexed-contact.js';
import { contactStore } from './contacts/store.js';
import { copiedRecords } from './copied-records.js';
import { AcceptanceTimes, readFigures } from './counts.js';
import { CreditAccounts } from './credits.js';
import { Documents } from './documents.js';
import { domainActivity } from './domain-activity.js';
import { ErasureCompletion } from './erasure/complete.js';
import { DeletedMarks } from './erasure/deleted-marks.js';
import { Erasures } from './erasure/erase.js';
import type { CopiesToErase } from './erasure/journals.js';
import { listErasures } from './erasure/proofs.js';
import { type ErasureSource, SuppressionList } from './erasure/suppression.js';
import { IdempotencyKeys, idempotencyDocuments } from './idempotency.js';
import { readServerTime } from './inspect.js';
import { JobRunner } from './jobs/job-runner.js';
import type { JobSource } from './jobs/job-table.js';
import { keyStore } from './keys.js';
import { ensureIndices, IndexNames } from './migrations/indices.js';
import { orderSlots } from './order-slots.js';
import { hasOtherOrganization } from './organizations.js';
import { boundedReads } from './pages.js';
import { startRecovery } from './recovery-job.js';
import { refreshCoalescer } from './refresh-coalescer.js';
import { type RejectionSource, rejectionStore } from './rejections.js';
import { savedFilterStore } from './saved-filters.js';
import { type VisitSource, visitStore } from './visits.js';

/** Batch size from which on the overhead per request is negligible. */
const BATCH_RECORDS = 5000;

export interface ElasticsearchStoreOptions {
  clock?: Clock;
  /** Compares the clock of this process with the clock of the cluster. If absent, the clock of this process counts as right. */
  clocks?: ClockComparison;
  /** Mean time between two runs of the recovery job. */
  recoveryIntervalMs?: number;
  /** Minimum time between two refreshes. */
  refreshIntervalMs?: number;
  log?: StoreLog;
  /** Records the runs of the recovery job. */
  jobs?: JobRuns;
  /** The copies for SQL, which erasures must reach. */
  copies?: CopiesToErase;
  /** Minimum time between two force merges for erasures. */
  expungeIntervalMs?: number;
  /** Milliseconds without a step after which the process that began an erasure or another job counts as dead. */
  takeoverMs?: number;
  /** Timeout of a search in milliseconds. */
  searchTimeoutMs?: number;
  /** Days for which marks of deleted and erased contacts are kept; 0 keeps none. */
  changesDays?: number;
  /** See `JobRunner`. */
  beforeJobStep?(): Promise<void>;
}

/**
 * Opens the records store on a cluster and creates missing indices. Throws `UnreleasedVersionError`, `MigrationNeededError` and
 * `StoreUnavailableError`.
 */
export async function openElasticsearchStore(
  config: ElasticsearchConfig,
  options: ElasticsearchStoreOptions = {},
): Promise<RecordStore> {
  const cluster = new Cluster(config);
  const names = new IndexNames(config.indexPrefix);
  try {
    await ensureIndices(cluster, names);
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return composeStore(cluster, names, options);
}

function composeStore(
  cluster: Cluster,
  names: IndexNames,
  {
    clock = systemClock,
    clocks,
    recoveryIntervalMs,
    refreshIntervalMs,
    log,
    jobs,
    beforeJobStep,
    copies,
    expungeIntervalMs,
    takeoverMs,
    changesDays = settingSchemas.REACHLINE_CHANGES_DAYS.default,
    searchTimeoutMs = settingSchemas.REACHLINE_SEARCH_TIMEOUT_MS.default,
  }: ElasticsearchStoreOptions,
): RecordStore {
  const contacts = new Documents<ContactSource | Tombstone>(cluster, names.alias('contacts'));
  const audiences = new Documents<AudienceSource | AudienceTombstone>(cluster, names.alias('audiences'));
  const visits = new Documents<VisitSource>(cluster, names.alias('visits'));
  const idempotency = idempotencyDocuments(cluster, names);
  const acceptance = new AcceptanceTimes(cluster, names);
  const creditAccounts = new CreditAccounts(cluster, names);
  const erasureDocuments = new Documents<ErasureSource>(cluster, names.alias('erasures'));
  const suppression = new SuppressionList(erasureDocuments);
  const deletedMarks = new DeletedMarks(erasureDocuments);
  clocks?.add('records', () => readServerTime(cluster));
  const ageClock = clocks?.corrected ?? clock;
  const idempotencyKeys = new IdempotencyKeys(cluster, idempotency, suppression, ageClock);
  const erasures = new Erasures({
    documents: erasureDocuments,
    suppression,
    contacts,
    rejections: new Documents<RejectionSource>(cluster, names.alias('rejections')),
    idempotencyKeys,
    clock,
    copies,
    beforeStep: beforeJobStep,
  });
  const completion = new ErasureCompletion({
    ...{ cluster, names, contacts, erasures, clock, copies, takeoverMs, expungeIntervalMs, changesDays },
    documents: erasureDocuments,
    deletedMarks,
  });
  const jobRunner = new JobRunner({
    jobs: new Documents<JobSource>(cluster, names.alias('jobs')),
    contacts,
    audiences,
    clock,
    takeoverMs,
    beforeStep: beforeJobStep,
  });
  const locks = new DuplicateLocks(idempotency, contacts, clock);
  const writeStores = { contacts, audiences, creditAccounts, suppression, clock };
  const refresh = refreshCoalescer(cluster, names, refreshIntervalMs);
  const recovery = startRecovery(
    {
      ...{ cluster, names, creditAccounts, idempotencyKeys, contacts, suppression },
      erasures: completion,
      ...{ jobRunner, clock, clocks, log, jobs },
    },
    recoveryIntervalMs,
  );
  const bounded = boundedReads(searchTimeoutMs);
  const copied = copiedRecords({
    ...{ cluster, names, audiences, clock },
    erasures: erasureDocuments,
    keepsMarks: changesDays > 0,
  });
  return {
    preferredBatchSize: BATCH_RECORDS,
    copied,
    recovery: recovery.status,
    refresh,
    ...contactStore({
      ...writeStores,
      ...{ cluster, names, ageClock, changesDays, deletedMarks },
      locks,
      idempotencyKeys,
      acceptance,
      bounded,
      shardsPerOrganization: cluster.layout.shardsPerOrganization,
      formerTokens: (organizationId) => jobRunner.formerTokens(organizationId),
      allFormerTokens: () => jobRunner.allFormerTokens(),
      refresh,
    }),
    ...audienceStore({
      contacts,
      audiences,
      jobs: jobRunner,
      idempotencyKeys,
      acceptance,
      searchTimeoutMs,
    }),
    ...visitStore({ cluster, names, visits, acceptance, clock, bounded, log }),
    ...domainActivity({ contacts, visits, bounded }),
    claimAnswer: (request) => idempotencyKeys.claimAnswer(request),
    ...keyStore(cluster, names),
    getCredits: (organizationId) => creditAccounts.balance(organizationId),
    setCredits: (organizationId, balance) => creditAccounts.set(organizationId, balance),
    grantCredits: (organizationId, amount) => creditAccounts.grant(organizationId, amount),
    ...rejectionStore(cluster, names, ageClock),
    ...savedFilterStore(cluster, names),
    ...orderSlots(cluster, names),
    async eraseContacts(command) {
      const result = await erasures.erase(command);
      await refresh();
      return result;
    },
    listErasures: (search) => listErasures(erasureDocuments, search),
    readCounts: (organizationId, signal) =>
      readFigures({ contacts, audiences, visits }, acceptance, organizationId, signal),
    hasOtherOrganization: (organizationId) => hasOtherOrganization(cluster, names, organizationId),
    /** Pings by a search, because a cluster that has lost an index still responds to a ping. */
    async ping() {
      await contacts.search({ size: 0, terminate_after: 1, track_total_hits: false });
      const blocks = await findBlocks(cluster);
      if (blocks.some(isOfFullDisk)) throw new DiskFullError('records');
      if (blocks.length > 0) throw new ReadOnlyError('records');
    },
    async close() {
      await recovery.stop();
      await copied.close();
      await Promise.all([erasures.close(), jobRunner.close()]);
      await creditAccounts.idle();
      await cluster.close();
    },
  };
}
