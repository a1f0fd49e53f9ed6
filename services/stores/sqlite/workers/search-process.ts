/**
 * Entry of a process that searches, one search at a time. A statement that runs in SQLite listens to nothing, so the only sure
 * way to end one is to end its process: the operating system lets go of its locks, and it has nothing to lose.
 */

import type { AudienceSearch } from '../../../audiences/audience-store.js';
import type { ContactSearch } from '../../../contacts/contact-store.js';
import type { VisitSearch } from '../../../visits/visit-store.js';
import { searchAudiences } from '../audiences.js';
import { Connection } from '../connection.js';
import { searchContacts } from '../contacts/search.js';
import { serializeError } from '../errors.js';
import { searchVisits } from '../visits.js';
import { lowerPriority, NICENESS } from './priority.js';
import { READY, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

const operations = {
  searchContacts: (search: ContactSearch) => searchContacts(connected(), search),
  searchAudiences: (search: AudienceSearch) => searchAudiences(connected(), search),
  searchVisits: (search: VisitSearch) => searchVisits(connected(), search),
};
export type SearchOperations = typeof operations;

const data = JSON.parse(process.argv[2] as string) as WorkerData;
let connection: Connection | undefined;

function connected(): Connection {
  connection ??= new Connection(data.path, { cacheMb: data.cacheMb, readOnly: true });
  return connection;
}

function answer({ call, operation, values }: RpcRequest): RpcResponse {
  try {
    const run = operations[operation as keyof SearchOperations] as (...values: unknown[]) => string;
    return { call, json: run(...values) };
  } catch (error) {
    return { call, error: serializeError(error) };
  }
}

/** Nobody may be there to hear it any more. */
function tell(message: RpcResponse | typeof READY): void {
  process.send?.(message, undefined, undefined, () => {});
}

// Terminals and service managers send signals to all processes of a group: this one ends when its store lets go of it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message: RpcRequest) => tell(answer(message)));
process.title = 'reachline search';
lowerPriority(NICENESS.search);
tell(READY);
