import type { StoreName } from '../stores/store-error.js';

export interface Readiness {
  ready: boolean;
  /** `intake` where records go to topics; without it everything else is still served. */
  stores: Partial<Record<StoreName, 'ok' | 'unavailable'>>;
  stopping: boolean;
}

const PING_TIMEOUT_MS = 2000;

interface Pinged {
  ping(): Promise<void>;
}

/** Asks the stores, each for at most 2 s. */
export async function checkReadiness(
  stores: { search: Pinged; analytics: Pinged; intake?: Pinged },
  stopping: boolean,
): Promise<Readiness> {
  const state = async (store: Pinged) => ((await answers(store)) ? 'ok' : 'unavailable');
  const [search, analytics, intake] = await Promise.all([
    state(stores.search),
    state(stores.analytics),
    stores.intake && state(stores.intake),
  ]);
  return {
    ready: search === 'ok' && analytics === 'ok' && !stopping,
    stores: { search, analytics, intake },
    stopping,
  };
}

async function answers(store: Pinged): Promise<boolean> {
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
