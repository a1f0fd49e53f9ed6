import { parentPort } from 'node:worker_threads';
import type { RpcRequest } from '../../../services/stores/sqlite/workers/rpc.js';

parentPort?.on('message', ({ id, operation, args }: RpcRequest) => {
  if (operation === 'die') process.exit(3);
  if (operation === 'close') parentPort?.close();
  else parentPort?.postMessage({ id, json: JSON.stringify(args) });
});
