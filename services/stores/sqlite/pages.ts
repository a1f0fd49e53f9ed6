import type { Page, SortKey } from '../../search/query.js';
import { PageBuilder, type PageBuilderOptions } from '../common/page-builder.js';
import type { Json } from './json.js';

/** A page of rows whose items are JSON already. */
export function pageJson<Row, T>(
  rows: Iterable<Row>,
  total: number,
  options: Omit<PageBuilderOptions<Row, Json<T>>, 'toJson'> & { sortKeyOf(row: Row): SortKey },
): Json<Page<T>> {
  const page = new PageBuilder({ ...options, toJson: (item) => item });
  for (const row of rows) if (!page.add(row)) break;
  const next = page.endsAfter === null ? null : options.sortKeyOf(page.endsAfter);
  return `{"items":[${page.items.join(',')}],"total":${total},"next":${JSON.stringify(next)}}`;
}

export const emptyPage = <T>(): Json<Page<T>> => `{"items":[],"total":0,"next":null}`;
