import { checkHealth, type Pingable, type StoreState } from '../shared/health.js';
import type { StoreName } from '../shared/store-errors.js';

export interface Readiness {
  ready: boolean;
  /** `intake` where records go to Kafka; it does not affect `ready`, as all other requests are still served. */
  stores: Partial<Record<StoreName, StoreState>>;
  /** `full` where the data folder has no room for writes; reads are still served. */
  disk: 'ok' | 'full';
}

/** Pings all stores at once, with a timeout of 2 s. */
export async function checkReadiness(stores: {
  search: Pingable;
  analytics: Pingable;
  intake?: Pingable;
  hasRoom?(): Promise<boolean>;
}): Promise<Readiness> {
  const [search, analytics, intake, hasRoom = true] = await Promise.all([
    checkHealth(stores.search),
    checkHealth(stores.analytics),
    stores.intake && checkHealth(stores.intake),
    stores.hasRoom?.(),
  ]);
  return {
    ready: search === 'ok' && analytics === 'ok',
    stores: { search, analytics, intake },
    disk: hasRoom ? 'ok' : 'full',
  };
}
