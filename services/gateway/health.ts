import type { StoreName } from '../shared/store-errors.js';

type StoreState = 'ok' | 'unavailable';

export interface Readiness {
  ready: boolean;
  /** `intake` where records go to topics; without it everything else is still served. */
  stores: Partial<Record<StoreName, StoreState>>;
}

const PING_TIMEOUT_MS = 2000;

/** What can tell whether it answers. */
export interface Pinged {
  ping(): Promise<void>;
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

/** Asks for at most 2 s. */
export async function stateOf(store: Pinged): Promise<StoreState> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<StoreState>((resolve) => {
    timer = setTimeout(resolve, PING_TIMEOUT_MS, 'unavailable');
  });
  const answered = store.ping().then(
    () => 'ok' as const,
    () => 'unavailable' as const,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
