/** Response schemas of the advertising operations. */
import type { Static, TOptional, TSchema, TUnsafe } from 'typebox';
import { arrayOf, date, integer, looseObject, nullable, stringEnum, Type } from '../shared/schema.js';
import { campaignAttributes, companyAttributes, creativeAttributes, schemasOf } from './attributes.js';
import {
  COMPANY_METRIC_NAMES,
  METRIC_NAMES,
  type Metric,
  RATES,
  type Rate,
  SUMMED_METRICS,
  type SummedMetric,
} from './metrics.js';
import { GRANULARITIES } from './requests.js';

/** Values of the requested metrics. Money is exact decimal text. A rate is null if its denominator is 0. */
export type MetricValues = { [K in Metric]?: string | number | null };

function metricSchema(name: Metric): TSchema {
  if (name in RATES) {
    const { description } = RATES[name as Rate];
    return nullable(
      Type.Number({ description: `${description} 6 decimals; null where that cannot be divided.` }),
    );
  }
  const { kind, description } = SUMMED_METRICS[name as SummedMetric];
  return kind === 'money'
    ? Type.String({ description: `${description} Exact decimal text.`, examples: ['1234.56'] })
    : Type.Integer({ description, minimum: 0 });
}

const metricSchemas = (names: readonly Metric[]) =>
  Object.fromEntries(names.map((name) => [name, Type.Optional(metricSchema(name))])) as Record<
    Metric,
    TOptional<TUnsafe<string | number | null>>
  >;

export const provisional = Type.Boolean({
  description: 'Whether the network may still restate some of these days.',
});

const point = ($id: string, names: readonly Metric[]) =>
  looseObject(
    {
      period: Type.String({ description: 'YYYY-MM-DD, or YYYY-MM.', examples: ['2026-10-01'] }),
      start_date: date('First day of the period inside the range.'),
      end_date: date('Last day of the period inside the range.'),
      provisional,
      ...metricSchemas(names),
    },
    { $id, description: 'The figures of one period.' },
  );

const PERIODS = 'The periods of the range, ascending.';
const timeseries = arrayOf(PERIODS, point('AdPoint', METRIC_NAMES));
const companyTimeseries = arrayOf(PERIODS, point('CompanyPoint', COMPANY_METRIC_NAMES));

const adMetrics = metricSchemas(METRIC_NAMES);
const companyMetrics = metricSchemas(COMPANY_METRIC_NAMES);
const AdMetrics = looseObject(adMetrics, {
  $id: 'AdMetrics',
  description: 'Figures of campaigns or creatives over a range.',
});
const CompanyMetrics = looseObject(companyMetrics, {
  $id: 'CompanyTotals',
  description: 'Figures of companies over a range.',
});
const CurrencyTotals = looseObject(
  {
    currency: nullable(Type.String({ description: 'Currency of the money; null where it is unknown.' })),
    ...adMetrics,
  },
  { $id: 'CurrencyTotals', description: 'Figures of the matches of one currency over a range.' },
);
const ofCampaign = schemasOf(campaignAttributes, 'response');
const campaignName = nullable(Type.String({ description: 'Name of the campaign.' }));
export const seen = {
  first_seen: nullable(date('First day of the range with activity.')),
  last_seen: nullable(date('Last day of the range with activity.')),
};

const campaignFields = {
  id: Type.String({ description: 'Identifier of the campaign.' }),
  ...ofCampaign,
  creatives_count: Type.Integer({ description: 'Known creatives of the campaign.', minimum: 0 }),
};
const creativeFields = {
  id: Type.String({ description: 'Identifier of the creative.' }),
  campaign_id: Type.String({ description: 'Campaign the creative belongs to.' }),
  campaign_name: campaignName,
  ...schemasOf(creativeAttributes, 'response'),
  currency: ofCampaign.currency,
};
export const companyFields = {
  id: Type.String({ description: 'Identifier of the company.' }),
  ...schemasOf(companyAttributes, 'response'),
};

const adItem = <Fields extends Record<string, TSchema>>($id: string, what: string, fields: Fields) =>
  looseObject(
    {
      ...fields,
      ...adMetrics,
      provisional,
      previous: Type.Optional(AdMetrics),
      timeseries,
    },
    { $id, description: `${what} and its performance over the range.` },
  );
