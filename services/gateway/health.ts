import { type Pinged, type StoreState, stateOf } from '../shared/health.js';
import type { StoreName } from '../shared/store-errors.js';

export interface Readiness {
  ready: boolean;
  /** `intake` where records go to topics; without it everything else is still served. */
  stores: Partial<Record<StoreName, StoreState>>;
}

/** Asks the stores, each for at most 2 s. */
export async function checkReadiness(stores: {
  search: Pinged;
  analytics: Pinged;
  intake?: Pinged;
}): Promise<Readiness> {
  const [search, analytics, intake] = await Promise.all([
    stateOf(stores.search),
    stateOf(stores.analytics),
    stores.intake && stateOf(stores.intake),
  ]);
  return {
    ready: search === 'ok' && analytics === 'ok',
    stores: { search, analytics, intake },
  };
}
