/**
 * Entry file of a process that runs one search at a time. A running SQLite statement cannot be interrupted, so the parent cancels a search
 * by killing this process. The operating system releases the locks of the process, which holds no other state.
 */
import type { KeySearch } from '../../../accounts/key-store.js';
import type { AudienceSearch } from '../../../audiences/audience-store.js';
import type { ChangesRequest } from '../../../contacts/change-feed.js';
import type { ContactFilter, ContactSearch } from '../../../contacts/contact-store.js';
import type { PeopleQuery } from '../../../contacts/duplicates.js';
import type { ErasureSearch } from '../../../contacts/erasure-store.js';
import type { RejectionSearch } from '../../../rejections/rejection-store.js';
import type {
  DomainDaysQuery,
  DomainRecords,
  OldestQuery,
  TimeSpan,
} from '../../../search/domain-activity.js';
import { toJson } from '../../../shared/json.js';
import type { VisitingCompaniesSearch, VisitSearch } from '../../../visits/visit-store.js';
import { countMembers, searchAudiences } from '../audiences.js';
import { Connection } from '../connection.js';
import { changesToLines, readChanges } from '../contacts/changes.js';
import { listImports } from '../contacts/imports.js';
import { findPeople } from '../contacts/rows.js';
import { countContacts, searchContactKeys, searchContacts } from '../contacts/search.js';
import { countDomainDays, countPlaced, findOldest } from '../domain-activity.js';
import { listErasures } from '../erasure/proofs.js';
import { serializeError } from '../errors.js';
import { countDescendants, listKeys } from '../keys.js';
import { toLines } from '../pages.js';
import { listRejections } from '../rejections.js';
import { countVisitsByCompany, searchVisits } from '../visits.js';
import { runInBackground } from './priority.js';
import { type Operations, READY, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

const operations = (connection: Connection) => ({
  searchContacts: (search: ContactSearch) => toLines(searchContacts(connection, search)),
  searchContactKeys: (search: ContactSearch) => toJson(searchContactKeys(connection, search)),
  countContacts: (organizationId: string, filters: readonly ContactFilter[]) =>
    toJson(countContacts(connection, organizationId, filters)),
  listImports: (organizationId: string) => toJson(listImports(connection, organizationId)),
  readChanges: (request: ChangesRequest) => changesToLines(readChanges(connection, request)),
  findPeople: (query: PeopleQuery) => toJson(findPeople(connection, query)),
  searchAudiences: (search: AudienceSearch) => searchAudiences(connection, search),
  countMembers: (organizationId: string, audienceIds: readonly string[]) =>
    countMembers(connection, organizationId, audienceIds),
  searchVisits: (search: VisitSearch) => toLines(searchVisits(connection, search)),
  countDomainDays: (kind: DomainRecords, query: DomainDaysQuery) =>
    toJson(countDomainDays(connection, kind, query)),
  findOldest: (kind: DomainRecords, query: OldestQuery) => toJson(findOldest(connection, kind, query)),
  countPlaced: (kind: DomainRecords, organizationId: string, span: TimeSpan) =>
    toJson(countPlaced(connection, kind, organizationId, span)),
  countVisitsByCompany: (search: VisitingCompaniesSearch) => toJson(countVisitsByCompany(connection, search)),
  listKeys: (search: KeySearch) => toLines(listKeys(connection, search)),
  countDescendants: (keyId: string, now: number) => toJson(countDescendants(connection, keyId, now)),
  listRejections: (search: RejectionSearch) => toLines(listRejections(connection, search)),
  listErasures: (search: ErasureSearch) => toLines(listErasures(connection, search)),
});
export type SearchOperations = ReturnType<typeof operations>;

const { path, cacheMb } = JSON.parse(process.argv[2] as string) as WorkerData;
let opened: Operations | undefined;

function respond({ id, operation, args }: RpcRequest): RpcResponse {
  try {
    opened ??= operations(new Connection(path, { cacheMb, readOnly: true }));
    const run = opened[operation] as (...args: unknown[]) => string;
    return { id, json: run(...args) };
  } catch (error) {
    return { id, error: serializeError(error) };
  }
}

/** Ignores errors, because the parent may have exited. */
function send(message: RpcResponse | typeof READY): void {
  process.send?.(message, undefined, undefined, () => {});
}

// Terminals and service managers signal the whole process group, but this process ends when the store disconnects it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (request: RpcRequest) => send(respond(request)));
process.title = 'reachline search';
runInBackground();
send(READY);
