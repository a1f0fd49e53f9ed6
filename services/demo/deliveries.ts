import type { DeliveryRecord } from '../advertising/records.js';
import { DEMO_ORGANIZATION, daysBefore, weekdayFactor } from './calendar.js';
import {
  DELIVERY_DAYS,
  type DemoCampaign,
  type DemoCreative,
  demoCampaigns,
  demoCreatives,
} from './campaigns.js';
import { type DemoCompany, demoCompanies } from './companies.js';
import { Random } from './random.js';

/** Days back that the network reported twice, the second time with higher counts. */
const RESTATED_DAYS = { from: 14, to: 8 };
/** Share of impressions whose company the network knows. */
const KNOWN_COMPANY = 0.6;

/**
 * Deliveries of the 180 days before `day`, each day first by creative, then by company. A restated day comes first as originally reported,
 * then again.
 */
export function* deliveryRecords(day: string): Generator<DeliveryRecord[]> {
  const creatives = demoCreatives();
  const companies = demoCompanies();
  const campaigns = demoCampaigns().map((campaign) => ({
    campaign,
    creatives: creatives.filter((creative) => creative.campaign.id === campaign.id),
    companies: companiesOf(campaign, companies),
  }));
  for (let back = DELIVERY_DAYS; back >= 1; back--) {
    const date = daysBefore(day, back);
    const records = campaigns
      .filter(({ campaign }) => isRunningOn(campaign, back))
      .flatMap((each) => {
        const random = new Random(`${date} ${each.campaign.id}`);
        const impressions = impressionsOf(random, each.campaign, date, back);
        return [
          ...byCreative(random, each.campaign, each.creatives, date, impressions),
          ...byCompany(random, each.campaign, each.companies, date, impressions * KNOWN_COMPANY),
        ];
      });
    const isRestated = back <= RESTATED_DAYS.from && back >= RESTATED_DAYS.to;
    if (isRestated) yield records.map(asFirstReported);
    yield isRestated ? records.map(asRestated) : records;
  }
}

function isRunningOn({ begins, ends, stopped, status }: DemoCampaign, back: number): boolean {
  if (status === 'DRAFT' || back > begins) return false;
  return back >= (ends ?? 0) && (stopped === null || back >= stopped);
}

/** The companies that a campaign reaches: some are reached by every campaign, some only by this one. */
function companiesOf({ id }: DemoCampaign, companies: readonly DemoCompany[]): DemoCompany[] {
  const random = new Random(`companies ${id}`);
  return [...new Set(Array.from({ length: 70 }, () => random.pickSkewed(companies)))];
}

/** A campaign builds up over its first four days and follows the week. */
function impressionsOf(random: Random, campaign: DemoCampaign, date: string, back: number): number {
  const launch = Math.min(1, 0.35 + (campaign.begins - back) * 0.16);
  return Math.round(campaign.baseImpressions * weekdayFactor(date) * launch * random.around(0.8, 1.2));
}

function byCreative(
  random: Random,
  campaign: DemoCampaign,
  creatives: readonly DemoCreative[],
  date: string,
  total: number,
): DeliveryRecord[] {
  const weights = creatives.reduce((sum, { weight }) => sum + weight, 0);
  return creatives.map(({ id, weight }) => {
    const counts = countsOf(random, campaign, Math.round((total * weight) / weights));
    const units = campaign.costType === 'CPM' ? counts.impressions / 1000 : counts.clicks;
    return {
      ...keyOf(date, campaign),
      creative_id: id,
      ad_spend: cents(units * campaign.price * random.around(0.95, 1.05)),
      ...counts,
      conversion_value: cents(counts.conversions * random.around(120, 480)),
    };
  });
}

/** Networks report no money by company, and leave out companies with few impressions. */
function byCompany(
  random: Random,
  campaign: DemoCampaign,
  companies: readonly DemoCompany[],
  date: string,
  total: number,
): DeliveryRecord[] {
  const reached = companies.filter(() => random.chance(0.3));
  return reached.map(({ id }, rank) => {
    const share = (2 * (reached.length - rank)) / (reached.length * (reached.length + 1));
    const impressions = Math.max(3, Math.round(total * share));
    // `Object.assign` takes a third of the time of spreading both.
    return Object.assign(keyOf(date, campaign), { company_id: id }, countsOf(random, campaign, impressions));
  });
}

/** Deliveries are reported early on the next day. */
const keyOf = (date: string, campaign: DemoCampaign) => ({
  organization_id: DEMO_ORGANIZATION,
  date,
  campaign_id: campaign.id,
  reported_at: `${daysBefore(date, -1)}T00:00:00Z`,
});

const CONVERTING = ['WEBSITE_CONVERSIONS', 'WEBSITE_VISITS', 'JOB_APPLICANTS'];

function countsOf(random: Random, { objective, clickRate }: DemoCampaign, impressions: number) {
  const some = (of: number, rate: number) => Math.min(of, random.poissonLike(of * rate));
  const clicks = some(impressions, clickRate);
  const reactions = some(impressions, 0.0011);
  const comments = some(impressions, 0.00012);
  const shares = some(impressions, 0.0001);
  const follows = some(impressions, 0.00015);
  const views = objective === 'VIDEO_VIEWS' ? some(impressions, 0.28) : 0;
  const opens = objective === 'LEAD_GENERATION' ? some(clicks, 0.6) : 0;
  return {
    impressions,
    clicks,
    landing_page_clicks: objective === 'LEAD_GENERATION' ? 0 : some(clicks, 0.8),
    engagements: clicks + reactions + comments + shares + follows,
    reactions,
    comments,
    shares,
    follows,
    video_views: views,
    video_completions: some(views, 0.22),
    leads: some(opens, 0.3),
    lead_form_opens: opens,
    conversions: CONVERTING.includes(objective) ? some(clicks, 0.05) : 0,
  };
}

const cents = (amount: number) => (Math.round(amount * 100) / 100).toFixed(2);

/** Five days later the network corrected its counts. */
const asRestated = (record: DeliveryRecord): DeliveryRecord => ({
  ...record,
  reported_at: `${daysBefore(record.date, -6)}T06:00:00Z`,
});

/** The counts that the network reported first: a tenth lower. */
function asFirstReported(record: DeliveryRecord): DeliveryRecord {
  const early = Object.entries(record).map(([name, value]) => {
    if (typeof value === 'number') return [name, Math.floor(value * 0.9)];
    const isMoney = name === 'ad_spend' || name === 'conversion_value';
    return [name, isMoney ? cents(Number(value) * 0.9) : value];
  });
  return Object.fromEntries(early) as DeliveryRecord;
}