export const CampaignItem = adItem('CampaignItem', 'A campaign', campaignFields);
export type CampaignItem = Static<typeof CampaignItem>;
export const CreativeItem = adItem('CreativeItem', 'A creative', creativeFields);
export type CreativeItem = Static<typeof CreativeItem>;

export const CompanyListItem = looseObject(
  {
    ...companyFields,
    ...companyMetrics,
    campaigns_reached: Type.Integer({ description: 'Campaigns with impressions.', minimum: 0 }),
    campaigns_engaged: Type.Integer({ description: 'Campaigns with engagements.', minimum: 0 }),
    ...seen,
    previous: Type.Optional(CompanyMetrics),
    timeseries: companyTimeseries,
  },
  { $id: 'CompanyListItem', description: 'A company and what it saw of the campaigns over the range.' },
);
export type CompanyListItem = Static<typeof CompanyListItem>;

export const warnings = arrayOf(
  'What to know when reading the figures, as `code: sentence`, sorted.',
  Type.String({ description: 'One warning.' }),
  { examples: [['data_provisional: The network may still restate days after 2026-11-14.']] },
);
const conversion = {
  converted: Type.Optional(
    Type.Literal(true, { description: 'The money is in the currency of the request, which had one.' }),
  ),
  rates: Type.Optional(
    looseObject(
      {
        from: nullable(date('Day of the first rate; null where no money was converted.')),
        to: nullable(date('Day of the last rate.')),
      },
      { description: 'The rates by which money was converted.' },
    ),
  ),
};
export const pageOf = <Item extends TSchema>(what: string, item: Item) => ({
  items: arrayOf(`The ${what} of this page.`, item),
  page: integer('The page.', { minimum: 1 }),
  page_size: integer('Items a page.', { minimum: 1 }),
  total_count: integer('How many match, exactly.', { minimum: 0 }),
});
const listResponse = <Item extends TSchema, Totals extends TSchema>(
  what: string,
  item: Item,
  totals: Totals,
) => ({
  ...pageOf(what, item),
  totals: arrayOf(`Figures of all ${what} that match, not of the page alone.`, totals),
  previous_start_date: Type.Optional(date('First day of the earlier range, with compare_to.')),
  previous_end_date: Type.Optional(date('Last day of that range.')),
  previous_totals: Type.Optional(arrayOf('The totals of that range.', totals)),
  warnings,
});

const adsResponse = <Item extends TSchema>(what: string, item: Item) =>
  looseObject({ ...listResponse(what, item, CurrencyTotals), ...conversion, provisional });
export const CampaignsResponse = adsResponse('campaigns', CampaignItem);
export type CampaignsResponse = Static<typeof CampaignsResponse>;
export const CreativesResponse = adsResponse('creatives', CreativeItem);
export type CreativesResponse = Static<typeof CreativesResponse>;

export const CompaniesResponse = looseObject(listResponse('companies', CompanyListItem, CompanyMetrics));
export type CompaniesResponse = Static<typeof CompaniesResponse>;

export const CompanyResponse = looseObject({
  company: looseObject(companyFields, { $id: 'Company', description: 'The company.' }),
  start_date: date('First day, UTC.'),
  end_date: date('Last day, UTC.'),
  granularity: stringEnum('Length of the periods.', GRANULARITIES),
  totals: CompanyMetrics,
  timeseries: companyTimeseries,
  campaigns: arrayOf(
    'The campaigns the company saw, by engagements then impressions, descending, then id.',
    looseObject(
      {
        campaign_id: Type.String({ description: 'Identifier of the campaign.' }),
        name: campaignName,
        status: ofCampaign.status,
        objective_type: ofCampaign.objective_type,
        ...companyMetrics,
        ...seen,
      },
      { $id: 'CompanyCampaign', description: 'A campaign as one company saw it.' },
    ),
  ),
  campaign_page: integer('The page of campaigns.', { minimum: 1 }),
  campaign_page_size: integer('Campaigns a page.', { minimum: 1 }),
  campaign_total_count: integer('How many campaigns the company saw.', { minimum: 0 }),
  ...conversion,
  provisional,
  warnings,
});
export type CompanyResponse = Static<typeof CompanyResponse>;
