export type StoreState = 'ok' | 'unavailable';

const PING_TIMEOUT_MS = 2000;

/** What can tell whether it answers. */
export interface Pinged {
  ping(): Promise<void>;
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
