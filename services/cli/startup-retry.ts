import type { Logger } from 'pino';
import type { Patience } from '../stores/open-stores.js';

const PATIENCE_MS = 60_000;

/** Servers often start together, so the stores get a minute to come up. */
export const patience = (logger: Logger): Patience => ({
  milliseconds: PATIENCE_MS,
  onWaiting: (store) => logger.warn({ store }, `waiting for the ${store} store, which does not answer yet`),
});
