import type { Logger } from 'pino';
import { type Config, ignoredVariablesWarning } from '../shared/config.js';
import type { OpenStoresOptions } from '../stores/open-stores.js';

const RETRY_TIMEOUT_MS = 60_000;
const REBUILD_LOG_INTERVAL_MS = 5000;

/**
 * Options for opening stores at startup. Servers often start together, so the stores have a minute to become available. Workers maintain a
 * ClickHouse server; gateways do so if there are no workers.
 */
export function startupOptions(logger: Logger, maintainsAnalytics: boolean): OpenStoresOptions {
  let loggedAt = performance.now();
  return {
    log: logger,
    maintainsAnalytics,
    startupRetry: {
      timeoutMs: RETRY_TIMEOUT_MS,
      onRetry: (store) => logger.warn({ store }, `waiting for the ${store} store, which does not answer yet`),
    },
    onRebuild(what, done, total) {
      if (performance.now() - loggedAt < REBUILD_LOG_INTERVAL_MS) return;
      loggedAt = performance.now();
      logger.info({ what, done, total }, 'deriving search terms anew');
    },
  };
}

/** Logs variables that look like settings of Reachline but are not, to reveal misspelled names. */
export function logIgnoredVariables({ ignoredVariables }: Config, logger: Logger): void {
  const warning = ignoredVariablesWarning(ignoredVariables);
  if (warning !== null) logger.warn({ variables: ignoredVariables }, warning);
}
