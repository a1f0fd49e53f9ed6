/** Entry of the thread that answers what costs next to nothing, such as one row by its key: it never waits for a search. */
import { parentPort, workerData } from 'node:worker_threads';
import { getAudience } from '../audiences.js';
import { Connection } from '../connection.js';
import { getContact } from '../contacts/search.js';
import { readCredits } from '../credits.js';
import { serializeError } from '../errors.js';
import { toJson } from '../json.js';
import { findKey, listKeys } from '../keys.js';
import { hasOtherOrganization } from '../organizations.js';
import { lowerPriority, NICENESS } from './priority.js';
import { CLOSE, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

const operations = {
  getContact: (organizationId: string, id: string) => getContact(connected(), organizationId, id),
  getAudience: (organizationId: string, id: string) => getAudience(connected(), organizationId, id),
  findKey: (id: string) => findKey(connected(), id),
  listKeys: (organizationId?: string) => listKeys(connected(), organizationId),
  getCredits: (organizationId: string) => toJson(readCredits(connected(), organizationId)),
  hasOtherOrganization: (organizationId: string) => toJson(hasOtherOrganization(connected(), organizationId)),
  ping: () => toJson(connected().row(`SELECT 1 FROM schema_migrations`) !== undefined),
};
export type LookupOperations = typeof operations;

const data = workerData as WorkerData;
let connection: Connection | undefined;

function connected(): Connection {
  connection ??= new Connection(data.path, { cacheMb: data.cacheMb, readOnly: true });
  return connection;
}

function answer({ call, operation, values }: RpcRequest): RpcResponse {
  try {
    const run = operations[operation as keyof LookupOperations] as (...values: unknown[]) => string;
    return { call, json: run(...values) };
  } catch (error) {
    return { call, error: serializeError(error) };
  }
}

lowerPriority(NICENESS.lookup);
parentPort?.on('message', (message: RpcRequest) => {
  if (message.operation === CLOSE) {
    connection?.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(answer(message));
});
