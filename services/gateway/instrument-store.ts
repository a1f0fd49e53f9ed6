import type { Histogram } from 'prom-client';
import { memoize } from '../shared/cache.js';
import type { StoreName } from '../shared/store-errors.js';

/** Milliseconds that a request has spent in stores, for Server-Timing. */
export interface StoreTiming {
  storeMs: number;
}

/**
 * Returns a decorator that wraps the store for one request: the wrapper times every method call into the histogram and into `timing`. The
 * wrappers share one prototype, because a proxy per request costs more than the calls.
 */
export function instrumentStore<T extends object>(
  store: T,
  name: StoreName,
  histogram: Histogram<'store' | 'operation' | 'outcome'>,
): (timing: StoreTiming) => T {
  class InstrumentedStore {
    readonly timing: StoreTiming;

    constructor(timing: StoreTiming) {
      this.timing = timing;
    }
  }
  const target = store as Record<string, unknown>;
  for (const property of propertiesOf(store)) {
    const descriptor =
      typeof target[property] === 'function' ? { value: timed(property) } : { get: () => target[property] };
    Object.defineProperty(InstrumentedStore.prototype, property, descriptor);
  }
  return (timing) => new InstrumentedStore(timing) as unknown as T;

  function timed(operation: string): (this: InstrumentedStore, ...args: unknown[]) => Promise<unknown> {
    // Series are memoized, because looking up a series by its labels takes longer than observing a value.
    const series = memoize((outcome) => histogram.labels(name, operation, outcome));
    return async function (this: InstrumentedStore, ...args) {
      const startedAt = performance.now();
      let outcome = 'failed';
      try {
        const method = target[operation] as (...args: unknown[]) => unknown;
        const result: unknown = await method.apply(store, args);
        outcome = 'ok';
        return result;
      } catch (error) {
        if (error instanceof Error && error.name === 'AbortError') outcome = 'aborted';
        throw error;
      } finally {
        const elapsedMs = performance.now() - startedAt;
        this.timing.storeMs += elapsedMs;
        series(outcome).observe(elapsedMs / 1000);
      }
    };
  }
}

/** Names of the properties of an object and of its classes. */
function propertiesOf(object: object): Set<string> {
  const names = new Set<string>();
  for (let each = object; each !== Object.prototype; each = Object.getPrototypeOf(each) as object) {
    for (const name of Object.getOwnPropertyNames(each)) if (name !== 'constructor') names.add(name);
  }
  return names;
}
