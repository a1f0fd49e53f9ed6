/** Entry of a thread that answers reads, one after another. */
import { parentPort, workerData } from 'node:worker_threads';
import type { AudienceSearch, ContactSearch, VisitSearch } from '../search-query.js';
import { findKey, listKeys, readCredits } from './accounts.js';
import { getAudience, searchAudiences } from './audiences.js';
import { Connection } from './connection.js';
import { getContact, searchContacts } from './contact-search.js';
import { toJson } from './json.js';
import { lowerPriority, NICENESS } from './priority.js';
import { toErrorMessage } from './sqlite-error.js';
import { type AnswerMessage, type CallMessage, CLOSE, type ThreadData } from './thread-messages.js';
import { searchVisits } from './visits.js';

const operations = {
  getContact: (organizationId: string, id: string) => getContact(connected(), organizationId, id),
  searchContacts: (search: ContactSearch) => searchContacts(connected(), search),
  getAudience: (organizationId: string, id: string) => getAudience(connected(), organizationId, id),
  searchAudiences: (search: AudienceSearch) => searchAudiences(connected(), search),
  searchVisits: (search: VisitSearch) => searchVisits(connected(), search),
  findKey: (id: string) => toJson(findKey(connected(), id)),
  listKeys: (organizationId?: string) => toJson(listKeys(connected(), organizationId)),
  getCredits: (organizationId: string) => toJson(readCredits(connected(), organizationId)),
  ping: () => toJson(connected().row(`SELECT 1 FROM schema_migrations`) !== undefined),
};
export type ReaderOperations = typeof operations;

const data = workerData as ThreadData;
let connection: Connection | undefined;

function connected(): Connection {
  connection ??= new Connection(data.path, { cacheMb: data.cacheMb, readOnly: true });
  return connection;
}

function answer({ call, operation, values }: CallMessage): AnswerMessage {
  try {
    const run = operations[operation as keyof ReaderOperations] as (...values: unknown[]) => string;
    return { call, json: run(...values) };
  } catch (error) {
    return { call, error: toErrorMessage(error) };
  }
}

lowerPriority(NICENESS.reader);
parentPort?.on('message', (message: CallMessage) => {
  if (message.operation === CLOSE) {
    connection?.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(answer(message));
});
