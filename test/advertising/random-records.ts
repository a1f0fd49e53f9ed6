/** Seeded records and requests for the comparison with the oracle. */
import type { DeliveryRecord } from '../../services/advertising/records.js';
import type { Random } from '../support/random.js';
import { wordsOf } from '../support/words.js';
import { COUNTS, type OracleRequest, type Records } from './oracle.js';

export const ORGANIZATIONS = ['org_a', 'org_b'];
const CAMPAIGNS = Array.from({ length: 9 }, (_, index) => `c${index}`);
const CREATIVES = Array.from({ length: 14 }, (_, index) => `r${index}`);
const COMPANIES = Array.from({ length: 12 }, (_, index) => `o${index}`);
const NETWORK_IDS = ['100', '101', '102', 'o1', 'o11'];
const DOMAINS = ['acme.com', 'WWW.Beta.io', 'https://www.gamma.de/x', 'delta.fr', 'acme.com'];
const NAMES = ['Élan Vital', 'élan vital', 'ZOO', 'zoo 2', '50%_off', '漢字 Kampagne', 'ÖKO', 'a', 'B'];
const STATUSES = ['ACTIVE', 'active', 'PAUSED', 'CANCELLED', 'CANCELED', 'REMOVED', 'FOO'];
const OBJECTIVES = ['WEBSITE_VISIT', 'WEBSITE_VISITS', 'LEAD_GENERATION', 'BRAND_AWARENESS', 'BAR'];
const FIRST = Date.parse('2026-08-20');
const DAYS = 90;
const METRICS = [
  ...COUNTS,
  ...wordsOf(`ad_spend conversion_value ctr engagement_rate cpc cpm cost_per_engagement cost_per_lead
    cost_per_conversion conversion_rate return_on_ad_spend`),
];
const COMPANY_METRICS = [...COUNTS, 'ctr', 'engagement_rate', 'conversion_rate'];

const day = (offset: number) => new Date(FIRST + offset * 86_400_000).toISOString().slice(0, 10);
const moment = (random: Random) =>
  `2026-10-${String(1 + random.below(4)).padStart(2, '0')}T0${random.below(3)}:00:00${random.pick(['', '', '.000001', '.0005', '.000999999'])}Z`;

function delivery(random: Random): DeliveryRecord {
  const kind = random.below(5);
  const record: DeliveryRecord = {
    organization_id: random.pick(ORGANIZATIONS),
    date: day(5 + random.below(DAYS - 10)),
    campaign_id: random.pick(CAMPAIGNS),
    creative_id: kind === 0 ? undefined : random.pick(CREATIVES),
    company_id: kind > 1 ? undefined : random.pick(COMPANIES),
    reported_at: random.maybe(0.7, () => moment(random)),
  };
  if (random.chance(0.1)) return record;
  for (const name of COUNTS) if (random.chance(0.5)) record[name] = random.below(random.pick([2, 10, 1000]));
  const money = () =>
    random.pick<string | number>([
      `${random.below(1000)}.${random.below(1_000_000)}`,
      random.below(10_000) / 100,
      '0.000000000001',
      '7',
    ]);
  if (random.chance(0.7)) record.ad_spend = money();
  if (random.chance(0.3)) record.conversion_value = money();
  return record;
}

