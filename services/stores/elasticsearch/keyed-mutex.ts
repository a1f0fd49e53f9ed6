/** Runs tasks side by side, but those that have a key in common one after another, in the order they came. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(keys: readonly string[], task: () => Promise<T>): Promise<T> {
    const before = new Set<Promise<unknown>>();
    for (const key of keys) {
      const last = this.#last.get(key);
      if (last) before.add(last);
    }
    const mine = Promise.allSettled(before).then(task);
    for (const key of keys) this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      for (const key of keys) if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
