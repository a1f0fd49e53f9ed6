/** Pieces of SQL the advertising queries share. Names come from fixed tables only; values are always bound. */
import type { DateRange } from './calendar.js';
import { isMoney, isRate, type Metric, RATES, type Rate, type SummedMetric } from './metrics.js';
import type { Page } from './report-params.js';

export type QueryParams = Record<string, string | number | readonly string[]>;

const FIRST_DAY = '1970-01-01';
const LAST_DAY = '2149-06-06';

/** The range cut to the days deliveries can have; one outside of them becomes a range without days. */
export function rangeParams({ start, end }: DateRange): QueryParams {
  if (end < FIRST_DAY || start > LAST_DAY) return { start_date: LAST_DAY, end_date: FIRST_DAY };
  return {
    start_date: start < FIRST_DAY ? FIRST_DAY : start,
    end_date: end > LAST_DAY ? LAST_DAY : end,
  };
}

export const IN_ORGANIZATION = 'organization_id = {organization_id:String}';
export const IN_RANGE = 'date BETWEEN {start_date:Date} AND {end_date:Date}';

/** Conditions joined by AND, without those that do not apply. */
export function where(...conditions: (string | false | undefined)[]): string {
  const applicable = conditions.filter((condition) => condition);
  return applicable.length === 0 ? '' : `WHERE ${applicable.join(' AND ')}`;
}

/** `expression IN (values)`, or nothing without the filter. */
export function inList(expression: string, name: string, values: readonly string[] | undefined) {
  return values && `${expression} IN {${name}:Array(String)}`;
}

/** SQL of a case-folded text without accents, as `dropAccents` does it: of plain ASCII at no cost. */
export const withoutAccents = (key: string) =>
  `if(length(${key}) = lengthUTF8(${key}), ${key}, translateUTF8(replaceRegexpAll(normalizeUTF8NFKD(${key}), '[\\\\x{0300}-\\\\x{036f}]', ''), 'øłđðħŧ', 'olddht'))`;

/** Whether one of the keys contains the text; the keys are null where the attribute is. */
export function containsAny(keys: readonly string[], search: string | undefined) {
  return search === undefined
    ? undefined
    : `(${keys.map((key) => `position(ifNull(${withoutAccents(key)}, ''), {search:String}) > 0`).join(' OR ')})`;
}

/** `sum(…) AS name` for each metric. Money is summed in 256 bits: 128 would overflow silently. */
export function sumColumns(names: readonly SummedMetric[], from: string): string[] {
  return names.map((name) =>
    isMoney(name) ? `sum(toDecimal256(${from}.${name}, 12)) AS ${name}` : `sum(${from}.${name}) AS ${name}`,
  );
}

/** The sums of all rows of a joined aggregate, zero where none has one. */
export function totalColumns(names: readonly SummedMetric[]): string[] {
  return names.map((name) => `ifNull(sum(metrics.${name}), 0) AS ${name}`);
}

/** A rate in millionths, half up, as `metric-values.ts` computes it; null where the denominator is 0. In 256 bits, money in units of 10^-12. */
function rateKey(rate: Rate): string {
  const { numerator, denominator, factor } = RATES[rate];
  const units = (name: SummedMetric) =>
    isMoney(name) ? `reinterpret(toDecimal256(metrics.${name}, 12), 'Int256')` : `toInt256(metrics.${name})`;
  const scale = (by: SummedMetric, other: SummedMetric) =>
    isMoney(by) && !isMoney(other) ? ' * 1000000000000' : '';
  const above = `${units(numerator)} * ${factor * 1_000_000}${scale(denominator, numerator)}`;
  const below = `${units(denominator)}${scale(numerator, denominator)}`;
  return `intDiv(2 * ${above} + ${below}, nullIf(2 * ${below}, 0))`;
}

/** A column of the joined aggregate `metrics`, zero where it has no row. */
export const metricOf = (column: string) => `ifNull(metrics.${column}, 0)`;

/** The expression that orders by a metric or rate: exactly the value that is shown. */
export const metricKey = (metric: Metric) => (isRate(metric) ? rateKey(metric) : metricOf(metric));

/** Text without regard to case, for columns whose values are plain ASCII codes. */
export const asciiKey = (column: string) => `lower(${column})`;

/** Nulls last both ways, then id ascending, so that pages never overlap; `groups` come before all. */
export const orderAndPage = (key: string, descending: boolean, groups = '') =>
  `ORDER BY ${groups}${key} ${descending ? 'DESC' : 'ASC'} NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}`;

export function pageParams({ page, size }: Page): QueryParams {
  return { limit: size, offset: (page - 1) * size };
}

/** Columns that a query selects from a joined table under their own names. */
export const columnsOf = (table: string, columns: readonly string[]) =>
  columns.map((column) => `${table}.${column} AS ${column}`);

/** Lines of a statement; empty ones are left out. */
export function joinLines(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
