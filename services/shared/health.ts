import { withTimeout } from './async.js';

export type StoreState = 'ok' | 'unavailable';

const PING_TIMEOUT_MS = 2000;

/** Anything with a ping. */
export interface Pingable {
  ping(): Promise<void>;
}

/** Pings with a timeout of 2 s. Never rejects. */
export function checkHealth(store: Pingable): Promise<StoreState> {
  return withTimeout(PING_TIMEOUT_MS, () => store.ping()).then(
    () => 'ok',
    () => 'unavailable',
  );
}
