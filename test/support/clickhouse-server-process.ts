/** A process of its own: `node clickhouse-server-process.js <folder> <port>`, password in CLICKHOUSE_PASSWORD,
 * `ReplicaOptions` as JSON in CLICKHOUSE_REPLICA. Ends at SIGTERM. */
import { startClickHouseServer } from './clickhouse-server.js';

const [folder, port] = process.argv.slice(2);
if (folder === undefined) throw new Error('name a folder');
const server = await startClickHouseServer(folder, {
  port: Number(port ?? 0),
  password: process.env.CLICKHOUSE_PASSWORD ?? '',
  replica: process.env.CLICKHOUSE_REPLICA ? JSON.parse(process.env.CLICKHOUSE_REPLICA) : undefined,
});
process.stdout.write(`${server.url}\n`);
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
