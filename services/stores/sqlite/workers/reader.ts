import { Connection } from '../connection.js';
import { serializeError } from '../errors.js';
import type { Operations, RpcRequest, RpcResponse, WorkerData } from './rpc.js';

/** Runs the requests of a thread or process on one read-only connection, which the first of them opens. */
export function createReader(data: WorkerData, declare: (connection: Connection) => Operations) {
  let connection: Connection | undefined;
  let operations: Operations = {};
  return {
    respond({ id, operation, args }: RpcRequest): RpcResponse {
      try {
        if (!connection) {
          connection = new Connection(data.path, { cacheMb: data.cacheMb, readOnly: true });
          operations = declare(connection);
        }
        const run = operations[operation] as (...args: unknown[]) => string;
        return { id, json: run(...args) };
      } catch (error) {
        return { id, error: serializeError(error) };
      }
    },
    close: () => connection?.close(),
  };
}
