import { join } from 'node:path';
import { packageRoot } from '../../services/shared/fs.js';
import type { ReplicaOptions } from '../support/clickhouse-server.js';
import { freePort } from './free-port.js';
import { type Server, type ServerPlan, startServer } from './server.js';
import { makeServerFolder } from './server-folder.js';

const ENTRY = join(packageRoot, 'dist/test/support/clickhouse-server-process.js');

export interface ClickHouseOptions {
  /** Password of the user `default`; no password when absent. */
  password?: string;
  port?: number;
  replica?: ReplicaOptions;
}

/** The engine behind ClickHouse's HTTP protocol, in a process that ends with this one. */
export const startClickHouse = async (options?: ClickHouseOptions): Promise<Server> =>
  startServer(await planClickHouse(options));

export async function planClickHouse({
  password = '',
  port,
  replica,
}: ClickHouseOptions = {}): Promise<ServerPlan> {
  port ??= await freePort();
  const address = `http://127.0.0.1:${port}`;
  const folder = makeServerFolder('clickhouse', ['tmp']);
  return {
    name: 'clickhouse',
    address,
    folder,
    command: process.execPath,
    args: [ENTRY, join(folder, 'data'), String(port)],
    environment: {
      CLICKHOUSE_PASSWORD: password,
      CLICKHOUSE_REPLICA: replica && JSON.stringify(replica),
      TMPDIR: join(folder, 'tmp'),
    },
    // The sources may be readable by their owner alone.
    user: null,
    answers: async () => (await fetch(`${address}/ping`)).ok,
  };
}
