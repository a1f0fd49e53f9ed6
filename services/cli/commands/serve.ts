import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import { DEMO_ORGANIZATION } from '../../demo/calendar.js';
import { createLogger, logFile } from '../../gateway/request-log.js';
import { type Gateway, startGateway } from '../../gateway/server.js';
import { utcDate } from '../../shared/clock.js';
import { loadConfig } from '../../shared/config.js';
import { openStores, type Patience, type Stores } from '../../stores/open-stores.js';
import { EXIT } from '../errors.js';
import { type Io, say, tell } from '../io.js';
import { firstRequests, loadSample } from '../sample.js';

const KEY_COMMAND = `reachline keys create --organization ${DEMO_ORGANIZATION}`;
const GRACE_MS = 15_000;
const PATIENCE_MS = 60_000;

export interface ServeOptions {
  demo?: boolean;
  port?: number;
}

/**
 * Serves until the process is told to end; resolves with the exit code when everything is closed. The log goes to standard
 * error, apart from what is said to a person, a key among it.
 */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  const config = loadConfig(io.env);
  if (options.port !== undefined) config.port = options.port;
  const logger = createLogger(config.logLevel, logFile(2));
  const stores = await openStores(config, patience(logger));
  let gateway: Gateway;
  let key: string | null = null;
  try {
    if (options.demo) key = await loadSample(io, stores, true);
    gateway = await startGateway(config, stores, logger);
  } catch (error) {
    await stores.close();
    throw error;
  }
  // Before anyone is told, so that a signal sent on sight of the address finds it ready.
  const closed = untilClosed(gateway, stores, (error) => logger.error({ err: error }, 'closing failed'));
  say(io, `Reachline listens on ${gateway.url} (documentation: ${gateway.url}/docs)`);
  if (options.demo) sayDemo(io, gateway.url, key);
  return closed;
}

/** Servers often start together, so the stores get a minute to come up. */
const patience = (logger: Logger): Patience => ({
  milliseconds: PATIENCE_MS,
  onWaiting: (store) => logger.warn({ store }, `waiting for the ${store} store, which does not answer yet`),
});

function sayDemo(io: Io, url: string, key: string | null): void {
  if (key === null) {
    tell(io, `Nothing was loaded, as the stores hold data already. For a key: ${KEY_COMMAND}`);
    return;
  }
  say(io, `API key of ${DEMO_ORGANIZATION}, shown only once: ${key}`);
  say(io, `Try:\n\n${firstRequests(url, key, utcDate(Date.now()))}\n`);
}

/** A signal ends the gateway first, then the stores, so that requests under way are answered. */
function untilClosed(gateway: Gateway, stores: Stores, onError: (error: unknown) => void): Promise<number> {
  return new Promise((resolve) => {
    closeWithGrace({ delay: GRACE_MS, logger: false }, async ({ err }) => {
      if (err) onError(err);
      await gateway.stop();
      await stores.close();
      resolve(err ? EXIT.failed : EXIT.ok);
    });
  });
}
