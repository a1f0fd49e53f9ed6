import { checkHealth, type Pingable, type StoreState } from '../shared/health.js';
import type { StoreName } from '../shared/store-errors.js';

export interface Readiness {
  ready: boolean;
  /** `intake` where records go to Kafka. It does not affect `ready`, nor does a full disk: all other requests are still served. */
  stores: Partial<Record<StoreName, StoreState>>;
}

/** Pings all stores at once, with a timeout of 2 s. */
export async function checkReadiness(stores: {
  search: Pingable;
  analytics: Pingable;
  intake?: Pingable;
}): Promise<Readiness> {
  const [search, analytics, intake] = await Promise.all([
    checkHealth(stores.search),
    checkHealth(stores.analytics),
    stores.intake && checkHealth(stores.intake),
  ]);
  return {
    ready: search !== 'unavailable' && analytics !== 'unavailable',
    stores: { search, analytics, intake },
  };
}
