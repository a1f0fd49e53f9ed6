/** Filters of views that the server keeps no filters of, stored in this browser per organization. */

export interface SavedFilter {
  name: string;
  /** Below `/console`. */
  path: string;
  /** Parameters of the address, except the open panel and the page. */
  search: string;
}

const PASSING_PARAMS = ['contact', 'audience', 'page'];

const storageKey = (organizationId: string) => `reachline.filters.${organizationId}`;

/** Reads the storage each time, because another tab may have written to it. */
export function savedFilters(organizationId: string): SavedFilter[] {
  try {
    return JSON.parse(localStorage.getItem(storageKey(organizationId)) ?? '[]') as SavedFilter[];
  } catch {
    return [];
  }
}

function write(organizationId: string, filters: SavedFilter[]): SavedFilter[] {
  localStorage.setItem(storageKey(organizationId), JSON.stringify(filters));
  return filters;
}

const others = (organizationId: string, { name, path }: Pick<SavedFilter, 'name' | 'path'>) =>
  savedFilters(organizationId).filter((other) => other.name !== name || other.path !== path);

/** Replaces the saved filters of that name in the same view. Returns all saved filters. */
export function saveFilter(
  organizationId: string,
  name: string,
  path: string,
  params: URLSearchParams,
): SavedFilter[] {
  const kept = new URLSearchParams(params);
  for (const passing of PASSING_PARAMS) kept.delete(passing);
  const filter = { name, path, search: kept.toString() };
  return write(organizationId, [...others(organizationId, filter), filter]);
}

export const removeFilter = (
  organizationId: string,
  filter: Pick<SavedFilter, 'name' | 'path'>,
): SavedFilter[] => write(organizationId, others(organizationId, filter));
