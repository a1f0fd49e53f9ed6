/**
 * A round-robin queue of organizations. However many items one organization has, all other organizations have a turn before its next item.
 */
export class FairQueue<T> {
  /** Waiting items by organization, in the order of the organizations' next turns. */
  readonly #waiting = new Map<string, T[]>();

  get size(): number {
    return [...this.#waiting.values()].reduce((size, items) => size + items.length, 0);
  }

  sizeOf(organizationId: string): number {
    return this.#waiting.get(organizationId)?.length ?? 0;
  }

  push(organizationId: string, item: T): void {
    const items = this.#waiting.get(organizationId);
    if (items) items.push(item);
    else this.#waiting.set(organizationId, [item]);
  }

  /** Puts an unfinished item back at the front of its organization. */
  unshift(organizationId: string, item: T): void {
    this.#waiting.set(organizationId, [item, ...(this.#waiting.get(organizationId) ?? [])]);
  }

  /** Takes the oldest item of the first organization that is admitted, and moves that organization to the end. */
  shift(isAdmitted: (organizationId: string) => boolean = () => true): T | undefined {
    const turn = [...this.#waiting].find(([organizationId]) => isAdmitted(organizationId));
    if (!turn) return undefined;
    const [organizationId, items] = turn;
    this.#waiting.delete(organizationId);
    if (items.length > 1) this.#waiting.set(organizationId, items);
    return items.shift();
  }

  remove(organizationId: string, item: T): void {
    const left = this.#waiting.get(organizationId)?.filter((each) => each !== item) ?? [];
    if (left.length > 0) this.#waiting.set(organizationId, left);
    else this.#waiting.delete(organizationId);
  }
}
