import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { StoredKey } from '../../accounts/key-store.js';
import type { AudienceSearch } from '../../audiences/audience-store.js';
import type { AudienceRecord } from '../../audiences/schema.js';
import {
  type ContactSearch,
  type CreateContact,
  deletionResult,
  type Membership,
} from '../../contacts/contact-store.js';
import type { EraseCommand, ErasureResult, ErasureSearch } from '../../contacts/erasure-store.js';
import type { ContactRecord } from '../../contacts/schema.js';
import type { Cancellable } from '../../shared/async.js';
import type { IdempotencyConflict } from '../../shared/idempotency.js';
import { fromJson } from '../../shared/json.js';
import type { OrderedRecord } from '../../shared/record-order.js';
import { settingSchemas } from '../../shared/settings.js';
import { PartialWriteError, RecordRejectedError } from '../../shared/store-errors.js';
import { type Clock, systemClock } from '../../shared/time.js';
import type { VisitRecord } from '../../visits/schema.js';
import type { VisitSearch } from '../../visits/visit-store.js';
import type { DeadLetterQuery, StoredDeadLetter } from '../common/dead-letters.js';
import type { SearchStore } from '../common/search-store.js';
import { SEARCH_FILE } from '../data-folder/layout.js';
import { openDatabase } from './database.js';
import type { RebuildProgress } from './migrations/rebuild.js';
import { parsePage } from './pages.js';
import { PointReads } from './point-reads.js';
import type { LookupOperations } from './workers/lookup-thread.js';
import { startSearchProcess } from './workers/process-client.js';
import type { Result } from './workers/rpc.js';
import { SearchPool } from './workers/search-pool.js';
import type { SearchOperations } from './workers/search-process.js';
import { WorkerClient } from './workers/worker-client.js';
import type { BatchResult } from './writes/write-batch.js';
import type {
  MaintenanceOperations,
  RecordOperations,
  RecordWriter,
  WriteOperations,
} from './writes/write-operations.js';

type Writer = WorkerClient<WriteOperations & MaintenanceOperations & RecordOperations>;

const WRITER = new URL('./workers/writer-thread.js', import.meta.url);
const LOOKUPS = new URL('./workers/lookup-thread.js', import.meta.url);
const SEARCHES = fileURLToPath(new URL('./workers/search-process.js', import.meta.url));

/** Page caches in MiB; that of the searches is shared between their processes. */
const CACHE_MB = {
  migrations: 64,
  writer: 96,
  searches: { all: 192, least: 16 },
  lookups: 8,
  points: 16,
};

/** Few enough that serializing them does not hold up the event loop. */
const RECORDS_PER_MESSAGE = 500;

/** Messages per batch of an input: together they fill transactions. */
const MESSAGES_PER_BATCH = 2;

/** Each looks its words up in the text index. */
const DELETIONS_PER_MESSAGE = 50;

export interface SqliteStoreOptions {
  /** Folder of the database file, created when absent. */
  dataDir: string;
  /** Concurrent searches per organization; one more process is kept for the others. */
  searchThreads: number;
  searchTimeoutMs?: number;
  clock?: Clock;
  onRebuild?: RebuildProgress;
}

