/** Declarations that the advertising operations share. */
import type { TObject, TSchema } from 'typebox';
import { endpointsWith, type HandlerContext } from '../http/endpoint.js';
import { type Clock, utcDate } from '../shared/time.js';
import type { AnalyticsReader } from './analytics-store.js';
import { addDays } from './calendar.js';

export interface AdvertisingServices {
  analytics: AnalyticsReader;
  clock: Clock;
  /** Number of days before today that networks still restate (contract 5.11). */
  provisionalDays: number;
}

export const endpoint = endpointsWith<AdvertisingServices>();

export type AdvertisingContext = HandlerContext<unknown, unknown, AdvertisingServices>;

/** Last month, in which up-to-date sample data has deliveries. */
export const exampleRange = () => {
  const today = utcDate(Date.now());
  return { start_date: addDays(today, -31), end_date: addDays(today, -1) };
};

export const describe = (what: string) =>
  `${what}\n\nSums are of the newest report of each day: of money exact, of counts exact up to 2^53. \`warnings\` say what to know when reading the figures.`;

/** Columns of CSV: the fields of an item, without metrics that the request leaves out. */
export const columnsOf =
  (item: TSchema, metrics: readonly string[]) =>
  (body: { metrics?: readonly string[] | null }): string[] =>
    Object.keys((item as TObject).properties).filter(
      (name) => !body.metrics || body.metrics.includes(name) || !metrics.includes(name),
    );

export const advertising = { tag: 'Advertising', scope: ['advertising:read'] } as const;
export const PAGE_FIELDS = ['page', 'page_size', 'compare_to'];
export const listing = { ...advertising, slots: () => 4, problems: ['too_many_points'] } as const;
