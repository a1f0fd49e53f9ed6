import type { FacetedPage, Facets } from '../../search/facets.js';
import type { SortKey } from '../../search/query.js';
import { PageBuilder, type PageBuilderOptions } from '../common/page-builder.js';
import type { Json } from './json.js';

/** A page of rows whose items are JSON already. */
export function pageJson<Row, T, Field extends string = never>(
  rows: Iterable<Row>,
  total: number,
  options: Omit<PageBuilderOptions<Row, Json<T>>, 'toJson' | 'reservedBytes'> & {
    sortKeyOf(row: Row): SortKey;
    facets?: Facets<Field>;
  },
): Json<FacetedPage<T, Field>> {
  const facets = options.facets === undefined ? '' : `,"facets":${JSON.stringify(options.facets)}`;
  const reservedBytes = Buffer.byteLength(facets);
  const page = new PageBuilder({ ...options, reservedBytes, toJson: (item) => item });
  for (const row of rows) if (!page.add(row)) break;
  const next = page.endsAfter === null ? null : options.sortKeyOf(page.endsAfter);
  return `{"items":[${page.items.join(',')}],"total":${total},"next":${JSON.stringify(next)}${facets}}`;
}

/** Of an organization, or an audience, that nothing belongs to. */
export function emptyPage<T, Field extends string = never>(
  facets: readonly Field[] = [],
): Json<FacetedPage<T, Field>> {
  const counts = facets.length === 0 ? undefined : Object.fromEntries(facets.map((field) => [field, []]));
  return JSON.stringify({ items: [], total: 0, next: null, facets: counts });
}
