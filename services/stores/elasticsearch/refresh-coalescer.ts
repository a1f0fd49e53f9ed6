import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from './client.js';
import type { IndexNames } from './migrations/indices.js';

/** Between two refreshes; as often as the indices refresh by themselves. */
const INTERVAL_MS = 250;

/** Makes writes searchable: one refresh serves all callers that wait. */
export class RefreshCoalescer {
  readonly #cluster: Cluster;
  readonly #intervalMs: number;
  readonly #aliases: string[];
  #next: Promise<void> | undefined;
  #last = Number.NEGATIVE_INFINITY;

  constructor(cluster: Cluster, names: IndexNames, intervalMs = INTERVAL_MS) {
    this.#cluster = cluster;
    this.#intervalMs = intervalMs;
    this.#aliases = (['contacts', 'audiences', 'visits'] as const).map((resource) => names.alias(resource));
  }

  refresh(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<void> {
    await pause(Math.max(0, this.#last + this.#intervalMs - performance.now()));
    // Later callers may have written after this refresh.
    this.#next = undefined;
    this.#last = performance.now();
    await this.#cluster.run((client) => client.indices.refresh({ index: this.#aliases }));
  }
}
