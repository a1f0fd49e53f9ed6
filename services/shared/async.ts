import { setTimeout as pause, setImmediate } from 'node:timers/promises';

/** Milliseconds that a loop over many items may block the event loop. */
const SLICE_MS = 4;
/** Items and bytes between two checks of the clock. */
const CHECK_ITEMS = 16;
const CHECK_BYTES = 16 * 1024;

/** Work that may be cancelled. Creating and aborting a signal takes several µs, so work reads the signal only if it waits or takes long. */
export interface Cancellable {
  readonly signal: AbortSignal;
}

/** Lets a long loop yield to the event loop every few milliseconds. */
export class TimeSlice {
  #startedAt = performance.now();
  #items = 0;
  #bytes = 0;

  /** Called after each item. `bytes` is the size of the item, if items can be large. */
  shouldYield(bytes = 0): boolean {
    this.#bytes += bytes;
    if (++this.#items % CHECK_ITEMS !== 0 && this.#bytes < CHECK_BYTES) return false;
    this.#bytes = 0;
    return performance.now() - this.#startedAt > SLICE_MS;
  }

  /** Yields to the event loop. Rejects with the reason of an aborted `signal`. */
  async yieldToEventLoop(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await setImmediate();
    this.#startedAt = performance.now();
  }
}

/** Rejects with a TimeoutError if `work` takes longer than `ms`, and aborts the signal of `work`, which may ignore it and continue. */
export async function withTimeout<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new DOMException(`took longer than ${ms} ms`, 'TimeoutError');
      abort.abort(error);
      reject(error);
    }, ms);
  });
  return Promise.race([work(abort.signal), late]).finally(() => clearTimeout(timer));
}

/**
 * Runs `work` with its own signal, which is aborted when `work` ends or `signal` is aborted. Until then, a store counts the data that
 * `work` read as in flight.
 */
export async function withOwnSignal<T>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(own.signal);
  } finally {
    signal.removeEventListener('abort', abort);
    own.abort();
  }
}

/** Yields the items of the source. Ends early if the signal is aborted, even while waiting for the source. */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const step = await orAborted(iterator.next(), signal);
    if (!step || step.done) return;
    yield step.value;
  }
}

/**
 * The result of `work`; undefined once the signal is aborted. A race with a promise of the signal would keep every result as long as the
 * signal exists.
 */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => resolve(undefined);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Runs tasks one at a time, in the order of the calls. A failed task does not stop later tasks. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  runExclusive<T>(task: () => Promise<T>): Promise<T> {
    const running = this.#last.then(task);
    this.#last = running.catch(() => undefined);
    return running;
  }
}

/** Runs tasks concurrently, except that tasks with the same key run one at a time, in the order of the calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async runExclusive<T>(keys: readonly string[], task: () => Promise<T>): Promise<T> {
    const before = new Set<Promise<unknown>>();
    for (const key of keys) {
      const last = this.#last.get(key);
      if (last) before.add(last);
    }
    const running = Promise.allSettled(before).then(task);
    for (const key of keys) this.#last.set(key, running);
    try {
      return await running;
    } finally {
      for (const key of keys) if (this.#last.get(key) === running) this.#last.delete(key);
    }
  }
}

/** Resolves after `ms`, or as soon as the signal is aborted. Without `ref`, the timer does not keep the process alive. */
export async function sleep(ms: number, signal?: AbortSignal, { ref = true } = {}): Promise<void> {
  await pause(ms, undefined, { signal, ref }).catch(() => undefined);
}

export interface Backoff {
  firstMs: number;
  maxMs: number;
}

/** Exponential backoff with jitter, in milliseconds: between half and all of the delay of `retry`, which counts from 0. */
export const backoffMs = (retry: number, { firstMs, maxMs }: Backoff, random = Math.random()): number =>
  Math.min(firstMs * 2 ** retry, maxMs) * (0.5 + random / 2);
