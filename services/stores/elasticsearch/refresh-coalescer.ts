import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from './client.js';
import type { IndexNames } from './migrations/indices.js';

/** Between two refreshes that are asked for; as often as indices do it by themselves. */
const INTERVAL_MS = 250;

/** Lets searches find what was written: one refresh for all who wait for it. */
export class RefreshCoalescer {
  readonly #cluster: Cluster;
  readonly #aliases: string[];
  #next: Promise<void> | undefined;
  #last = Number.NEGATIVE_INFINITY;

  constructor(cluster: Cluster, names: IndexNames) {
    this.#cluster = cluster;
    this.#aliases = (['contacts', 'audiences', 'visits'] as const).map((resource) => names.alias(resource));
  }

  refresh(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<void> {
    await pause(Math.max(0, this.#last + INTERVAL_MS - performance.now()));
    // Who comes from here on has written too late for it.
    this.#next = undefined;
    this.#last = performance.now();
    await this.#cluster.run((client) => client.indices.refresh({ index: this.#aliases }));
  }
}
