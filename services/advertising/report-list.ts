/** A list of a report: a page with its series, and an export page by page. */
import type { ExportFormat, MatchPage } from '../http/endpoint.js';
import type { Json } from '../shared/json.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { caseFold } from './normalization.js';
import type { AdvertisingContext } from './operation.js';
import type { Page, ReportParams, Sort } from './report-params.js';
import { run } from './report-queries.js';
import { withSeries } from './response-mapping.js';
import { completeItems, type Point } from './series.js';

export const searchFilter = (search: string | null | undefined) => (search ? caseFold(search) : undefined);

/** Descending unless the request says otherwise. */
export const sortOf = <Name extends string>(
  { sort_by, sort_direction }: { sort_by?: Name | null; sort_direction?: string | null },
  standard: Name,
): Sort<Name> => ({ by: sort_by ?? standard, descending: sort_direction !== 'asc' });

/** Rows of a list that an export has read and not sent yet. */
export interface UnsentRows<Row> {
  rows: Row[];
  /** Rows read so far. */
  read: number;
  total: number;
}

interface RowList<Row, Item extends { id: string }> {
  report: ReportParams;
  query(page: Page): AnalyticsQuery;
  /** The items of rows, without their series. */
  toItems(rows: Row[]): Promise<Item[]>;
  seriesOf(ids: string[]): Promise<(id: string) => Json<Point[]>>;
}

export async function itemsWithSeries<Row extends { id: string }, Item extends { id: string }>(
  { toItems, seriesOf }: Pick<RowList<Row, Item>, 'toItems' | 'seriesOf'>,
  rows: Row[],
) {
  const [items, series] = await Promise.all([toItems(rows), seriesOf(rows.map(({ id }) => id))]);
  return items.map((item) => withSeries(item, series(item.id)));
}

/** Rows that an export reads in one statement: each statement computes all, and orders it. */
const EXPORT_ROWS = 2000;

/** The next rows of a list with their series, as many as have every period (contract 5.4). */
export async function readRows<Row extends { id: string }, Item extends { id: string }>(
  call: AdvertisingContext,
  list: RowList<Row, Item>,
  unsent: UnsentRows<Row> | undefined,
  format: ExportFormat,
): Promise<MatchPage> {
  const { report, query, toItems } = list;
  let { rows, read, total } = unsent ?? { rows: [], read: 0, total: 0 };
  if (rows.length === 0) {
    ({ rows, total } = await run<Row>(call, query({ page: read / EXPORT_ROWS + 1, size: EXPORT_ROWS })));
    read += EXPORT_ROWS;
  }
  const count = format === 'csv' ? rows.length : completeItems(report);
  const some = rows.slice(0, count);
  const rest = rows.slice(count);
  return {
    // CSV has no room for series.
    items:
      format === 'csv' ? await toItems(some) : (await itemsWithSeries(list, some)).map(({ text }) => text),
    total,
    next: rest.length > 0 || read < total ? { rows: rest, read, total } : null,
  };
}
