/** A search process with an operation that never ends. */
import { DatabaseSync } from '@photostructure/sqlite';
import { READY, type RpcRequest } from '../../../services/stores/sqlite/workers/rpc.js';

const database = new DatabaseSync(':memory:');
let calls = 0;

function run(operation: string): unknown {
  switch (operation) {
    case 'count':
      return { process: process.pid, calls };
    case 'large':
      return 'x'.repeat(20 * 1024 * 1024);
    case 'endless':
      return database
        .prepare(
          'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT 1 - i FROM n) SELECT count(*) FROM n WHERE i > 1',
        )
        .all();
    default:
      return process.exit(3);
  }
}

process.on('disconnect', () => process.exit(0));
process.on('message', ({ id, operation }: RpcRequest) => {
  calls += 1;
  process.send?.({ id, json: JSON.stringify(run(operation)) }, undefined, undefined, () => {});
});
process.send?.(READY, undefined, undefined, () => {});
