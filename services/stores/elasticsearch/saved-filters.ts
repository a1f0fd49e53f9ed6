import {
  type SavedFilterStore,
  type StoredFilter,
  withSaved,
} from '../../saved-filters/saved-filter-store.js';
import { compareCodePoints } from '../../shared/text.js';
import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { retryWithBackoff } from './retry.js';

/** All saved filters of an organization. */
interface FiltersSource {
  organization_id: string;
  filters: StoredFilter[];
}

export function savedFilterStore(cluster: Cluster, names: IndexNames): SavedFilterStore {
  const documents = new Documents<FiltersSource>(cluster, names.alias('filters'));

  /** `change` returns the filters to store, or null to store nothing, and the result. */
  const change = <T>(
    organizationId: string,
    next: (filters: readonly StoredFilter[]) => { filters: StoredFilter[] | null; result: T },
  ): Promise<T> =>
    documents.keyedMutex.runExclusive([organizationId], () =>
      retryWithBackoff(async () => {
        const found = await documents.get(organizationId);
        const { filters, result } = next(found?.source.filters ?? []);
        if (filters === null) return result;
        const source = { organization_id: organizationId, filters };
        const done = found
          ? await documents.replace(found, source, { refresh: false })
          : await documents.create(organizationId, source, { refresh: false });
        return done ? result : undefined;
      }),
    );

  return {
    async listFilters(organizationId, view, signal) {
      const found = await documents.get(organizationId, undefined, signal);
      const filters = found?.source.filters.filter((filter) => filter.view === view) ?? [];
      return filters.sort((one, other) => compareCodePoints(one.name, other.name));
    },
    saveFilter: (organizationId, filter, now) =>
      change(organizationId, (before) => {
        const { filters, outcome } = withSaved(before, filter, now);
        return { filters: outcome.kind === 'saved' ? filters : null, result: outcome };
      }),
    deleteFilter: (organizationId, view, name) =>
      change<StoredFilter | null>(organizationId, (before) => {
        const deleted = before.find((filter) => filter.view === view && filter.name === name) ?? null;
        return { filters: deleted && before.filter((filter) => filter !== deleted), result: deleted };
      }),
  };
}
