/**
 * The contract of the four operations in plain TypeScript over raw records: slow, obvious, and sharing only types with the services. Tests
 * compare every response of the store with it.
 */
import type {
  CampaignRecord,
  CompanyRecord,
  CreativeRecord,
  CurrencyRateRecord,
  DeliveryRecord,
} from '../../services/advertising/records.js';
import { wordsOf } from '../support/words.js';

export interface Records {
  campaigns: { record: CampaignRecord; acceptedAt: number }[];
  creatives: { record: CreativeRecord; acceptedAt: number }[];
  companies: { record: CompanyRecord; acceptedAt: number }[];
  deliveries: { record: DeliveryRecord; acceptedAt: number }[];
  rates?: { record: CurrencyRateRecord; acceptedAt: number }[];
}

export interface OracleRequest {
  start_date: string;
  end_date: string;
  granularity?: 'daily' | 'monthly';
  currency?: string;
  metrics?: string[];
  campaign_ids?: string[];
  creative_ids?: string[];
  company_ids?: string[];
  network_a_company_ids?: string[];
  domains?: string[];
  statuses?: string[];
  objective_types?: string[];
  search?: string;
  sort_by?: string;
  sort_direction?: 'asc' | 'desc';
  page?: number;
  page_size?: number;
  compare_to?: 'previous_period' | 'previous_month' | 'previous_year';
  company_id?: string;
  domain?: string;
  campaign_page?: number;
  campaign_page_size?: number;
}

/** The code of a warning, and the values that its sentence must contain. */
export interface ExpectedWarning {
  code: string;
  names: string[];
}

type Row = { [field: string]: unknown };
interface Entry {
  id: string;
  key: unknown;
  values: Map<string, bigint>;
  item: Row;
  /** Marks deliveries in another currency than their creative's, which count only in totals. */
  isForeign?: true;
}
type Day = { campaign: string; creative: string; company: string; date: string; values: Map<string, bigint> };

/** The metrics of a delivery that are whole numbers. */
type Count = {
  [Name in keyof DeliveryRecord]-?: NonNullable<DeliveryRecord[Name]> extends number ? Name : never;
}[keyof DeliveryRecord];
const MONEY = ['ad_spend', 'conversion_value'];
const AMOUNTS = ['cpc', 'cpm', 'cost_per_engagement', 'cost_per_lead', 'cost_per_conversion', ...MONEY];
const isAmount = (name: string) => AMOUNTS.includes(name);
export const COUNTS = wordsOf(`
impressions clicks landing_page_clicks engagements reactions comments shares follows video_views
video_completions leads lead_form_opens conversions
`) as Count[];
const SUMMED = ['ad_spend', ...COUNTS, 'conversion_value'];
/** name: [numerator, denominator, factor] */
const RATES: { [name: string]: [string, string, bigint] } = {
  ctr: ['clicks', 'impressions', 1n],
  engagement_rate: ['engagements', 'impressions', 1n],
  cpc: ['ad_spend', 'clicks', 1n],
  cpm: ['ad_spend', 'impressions', 1000n],
  cost_per_engagement: ['ad_spend', 'engagements', 1n],
  cost_per_lead: ['ad_spend', 'leads', 1n],
  cost_per_conversion: ['ad_spend', 'conversions', 1n],
  conversion_rate: ['conversions', 'clicks', 1n],
  return_on_ad_spend: ['conversion_value', 'ad_spend', 1n],
};
const ALL = [...SUMMED, ...Object.keys(RATES)];
const COMPANY_ALL = [...COUNTS, 'ctr', 'engagement_rate', 'conversion_rate'];
const PICO = 10n ** 12n;
const MICRO = 10n ** 6n;

/** A value, also a count, in units of 10^-12. */
function pico(value: unknown): bigint {
  if (value === null || value === undefined) return 0n;
  const text =
    typeof value === 'number' ? (Number.isInteger(value) ? String(value) : value.toFixed(12)) : String(value);
  const [whole, fraction = ''] = text.split('.');
  return BigInt(whole as string) * PICO + BigInt(fraction.padEnd(12, '0').slice(0, 12));
}

