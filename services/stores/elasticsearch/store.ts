import type { KeyStore, StoredKey } from '../../accounts/key-store.js';
import type { AudienceSearch } from '../../audiences/audience-store.js';
import type { AudienceRecord } from '../../audiences/schema.js';
import {
  type ContactBatch,
  type ContactSearch,
  type CreateContact,
  deletionResult,
  explanationBytes,
  isReplayable,
  type Membership,
} from '../../contacts/contact-store.js';
import type { EraseCommand, ErasureResult, ErasureSearch } from '../../contacts/erasure-store.js';
import type { ContactRecord } from '../../contacts/schema.js';
import type { Cancellable } from '../../shared/async.js';
import type { ElasticsearchConfig } from '../../shared/config.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import { OverloadedError, PartialWriteError } from '../../shared/store-errors.js';
import { type Clock, systemClock } from '../../shared/time.js';
import type { VisitRecord } from '../../visits/schema.js';
import type { VisitSearch } from '../../visits/visit-store.js';
import type { DeadLetterQuery, StoredDeadLetter } from '../common/dead-letters.js';
import { InFlightBytes } from '../common/in-flight-bytes.js';
import type { SearchStore } from '../common/search-store.js';
import { applyRecords } from './apply-records.js';
import {
  type AudienceSource,
  type AudienceTombstone,
  applyToSource,
  audienceDocument,
  audienceQuery,
  isAudience,
  toAudience,
} from './audiences.js';
import { Cluster } from './client.js';
import { getContactBatch } from './contacts/batch.js';
import { DuplicateLocks } from './contacts/duplicate-lock.js';
import { type ContactSource, isTombstone, type Tombstone } from './contacts/mapping.js';
import { contactFacets, contactQuery } from './contacts/search.js';
import { ContactWrites, deleteContacts, upsertContacts } from './contacts/writes.js';
import { Ledger } from './credits.js';
import { DeadLetters } from './dead-letters.js';
import { Documents, documentId } from './documents.js';
import { type CopyToErase, Erasures } from './erasure/erasures.js';
import { AcceptanceTimes, readFigures } from './figures.js';
import { IdempotencyKeys, idempotencyDocuments } from './idempotency.js';
import { keyStore } from './keys.js';
import { ensureIndices, IndexNames } from './migrations/indices.js';
import { hasOtherOrganization } from './organizations.js';
import { fetchPage, sortKey, totalHits } from './pages.js';
import { RecordFeed } from './record-feed.js';
import { RecoveryJob, type RecoveryLog } from './recovery-job.js';
import { RefreshCoalescer } from './refresh-coalescer.js';
import { VisitWrites } from './visit-writes.js';
import { type VisitSource, visitFacets, visitQuery } from './visits.js';

/** The fixed costs of a write are negligible then. */
const BATCH_RECORDS = 5000;

export interface ElasticsearchStoreOptions {
  clock?: Clock;
  /** Mean time between two runs of the recovery job. */
  recoveryIntervalMs?: number;
  /** Minimum time between two refreshes. */
  refreshIntervalMs?: number;
  log?: RecoveryLog;
  /** The copy of records in another store, which erasures must reach. */
  copy?: CopyToErase;
}

/**
 * Opens the search store on a cluster and creates missing indices. Throws `MappingChangedError`, `MigrationNeededError` and
 * `StoreUnavailableError`.
 */
