/**
 * Runs a command on real servers: `npm run -s stack -- run [--quick] -- <command …>`. The environment of the command has the address of
 * each server. A server whose address is given already is used and left; other servers are started and removed. With `--quick` for many
 * short tests, with their
 * data in memory. The exit code is the exit code of the command, or 77, which test runners understand as "skipped", if this machine lacks
 * something that a server needs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { planClickHouse } from './clickhouse.js';
import { planElasticsearch } from './elasticsearch.js';
import { planKafka } from './kafka.js';
import { QUICK } from './quick.js';
import { type Server, startServer } from './server.js';
import { MissingPrerequisite, StackError } from './stack-error.js';

const SKIPPED = 77;
const PLANS = {
  ELASTICSEARCH_URL: planElasticsearch,
  KAFKA_BROKERS: planKafka,
  CLICKHOUSE_URL: planClickHouse,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
});
const [verb, command, ...args] = positionals;
if (verb !== 'run' || command === undefined) {
  console.error('usage: stack run [--quick] -- <command …>');
  process.exit(2);
}
if (values.quick) Object.assign(process.env, QUICK);

const servers: Server[] = [];
const stop = () => Promise.all(servers.map((server) => server.remove()));
const interrupted = () => void stop().finally(() => process.exit(130));
process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
try {
  const outcomes = await Promise.allSettled(
    Object.entries(PLANS)
      .filter(([variable]) => !process.env[variable])
      .map(async ([variable, plan]) => {
        const server = await startServer(await plan());
        servers.push(server);
        console.error(`${variable}=${server.address}`);
        process.env[variable] = server.address;
        // Folder in which tests search for traces of an erased person.
        process.env[`TEST_${variable.split('_')[0]}_FOLDER`] = server.folder;
      }),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  const child = spawn(command, args, { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  const isSkipped = error instanceof MissingPrerequisite;
  console.error(`${isSkipped ? 'skipped: ' : ''}${error.message}`);
  process.exitCode = isSkipped ? SKIPPED : 1;
} finally {
  await stop();
}
