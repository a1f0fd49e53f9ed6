import type { Histogram } from 'prom-client';
import type { StoreName } from '../shared/store-errors.js';

/** Milliseconds a request has spent in stores, for Server-Timing. */
export interface StoreTiming {
  storeMs: number;
}

/** Returns a decorator that wraps the store for one request: every method call is timed into the histogram and into `timing`. */
export function instrumentStore<T extends object>(
  store: T,
  name: StoreName,
  histogram: Histogram<'store' | 'operation' | 'outcome'>,
): (timing: StoreTiming) => T {
  // Looking up a series by its labels is slower than observing it.
  const series = new Map<string, { observe(seconds: number): void }>();
  const seriesOf = (operation: string, outcome: string) => {
    const key = `${outcome} ${operation}`;
    let found = series.get(key);
    if (!found) {
      found = histogram.labels(name, operation, outcome);
      series.set(key, found);
    }
    return found;
  };
  const get = (timing: StoreTiming) => (target: T, operation: string | symbol) => {
    const method: unknown = Reflect.get(target, operation);
    if (typeof method !== 'function') return method;
    return async (...args: unknown[]) => {
      const startedAt = performance.now();
      let outcome = 'failed';
      try {
        const result: unknown = await method.apply(target, args);
        outcome = 'ok';
        return result;
      } catch (error) {
        if (error instanceof Error && error.name === 'AbortError') outcome = 'aborted';
        throw error;
      } finally {
        const elapsedMs = performance.now() - startedAt;
        timing.storeMs += elapsedMs;
        seriesOf(String(operation), outcome).observe(elapsedMs / 1000);
      }
    };
  };
  return (timing) => new Proxy(store, { get: get(timing) });
}
