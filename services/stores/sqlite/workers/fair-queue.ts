/** A round-robin queue of tenants: however many items one of them has, every other goes next. */
export class FairQueue<T> {
  /** By tenant, in the order of their next turns. */
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

  /** Puts an unfinished item back at the front of its tenant. */
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

  /** Takes the oldest item of the first admitted tenant, and moves the tenant to the end. */
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
