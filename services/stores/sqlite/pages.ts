import type { FacetedPage, Facets } from '../../search/facets.js';
import type { SortKey } from '../../search/query.js';
import { fromJson, type Json, toJson } from '../../shared/json.js';
import { PageBuilder, type PageBuilderOptions } from '../common/page-builder.js';

/** A page whose items are in the form that the database stores. */
export type JsonPage<T, Field extends string = never> = FacetedPage<Json<T>, Field>;

export function buildPage<Row, T, Field extends string = never>(
  rows: Iterable<Row>,
  total: number,
  {
    facets,
    sortKeyOf,
    explain,
    ...options
  }: Omit<PageBuilderOptions<Row, T>, 'reservedBytes'> & {
    sortKeyOf(row: Row): SortKey;
    facets?: Facets<Field>;
    explain?: boolean;
  },
): JsonPage<T, Field> {
  const reservedBytes = facets ? Buffer.byteLength(JSON.stringify(facets)) : 0;
  const page = new PageBuilder({ ...options, reservedBytes });
  const ranks: number[] | undefined = explain ? [] : undefined;
  for (const row of rows) {
    if (!page.add(row)) break;
    ranks?.push(sortKeyOf(row).rank);
  }
  const next = page.endsAfter === null ? null : sortKeyOf(page.endsAfter);
  return { items: page.items, total, next, ...(facets && { facets }), ...(ranks && { ranks }) };
}

/** The page for an organization or audience without records. */
export function emptyPage<T, Field extends string = never>(
  fields: readonly Field[] = [],
): JsonPage<T, Field> {
  const facets = Object.fromEntries(fields.map((field) => [field, []]));
  return { items: [], total: 0, next: null, ...(fields.length > 0 && { facets: facets as object }) };
}

/**
 * A page in the form in which a search process sends it: first a line with everything except the items, then one line per item. A single
 * text is the cheapest form to send, and JSON contains no line breaks.
 */
export type PageLines<T, Field extends string = never> = string & { readonly page?: FacetedPage<T, Field> };

type PageHead = Omit<FacetedPage<never, string>, 'items'>;

export function toLines<T, Field extends string>({
  items,
  ...head
}: JsonPage<T, Field>): PageLines<T, Field> {
  return [toJson<PageHead>(head), ...items].join('\n');
}

export function parsePage<T, Field extends string>(lines: PageLines<T, Field>): JsonPage<T, Field> {
  const [head, ...items] = lines.split('\n');
  return { items, ...fromJson(head as Json<PageHead>) };
}
