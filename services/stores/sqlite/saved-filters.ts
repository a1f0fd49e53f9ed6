import {
  type FilterToSave,
  type SaveFilterOutcome,
  type StoredFilter,
  withSaved,
} from '../../saved-filters/saved-filter-store.js';
import type { View } from '../../saved-filters/schema.js';
import { sql } from '../../shared/sql.js';
import type { Connection } from './connection.js';

type Columns = readonly [view: View, name: string, filter: string, createdAt: string, updatedAt: string];

/** The saved filters of an organization, of one view or of all, by name. */
export function listFilters(connection: Connection, organizationId: string, view?: View): StoredFilter[] {
  const rows = connection.each<Columns>(
    sql`SELECT view, name, filter, created_at, updated_at FROM saved_filters
      WHERE organization_id = ?1 AND (?2 IS NULL OR view = ?2) ORDER BY name, view`,
    organizationId,
    view ?? null,
  );
  return [...rows].map(([view, name, filter, created_at, updated_at]) => ({
    view,
    name,
    filter: JSON.parse(filter) as object,
    created_at,
    updated_at,
  }));
}

/** `now` is in milliseconds since the epoch. */
export function saveFilter(
  connection: Connection,
  organizationId: string,
  given: FilterToSave,
  now: number,
): SaveFilterOutcome {
  const { outcome } = withSaved(listFilters(connection, organizationId), given, now);
  if (outcome.kind !== 'saved') return outcome;
  const { view, name, filter, created_at, updated_at } = outcome.filter;
  connection.run(
    sql`INSERT OR REPLACE INTO saved_filters (organization_id, view, name, filter, created_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?)`,
    organizationId,
    view,
    name,
    JSON.stringify(filter),
    created_at,
    updated_at,
  );
  return outcome;
}

export function deleteFilter(
  connection: Connection,
  organizationId: string,
  view: View,
  name: string,
): StoredFilter | null {
  const filters = listFilters(connection, organizationId, view);
  const deleted = filters.find((filter) => filter.name === name) ?? null;
  connection.run(
    sql`DELETE FROM saved_filters WHERE organization_id = ? AND view = ? AND name = ?`,
    organizationId,
    view,
    name,
  );
  return deleted;
}
