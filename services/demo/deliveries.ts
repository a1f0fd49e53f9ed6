import type { DeliveryRecord } from '../advertising/records.js';
import { DEMO_ORGANIZATION, daysBefore, rhythmOf } from './calendar.js';
import {
  DELIVERY_DAYS,
  type DemoCampaign,
  type DemoCreative,
  demoCampaigns,
  demoCreatives,
} from './campaigns.js';
import { type DemoCompany, demoCompanies } from './companies.js';
import { Random } from './random.js';

/** Days back whose figures the network reported twice, the second time higher. */
const RESTATED_DAYS = { from: 14, to: 8 };
/** Share of impressions the network tells the company of. */
const KNOWN_COMPANY = 0.6;

type Counts = Record<
  | 'impressions'
  | 'clicks'
  | 'landing_page_clicks'
  | 'engagements'
  | 'reactions'
  | 'comments'
  | 'shares'
  | 'follows'
  | 'video_views'
  | 'video_completions'
  | 'leads'
  | 'lead_form_opens'
  | 'conversions',
  number
>;

/**
 * The figures of the 180 days before `day`, each day first by creative, then by company; a day that is restated comes once as
 * first reported and later again.
 */
export function* deliveryRecords(day: string): Generator<DeliveryRecord[]> {
  const creatives = demoCreatives();
  const companies = demoCompanies();
  const campaigns = demoCampaigns().map((campaign) => ({
    campaign,
    creatives: creatives.filter((creative) => creative.campaign.id === campaign.id),
    companies: audienceOf(campaign, companies),
  }));
  for (let back = DELIVERY_DAYS; back >= 1; back--) {
    const date = daysBefore(day, back);
    const records = campaigns
      .filter(({ campaign }) => runs(campaign, back))
      .flatMap((each) => [
        ...byCreative(each.campaign, each.creatives, date, back),
        ...byCompany(each.campaign, each.companies, date, back),
      ]);
    const restated = back <= RESTATED_DAYS.from && back >= RESTATED_DAYS.to;
    if (restated) yield records.map(asFirstReported);
    yield restated ? records.map(asRestated) : records;
  }
}

function runs({ begins, ends, stopped, status }: DemoCampaign, back: number): boolean {
  if (status === 'DRAFT' || back > begins) return false;
  return back >= (ends ?? 0) && (stopped === null || back >= stopped);
}

/** The companies a campaign reaches: some everyone reaches, some only it. */
function audienceOf({ id }: DemoCampaign, companies: readonly DemoCompany[]): DemoCompany[] {
  const random = new Random(`reach ${id}`);
  return [...new Set(Array.from({ length: 70 }, () => random.pickEarly(companies)))];
}

/** Impressions of a campaign on a date: the week's rhythm, a launch that builds up, and slow swings. */
function impressionsOf(random: Random, campaign: DemoCampaign, date: string, back: number): number {
  const age = campaign.begins - back;
  const launch = Math.min(1, 0.35 + age * 0.16);
  const fatigue = campaign.ends === null ? 1 : Math.max(0.6, 1 - age * 0.006);
  const swing = 1 + 0.15 * Math.sin(Date.parse(date) / 86_400_000 / 9 + campaign.reach);
  return Math.round(campaign.reach * rhythmOf(date) * launch * fatigue * swing * random.around(0.85, 1.15));
}

function byCreative(
  campaign: DemoCampaign,
  creatives: readonly DemoCreative[],
  date: string,
  back: number,
): DeliveryRecord[] {
  const random = new Random(`${date} ${campaign.id} creatives`);
  const total = impressionsOf(random, campaign, date, back);
  const weights = creatives.reduce((sum, { weight }) => sum + weight, 0);
  return creatives.map(({ id, weight }) => {
    const counts = countsOf(random, campaign, Math.round((total * weight) / weights));
    const spend =
      campaign.costType === 'CPM'
        ? (counts.impressions * campaign.price) / 1000
        : counts.clicks * campaign.price;
    return {
      ...identity(date, campaign),
      creative_id: id,
      ad_spend: cents(spend * random.around(0.95, 1.05)),
      ...counts,
      conversion_value: cents(counts.conversions * random.around(120, 480)),
    };
  });
}

/** Networks tell no money by company, and leave out companies with few impressions. */
function byCompany(
  campaign: DemoCampaign,
  companies: readonly DemoCompany[],
  date: string,
  back: number,
): DeliveryRecord[] {
  const random = new Random(`${date} ${campaign.id} companies`);
  const total =
    impressionsOf(new Random(`${date} ${campaign.id} creatives`), campaign, date, back) * KNOWN_COMPANY;
  const reached = companies.filter(() => random.chance(0.3));
  return reached.map(({ id }, rank) => {
    const share = (2 * (reached.length - rank)) / (reached.length * (reached.length + 1));
    return {
      ...identity(date, campaign),
      company_id: id,
      ...countsOf(random, campaign, Math.max(3, Math.round(total * share))),
    };
  });
}

/** Figures are reported early the next day. */
const identity = (date: string, campaign: DemoCampaign) => ({
  organization_id: DEMO_ORGANIZATION,
  date,
  campaign_id: campaign.id,
  reported_at: `${daysBefore(date, -1)}T00:00:00Z`,
});

function countsOf(random: Random, { objective, clickRate }: DemoCampaign, impressions: number): Counts {
  const clicks = Math.min(impressions, random.scatter(impressions * clickRate));
  const reactions = random.scatter(impressions * 0.0011);
  const comments = random.scatter(impressions * 0.00012);
  const shares = random.scatter(impressions * 0.0001);
  const follows = random.scatter(impressions * 0.00015);
  const isVideo = objective === 'VIDEO_VIEWS';
  const views = isVideo ? random.scatter(impressions * 0.28) : 0;
  const hasForm = objective === 'LEAD_GENERATION';
  const opens = hasForm ? random.scatter(clicks * 0.6) : 0;
  const converts =
    objective === 'WEBSITE_CONVERSIONS' || objective === 'WEBSITE_VISITS' || objective === 'JOB_APPLICANTS';
  return {
    impressions,
    clicks,
    landing_page_clicks: hasForm ? 0 : Math.min(clicks, random.scatter(clicks * 0.8)),
    engagements: clicks + reactions + comments + shares + follows,
    reactions,
    comments,
    shares,
    follows,
    video_views: views,
    video_completions: Math.min(views, random.scatter(views * 0.22)),
    leads: Math.min(opens, random.scatter(opens * 0.3)),
    lead_form_opens: opens,
    conversions: converts ? Math.min(clicks, random.scatter(clicks * 0.05)) : 0,
  };
}

const cents = (amount: number) => (Math.round(amount * 100) / 100).toFixed(2);

/** Five days later the network corrected its figures. */
const asRestated = (record: DeliveryRecord): DeliveryRecord => ({
  ...record,
  reported_at: `${daysBefore(record.date, -6)}T06:00:00Z`,
});

/** What the network said first: a tenth less of everything. */
function asFirstReported(record: DeliveryRecord): DeliveryRecord {
  const early: Record<string, unknown> = { ...record };
  for (const [name, value] of Object.entries(early)) {
    if (typeof value === 'number') early[name] = Math.floor(value * 0.9);
  }
  for (const name of ['ad_spend', 'conversion_value']) {
    if (typeof early[name] === 'string') early[name] = cents(Number(early[name]) * 0.9);
  }
  return early as DeliveryRecord;
}
