/** Filters that a person named, kept in this browser per organization. The address of a view is all there is to keep. */
import { signal } from '@preact/signals';
import { organizationId } from './session.js';

export interface SavedFilter {
  name: string;
  /** Below `/console`. */
  path: string;
  /** Parameters of the address, without the open panel and the page. */
  search: string;
}

const PASSING_PARAMS = ['contact', 'audience', 'page'];

const storageKey = () => `reachline.filters.${organizationId.value}`;

function read(): SavedFilter[] {
  try {
    return JSON.parse(localStorage.getItem(storageKey()) ?? '[]') as SavedFilter[];
  } catch {
    return [];
  }
}

export const savedFilters = signal<readonly SavedFilter[]>([]);

/** Reads them again: another tab, or another organization, may have written them since. */
export function loadSavedFilters(): void {
  savedFilters.value = read();
}

function write(filters: readonly SavedFilter[]): void {
  localStorage.setItem(storageKey(), JSON.stringify(filters));
  savedFilters.value = filters;
}

const isSame = (a: { name: string; path: string }, b: { name: string; path: string }) =>
  a.name === b.name && a.path === b.path;

/** Replaces the filter of that name in the same view. */
export function saveFilter(name: string, path: string, params: URLSearchParams): void {
  const kept = new URLSearchParams(params);
  for (const passing of PASSING_PARAMS) kept.delete(passing);
  const filter = { name, path, search: kept.toString() };
  write([...read().filter((other) => !isSame(other, filter)), filter]);
}

export function removeFilter(filter: SavedFilter): void {
  write(read().filter((other) => !isSame(other, filter)));
}
