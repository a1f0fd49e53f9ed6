import type { Logger } from 'pino';
import { type Config, ignoredVariablesWarning } from '../shared/config.js';
import type { StartupRetryOptions } from '../stores/open-stores.js';

const RETRY_TIMEOUT_MS = 60_000;

/** Servers often start together, so the stores have a minute to become available. */
export const startupRetry = (logger: Logger): StartupRetryOptions => ({
  timeoutMs: RETRY_TIMEOUT_MS,
  onRetry: (store) => logger.warn({ store }, `waiting for the ${store} store, which does not answer yet`),
});

/** Logs variables that look like settings of Reachline but are not, so that a typing error is found. */
export function logIgnoredVariables({ ignoredVariables }: Config, logger: Logger): void {
  const warning = ignoredVariablesWarning(ignoredVariables);
  if (warning !== null) logger.warn({ variables: ignoredVariables }, warning);
}
