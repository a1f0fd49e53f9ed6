import type { Histogram } from 'prom-client';
import type { StoreName } from '../stores/store-error.js';

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
  const observed: Record<string, unknown> = Object.create(null);
  for (const method of methodsOf(store)) {
    const call = (store as Record<string, Method>)[method] as Method;
    const succeeded = histogram.labels(name, method, 'ok');
    const failed = histogram.labels(name, method, 'failed');
    observed[method] = async function (this: { spent: { storeMs: number } }, ...args: unknown[]) {
      const begun = performance.now();
      let outcome = failed;
      try {
        const answer = await call.apply(store, args);
        outcome = succeeded;
        return answer;
      } finally {
        const elapsed = performance.now() - begun;
        this.spent.storeMs += elapsed;
        outcome.observe(elapsed / 1000);
      }
    };
  }
  return (spent) => Object.create(observed, { spent: { value: spent } }) as T;
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
