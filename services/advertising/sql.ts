/** Pieces of SQL the advertising queries share. Names come from fixed tables only; values are always bound. */
import type { DateRange } from './calendar.js';
import { type Metric, RATES, type Rate, SUMMED_METRICS, type SummedMetric } from './metrics.js';
import type { Page, ReportParams } from './report-params.js';

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

/** Whether one of the keys contains the text; the keys are null where the attribute is. */
export function containsAny(keys: readonly string[], search: string | undefined) {
  return search === undefined
    ? undefined
    : `(${keys.map((key) => `position(ifNull(${key}, ''), {search:String}) > 0`).join(' OR ')})`;
}

/** The parameters that have a value. */
export function definedParams(
  params: Record<string, string | number | readonly string[] | undefined>,
): QueryParams {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined)) as QueryParams;
}

/** `sum(…) AS name` for each metric. Money is summed in 256 bits: 128 would overflow silently. */
export function sumColumns(names: readonly SummedMetric[], from: string): string[] {
  return names.map((name) =>
    isMoney(name) ? `sum(toDecimal256(${from}.${name}, 12)) AS ${name}` : `sum(${from}.${name}) AS ${name}`,
  );
}

/** The summed metrics of a joined aggregate, zero where it has no row. */
export function metricColumns(names: readonly SummedMetric[], from: string): string[] {
  return names.map((name) => `ifNull(${from}.${name}, 0) AS ${name}`);
}

const isMoney = (name: SummedMetric) => SUMMED_METRICS[name].kind === 'money';

/** A sum as a whole number of 128 or 256 bits, cut off where it does not fit; money in units of 10^-12. */
const whole = (name: SummedMetric, bits: 128 | 256) =>
  isMoney(name)
    ? `reinterpret(${bits === 128 ? name : `toDecimal256(${name}, 12)`}, 'Int${bits}')`
    : `toInt${bits}(${name})`;

/** Numerator and denominator of a rate in millionths, as whole numbers. */
function fraction(rate: Rate, bits: 128 | 256): { numerator: string; denominator: string } {
  const { numerator, denominator, factor } = RATES[rate];
  // Money is in units of 10^-12, counts are not.
  const scale = (by: SummedMetric, other: SummedMetric) =>
    isMoney(by) && !isMoney(other) ? ' * 1000000000000' : '';
  return {
    numerator: `${whole(numerator, bits)} * ${factor * 1_000_000}${scale(denominator, numerator)}`,
    denominator: `${whole(denominator, bits)}${scale(numerator, denominator)}`,
  };
}

const halfUp = (numerator: string, denominator: string) =>
  `intDiv(2 * ${numerator} + ${denominator}, nullIf(2 * ${denominator}, 0))`;

/** A rate in millionths, half up, as `metric-values.ts` computes it; null where the denominator is 0. */
function rateKey(rate: Rate): string {
  const { numerator, denominator } = fraction(rate, 256);
  return halfUp(numerator, denominator);
}

/** Below, rates of money fit into 128 bits. */
const MONEY_LIMIT = '10000000000000000';
/** Below, counts are exact in a JSON number. */
const COUNT_LIMIT = '9007199254740992';
/** Below, so are millionths. */
const RATE_LIMIT = '9007199254';

const isRate = (metric: Metric): metric is Rate => metric in RATES;

/** What precedes the metrics in a printed row. */
export const PRINTED_METRICS = '"metrics":0';

/**
 * `columns` and `metrics` of a statement, each under its name, which JSON shows with the bytes that `metricWriter` gives. `number`, the first
 * column, becomes 0 in rows of which it does not, as their sums or rates are too large. The statement has `sums` under their own names.
 */
export function printedMetrics(
  sql: string,
  metrics: readonly Metric[],
  sums: readonly SummedMetric[],
  number: string,
  columns: readonly string[],
): string {
  const rates = metrics.filter(isRate);
  const counts = sums.filter((name) => !isMoney(name));
  const tooLarge = sums.filter(isMoney).map((name) => `${name} >= ${MONEY_LIMIT}`);
  if (counts.length > 0) tooLarge.push(`greatest(${counts.join(', ')}) >= ${COUNT_LIMIT}`);
  if (rates.length > 0) tooLarge.push(`arrayExists(rate -> ifNull(rate, 0) >= ${RATE_LIMIT}, rates)`);
  const selected = [
    `if(${tooLarge.join(' OR ')}, 0, ${number}) AS number`,
    ...columns,
    '0 AS metrics',
    ...metrics.map((metric) =>
      isRate(metric) ? `rates[${rates.indexOf(metric) + 1}] AS ${metric}` : metric,
    ),
  ];
  return `SELECT ${selected.join(', ')}\nFROM (\n${rates.length === 0 ? sql : withRates(sql, rates)}\n)`;
}

/**
 * One function over arrays, as the engine takes longer to analyze a function for each rate than to compute them; in a statement of its
 * own, as it would be analyzed again for each use of an alias.
 */
function withRates(sql: string, rates: readonly Rate[]): string {
  const fractions = rates.map((rate) => fraction(rate, 128));
  const numerators = fractions.map(({ numerator }) => numerator).join(', ');
  const denominators = fractions.map(({ denominator }) => denominator).join(', ');
  const computed = `arrayMap((n, d) -> toFloat64(${halfUp('n', 'd')}) / 1000000, [${numerators}], [${denominators}])`;
  return `SELECT *, ${computed} AS rates\nFROM (\n${sql}\n)`;
}

/** The expression that orders by a metric or rate: exactly the value that is shown. */
export function metricKey(metric: Metric): string {
  return isRate(metric) ? rateKey(metric) : metric;
}

/** Text without regard to case, for columns whose values are plain ASCII codes. */
export const asciiKey = (column: string) => `lower(${column})`;

/** Nulls last both ways, then id ascending, so that pages never overlap. */
export const orderAndPage = (key: string, descending: boolean) =>
  `ORDER BY ${key} ${descending ? 'DESC' : 'ASC'} NULLS LAST, id ASC LIMIT {limit:UInt32} OFFSET {offset:UInt64}`;

export function pageParams({ page, size }: Page): QueryParams {
  return { limit: size, offset: (page - 1) * size };
}

export function reportQueryParams({ organizationId, range }: ReportParams): QueryParams {
  return { organization_id: organizationId, ...rangeParams(range) };
}

/** Columns that a query selects from a joined table under their own names. */
export const columnsOf = (table: string, columns: readonly string[]) =>
  columns.map((column) => `${table}.${column} AS ${column}`);

/** Lines of a statement; empty ones are left out. */
export function joinLines(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
