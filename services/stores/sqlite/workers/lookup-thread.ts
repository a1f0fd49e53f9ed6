/** Entry of the thread for cheap reads, such as one row by its key, so that they never wait for a search. */
import { parentPort, workerData } from 'node:worker_threads';
import { getAudience } from '../audiences.js';
import type { Connection } from '../connection.js';
import { getContact } from '../contacts/search.js';
import { readCredits } from '../credits.js';
import { readFigures } from '../figures.js';
import { toJson } from '../json.js';
import { findKey, listKeys } from '../keys.js';
import { hasOtherOrganization } from '../organizations.js';
import { lowerPriority, NICENESS } from './priority.js';
import { createReader } from './reader.js';
import { CLOSE, type RpcRequest, type WorkerData } from './rpc.js';

const operations = (connection: Connection) => ({
  getContact: (organizationId: string, id: string) => getContact(connection, organizationId, id),
  getAudience: (organizationId: string, id: string) => getAudience(connection, organizationId, id),
  findKey: (id: string) => findKey(connection, id),
  listKeys: (organizationId?: string) => listKeys(connection, organizationId),
  getCredits: (organizationId: string) => toJson(readCredits(connection, organizationId)),
  readFigures: (organizationId: string) => readFigures(connection, organizationId),
  hasOtherOrganization: (organizationId: string) => toJson(hasOtherOrganization(connection, organizationId)),
  ping: () => toJson(connection.row(`SELECT 1 FROM schema_migrations`) !== undefined),
});
export type LookupOperations = ReturnType<typeof operations>;

const reader = createReader(workerData as WorkerData, operations);

lowerPriority(NICENESS.lookup);
parentPort?.on('message', (request: RpcRequest) => {
  if (request.operation === CLOSE) {
    reader.close();
    parentPort?.close();
  } else parentPort?.postMessage(reader.respond(request));
});
