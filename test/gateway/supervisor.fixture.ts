/**
 * A primary with two cluster workers, each of which listens unless a file called `broken` lies in the folder given. Run by
 * the test beside it.
 */
import cluster from 'node:cluster';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const folder = process.argv[2] as string;

if (cluster.isPrimary) {
  // A clock that is put forward all the time: no duration may depend on it.
  let now = 0;
  Date.now = () => (now += 3_600_000);
  cluster.setupPrimary({ args: [folder] });
  const { startPrimary } = await import('../../services/gateway/cluster/primary.js');
  const { createLogger, logFile } = await import('../../services/shared/logger.js');
  const primary = await startPrimary(2, createLogger('info', logFile(2)), { backoffMs: 5 });
  process.stdout.write(`${primary?.url}\n`);
  await primary?.failed;
  process.exit(1);
}

// Written synchronously, so that the test knows every process there ever was.
writeFileSync(join(folder, `pid-${process.pid}`), '');
if (existsSync(join(folder, 'broken'))) process.exit(3);
// Only now, since most processes end above.
const { connectToPrimary } = await import('../../services/gateway/cluster/worker.js');
const clusterWorker = connectToPrimary();
const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1', () =>
  clusterWorker.listening(`http://127.0.0.1:${(server.address() as { port: number }).port}`),
);
process.on('SIGUSR2', () => process.exit(4));
process.on('SIGTERM', () => process.exit(0));