/**
 * Opens the embedded search store and migrates it. Several processes may have it open at once; threads and processes start
 * with the first request that needs them. Throws as `openDatabase` does, and `StoreUnavailableError` when a thread cannot start.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SearchStore> {
  const {
    dataDir,
    searchThreads,
    searchTimeoutMs = settingSchemas.REACHLINE_SEARCH_TIMEOUT_MS.default,
    clock = systemClock,
  } = options;
  const connection = await openDatabase(dataDir, CACHE_MB.migrations, options.onRebuild);
  connection.close();
  const path = join(dataDir, SEARCH_FILE);
  const writer: Writer = new WorkerClient(WRITER, { path, cacheMb: CACHE_MB.writer });
  const lookups = new WorkerClient<LookupOperations>(LOOKUPS, { path, cacheMb: CACHE_MB.lookups });
  const cacheMb = Math.max(CACHE_MB.searches.least, Math.floor(CACHE_MB.searches.all / searchThreads));
  const searches = new SearchPool<SearchOperations>({
    maxProcesses: searchThreads + 1,
    timeoutMs: searchTimeoutMs,
    startProcess: (handlers) => startSearchProcess(SEARCHES, { path, cacheMb }, handlers),
    setTimer: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
  const points = new PointReads({ path, cacheMb: CACHE_MB.points });
  const store = new SqliteStore(writer, lookups, searches, points, clock);
  try {
    await store.ping();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

class SqliteStore implements SearchStore {
  readonly preferredBatchSize = MESSAGES_PER_BATCH * RECORDS_PER_MESSAGE;
  readonly #writer: Writer;
  readonly #lookups: WorkerClient<LookupOperations>;
  readonly #searches: SearchPool<SearchOperations>;
  readonly #points: PointReads;
  readonly #clock: Clock;
  /** Idempotency keys of writes in progress. */
  readonly #running = new Set<string>();
  #sending: Promise<unknown> = Promise.resolve();

  constructor(
    writer: Writer,
    lookups: WorkerClient<LookupOperations>,
    searches: SearchPool<SearchOperations>,
    points: PointReads,
    clock: Clock,
  ) {
    this.#writer = writer;
    this.#lookups = lookups;
    this.#searches = searches;
    this.#points = points;
    this.#clock = clock;
  }

  async getContact(organizationId: string, contactId: string) {
    return this.#points.getContact(organizationId, contactId);
  }

  getContacts(organizationId: string, contactIds: readonly string[], signal?: AbortSignal) {
    return this.#points.getContacts(organizationId, contactIds, signal);
  }

  async searchContacts(search: ContactSearch, request?: Cancellable) {
    const page = this.#points.searchContacts(search);
    if (page) return page;
    return parsePage(
      await this.#searches.call(search.organizationId, 'searchContacts', [search], request?.signal),
    );
  }

  createContact(command: CreateContact) {
    return this.#writeOnce(command.contact.organization_id, 'createContact', command);
  }

  addMembership(membership: Membership) {
    return this.#writeOnce(membership.organizationId, 'addMembership', membership);
  }

  removeMembership(membership: Membership) {
    return this.#writeOnce(membership.organizationId, 'removeMembership', membership);
  }

  upsertContacts(records: readonly OrderedRecord<ContactRecord>[]) {
    return this.#writeRecords('upsertContacts', records);
  }

  /** In parts, between which other requests are written. */
  async deleteContacts(organizationId: string, contactIds: readonly string[]) {
    const deleted: string[] = [];
    for (let start = 0; start < contactIds.length; start += DELETIONS_PER_MESSAGE) {
      const part = contactIds.slice(start, start + DELETIONS_PER_MESSAGE);
      const now = this.#clock.now();
      deleted.push(
        ...(await this.#writer.callFor(organizationId, 'deleteContacts', organizationId, part, now)),
      );
    }
    return deletionResult(contactIds, deleted);
  }

  async eraseContacts(command: EraseCommand): Promise<ErasureResult> {
    const { organizationId, proofId } = command;
    const result = await this.#writer.callFor(organizationId, 'eraseContacts', command, this.#clock.now());
    // The person is erased whatever fails here: the writer goes on when it is idle.
    const proof = await this.#writer
      .call('completeErasures', this.#clock.now())
      .then(() => this.#lookups.call('readErasure', proofId))
      .catch(() => result.proof);
    return { ...result, proof };
  }

  listErasures(search: ErasureSearch) {
    return this.#lookups.call('listErasures', search);
  }

  async getAudience(organizationId: string, audienceId: string) {
    return this.#points.getAudience(organizationId, audienceId);
  }

  async searchAudiences(search: AudienceSearch, signal?: AbortSignal) {
    return fromJson(await this.#searches.call(search.organizationId, 'searchAudiences', [search], signal));
  }

  upsertAudiences(records: readonly OrderedRecord<AudienceRecord>[]) {
    return this.#writeRecords('upsertAudiences', records);
  }

  /** Reads always see earlier writes. */
  async refresh() {}

  async searchVisits(search: VisitSearch, signal?: AbortSignal) {
    return parsePage(await this.#searches.call(search.organizationId, 'searchVisits', [search], signal));
  }

  insertVisits(records: readonly OrderedRecord<VisitRecord>[]) {
    return this.#writeRecords('insertVisits', records);
  }

  deleteVisitsBefore(createdMs: number, limit: number) {
    return this.#writer.call('deleteVisitsBefore', createdMs, limit);
  }

  findKey(keyId: string) {
    return this.#lookups.call('findKey', keyId);
  }

  async insertKey(key: StoredKey): Promise<void> {
    await this.#writer.call('insertKey', key);
  }

  listKeys(organizationId?: string) {
    return this.#lookups.call('listKeys', organizationId);
  }

  revokeKey(keyId: string, revokedAt: string) {
    return this.#writer.call('revokeKey', keyId, revokedAt);
  }

  async recordKeyUse(keyId: string, usedAt: string): Promise<void> {
    await this.#writer.call('recordKeyUse', keyId, usedAt);
  }

  getCredits(organizationId: string) {
    return this.#lookups.call('getCredits', organizationId);
  }

  async setCredits(organizationId: string, balance: number): Promise<void> {
    await this.#writer.call('setCredits', organizationId, balance);
  }

  grantCredits(organizationId: string, amount: number) {
    return this.#writer.call('grantCredits', organizationId, amount);
  }

  async keepDeadLetters(records: readonly StoredDeadLetter[]): Promise<void> {
    for (let start = 0; start < records.length; start += RECORDS_PER_MESSAGE) {
      const part = records.slice(start, start + RECORDS_PER_MESSAGE);
      const [{ organizationId }] = part as [StoredDeadLetter];
      await this.#writer.callFor(organizationId, 'keepDeadLetters', part, this.#clock.now());
    }
  }

  listDeadLetters(query: DeadLetterQuery) {
    return this.#lookups.call('listDeadLetters', query);
  }

  async deleteDeadLetters(ids: readonly string[]): Promise<void> {
    await this.#writer.call('deleteDeadLetters', ids);
  }

  readFigures(organizationId: string) {
    return this.#lookups.call('readFigures', organizationId);
  }

  hasOtherOrganization(organizationId: string) {
    return this.#lookups.call('hasOtherOrganization', organizationId);
  }

  pauseWrites<T>(work: () => Promise<T>): Promise<T> {
    return this.#writer.runExclusive(work);
  }

  async ping(): Promise<void> {
    await this.#lookups.call('ping');
  }

  async close(): Promise<void> {
    await this.#sending;
    this.#points.close();
    await Promise.all([this.#writer.close(), this.#lookups.close(), this.#searches.close()]);
  }

  /** Rejects a request whose idempotency key is in progress. */
  async #writeOnce<Name extends 'createContact' | 'addMembership' | 'removeMembership'>(
    organizationId: string,
    operation: Name,
    command: Parameters<WriteOperations[Name]>[0],
  ): Promise<Result<WriteOperations[Name]> | IdempotencyConflict> {
    const { idempotency } = command;
    const args = [command, this.#clock.now()] as Parameters<WriteOperations[Name]>;
    const write = () => this.#writer.callFor(organizationId, operation, ...args);
    if (!idempotency) return write();
    const name = JSON.stringify([organizationId, idempotency.route, idempotency.key]);
    if (this.#running.has(name)) return { kind: 'idempotency_in_progress' };
    this.#running.add(name);
    try {
      return await write();
    } finally {
      this.#running.delete(name);
    }
  }

  /** Sends records in the order of calls, and yields to the event loop between two messages. */
  async #writeRecords(writer: RecordWriter, records: readonly OrderedRecord<unknown>[]): Promise<void> {
    const written: Promise<RecordResults | { error: unknown }>[] = [];
    const send = async () => {
      for (const [organizationId, indexes] of messagesOf(records)) {
        if (written.length > 0) await yieldToEventLoop();
        const json = JSON.stringify(indexes.map((index) => records[index]));
        const sent = this.#writer.callFor(organizationId, writer, json);
        written.push(sent.then(numbered(indexes), failedWith));
      }
    };
    const sent = this.#sending.then(send);
    this.#sending = sent.catch(() => undefined);
    await sent;
    const rejected = new Map<number, RecordRejectedError>();
    for (const result of await Promise.all(written)) {
      if ('error' in result) throw result.error;
      for (const [index, error] of result) rejected.set(index, error);
    }
    if (rejected.size > 0) throw new PartialWriteError(rejected);
  }
}

type RecordResults = [index: number, error: RecordRejectedError][];

/** Rejections of a message of the records at these indexes of the write. */
const numbered =
  (indexes: readonly number[]) =>
  (rejected: BatchResult['rejected']): RecordResults =>
    rejected.map(({ index, code, pointer, detail }) => [
      indexes[index] as number,
      new RecordRejectedError(code, pointer, detail),
    ]);

const failedWith = (error: unknown) => ({ error });

/**
 * The indexes of the records of each message. It has records of one organization, in their order: the writer keeps the order of messages
 * of an organization, while organizations take turns.
 */
function messagesOf(
  records: readonly OrderedRecord<unknown>[],
): [organizationId: string, indexes: number[]][] {
  const messages: [string, number[]][] = [];
  const open = new Map<string, number[]>();
  for (const [index, { record }] of records.entries()) {
    const { organization_id, organizationId = organization_id ?? '' } = record as {
      organization_id?: string;
      organizationId?: string;
    };
    let indexes = open.get(organizationId);
    if (!indexes || indexes.length >= RECORDS_PER_MESSAGE) {
      indexes = [];
      open.set(organizationId, indexes);
      messages.push([organizationId, indexes]);
    }
    indexes.push(index);
  }
  return messages;
}
