import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Publisher } from '../../../ingest/publisher.js';
import type { SupervisedWorker, superviseWorker } from '../../../ingest/worker/supervisor.js';
import { DEMO_ORGANIZATION } from '../../demo/calendar.js';
import { checkAddress, type GatewayOptions, startGateway } from '../../gateway/server.js';
import { type Config, loadConfig } from '../../shared/config.js';
import { DiskFullError } from '../../shared/store-errors.js';
import { utcDate } from '../../shared/time.js';
import { openStores, type Stores } from '../../stores/open-stores.js';
import { runUntilSignal } from '../graceful-shutdown.js';
import { type Io, printErr, printOut } from '../io.js';
import { openLog } from '../log.js';
import { loadMcp } from '../mcp-loader.js';
import { startRetention } from '../retention.js';
import { withSqlEndpoint } from '../sql-endpoint.js';
import { logIgnoredVariables, startupOptions } from '../startup.js';

/** Milliseconds from a signal until the process ends, even if work is still running. */
const GRACE_MS = 9500;
/** Part of these milliseconds in which requests and the worker may finish normally. */
const REQUESTS_GRACE_MS = 7000;

export interface ServeOptions {
  demo?: boolean;
  port?: number;
}

/**
 * Serves until a signal ends the process. Resolves with the exit code once everything is closed. The log goes to standard error; messages
 * for people, such as a new key, go to standard output.
 */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  const config = loadConfig(io.env);
  if (options.port !== undefined) config.port = options.port;
  const logger = openLog(io, config);
  logIgnoredVariables(config, logger);
  // Before the stores open: loading the sample data into them takes seconds.
  await checkAddress(config);
  const opened = await openStores(config, {
    ...startupOptions(logger, !(config.kafka && config.clickhouse)),
    analyticsOnDemand: 'new',
  });
  const {
    stores,
    url: sqlUrl,
    sql,
  } = await withSqlEndpoint(config, opened, (organization) =>
    logger.warn({ organization }, 'the engine ended during a SQL statement of this organization'),
  );
  const greeting = await orClose(stores, () => prepareGreeting(io, stores, options));
  const { url, closed } = await listen(config, stores, logger, { sql });
  if (sqlUrl !== null)
    printOut(io, `SQL of all organizations for analysts: ${sqlUrl} (docs/reference/sql.md)`);
  await sayListening(io, url, greeting);
  return closed;
}

/**
 * Signals are handled from the moment at which the promise resolves, so a signal is obeyed even if it is sent as soon as the address is
 * printed.
 */
async function listen(
  config: Config,
  stores: Stores,
  logger: Logger,
  { sql }: Pick<GatewayOptions, 'sql'>,
): Promise<{ url: string; closed: Promise<number> }> {
  const { kafka } = config;
  const publisher = kafka ? await createPublisher(kafka, logger) : undefined;
  // Only this process can write to an embedded store.
  const isWorker = kafka && !(config.elasticsearch && config.clickhouse);
  let worker: SupervisedWorker | undefined;
  const gateway = await orClose(stores, () =>
    startGateway(config, stores, logger, {
      publisher,
      sql,
      mcp: loadMcp,
      failingStreams: isWorker ? () => worker?.failing() ?? [] : undefined,
    }),
  );
  stores.announcePort(Number(new URL(gateway.url).port || 80));
  worker = isWorker ? await startWorker(kafka, stores, gateway.registry, logger) : undefined;
  const retention = startRetention(config.retention, stores, logger);
  const stop = async () => {
    // The gateway closes before the stores, so that running requests can finish.
    const answered = Promise.all([gateway.stop(), worker?.stop(), retention.stop()]);
    await Promise.race([answered, pause(REQUESTS_GRACE_MS, undefined, { ref: false })]);
    await publisher?.close();
    await stores.close();
  };
  const closed = runUntilSignal(stop, logger, { delay: GRACE_MS });
  return { url: gateway.url, closed };
}

// Loads the Kafka client only if it is used.
async function createPublisher(...args: ConstructorParameters<typeof Publisher>): Promise<Publisher> {
  return new (await import('../../../ingest/publisher.js')).Publisher(...args);
}

async function startWorker(...args: Parameters<typeof superviseWorker>) {
  return (await import('../../../ingest/worker/supervisor.js')).superviseWorker(...args);
}

async function orClose<T>(stores: Stores, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/** Printed once the gateway listens: a new key for the sample data, which every start prints, or hints how to get one. */
interface Greeting {
  key: string | null;
  hints: string[];
}

/** Prepares the greeting. With `demo`, first loads the sample data into empty stores. */
async function prepareGreeting(io: Io, stores: Stores, { demo }: ServeOptions): Promise<Greeting> {
  if (demo) {
    const { demoIsLoaded, hasOtherData } = await import('../../demo/load.js');
    if (!(await demoIsLoaded(stores.records)) && (await hasOtherData(stores))) {
      const refused =
        'The sample data was not loaded, because the stores hold data already. For a key: reachline keys create --organization <id>';
      return { key: null, hints: [refused] };
    }
    const { loadDemoData } = await import('./demo.js');
    try {
      return { key: await loadDemoData(io, stores), hints: [] };
    } catch (error) {
      if (!(error instanceof DiskFullError)) throw error;
      const full = `The disk of the ${error.store} store is full, so there is no new key for the sample data: make room, and start again. Reads are served.`;
      return { key: null, hints: [full] };
    }
  }
  // The server must start even if the store became unavailable: only the hints need it.
  return { key: null, hints: await firstSteps(stores).catch(() => []) };
}

async function firstSteps(stores: Stores): Promise<string[]> {
  const { items } = await stores.records.listKeys({ limit: 1, now: Date.now() });
  if (items.length > 0) return [];
  const noKey = 'There is no API key yet. Create one: reachline keys create --organization org_acme';
  const { hasOtherData } = await import('../../demo/load.js');
  if (await hasOtherData(stores)) return [noKey];
  return [
    noKey,
    'There are no records yet. Load some: reachline ingest contacts contacts.ndjson --organization org_acme',
    'Or begin with sample data: reachline serve --demo',
  ];
}

async function sayListening(io: Io, url: string, { key, hints }: Greeting): Promise<void> {
  printOut(io, `Reachline listens on ${url} (console: ${url}/console, documentation: ${url}/docs)`);
  for (const hint of hints) printErr(io, hint);
  if (key === null) return;
  const { firstRequests } = await import('./demo.js');
  printOut(io, `Console, signed in: ${url}/console#key=${key}`);
  printOut(io, `Set the key of ${DEMO_ORGANIZATION} in another terminal, and send a request:`);
  printOut(io, `\nexport KEY=${key}\n\n${firstRequests(url, utcDate(Date.now()))}\n`);
}