function plain(value: bigint): string {
  const fraction = (value % PICO).toString().padStart(12, '0').replace(/0+$/, '');
  return `${value / PICO}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A rate in millionths, rounded half up; null if the denominator is 0. */
function rateMillionths(name: string, values: Map<string, bigint>): bigint | null {
  const [numerator, denominator, factor] = RATES[name] as [string, string, bigint];
  const below = values.get(denominator) ?? 0n;
  if (below === 0n) return null;
  const above = (values.get(numerator) ?? 0n) * factor * 1_000_000n;
  const floor = above / below;
  return (above % below) * 2n >= below ? floor + 1n : floor;
}

/** The value that is shown for a metric. */
function shown(name: string, values: Map<string, bigint>): string | number | null {
  if (MONEY.includes(name)) return plain(values.get(name) ?? 0n);
  if (!(name in RATES)) return Number((values.get(name) ?? 0n) / PICO);
  const millionths = rateMillionths(name, values);
  return millionths === null ? null : Number(plain(millionths * 10n ** 6n));
}

/** The exact value by which a metric sorts. */
function comparable(name: string, values: Map<string, bigint>): bigint | null {
  return name in RATES ? rateMillionths(name, values) : (values.get(name) ?? 0n);
}

const figures = (names: string[], values: Map<string, bigint>) =>
  Object.fromEntries(names.map((name) => [name, shown(name, values)]));

function sum(days: Day[]): Map<string, bigint> {
  const total = new Map<string, bigint>();
  for (const day of days) {
    for (const [name, value] of day.values) total.set(name, (total.get(name) ?? 0n) + value);
  }
  return total;
}

const isActive = (day: Day) => SUMMED.some((name) => (day.values.get(name) ?? 0n) > 0n);

const isItem = ({ isForeign }: Entry) => !isForeign;

/** Orders currencies by number of entries, then by name. The unknown currency comes last. */
const byCurrency = (entries: Entry[]) =>
  [...groupBy(entries, ({ item }) => item.currency)].sort(
    ([one, some], [other, others]) =>
      others.filter(isItem).length - some.filter(isItem).length || compare(one ?? '~', other ?? '~'),
  );

/** Totals of companies. They have no currency, so there is one row even without companies. */
function totalsOf(names: string[], entries: Entry[], hasCurrencies: boolean, converted?: string): Row[] {
  const total = (some: Entry[]) => {
    const sums = new Map<string, bigint>();
    for (const { values } of some)
      for (const [name, value] of values) sums.set(name, (sums.get(name) ?? 0n) + value);
    return figures(names, sums);
  };
  if (!hasCurrencies) return [total(entries)];
  if (converted) return entries.length === 0 ? [] : [{ currency: converted, ...total(entries) }];
  return byCurrency(entries).map(([currency, some]) => ({ currency, ...total(some) }));
}

function earlierRange({ start_date, end_date }: OracleRequest, compareTo: string) {
  if (compareTo === 'previous_year') {
    const before = (day: string) =>
      `${Number(day.slice(0, 4)) - 1}${day.endsWith('-02-29') ? '-02-28' : day.slice(4)}`;
    return { start_date: before(start_date), end_date: before(end_date) };
  }
  if (compareTo === 'previous_month') {
    const before = (day: string) => {
      const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
      const lengthOf = (months: number) => new Date(Date.UTC(year, months, 0)).getUTCDate();
      const isLast = date === lengthOf(month);
      const kept = isLast ? lengthOf(month - 1) : Math.min(date, lengthOf(month - 1));
      return new Date(Date.UTC(year, month - 2, kept)).toISOString().slice(0, 10);
    };
    return { start_date: before(start_date), end_date: before(end_date) };
  }
  const days = datesOf(start_date, end_date).length;
  const ago = (count: number) =>
    new Date(Date.parse(start_date) - count * 86_400_000).toISOString().slice(0, 10);
  return { start_date: ago(days), end_date: ago(1) };
}

function datesOf(start: string, end: string): string[] {
  const dates: string[] = [];
  for (let time = Date.parse(start); time <= Date.parse(end); time += 86_400_000) {
    dates.push(new Date(time).toISOString().slice(0, 10));
  }
  return dates;
}

/** The text in lower case, without accents. */
const lower = (value: unknown) =>
  typeof value === 'string'
    ? value
        .toLowerCase()
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
    : null;
const domainOf = (value: unknown) =>
  typeof value === 'string'
    ? value
        .trim()
        .toLowerCase()
        .replace(/^https?:\/\//, '')
        .replace(/\/.*$/, '')
        .replace(/^www\./, '')
    : null;
const canonicalStatus = (value: unknown) =>
  value === undefined || value === null ? null : String(value).toUpperCase().replace('CANCELLED', 'CANCELED');
const canonicalObjective = (value: unknown) =>
  value === undefined || value === null ? null : String(value).toUpperCase().replace(/S$/, '');
const KNOWN_STATUSES = wordsOf('ACTIVE PAUSED ARCHIVED COMPLETED CANCELED DRAFT PENDING_DELETION REMOVED');
const KNOWN_OBJECTIVES = wordsOf(
  'BRAND_AWARENES ENGAGEMENT JOB_APPLICANT LEAD_GENERATION WEBSITE_CONVERSION WEBSITE_VISIT VIDEO_VIEW',
);

function compare(one: unknown, other: unknown): number {
  if (one === other) return 0;
  return (one as string) < (other as string) ? -1 : 1;
}

function groupBy<T, K>(values: Iterable<T>, key: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
  return groups;
}

/** Microseconds since the epoch. */
function microsecondsOf(time: string): number {
  const more = (/\.\d{3}(\d+)/.exec(time)?.[1] ?? '').slice(0, 3);
  return Date.parse(time) * 1000 + Number(more.padEnd(3, '0'));
}

/** Newest version of each key. Among equal versions, the last accepted wins, then the later in the list. */
function newest<T>(
  entries: { record: T; acceptedAt: number }[],
  key: (record: T) => string,
  moment: (record: T) => string | null | undefined,
): T[] {
  const kept = new Map<string, { record: T; version: number; acceptedAt: number }>();
  for (const { record, acceptedAt } of entries) {
    const given = moment(record);
    const version = given ? microsecondsOf(given) : acceptedAt * 1000;
    const before = kept.get(key(record));
    const isLater =
      before && (version > before.version || (version === before.version && acceptedAt >= before.acceptedAt));
    if (!before || isLater) kept.set(key(record), { record, version, acceptedAt });
  }
  return [...kept.values()].map(({ record }) => record);
}

const CAMPAIGN_ATTRIBUTES = wordsOf(`
network_a_campaign_id name account_id campaign_group_id campaign_group_name status objective_type
format cost_type currency daily_budget total_budget start_date end_date
`);
const CREATIVE_ATTRIBUTES = wordsOf(
  'network_a_creative_id name status review_status format headline landing_page_url image_url',
);
const COMPANY_ATTRIBUTES = wordsOf(
  'network_a_company_id name domain network_a_url industry employee_range country logo_url',
);
const NAMED_AT_MOST = 5;

export class Oracle {
  readonly #campaigns = new Map<string, Row>();
  readonly #creatives = new Map<string, Row>();
  readonly #companies = new Map<string, Row>();
  readonly #days: Day[];
  /** Rates by `<currency> <day>`, in units of 10^-12. */
  readonly #rates = new Map<string, bigint>();
  /** Days of the rates that the current request used, and days with money but no rate. */
  #ratedOn = new Set<string>();
  #missing = new Set<string>();
  readonly #today: string;
  readonly #provisionalAfter: string;

  constructor(records: Records, organizationId: string, today: string, provisionalDays = 7) {
    const own = <T extends { organization_id: string }>(entries: { record: T; acceptedAt: number }[]) =>
      entries.filter(({ record }) => record.organization_id === organizationId);
    const byId = (record: { id: string }) => record.id;
    for (const record of newest(own(records.campaigns), byId, (r) => r.updated_at))
      this.#campaigns.set(record.id, record as Row);
    for (const record of newest(own(records.creatives), byId, (r) => r.updated_at))
      this.#creatives.set(record.id, record as Row);
    for (const record of newest(own(records.companies), byId, (r) => r.updated_at)) {
      this.#companies.set(record.id, { ...record, domain: domainOf(record.domain) });
    }
    const key = (r: DeliveryRecord) =>
      JSON.stringify([r.date, r.campaign_id, r.creative_id ?? '', r.company_id ?? '']);
    this.#days = newest(own(records.deliveries), key, (r) => r.reported_at).map((record) => ({
      campaign: record.campaign_id,
      creative: record.creative_id ?? '',
      company: record.company_id ?? '',
      date: record.date,
      values: new Map(SUMMED.map((name) => [name, pico((record as Row)[name])])),
    }));
    const rates = newest(
      own(records.rates ?? []),
      (r) => `${r.currency} ${r.date}`,
      (r) => r.updated_at,
    );
    for (const { currency, date, per_eur } of rates) this.#rates.set(`${currency} ${date}`, pico(per_eur));
    this.#today = today;
    this.#provisionalAfter = datesOf(
      new Date(Date.parse(today) - provisionalDays * 86_400_000).toISOString().slice(0, 10),
      today,
    )[0] as string;
  }

  #provisional(day: string): boolean {
    return day > this.#provisionalAfter;
  }

  /** The value of a euro, by the rate of the day or of one of the seven days before. */
  #perEuro(currency: string | null | undefined, date: string): bigint {
    if (currency === 'EUR') return PICO;
    for (let ago = 0; ago <= 7; ago++) {
      const day = new Date(Date.parse(date) - ago * 86_400_000).toISOString().slice(0, 10);
      const rate = this.#rates.get(`${currency} ${day}`);
      if (rate === undefined) continue;
      this.#ratedOn.add(day);
      return rate;
    }
    this.#missing.add(date);
    return PICO;
  }

  /** Sums of one item over some days. Its money per day and campaign is converted to the requested currency, rounded to millionths. */
  #sum(days: Day[], { currency }: OracleRequest): Map<string, bigint> {
    const total = sum(days);
    if (currency === undefined) return total;
    for (const name of MONEY) {
      let converted = 0n;
      for (const own of groupBy(days, ({ date, campaign }) => `${date} ${campaign}`).values()) {
        const amount = sum(own).get(name) ?? 0n;
        if (amount === 0n) continue;
        const [{ date, campaign }] = own as [Day];
        const from = (this.#campaigns.get(campaign)?.currency as string | undefined)?.toUpperCase();
        const same = from === currency;
        const numerator = amount * (same ? 1n : this.#perEuro(currency, date));
        const denominator = (same ? 1n : this.#perEuro(from, date)) * MICRO;
        const floor = numerator / denominator;
        const twice = (numerator - floor * denominator) * 2n;
        const isUp = twice > denominator || (twice === denominator && floor % 2n === 1n);
        converted += (isUp ? floor + 1n : floor) * MICRO;
      }
      total.set(name, converted);
    }
    return total;
  }

  #inRange(request: OracleRequest, keep: (day: Day) => boolean): Day[] {
    return this.#days.filter(
      (day) => day.date >= request.start_date && day.date <= request.end_date && keep(day),
    );
  }

  #series(request: OracleRequest, names: string[], days: Day[]): Row[] {
    const groups = new Map<string, string[]>();
    for (const date of datesOf(request.start_date, request.end_date)) {
      const period = request.granularity === 'monthly' ? date.slice(0, 7) : date;
      groups.set(period, [...(groups.get(period) ?? []), date]);
    }
    return [...groups].map(([period, dates]) => ({
      period,
      start_date: dates[0],
      end_date: dates.at(-1),
      provisional: this.#provisional(dates.at(-1) as string),
      ...figures(
        names,
        this.#sum(
          days.filter(({ date }) => dates.includes(date)),
          request,
        ),
      ),
    }));
  }

  /** A page of what `entriesOf` finds in a range, with totals, and with values of an earlier range. */
  #list(
    request: OracleRequest,
    names: string[],
    entriesOf: (request: OracleRequest) => Entry[],
    hasCurrencies = true,
  ) {
    const all = entriesOf(request);
    const entries = all.filter(isItem);
    const { compare_to, ...rest } = request;
    const range = compare_to && earlierRange(request, compare_to);
    const before = range && entriesOf({ ...rest, ...range });
    for (const { id, item } of before ? entries : []) {
      item.previous = figures(
        names,
        before?.find((entry) => entry.id === id && isItem(entry))?.values ?? new Map(),
      );
    }
    return {
      ...this.#page(entries, request),
      totals: totalsOf(names, all, hasCurrencies, request.currency),
      ...(range && {
        previous_start_date: range.start_date,
        previous_end_date: range.end_date,
        previous_totals: totalsOf(names, before ?? [], hasCurrencies, request.currency),
      }),
    };
  }

  #page(entries: Entry[], request: OracleRequest) {
    const direction = request.sort_direction === 'asc' ? 1 : -1;
    const currencies = byCurrency(entries).map(([currency]) => currency);
    entries.sort((one, other) => {
      if (isAmount(request.sort_by ?? 'ad_spend') && request.currency === undefined) {
        const order = currencies.indexOf(one.item.currency) - currencies.indexOf(other.item.currency);
        if (order !== 0) return order;
      }
      const nulls = Number(one.key === null) - Number(other.key === null);
      if (nulls !== 0) return nulls;
      const byKey = one.key === null ? 0 : compare(one.key, other.key) * direction;
      return byKey || compare(one.id, other.id);
    });
    const page = request.page ?? 1;
    const size = request.page_size ?? 50;
    return {
      items: entries.slice((page - 1) * size, page * size).map(({ item }) => item),
      page,
      page_size: size,
      total_count: entries.length,
    };
  }

  #creativeCampaigns(): Map<string, string> {
    const campaigns = new Map<string, string>();
    for (const { creative, campaign } of this.#days) {
      if (creative === '') continue;
      const before = campaigns.get(creative);
      if (before === undefined || campaign < before) campaigns.set(creative, campaign);
    }
    for (const [id, record] of this.#creatives) campaigns.set(id, record.campaign_id as string);
    return campaigns;
  }

  #campaignIds(): Set<string> {
    return new Set([...this.#campaigns.keys(), ...this.#days.map(({ campaign }) => campaign)]);
  }

  campaigns(request: OracleRequest) {
    return this.#ads(request, (range, names) => this.#campaignEntries(range, names));
  }

  creatives(request: OracleRequest) {
    return this.#ads(request, (range, names) => this.#creativeEntries(range, names));
  }

  #ads(request: OracleRequest, entriesOf: (range: OracleRequest, names: string[]) => Entry[]) {
    const names = request.metrics ?? ALL;
    this.#ratedOn = new Set();
    this.#missing = new Set();
    let hasForeign = false;
    const list = this.#list(request, names, (range) => {
      const entries = entriesOf(range, names);
      // The first range is the range of the request.
      if (range === request) hasForeign = !entries.every(isItem);
      return entries;
    });
    if (this.#missing.size > 0) return { missing: [...this.#missing].sort() };
    const ratedOn = [...this.#ratedOn].sort();
    const currencies = list.totals.map(({ currency }) => currency);
    return {
      ...list,
      ...(request.currency && {
        converted: true,
        rates: { from: ratedOn[0] ?? null, to: ratedOn.at(-1) ?? null },
      }),
      provisional: this.#provisional(request.end_date),
      warnings: this.#warnings(request, names, currencies, false, hasForeign),
    };
  }

  /** Whether a campaign or creative has a requested status, and its campaign a requested objective. */
  #isAsked({ statuses, objective_types }: OracleRequest, record: Row, campaign: Row): boolean {
    const objective = canonicalObjective(campaign.objective_type);
    return (
      this.#matches(statuses?.map(canonicalStatus), canonicalStatus(record.status)) &&
      this.#matches(objective_types?.map(canonicalObjective), objective)
    );
  }

  #campaignEntries(request: OracleRequest, names: string[]): Entry[] {
    const byCampaign = groupBy(
      this.#inRange(request, ({ creative }) => creative !== ''),
      ({ campaign }) => campaign,
    );
    const counts = groupBy(this.#creativeCampaigns(), ([, campaign]) => campaign);
    const entries: Entry[] = [];
    for (const id of this.#campaignIds()) {
      const record = this.#campaigns.get(id) ?? {};
      if (!this.#matches(request.campaign_ids, id)) continue;
      if (!this.#isAsked(request, record, record)) continue;
      if (!this.#found(request.search, record.name, record.campaign_group_name)) continue;
      const days = byCampaign.get(id) ?? [];
      const sortBy = request.sort_by ?? 'ad_spend';
      const values = this.#sum(days, request);
      entries.push({
        id,
        values,
        key: ALL.includes(sortBy)
          ? comparable(sortBy, values)
          : sortBy === 'start_date'
            ? (record.start_date ?? null)
            : lower(record[sortBy]),
        item: {
          id,
          ...Object.fromEntries(CAMPAIGN_ATTRIBUTES.map((name) => [name, record[name] ?? null])),
          daily_budget: record.daily_budget === undefined ? null : plain(pico(record.daily_budget)),
          total_budget: record.total_budget === undefined ? null : plain(pico(record.total_budget)),
          creatives_count: counts.get(id)?.length ?? 0,
          ...figures(names, values),
          provisional: this.#provisional(request.end_date),
          timeseries: this.#series(request, names, days),
        },
      });
    }
    return entries;
  }

  #creativeEntries(request: OracleRequest, names: string[]): Entry[] {
    const byCreative = groupBy(
      this.#inRange(request, ({ creative }) => creative !== ''),
      ({ creative }) => creative,
    );
    const entries: Entry[] = [];
    for (const [id, campaignId] of this.#creativeCampaigns()) {
      const record = this.#creatives.get(id) ?? {};
      const campaign = this.#campaigns.get(campaignId) ?? {};
      if (!this.#matches(request.campaign_ids, campaignId)) continue;
      if (!this.#matches(request.creative_ids, id)) continue;
      if (!this.#isAsked(request, record, campaign)) continue;
      if (!this.#found(request.search, record.name, record.headline, campaign.name)) continue;
      const foreign = request.currency === undefined ? this.#foreignCampaigns(id, campaignId) : new Set();
      const [days = [], others = []] = [false, true].map((wanted) =>
        (byCreative.get(id) ?? []).filter((day) => foreign.has(day.campaign) === wanted),
      );
      for (const [other, own] of groupBy(others, (day) => day.campaign)) {
        const item = { currency: this.#campaigns.get(other)?.currency ?? null };
        entries.push({ id, key: null, values: sum(own), item, isForeign: true });
      }
      const sortBy = request.sort_by ?? 'ad_spend';
      const values = this.#sum(days, request);
      entries.push({
        id,
        values,
        key: ALL.includes(sortBy)
          ? comparable(sortBy, values)
          : lower(sortBy === 'campaign_name' ? campaign.name : record[sortBy]),
        item: {
          id,
          ...Object.fromEntries(CREATIVE_ATTRIBUTES.map((name) => [name, record[name] ?? null])),
          campaign_id: campaignId,
          campaign_name: campaign.name ?? null,
          currency: campaign.currency ?? null,
          ...figures(names, values),
          provisional: this.#provisional(request.end_date),
          timeseries: this.#series(request, names, days),
        },
      });
    }
    return entries;
  }

  /** Campaigns under which a creative has, on any day, deliveries in another currency than its own campaign. */
  #foreignCampaigns(creative: string, ownCampaign: string): Set<string> {
    const currencyOf = (campaign: string) => this.#campaigns.get(campaign)?.currency ?? null;
    const own = currencyOf(ownCampaign);
    const campaigns = this.#days.filter((day) => day.creative === creative).map(({ campaign }) => campaign);
    const others = campaigns.filter((campaign) => currencyOf(campaign) !== own);
    const isOneUnknown = own === null && new Set(others.map(currencyOf)).size === 1;
    return new Set(isOneUnknown ? [] : others);
  }

  #company(id: string): Row {
    const record = this.#companies.get(id) ?? {};
    return { id, ...Object.fromEntries(COMPANY_ATTRIBUTES.map((name) => [name, record[name] ?? null])) };
  }

  #seen(days: Day[]) {
    const dates = days
      .filter(isActive)
      .map(({ date }) => date)
      .sort();
    return { first_seen: dates[0] ?? null, last_seen: dates.at(-1) ?? null };
  }

  companies(request: OracleRequest) {
    const names = request.metrics ?? COMPANY_ALL;
    const list = this.#list(request, names, (range) => this.#companyEntries(range, names), false);
    return { ...list, warnings: this.#warnings(request, [], [], list.items.length > 0) };
  }

  #companyEntries(request: OracleRequest, names: string[]): Entry[] {
    const days = this.#inRange(
      request,
      ({ company, campaign }) => company !== '' && this.#matches(request.campaign_ids, campaign),
    );
    const byCompany = groupBy(days, ({ company }) => company);
    const isNamed = [request.company_ids, request.network_a_company_ids, request.domains].some(
      (list) => list?.length,
    );
    const entries: Entry[] = [];
    for (const id of new Set([...this.#companies.keys(), ...this.#days.map(({ company }) => company)])) {
      if (id === '') continue;
      const company = this.#company(id);
      const own = byCompany.get(id) ?? [];
      if (!isNamed && !own.some(isActive)) continue;
      if (!this.#matches(request.company_ids, id)) continue;
      if (!this.#matches(request.network_a_company_ids, company.network_a_company_id)) continue;
      if (
        !this.#matches(
          request.domains?.map((domain) => domainOf(domain) as string),
          company.domain,
        )
      )
        continue;
      if (!this.#found(request.search, company.name, company.domain)) continue;
      const values = sum(own);
      const distinct = (metric: string) =>
        new Set(own.filter((day) => (day.values.get(metric) ?? 0n) > 0n).map(({ campaign }) => campaign))
          .size;
      const reach = {
        campaigns_reached: distinct('impressions'),
        campaigns_engaged: distinct('engagements'),
      };
      const sortBy = request.sort_by ?? 'engagements';
      entries.push({
        id,
        values,
        key:
          sortBy in reach
            ? reach[sortBy as keyof typeof reach]
            : sortBy === 'name'
              ? lower(company.name)
              : comparable(sortBy, values),
        item: {
          ...company,
          ...figures(names, values),
          ...reach,
          ...this.#seen(own),
          timeseries: this.#series(request, names, own),
        },
      });
    }
    return entries;
  }

  /** Null if no company or several match. */
  company(request: OracleRequest) {
    const names = request.metrics ?? COMPANY_ALL;
    let id: string | undefined;
    if (request.company_id !== undefined) {
      const ours = new Set([...this.#companies.keys(), ...this.#days.map(({ company }) => company)]);
      const ids = [...this.#companies]
        .filter(([, { network_a_company_id }]) => network_a_company_id === request.company_id)
        .map(([key]) => key);
      const ofNetwork = ids.length === 1 ? ids[0] : undefined;
      id = ours.has(request.company_id) ? request.company_id : ofNetwork;
    } else {
      const ids = [...this.#companies]
        .filter(([, { domain }]) => domain === domainOf(request.domain))
        .map(([key]) => key);
      id = ids.length === 1 ? ids[0] : undefined;
    }
    if (id === undefined) return null;
    const days = this.#inRange(
      request,
      ({ company, campaign }) => company === id && this.#matches(request.campaign_ids, campaign),
    );
    const campaigns = [...groupBy(days, ({ campaign }) => campaign)]
      .filter(([, own]) => own.some(isActive))
      .map(([campaign, own]) => {
        const record = this.#campaigns.get(campaign) ?? {};
        const values = sum(own);
        return {
          order: [-(values.get('engagements') ?? 0n), -(values.get('impressions') ?? 0n), campaign],
          item: {
            campaign_id: campaign,
            name: record.name ?? null,
            status: record.status ?? null,
            objective_type: record.objective_type ?? null,
            ...figures(names, values),
            ...this.#seen(own),
          },
        };
      })
      .sort(
        (one, other) =>
          one.order.map((value, index) => compare(value, other.order[index])).find((sign) => sign !== 0) ?? 0,
      );
    const page = request.campaign_page ?? 1;
    const size = request.campaign_page_size ?? 50;
    return {
      company: this.#company(id),
      start_date: request.start_date,
      end_date: request.end_date,
      granularity: request.granularity ?? 'daily',
      totals: figures(names, sum(days)),
      timeseries: this.#series(request, names, days),
      campaigns: campaigns.slice((page - 1) * size, page * size).map(({ item }) => item),
      campaign_page: page,
      campaign_page_size: size,
      campaign_total_count: campaigns.length,
      provisional: this.#provisional(request.end_date),
      warnings: this.#warnings(request, [], [], days.some(isActive)),
    };
  }

  #matches(filter: unknown[] | undefined, value: unknown): boolean {
    return !filter?.length || filter.includes(value);
  }

  #found(search: string | undefined, ...values: unknown[]): boolean {
    return !search || values.some((value) => lower(value)?.includes(lower(search) as string));
  }

  #warnings(
    request: OracleRequest,
    names: string[],
    currencies: unknown[],
    approximate = false,
    hasForeign = false,
  ): ExpectedWarning[] {
    const codes = new Map<string, string[]>();
    const dates = this.#days.map(({ date }) => date).sort();
    const last = dates.at(-1);
    const yesterday = new Date(Date.parse(this.#today) - 86_400_000).toISOString().slice(0, 10);
    const due = datesOf(request.start_date, request.end_date).filter(
      (date) => date <= yesterday && (last === undefined || date > last),
    );
    if (this.#provisional(request.end_date)) codes.set('data_provisional', []);
    if (due.length > 0) codes.set('data_delayed', []);
    if (request.end_date > this.#today) codes.set('range_includes_future', []);
    if (dates[0] !== undefined && request.start_date < dates[0])
      codes.set('range_before_first_data', [dates[0]]);
    if (request.granularity === 'monthly') {
      const dayAfter = new Date(Date.parse(request.end_date) + 86_400_000).toISOString();
      if (!request.start_date.endsWith('-01') || dayAfter.slice(8, 10) !== '01')
        codes.set('partial_month', []);
    }
    const unknown = (code: string, asked: string[] | undefined, known: (value: string) => boolean) => {
      const missing = [...new Set(asked ?? [])].filter((value) => !known(value));
      if (missing.length > 0) codes.set(code, [...(codes.get(code) ?? []), ...missing]);
    };
    const carried = [...this.#campaigns.values(), ...this.#creatives.values()];
    unknown('unknown_status', request.statuses, (value) =>
      [...KNOWN_STATUSES, ...carried.map(({ status }) => canonicalStatus(status))].includes(
        canonicalStatus(value),
      ),
    );
    unknown('unknown_objective_type', request.objective_types, (value) =>
      [...KNOWN_OBJECTIVES, ...carried.map((each) => canonicalObjective(each.objective_type))].includes(
        canonicalObjective(value),
      ),
    );
    unknown('unknown_campaign_ids', request.campaign_ids, (value) => this.#campaignIds().has(value));
    unknown('unknown_creative_ids', request.creative_ids, (value) => this.#creativeCampaigns().has(value));
    unknown(
      'unknown_company_ids',
      request.company_ids,
      (value) => this.#companies.has(value) || this.#days.some(({ company }) => company === value),
    );
    const attributes = [...this.#companies.values()];
    unknown('unknown_company_ids', request.network_a_company_ids, (value) =>
      attributes.some((company) => company.network_a_company_id === value),
    );
    unknown(
      'unmatched_domains',
      request.domains?.map((domain) => domainOf(domain) as string),
      (value) => attributes.some(({ domain }) => domain === value),
    );
    const isMoney = (name: string) =>
      MONEY.some((money) => money === name || RATES[name]?.slice(0, 2).includes(money));
    const isMixed = new Set(currencies).size > 1;
    if (hasForeign || (isMixed && (names.some(isMoney) || isAmount(request.sort_by ?? 'ad_spend'))))
      codes.set('mixed_currencies', []);
    if (approximate) codes.set('company_metrics_approximate', []);
    return [...codes]
      .map(([code, values]) => ({ code, names: values.slice(0, NAMED_AT_MOST) }))
      .sort((one, other) => compare(one.code, other.code));
  }
}
