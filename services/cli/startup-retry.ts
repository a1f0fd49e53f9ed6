import type { Logger } from 'pino';
import type { StartupRetryOptions } from '../stores/open-stores.js';

const TIMEOUT_MS = 60_000;

/** Servers often start together, so the stores have a minute to become available. */
export const startupRetry = (logger: Logger): StartupRetryOptions => ({
  timeoutMs: TIMEOUT_MS,
  onRetry: (store) => logger.warn({ store }, `waiting for the ${store} store, which does not answer yet`),
});
