import { parentPort } from 'node:worker_threads';
import type { RpcRequest } from '../../../services/stores/sqlite/workers/rpc.js';

parentPort?.on('message', ({ call, operation, values }: RpcRequest) => {
  if (operation === 'die') process.exit(3);
  if (operation === 'close') parentPort?.close();
  else parentPort?.postMessage({ call, json: JSON.stringify(values) });
});
