/**
 * Converts money to the currency of the request (contract 5.14). No other module converts money. The money of an item on a day is summed,
 * multiplied by the rate of that day, and rounded to 6 decimals. Every other amount is a sum of such amounts, so a month equals the sum of
 * its days. The numbers are 256-bit integers (money and rates in units of 10^-12), which are divided once, so a tie is exactly a remainder
 * of one half.
 */
import { identifier, joinSql, type Sql, sql } from '../shared/sql.js';
import type { AnalyticsQuery } from './analytics-store.js';
import { isMoney, SUMMED_NAMES, type SummedMetric } from './metrics.js';
import type { ReportParams } from './report-params.js';
import { type DeliverySource, deliverySource, type SourceName } from './rollups.js';
import { IN_ORGANIZATION, joinLines, list, sumColumns } from './sql.js';

/** Number of days for which a rate stays in effect if there is no later rate. */
export const MAX_AGE_DAYS = 7;

const MONEY = SUMMED_NAMES.filter(isMoney);

type Entity = 'campaign_id' | 'creative_id' | 'company_id';
type Conditions = Parameters<typeof deliverySource>[3];
/** A report with a currency to convert to. */
export type ConvertedReport = ReportParams & { currency: string };
export const isConverted = (report: ReportParams): report is ConvertedReport => report.currency !== undefined;

const OF_CAMPAIGNS = sql`currency IN (SELECT upper(currency) FROM campaigns WHERE ${IN_ORGANIZATION})`;

/** The rates in effect by day, in units of 10^-12. */
const ratesOf = (condition: Sql) => sql`(
    SELECT currency, date + age AS day, max(date) AS rated_on,
      reinterpret(toDecimal256(argMax(per_eur, date), 12), 'Int256') AS per_eur
    FROM (
      SELECT currency, date, per_eur FROM currency_rates FINAL
      WHERE ${IN_ORGANIZATION} AND date BETWEEN {start_date:Date} - ${MAX_AGE_DAYS} AND {end_date:Date} AND currency != 'EUR' AND ${condition}
    )
    ARRAY JOIN range(${MAX_AGE_DAYS + 1}) AS age
    GROUP BY currency, day
  )`;

/** The money of each item and day as `spent`, with the rate `source` of its currency and the rate `target` of the requested currency. */
function ratedDays(
  ids: readonly Sql[],
  { range, currency }: ConvertedReport,
  sums: readonly SummedMetric[],
  conditions: Conditions,
): Pick<DeliverySource, 'from' | 'params'> {
  const delivery = deliverySource('creative', { range }, sums, conditions);
  const from = sql`FROM (
    SELECT ${list([sql`date`, ...ids, ...sumColumns(sums)])}
    ${delivery.from}
    GROUP BY ${list([sql`date`, ...ids])}
  ) AS spent
  LEFT JOIN (SELECT id, upper(currency) AS currency FROM campaigns FINAL WHERE ${IN_ORGANIZATION}) AS campaign ON campaign.id = spent.campaign_id
  LEFT JOIN ${ratesOf(OF_CAMPAIGNS)} AS source ON source.day = spent.date AND source.currency = campaign.currency
  LEFT JOIN ${ratesOf(sql`currency = {currency:String}`)} AS target ON target.day = spent.date`;
  return { from, params: { ...delivery.params, currency } };
}

/** Units of a currency per euro; null if the rate is missing. If nothing needs converting, both rates are one. */
const perEuro = (currency: Sql, rate: Sql) =>
  sql`multiIf(campaign.currency = {currency:String}, toInt256(1), ${currency} = 'EUR', toInt256(1000000000000), ${rate}.per_eur)`;

/** An amount in units of 10^-12 × target ÷ source, rounded half to even to 6 decimals. A missing rate fails the statement. */
function converted(metric: SummedMetric): Sql {
  const amount = sql`spent.${identifier(metric)}`;
  const numerator = sql`(2 * reinterpret(${amount}, 'Int256') * per_euro_target + 1000000 * per_euro_source)`;
  const denominator = sql`(2 * 1000000 * per_euro_source)`;
  const halfUp = sql`intDiv(${numerator}, ${denominator})`;
  const millionths = sql`${halfUp} - (${numerator} % ${denominator} = 0 AND ${halfUp} % 2 = 1)`;
  const checked = sql`ifNull(${millionths}, 0) + throwIf(isNull(${millionths}) AND ${amount} > 0, 'a currency rate is missing')`;
  return sql`reinterpret((${checked}) * 1000000, 'Decimal(76, 12)') AS ${identifier(metric)}`;
}

/** Deliveries of creatives like `deliverySource`, grouped by item and day, with converted money. */
function convertedSource(
  by: Entity,
  report: ConvertedReport,
  sums: readonly SummedMetric[],
  conditions: Conditions,
): DeliverySource {
  const ids = by === 'creative_id' ? [sql`campaign_id`, sql`creative_id`] : [sql`campaign_id`];
  const { from, params } = ratedDays(ids, report, sums, conditions);
  const columns = [
    ...[sql`date`, ...ids].map((name) => sql`spent.${name} AS ${name}`),
    ...sums.map((name) =>
      isMoney(name) ? converted(name) : sql`spent.${identifier(name)} AS ${identifier(name)}`,
    ),
    sql`${perEuro(sql`{currency:String}`, sql`target`)} AS per_euro_target`,
    sql`${perEuro(sql`campaign.currency`, sql`source`)} AS per_euro_source`,
  ];
  return {
    from: sql`FROM (\n  SELECT ${joinSql(columns, ',\n    ')}\n  ${from}\n) AS delivery`,
    params,
    isSummed: false,
  };
}

/** The deliveries that a report sums for an entity. Their money is in the currency of the report, if the report has a currency. */
export function reportSource(
  source: SourceName,
  by: Entity,
  report: ReportParams,
  sums: readonly SummedMetric[],
  conditions: Conditions,
): DeliverySource {
  return isConverted(report) && sums.some(isMoney)
    ? convertedSource(by, report, sums, conditions)
    : deliverySource(source, report, sums, conditions);
}

/** The first and last day of the rates that a report uses (null if it uses no rate), and the days that have money but no rate. */
export interface UsedRates {
  from: string | null;
  to: string | null;
  days: string[];
  /** Currencies without a rate. An empty text means campaigns without a currency. */
  currencies: string[];
}

export function usedRatesQuery(report: ConvertedReport, conditions: Conditions): AnalyticsQuery {
  const { from, params } = ratedDays([sql`campaign_id`], report, MONEY, conditions);
  return {
    name: 'currency_rates',
    sql: joinLines(
      sql`SELECT minOrNull(rate.2) AS from, maxOrNull(rate.2) AS to,`,
      sql`  arraySort(groupUniqArrayIf(date, rate.2 IS NULL)) AS days,`,
      sql`  arraySort(groupUniqArrayIf(ifNull(rate.1, ''), rate.2 IS NULL)) AS currencies`,
      sql`FROM (`,
      sql`  SELECT spent.date AS date, arrayJoin([(campaign.currency, source.rated_on), ({currency:String}, target.rated_on)]) AS rate`,
      sql`  ${from}`,
      sql`  WHERE (${joinSql(
        MONEY.map((name) => sql`spent.${identifier(name)} > 0`),
        ' OR ',
      )}) AND ifNull(campaign.currency, '') != {currency:String}`,
      sql`)`,
      sql`WHERE ifNull(rate.1, '') != 'EUR'`,
    ),
    params: { organization_id: report.organizationId, ...params },
  };
}
