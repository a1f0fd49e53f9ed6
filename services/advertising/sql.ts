/** SQL fragments that the advertising queries share. Names come only from fixed tables; values are always bound. */
import { checkedIdentifier, EMPTY_SQL, identifier, joinSql, Sql, sql } from '../shared/sql.js';
import type { DateRange } from './calendar.js';
import { isMoney, isRate, type Metric, RATES, type Rate, type SummedMetric } from './metrics.js';
import type { ListFilter, Page } from './report-params.js';

export type QueryParams = Record<string, string | number | readonly string[]>;

const FIRST_DAY = '1970-01-01';
const LAST_DAY = '2149-06-06';

/** The range, limited to the days that deliveries can have. A range outside these days becomes empty. */
export function rangeParams({ start, end }: DateRange): QueryParams {
  if (end < FIRST_DAY || start > LAST_DAY) return { start_date: LAST_DAY, end_date: FIRST_DAY };
  return {
    start_date: start < FIRST_DAY ? FIRST_DAY : start,
    end_date: end > LAST_DAY ? LAST_DAY : end,
  };
}

export const IN_ORGANIZATION: Sql = sql`organization_id = {organization_id:String}`;
export const IN_RANGE: Sql = sql`date BETWEEN {start_date:Date} AND {end_date:Date}`;

/** Conditions joined by AND. Absent conditions are skipped. */
export function where(...conditions: (Sql | false | undefined)[]): Sql {
  const applicable = conditions.filter((condition) => condition instanceof Sql);
  return applicable.length === 0 ? EMPTY_SQL : sql`WHERE ${joinSql(applicable, ' AND ')}`;
}

/** Names of parameters that are lists. */
type ListName = ListFilter | 'ids';

/** The condition `expression IN (values)`; no condition if the filter is absent. */
export function inList(expression: Sql, name: ListName, values: readonly string[] | undefined) {
  return values && sql`${expression} IN {${identifier(name)}:Array(String)}`;
}

/** SQL of case-folded text without accents, like `dropAccents`. Plain ASCII costs nothing. */
export const withoutAccents = (key: Sql) =>
  sql`if(length(${key}) = lengthUTF8(${key}), ${key}, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(${key}), '[\\\\x{0300}-\\\\x{036f}]', ''), 'øłđðħŧ', 'olddht'))`;

/** Whether one of the keys contains the text. A key is null if its attribute is null. */
export function containsAny(keys: readonly Sql[], search: string | undefined) {
  if (search === undefined) return undefined;
  const found = keys.map((key) => sql`position(ifNull(${withoutAccents(key)}, ''), {search:String}) > 0`);
  return sql`(${joinSql(found, ' OR ')})`;
}

/** `sum(…) AS name` for each metric. Money is summed in 256 bits: 128 would overflow silently. */
export function sumColumns(names: readonly SummedMetric[]): Sql[] {
  return names.map((metric) => {
    const name = identifier(metric);
    return isMoney(metric)
      ? sql`sum(toDecimal256(delivery.${name}, 12)) AS ${name}`
      : sql`sum(delivery.${name}) AS ${name}`;
  });
}

/** The sums over all rows of a joined aggregate, which are zero if the aggregate has no rows. */
export function totalColumns(names: readonly SummedMetric[]): Sql[] {
  return names.map(identifier).map((name) => sql`ifNull(sum(metrics.${name}), 0) AS ${name}`);
}

/**
 * A rate in millionths, rounded half up as in `metric-values.ts`; null if the denominator is 0. Computed in 256 bits, with money in units
 * of 10^-12.
 */
function rateKey(rate: Rate): Sql {
  const { numerator, denominator, factor } = RATES[rate];
  const units = (name: SummedMetric) =>
    isMoney(name)
      ? sql`reinterpret(toDecimal256(metrics.${identifier(name)}, 12), 'Int256')`
      : sql`toInt256(metrics.${identifier(name)})`;
  const scale = (by: SummedMetric, other: SummedMetric) =>
    isMoney(by) && !isMoney(other) ? sql` * 1000000000000` : EMPTY_SQL;
  const above = sql`${units(numerator)} * ${factor * 1_000_000}${scale(denominator, numerator)}`;
  const below = sql`${units(denominator)}${scale(numerator, denominator)}`;
  return sql`intDiv(2 * ${above} + ${below}, nullIf(2 * ${below}, 0))`;
}

/** A column of the joined aggregate `metrics`; zero if the aggregate has no row for the item. */
export const metricOf = (column: SummedMetric | 'campaigns_reached' | 'campaigns_engaged') =>
  sql`ifNull(metrics.${identifier(column)}, 0)`;

/** The expression to order by a metric or rate: exactly the value that the response shows. */
export const metricKey = (metric: Metric) => (isRate(metric) ? rateKey(metric) : metricOf(metric));

/** Case-insensitive form of columns whose values are plain ASCII codes. */
export const asciiKey = (column: Sql) => sql`lower(${column})`;

/**
 * Orders by the key and cuts a page. Nulls come last in both directions, then ids ascending, so that pages never overlap. `groups` come
 * first.
 */
export const orderAndPage = (key: Sql, descending: boolean, groups = EMPTY_SQL) =>
  sql`ORDER BY ${groups}${key} ${descending ? sql`DESC` : sql`ASC`} NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}`;

export function pageParams({ page, size }: Page): QueryParams {
  return { limit: size, offset: (page - 1) * size };
}

/** Columns that a query selects from a joined table under their own names. */
export const columnsOf = (table: Sql, columns: readonly string[]) =>
  columns.map(checkedIdentifier).map((column) => sql`${table}.${column} AS ${column}`);

/** Lines of a statement, without the empty lines. */
export const joinLines = (...parts: Sql[]): Sql => joinSql(parts, '\n');

/** Items of a SELECT or GROUP BY. */
export const list = (items: readonly Sql[]): Sql => joinSql(items, ', ');