export async function openElasticsearchStore(
  config: ElasticsearchConfig,
  { clock = systemClock, ...options }: ElasticsearchStoreOptions = {},
): Promise<SearchStore & { readonly feed: RecordFeed }> {
  const cluster = new Cluster(config);
  const names = new IndexNames(config.indexPrefix);
  try {
    await ensureIndices(cluster, names);
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return new ElasticsearchStore(cluster, names, clock, options);
}

/** Bytes of responses not yet sent, above which searches are rejected. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

class ElasticsearchStore implements SearchStore {
  readonly preferredBatchSize = BATCH_RECORDS;
  readonly feed: RecordFeed;
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #names: IndexNames;
  readonly #contacts: Documents<ContactSource | Tombstone>;
  readonly #audiences: Documents<AudienceSource | AudienceTombstone>;
  readonly #visits: Documents<VisitSource>;
  readonly #acceptance: AcceptanceTimes;
  readonly #ledger: Ledger;
  readonly #idempotencyKeys: IdempotencyKeys;
  readonly #erasures: Erasures;
  readonly #writes: ContactWrites;
  readonly #visitWrites: VisitWrites;
  readonly #keys: KeyStore;
  readonly #deadLetters: DeadLetters;
  readonly #refreshCoalescer: RefreshCoalescer;
  readonly #recoveryJob: RecoveryJob;
  readonly #responses = new InFlightBytes(MAX_RESPONSE_BYTES);

  constructor(
    cluster: Cluster,
    names: IndexNames,
    clock: Clock,
    { recoveryIntervalMs, refreshIntervalMs, log, copy }: Omit<ElasticsearchStoreOptions, 'clock'>,
  ) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#names = names;
    this.feed = new RecordFeed(cluster, names, clock);
    this.#contacts = new Documents(cluster, names.alias('contacts'));
    this.#audiences = new Documents(cluster, names.alias('audiences'));
    this.#visits = new Documents(cluster, names.alias('visits'));
    this.#acceptance = new AcceptanceTimes(cluster, names);
    this.#ledger = new Ledger(cluster, names);
    const idempotency = idempotencyDocuments(cluster, names);
    this.#idempotencyKeys = new IdempotencyKeys(idempotency, clock);
    this.#deadLetters = new DeadLetters(cluster, names, clock);
    this.#erasures = new Erasures({
      cluster,
      names,
      contacts: this.#contacts,
      idempotencyKeys: this.#idempotencyKeys,
      deadLetters: this.#deadLetters,
      clock,
      feed: this.feed,
      copy,
    });
    this.#keys = keyStore(cluster, names);
    this.#refreshCoalescer = new RefreshCoalescer(cluster, names, refreshIntervalMs);
    this.#writes = new ContactWrites({
      contacts: this.#contacts,
      audiences: this.#audiences,
      ledger: this.#ledger,
      suppression: this.#erasures.suppression,
      locks: new DuplicateLocks(idempotency, this.#contacts, clock),
    });
    this.#visitWrites = new VisitWrites({ cluster, names, visits: this.#visits, clock });
    this.#recoveryJob = new RecoveryJob(
      {
        cluster,
        names,
        ledger: this.#ledger,
        idempotencyKeys: this.#idempotencyKeys,
        contacts: this.#writes,
        erasures: this.#erasures,
        clock,
        log,
      },
      recoveryIntervalMs,
    );
  }

  get recovery() {
    return this.#recoveryJob.status;
  }

  async getContact(organizationId: string, contactId: string, request?: Cancellable) {
    const id = documentId(organizationId, contactId);
    const found = await this.#contacts.get(id, organizationId, request?.signal);
    return found && !isTombstone(found.source) ? found.source.contact : null;
  }

  getContacts(
    organizationId: string,
    contactIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ContactBatch> {
    return this.#bounded(signal, () => getContactBatch(this.#contacts, organizationId, contactIds, signal));
  }

  async searchContacts(search: ContactSearch, caller?: Cancellable) {
    const signal = caller?.signal;
    const { request, bestScore } = contactQuery(search);
    const documents = this.#contacts as Documents<ContactSource>;
    const form = {
      limit: search.limit,
      bestScore,
      toJson: ({ contact }: ContactSource) => contact,
      toFacets: contactFacets,
      reservedBytesPerItem: explanationBytes(search),
      explain: search.explain,
    };
    return this.#bounded(signal, () => fetchPage(request, form, (part) => documents.search(part, signal)));
  }

  createContact(command: CreateContact) {
    const { contact, idempotency, dryRun } = command;
    return this.#idempotencyKeys.runIdempotent(
      { organizationId: contact.organization_id, idempotency, newContactId: contact.contact_id },
      (key, now) => this.#writes.create(command, key, now),
      (outcome) => isReplayable(outcome, dryRun),
    );
  }

  addMembership(membership: Membership) {
    return this.#idempotencyKeys.runIdempotent(
      membership,
      (_, now) => this.#writes.add(membership, now),
      isReplayable,
    );
  }

  removeMembership(membership: Membership) {
    return this.#idempotencyKeys.runIdempotent(
      membership,
      (key, now) => this.#writes.remove(membership, key, now),
      isReplayable,
    );
  }

  upsertContacts(records: readonly OrderedRecord<ContactRecord>[]) {
    return this.#noting(
      'contacts',
      records,
      upsertContacts(this.#contacts, records, this.#erasures.suppression),
    );
  }

  async deleteContacts(organizationId: string, contactIds: readonly string[]) {
    const now = this.#clock.now();
    const deleted = await deleteContacts(this.#contacts, organizationId, contactIds, now);
    if (deleted.size > 0) await this.refresh();
    return deletionResult(contactIds, deleted);
  }

  async eraseContacts(command: EraseCommand): Promise<ErasureResult> {
    const result = await this.#erasures.erase(command);
    await this.refresh();
    return result;
  }

  listErasures(search: ErasureSearch) {
    return this.#erasures.list(search);
  }

  async getAudience(organizationId: string, audienceId: string, request?: Cancellable) {
    const id = documentId(organizationId, audienceId);
    const found = await this.#audiences.get(id, organizationId, request?.signal);
    return found && isAudience(found.source) ? toAudience(found.source) : null;
  }

  async searchAudiences(search: AudienceSearch, signal?: AbortSignal) {
    const { request, bestScore } = audienceQuery(search);
    const { hits } = await this.#audiences.search(request, signal);
    const last = hits.hits.length < search.limit ? undefined : hits.hits.at(-1);
    return {
      items: hits.hits.map(({ _source }) => toAudience(_source as AudienceSource)),
      total: totalHits(hits),
      next: last ? sortKey(last.sort as (string | number)[], bestScore) : null,
    };
  }

  upsertAudiences(records: readonly OrderedRecord<AudienceRecord>[]) {
    const written = applyRecords(this.#audiences, records, {
      idOf: ({ record }) => documentId(record.organization_id, record.id),
      routingOf: ({ record }) => record.organization_id,
      fromSource: (source) => source,
      apply: applyToSource,
      toDocument: audienceDocument,
    });
    return this.#noting('audiences', records, written);
  }

  async searchVisits(search: VisitSearch, signal?: AbortSignal) {
    const form = {
      limit: search.limit,
      bestScore: null,
      toJson: ({ visit }: VisitSource) => visit,
      toFacets: visitFacets,
    };
    return this.#bounded(signal, () =>
      fetchPage(visitQuery(search), form, (part) => this.#visits.search(part, signal)),
    );
  }

  /** Throws `OverloadedError` while too many bytes of responses are in flight. */
  async #bounded<T>(
    signal: AbortSignal | undefined,
    fetch: () => Promise<{ result: T; bytes: number }>,
  ): Promise<T> {
    if (this.#responses.isFull) throw new OverloadedError('search');
    const { result, bytes } = await fetch();
    this.#responses.hold(bytes, signal);
    return result;
  }

  async insertVisits(records: readonly OrderedRecord<VisitRecord>[]): Promise<void> {
    await this.#visitWrites.insert(records);
    this.#acceptance.note('visits', records);
  }

  deleteVisitsBefore(createdMs: number, limit: number) {
    return this.#visitWrites.deleteBefore(createdMs, limit);
  }

  readFigures(organizationId: string, signal?: AbortSignal) {
    const documents = { contacts: this.#contacts, audiences: this.#audiences, visits: this.#visits };
    return readFigures(documents, this.#acceptance, organizationId, signal);
  }

  refresh() {
    return this.#refreshCoalescer.refresh();
  }

  findKey(keyId: string) {
    return this.#keys.findKey(keyId);
  }

  insertKey(key: StoredKey) {
    return this.#keys.insertKey(key);
  }

  listKeys(organizationId?: string) {
    return this.#keys.listKeys(organizationId);
  }

  revokeKey(keyId: string, revokedAt: string) {
    return this.#keys.revokeKey(keyId, revokedAt);
  }

  recordKeyUse(keyId: string, usedAt: string) {
    return this.#keys.recordKeyUse(keyId, usedAt);
  }

  getCredits(organizationId: string) {
    return this.#ledger.balance(organizationId);
  }

  setCredits(organizationId: string, balance: number) {
    return this.#ledger.set(organizationId, balance);
  }

  grantCredits(organizationId: string, amount: number) {
    return this.#ledger.grant(organizationId, amount);
  }

  keepDeadLetters(records: readonly StoredDeadLetter[]) {
    return this.#deadLetters.keep(records);
  }

  listDeadLetters(query: DeadLetterQuery) {
    return this.#deadLetters.list(query);
  }

  deleteDeadLetters(ids: readonly string[]) {
    return this.#deadLetters.delete(ids);
  }

  hasOtherOrganization(organizationId: string) {
    return hasOtherOrganization(this.#cluster, this.#names, organizationId);
  }

  /** Searches, because a cluster that has lost an index still answers a ping. */
  async ping(): Promise<void> {
    await this.#contacts.search({ size: 0, terminate_after: 1, track_total_hits: false });
  }

  async close(): Promise<void> {
    await this.#recoveryJob.stop();
    await this.#ledger.idle();
    await this.#acceptance.close();
    await this.#cluster.close();
  }

  /** Notes when the records were accepted that a write did not reject. */
  async #noting(
    stream: 'contacts' | 'audiences',
    records: readonly OrderedRecord<object>[],
    written: Promise<void>,
  ): Promise<void> {
    try {
      await written;
      this.#acceptance.note(stream, records);
    } catch (error) {
      if (error instanceof PartialWriteError) {
        const stored = records.filter((_, index) => !error.rejected.has(index));
        this.#acceptance.note(stream, stored);
      }
      throw error;
    }
  }
}