/** Records of two organizations with the same ids: restated, repeated, out of order. */
export function randomRecords(random: Random, size: number): Records {
  const acceptedAt = () => Date.parse(moment(random));
  const entries = <T>(count: number, make: () => T) =>
    Array.from({ length: count }, () => ({ record: make(), acceptedAt: acceptedAt() }));
  const records: Records = {
    campaigns: entries(20, () => ({
      organization_id: random.pick(ORGANIZATIONS),
      id: random.pick(CAMPAIGNS.slice(0, 7)),
      name: random.maybe(0.85, () => random.pick(NAMES)),
      campaign_group_name: random.maybe(0.5, () => random.pick(NAMES)),
      status: random.maybe(0.8, () => random.pick(STATUSES)),
      objective_type: random.maybe(0.8, () => random.pick(OBJECTIVES)),
      currency: random.maybe(0.8, () => random.pick(['EUR', 'USD'])),
      daily_budget: random.maybe(0.5, () => '12.50'),
      total_budget: random.maybe(0.3, () => 0.1),
      start_date: random.maybe(0.6, () => day(random.below(DAYS))),
      updated_at: random.maybe(0.6, () => moment(random)),
    })),
    creatives: entries(30, () => ({
      organization_id: random.pick(ORGANIZATIONS),
      id: random.pick(CREATIVES.slice(0, 11)),
      campaign_id: random.pick(CAMPAIGNS),
      name: random.maybe(0.85, () => random.pick(NAMES)),
      headline: random.maybe(0.4, () => random.pick(NAMES)),
      status: random.maybe(0.8, () => random.pick(STATUSES)),
      review_status: random.maybe(0.5, () => random.pick(['APPROVED', 'PENDING'])),
      updated_at: random.maybe(0.6, () => moment(random)),
    })),
    companies: entries(24, () => ({
      organization_id: random.pick(ORGANIZATIONS),
      id: random.pick(COMPANIES.slice(0, 9)),
      network_a_company_id: random.maybe(0.8, () => random.pick(NETWORK_IDS)),
      name: random.maybe(0.85, () => random.pick(NAMES)),
      domain: random.maybe(0.8, () => random.pick(DOMAINS)),
      country: random.maybe(0.5, () => 'DE'),
      updated_at: random.maybe(0.6, () => moment(random)),
    })),
    deliveries: entries(size, () => delivery(random)),
  };
  for (const entry of random.some(records.deliveries, size / 4)) {
    records.deliveries.push({ ...entry });
    records.deliveries.push({
      record: { ...delivery(random), ...identity(entry.record) },
      acceptedAt: acceptedAt(),
    });
  }
  return records;
}

const identity = ({ organization_id, date, campaign_id, creative_id, company_id }: DeliveryRecord) => ({
  organization_id,
  date,
  campaign_id,
  creative_id,
  company_id,
});

function range(random: Random) {
  const start = random.below(DAYS);
  return {
    start_date: day(start - random.below(8)),
    end_date: day(start + random.below(40) + random.below(20)),
    granularity: random.maybe(0.6, () => random.pick(['daily', 'monthly'] as const)),
  };
}

const list = <T>(random: Random, probability: number, values: readonly T[], most = 3) =>
  random.maybe(probability, () => random.some(values, most));
const paging = (random: Random) => ({
  sort_direction: random.maybe(0.7, () => random.pick(['asc', 'desc'] as const)),
  page: random.maybe(0.3, () => 1 + random.below(3)),
  page_size: random.maybe(0.5, () => 1 + random.below(8)),
  compare_to: random.maybe(0.3, () =>
    random.pick(['previous_period', 'previous_month', 'previous_year'] as const),
  ),
});

export function randomCampaignsRequest(random: Random): OracleRequest {
  return {
    ...range(random),
    ...paging(random),
    metrics: list(random, 0.3, METRICS, 5),
    campaign_ids: list(random, 0.25, [...CAMPAIGNS, 'nowhere'], 6),
    statuses: list(random, 0.25, [...STATUSES, 'bar']),
    objective_types: list(random, 0.25, [...OBJECTIVES, 'website_visits', 'foo']),
    search: random.maybe(0.25, () => random.pick(['É', 'lan', '%', '_', 'zoo', '字', 'öko', '50%_', 'x'])),
    sort_by: random.maybe(0.85, () =>
      random.pick([...METRICS, 'name', 'status', 'objective_type', 'start_date']),
    ),
  };
}

export function randomCreativesRequest(random: Random): OracleRequest {
  return {
    ...randomCampaignsRequest(random),
    creative_ids: list(random, 0.25, [...CREATIVES, 'nothing'], 8),
    sort_by: random.maybe(0.85, () =>
      random.pick([...METRICS, 'name', 'status', 'campaign_name', 'review_status']),
    ),
  };
}

export function randomCompaniesRequest(random: Random): OracleRequest {
  return {
    ...range(random),
    ...paging(random),
    metrics: list(random, 0.3, COMPANY_METRICS, 5),
    campaign_ids: list(random, 0.25, [...CAMPAIGNS, 'nowhere'], 6),
    company_ids: list(random, 0.25, [...COMPANIES, 'nobody'], 8),
    network_a_company_ids: list(random, 0.2, [...NETWORK_IDS, '999']),
    domains: list(random, 0.2, ['ACME.com', 'www.beta.io', 'gamma.de', 'none.example']),
    search: random.maybe(0.25, () => random.pick(['É', 'lan', '%', 'zoo', 'acme', '.'])),
    sort_by: random.maybe(0.85, () =>
      random.pick(
        wordsOf('name impressions clicks engagements engagement_rate campaigns_reached campaigns_engaged'),
      ),
    ),
  };
}

