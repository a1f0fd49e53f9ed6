import type { SavedFilter, View } from './schema.js';

/** Maximum number of saved filters of an organization. */
export const MAX_FILTERS = 100;

export interface StoredFilter {
  view: View;
  name: string;
  /** The filters of a search, as JSON. */
  filter: object;
  /** ISO 8601 UTC. */
  created_at: string;
  updated_at: string;
}

export interface FilterToSave extends Pick<StoredFilter, 'view' | 'name' | 'filter'> {
  /** Whether to replace the filter of the view that has the name. */
  replace: boolean;
}

export type SaveFilterOutcome =
  /** `replaced` is the filter that had the name before. */
  | { kind: 'saved'; filter: StoredFilter; replaced: StoredFilter | null }
  | { kind: 'filter_exists' }
  | { kind: 'too_many_filters' };

/** In an organization, the view and the name identify a saved filter. */
export interface SavedFilterStore {
  /** The saved filters of a view, by name. */
  listFilters(organizationId: string, view: View, signal?: AbortSignal): Promise<StoredFilter[]>;
  saveFilter(organizationId: string, filter: FilterToSave, now: number): Promise<SaveFilterOutcome>;
  /** Resolves with the filter before its deletion; null if there was none. */
  deleteFilter(organizationId: string, view: View, name: string): Promise<StoredFilter | null>;
}

export const toSavedFilter = ({ view, filter, ...stored }: StoredFilter): SavedFilter => ({
  name: stored.name,
  [view]: filter,
  created_at: stored.created_at,
  updated_at: stored.updated_at,
});

/** The saved filters after one was saved. */
export function withSaved(
  filters: readonly StoredFilter[],
  { view, name, filter, replace }: FilterToSave,
  now: number,
): { filters: StoredFilter[]; outcome: SaveFilterOutcome } {
  const time = new Date(now).toISOString();
  const replaced = filters.find((other) => other.view === view && other.name === name) ?? null;
  if (replaced && !replace) return { filters: [...filters], outcome: { kind: 'filter_exists' } };
  const others = filters.filter((other) => other !== replaced);
  if (others.length >= MAX_FILTERS) return { filters: others, outcome: { kind: 'too_many_filters' } };
  const saved = { view, name, filter, created_at: replaced?.created_at ?? time, updated_at: time };
  return { filters: [...others, saved], outcome: { kind: 'saved', filter: saved, replaced } };
}
