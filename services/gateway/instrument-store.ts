import type { Histogram } from 'prom-client';
import type { StoreName } from '../shared/store-errors.js';

/** Sees the stores of one request: every call is measured, and adds to the request's own store time. */
export type Observe<T> = (spent: { storeMs: number }) => T;

type Method = (...args: unknown[]) => Promise<unknown>;

/**
 * Wraps a store once a process, so that wrapping it once more for each request is a single small object.
 */
export function observeStore<T extends object>(
  store: T,
  name: StoreName,
  histogram: Histogram<'store' | 'operation' | 'outcome'>,
): Observe<T> {
  class Observed {
    readonly spent: { storeMs: number };

    constructor(spent: { storeMs: number }) {
      this.spent = spent;
    }
  }
  const observed = Observed.prototype as unknown as Record<string, unknown>;
  for (const method of methodsOf(store)) {
    const call = (store as Record<string, Method>)[method] as Method;
    const succeeded = histogram.labels(name, method, 'ok');
    const failed = histogram.labels(name, method, 'failed');
    // Given up, as the client left or the time was over.
    const aborted = histogram.labels(name, method, 'aborted');
    observed[method] = async function (this: Observed, ...args: unknown[]) {
      const begun = performance.now();
      let outcome = failed;
      try {
        const answer = await call.apply(store, args);
        outcome = succeeded;
        return answer;
      } catch (error) {
        if (error instanceof Error && error.name === 'AbortError') outcome = aborted;
        throw error;
      } finally {
        const elapsed = performance.now() - begun;
        this.spent.storeMs += elapsed;
        outcome.observe(elapsed / 1000);
      }
    };
  }
  return (spent) => new Observed(spent) as unknown as T;
}

function methodsOf(store: object): string[] {
  const methods = new Set<string>();
  for (
    let proto = store;
    proto && proto !== Object.prototype;
    proto = Object.getPrototypeOf(proto) as object
  ) {
    for (const name of Object.getOwnPropertyNames(proto)) {
      const value = Object.getOwnPropertyDescriptor(proto, name)?.value as unknown;
      if (name !== 'constructor' && typeof value === 'function') methods.add(name);
    }
  }
  return [...methods];
}
