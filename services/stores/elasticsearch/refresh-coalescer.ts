import { sleep } from '../../shared/async.js';
import type { Cluster } from './client.js';
import type { IndexNames } from './migrations/indices.js';

/** Milliseconds between two refreshes, equal to the refresh interval of the indices. */
const INTERVAL_MS = 250;

/** Makes writes searchable. One refresh serves all waiting callers. */
export function refreshCoalescer(
  cluster: Cluster,
  names: IndexNames,
  intervalMs = INTERVAL_MS,
): () => Promise<void> {
  const index = (['contacts', 'audiences', 'visits'] as const).map((resource) => names.alias(resource));
  let next: Promise<void> | undefined;
  let last = Number.NEGATIVE_INFINITY;
  const begin = async () => {
    await sleep(Math.max(0, last + intervalMs - performance.now()));
    // Later callers may have written after this refresh.
    next = undefined;
    last = performance.now();
    await cluster.refresh(index);
  };
  return () => {
    next ??= begin();
    return next;
  };
}
