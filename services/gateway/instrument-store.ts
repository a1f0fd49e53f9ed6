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
        histogram.observe({ store: name, operation: String(operation), outcome }, elapsedMs / 1000);
      }
    };
  };
  return (timing) => new Proxy(store, { get: get(timing) });
}