export function randomCompanyRequest(random: Random): OracleRequest {
  return {
    ...range(random),
    metrics: list(random, 0.3, COMPANY_METRICS, 5),
    campaign_ids: list(random, 0.25, [...CAMPAIGNS, 'nowhere'], 6),
    ...(random.chance(0.75)
      ? { company_id: random.pick([...COMPANIES, ...NETWORK_IDS, 'nobody']) }
      : { domain: random.pick(['ACME.com', 'www.beta.io', 'gamma.de', 'delta.fr', 'none.example']) }),
    campaign_page: random.maybe(0.3, () => 1 + random.below(3)),
    campaign_page_size: random.maybe(0.5, () => 1 + random.below(5)),
  };
}

const YEAR = { first: '2025-11-24', days: 363 };
const dayOfYear = (offset: number) =>
  new Date(Date.parse(YEAR.first) + offset * 86_400_000).toISOString().slice(0, 10);
const WANTED = ['EUR', 'USD', 'GBP'];

/** A year of deliveries in four currencies, and rates of workdays of which some are missing: for JPY too many, once. */
export function ratedRecords(random: Random, size: number): Records {
  const records = randomRecords(random, size);
  for (const { record } of records.deliveries) {
    // Rows of one day and campaign may follow each other.
    record.date = dayOfYear(random.below(YEAR.days));
  }
  // The engine writes a part for each month of a batch, so batches are sorted by day.
  records.deliveries.sort((a, b) => (a.record.date < b.record.date ? -1 : 1));
  const acceptedAt = () => Date.parse(moment(random));
  for (const organization_id of ORGANIZATIONS) {
    CAMPAIGNS.forEach((id, index) => {
      const currency = index === 8 ? 'JPY' : (['EUR', 'USD', 'gbp', 'USD'][index % 4] as string);
      records.campaigns.push({
        record: {
          organization_id,
          id,
          name: random.pick(NAMES),
          currency,
          updated_at: '2026-10-20T00:00:00Z',
        },
        acceptedAt: acceptedAt(),
      });
    });
  }
  const perEuro = () =>
    random.pick<string | number>([
      `${1 + random.below(2)}.${random.below(10_000)}`,
      // Halves of the sixth decimal are common with these.
      random.pick(['2', 0.5, '4', 1, '0.8']),
      `0.${random.below(1_000_000)}1`,
      `16${random.below(1000)}.${random.below(100)}`,
    ]);
  const rates: NonNullable<Records['rates']> = [];
  for (const organization_id of ORGANIZATIONS) {
    for (const currency of ['USD', 'GBP', 'JPY']) {
      const gap = random.below(YEAR.days);
      for (let offset = -7; offset < YEAR.days; offset++) {
        const weekday = new Date(dayOfYear(offset)).getUTCDay();
        const isGap = offset >= gap && offset < gap + (currency === 'JPY' ? 12 : 7);
        if (isGap || (weekday % 6 === 0 && offset > -7)) continue;
        const record = { organization_id, currency, date: dayOfYear(offset) };
        for (let times = random.pick([1, 1, 2]); times > 0; times--)
          rates.push({
            record: { ...record, per_eur: perEuro(), updated_at: random.maybe(0.5, () => moment(random)) },
            acceptedAt: Date.parse('2026-10-02') + Math.floor(rates.length / 200),
          });
      }
    }
  }
  return { ...records, rates };
}

/** A request in one of three currencies for a part of that year. */
export function inCurrency(random: Random, request: OracleRequest): OracleRequest {
  const start = random.below(YEAR.days);
  const length = random.pick([0, 10, 40, 100, 400]);
  return {
    ...request,
    currency: random.pick(WANTED),
    start_date: dayOfYear(start),
    end_date: dayOfYear(Math.min(YEAR.days, start + length)),
    compare_to: random.maybe(0.3, () => 'previous_period' as const),
  };
}

/** Records in batches of random size, in order. */
export function batches<T>(random: Random, entries: { record: T; acceptedAt: number }[]) {
  const result: { records: T[]; acceptedAt: number }[] = [];
  for (const { record, acceptedAt } of entries) {
    const last = result.at(-1);
    // All records of a batch are accepted at the same time.
    if (last && last.acceptedAt === acceptedAt && random.chance(0.995)) last.records.push(record);
    else result.push({ records: [record], acceptedAt });
  }
  return result;
}
