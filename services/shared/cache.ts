/** Caches the result of `load` for `ttlMs`; concurrent callers share one call. A failure is not cached. */
export function cached<T>(ttlMs: number, load: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  let expiresAt = Number.POSITIVE_INFINITY;
  return () => {
    if (value !== undefined && performance.now() < expiresAt) return value;
    expiresAt = Number.POSITIVE_INFINITY;
    const loading = load();
    value = loading;
    loading.then(
      () => {
        expiresAt = performance.now() + ttlMs;
      },
      () => {
        value = undefined;
      },
    );
    return loading;
  };
}

const MAX_ENTRIES = 20_000;
const MAX_KEY_LENGTH = 200;

/** Memoizes a pure function of a string; clears the cache at `maxEntries`, and does not cache keys over 200 characters. */
export function memoize<T>(compute: (text: string) => T, maxEntries = MAX_ENTRIES): (text: string) => T {
  const entries = new Map<string, T>();
  return (text) => {
    if (text.length > MAX_KEY_LENGTH) return compute(text);
    let result = entries.get(text);
    if (result === undefined) {
      if (entries.size >= maxEntries) entries.clear();
      result = compute(text);
      entries.set(text, result);
    }
    return result;
  };
}
