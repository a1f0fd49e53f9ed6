export type StoreState = 'ok' | 'unavailable';

const PING_TIMEOUT_MS = 2000;

/** Anything with a ping. */
export interface Pingable {
  ping(): Promise<void>;
}

/** Pings with a timeout of 2 s. Never rejects. */
export async function checkHealth(store: Pingable): Promise<StoreState> {
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
