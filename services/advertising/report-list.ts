/** A list of a report: a page with its series, and an export page by page. */
import type { ExportFormat, MatchPage } from '../http/endpoint.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { caseFold } from './normalization.js';
import type { AdvertisingContext } from './operation.js';
import type { Page, Sort } from './report-params.js';
import { type FigureList, pageFigures, rowsById, run } from './report-queries.js';
import { withSeries } from './response-mapping.js';
import { completeItems, type SeriesRow } from './series.js';

export const searchFilter = (search: string | null | undefined) => (search ? caseFold(search) : undefined);

/** Descending unless the request says otherwise. */
export const sortOf = <Name extends string>(
  { sort_by, sort_direction }: { sort_by?: Name | null; sort_direction?: string | null },
  standard: Name,
): Sort<Name> => ({ by: sort_by ?? standard, descending: sort_direction !== 'asc' });

type Id = { id: string };

/** Ids of a list that an export has read and not sent yet. */
export interface UnsentIds {
  ids: string[];
  /** Ids read so far. */
  read: number;
  total: number;
}

export interface ReportList<Attributes extends Id, Item extends object> extends FigureList {
  /** The ids of a page. */
  query(page: Page): AnalyticsQuery;
  attributesQuery(ids: string[]): AnalyticsQuery;
  /** An item without its series. */
  toItem(id: string, attributes: Attributes | undefined, totals: SeriesRow | undefined): Item;
}

/** The ids of a page, and how many match. */
export async function readIds(call: AdvertisingContext, query: AnalyticsQuery) {
  const { rows, total } = await run<Id>(call, query);
  return { ids: rows.map(({ id }) => id), total };
}

async function itemsOf<Attributes extends Id, Item extends object>(
  call: AdvertisingContext,
  list: ReportList<Attributes, Item>,
  ids: string[],
  hasSeries: boolean,
) {
  const [attributes, figures] = await Promise.all([
    rowsById<Attributes>(call, ids, list.attributesQuery(ids)),
    pageFigures(call, list, ids, hasSeries),
  ]);
  const items = ids.map((id) => list.toItem(id, attributes.get(id), figures.totalsOf(id)));
  return { items, figures };
}

export async function itemsWithSeries<Attributes extends Id, Item extends object>(
  call: AdvertisingContext,
  list: ReportList<Attributes, Item>,
  ids: string[],
) {
  const { items, figures } = await itemsOf(call, list, ids, true);
  return items.map((item, index) => withSeries(item, figures.seriesOf(ids[index] as string)));
}

/** Ids that an export reads in one statement: each statement computes all, and orders them. */
const EXPORT_IDS = 2000;

/** The next items of a list with their series, as many as have every period (contract 5.4). */
export async function readNext<Attributes extends Id, Item extends object>(
  call: AdvertisingContext,
  list: ReportList<Attributes, Item>,
  unsent: UnsentIds | undefined,
  format: ExportFormat,
): Promise<MatchPage> {
  let { ids, read, total } = unsent ?? { ids: [], read: 0, total: 0 };
  if (ids.length === 0) {
    ({ ids, total } = await readIds(call, list.query({ page: read / EXPORT_IDS + 1, size: EXPORT_IDS })));
    read += EXPORT_IDS;
  }
  const count = format === 'csv' ? ids.length : completeItems(list.report);
  const some = ids.slice(0, count);
  const rest = ids.slice(count);
  return {
    // CSV has no room for series.
    items:
      format === 'csv'
        ? (await itemsOf(call, list, some, false)).items
        : (await itemsWithSeries(call, list, some)).map(({ text }) => text),
    total,
    next: rest.length > 0 || read < total ? { ids: rest, read, total } : null,
  };
}
