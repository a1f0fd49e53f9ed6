import type { AnalyticsStore } from '../stores/analytics-store.js';
import type { SearchStore } from '../stores/search-store.js';
import type { StoreName } from '../stores/store-error.js';

export interface Readiness {
  ready: boolean;
  stores: Record<StoreName, 'ok' | 'unavailable'>;
  stopping: boolean;
}

const PING_TIMEOUT_MS = 2000;

/** Asks both stores, each for at most 2 s. */
export async function checkReadiness(
  stores: { search: Pick<SearchStore, 'ping'>; analytics: Pick<AnalyticsStore, 'ping'> },
  stopping: boolean,
): Promise<Readiness> {
  const [search, analytics] = await Promise.all([answers(stores.search), answers(stores.analytics)]);
  return {
    ready: search && analytics && !stopping,
    stores: { search: search ? 'ok' : 'unavailable', analytics: analytics ? 'ok' : 'unavailable' },
    stopping,
  };
}

async function answers(store: { ping(): Promise<void> }): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PING_TIMEOUT_MS, false);
  });
  const answered = store.ping().then(
    () => true,
    () => false,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
