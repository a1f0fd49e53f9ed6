/** A process of its own: `node clickhouse-server-process.js <folder> <port>`, password in CLICKHOUSE_PASSWORD. Ends at SIGTERM. */
import { startClickHouseServer } from './clickhouse-server.js';

const [folder, port] = process.argv.slice(2);
if (folder === undefined) throw new Error('name a folder');
const server = await startClickHouseServer(folder, {
  port: Number(port ?? 0),
  password: process.env.CLICKHOUSE_PASSWORD ?? '',
});
process.stdout.write(`${server.url}\n`);
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
