/** A queue that takes from its tenants in turn: however much one of them asks for, every other goes next. */
export class FairQueue<T> {
  /** In the order of their next turns. */
  readonly #waiting = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get tenants(): Iterable<string> {
    return this.#waiting.keys();
  }

  sizeOf(tenant: string): number {
    return this.#waiting.get(tenant)?.length ?? 0;
  }

  push(tenant: string, item: T): void {
    const items = this.#waiting.get(tenant);
    if (items) items.push(item);
    else this.#waiting.set(tenant, [item]);
    this.#size++;
  }

  /** Puts an item that was taken back: its tenant goes on with it at its next turn. */
  unshift(tenant: string, item: T): void {
    const items = this.#waiting.get(tenant);
    if (items) items.unshift(item);
    else this.#waiting.set(tenant, [item]);
    this.#size++;
  }

  /** Whether any tenant with an item is admitted. */
  has(isAdmitted: (tenant: string) => boolean): boolean {
    for (const tenant of this.#waiting.keys()) if (isAdmitted(tenant)) return true;
    return false;
  }

  /** Takes the oldest item of the first tenant that is admitted, whose next turn then comes last. */
  shift(isAdmitted: (tenant: string) => boolean): T | undefined {
    for (const [tenant, items] of this.#waiting) {
      if (!isAdmitted(tenant)) continue;
      const item = items.shift();
      this.#waiting.delete(tenant);
      if (items.length > 0) this.#waiting.set(tenant, items);
      this.#size--;
      return item;
    }
    return undefined;
  }

  /** False when the item is not waiting. */
  remove(tenant: string, item: T): boolean {
    const items = this.#waiting.get(tenant);
    const index = items?.indexOf(item) ?? -1;
    if (!items || index < 0) return false;
    items.splice(index, 1);
    if (items.length === 0) this.#waiting.delete(tenant);
    this.#size--;
    return true;
  }

  /** Removes and returns everything. */
  drain(): T[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }
}
