/** Entry of the thread for reads that are cheap but not at once, so that they never wait for a search. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ErasureSearch } from '../../../contacts/erasure-store.js';
import { toJson } from '../../../shared/json.js';
import type { Connection } from '../connection.js';
import { readCredits } from '../credits.js';
import { listErasures, readErasure } from '../erasure/proofs.js';
import { readFigures } from '../figures.js';
import { findKey, listKeys } from '../keys.js';
import { hasOtherOrganization } from '../organizations.js';
import { listRejections } from '../rejections.js';
import { createReader } from './reader.js';
import { CLOSE, done, type RpcRequest, type WorkerData } from './rpc.js';

const operations = (connection: Connection) => ({
  findKey: (id: string) => findKey(connection, id),
  listKeys: (organizationId?: string) => listKeys(connection, organizationId),
  getCredits: (organizationId: string) => toJson(readCredits(connection, organizationId)),
  readFigures: (organizationId: string) => readFigures(connection, organizationId),
  hasOtherOrganization: (organizationId: string) => toJson(hasOtherOrganization(connection, organizationId)),
  readErasure: (id: string) => toJson(readErasure(connection, id)),
  listErasures: (search: ErasureSearch) => toJson(listErasures(connection, search)),
  listRejections: (organizationId?: string) => listRejections(connection, organizationId),
  ping: () => done(connection.row(`SELECT 1 FROM schema_migrations`)),
});
export type LookupOperations = ReturnType<typeof operations>;

const reader = createReader(workerData as WorkerData, operations);

parentPort?.on('message', (request: RpcRequest) => {
  if (request.operation === CLOSE) {
    reader.close();
    parentPort?.close();
  } else parentPort?.postMessage(reader.respond(request));
});
