import type { CampaignRecord, CreativeRecord } from '../advertising/records.js';
import { DEMO_ORGANIZATION, daysBefore } from './calendar.js';
import { Random } from './random.js';

/** Days of figures, the last of them yesterday. */
export const DELIVERY_DAYS = 180;
const CAMPAIGNS = 24;
const CREATIVES = 90;

/** A campaign and how it performs. Days count back from today. */
export interface DemoCampaign {
  id: string;
  name: string;
  group: number;
  status: string;
  objective: string;
  format: string;
  costType: 'CPC' | 'CPM';
  currency: string;
  begins: number;
  /** Null while it runs on. */
  ends: number | null;
  /** First day back without figures, where it stopped before its end. */
  stopped: number | null;
  /** Impressions of a usual weekday. */
  reach: number;
  clickRate: number;
  /** Money a click, or a thousand impressions. */
  price: number;
}

const GROUPS = ['Always on', 'Product launch', 'Events & webinars', 'Hiring'];

type Plan = [
  name: string,
  group: number,
  status: string,
  objective: string,
  begins: number,
  ends: number | null,
  stopped: number | null,
];
/** Running, launched lately, paused, ended, cancelled and never started. */
const PLANS: Plan[] = [
  ['Brand – executives', 0, 'ACTIVE', 'BRAND_AWARENESS', 400, null, null],
  ['Brand – Europe', 0, 'ACTIVE', 'BRAND_AWARENESS', 310, null, null],
  ['Retargeting – site visitors', 0, 'ACTIVE', 'WEBSITE_CONVERSIONS', 260, null, null],
  ['Retargeting – pricing page', 0, 'ACTIVE', 'WEBSITE_CONVERSIONS', 150, null, null],
  ['Thought leadership – marketing', 0, 'ACTIVE', 'ENGAGEMENT', 220, null, null],
  ['Video – customer stories', 0, 'ACTIVE', 'VIDEO_VIEWS', 130, -60, null],
  ['Traffic – blog', 0, 'PAUSED', 'WEBSITE_VISITS', 240, null, 26],
  ['Traffic – docs', 0, 'ARCHIVED', 'WEBSITE_VISITS', 300, 95, null],
  ['Launch – teaser', 1, 'COMPLETED', 'VIDEO_VIEWS', 75, 56, null],
  ['Launch – announcement', 1, 'COMPLETED', 'BRAND_AWARENESS', 56, 42, null],
  ['Launch – lead form', 1, 'ACTIVE', 'LEAD_GENERATION', 56, -30, null],
  ['Launch – comparison guide', 1, 'ACTIVE', 'LEAD_GENERATION', 40, -30, null],
  ['Launch – engineers', 1, 'ACTIVE', 'WEBSITE_VISITS', 12, -48, null],
  ['Launch – finance buyers', 1, 'ACTIVE', 'LEAD_GENERATION', 5, -55, null],
  ['Launch – Americas', 1, 'PAUSED', 'WEBSITE_CONVERSIONS', 50, -10, 18],
  ['Webinar – attribution', 2, 'COMPLETED', 'LEAD_GENERATION', 140, 118, null],
  ['Webinar – first-party data', 2, 'COMPLETED', 'LEAD_GENERATION', 98, 77, null],
  ['Webinar – measuring reach', 2, 'ACTIVE', 'LEAD_GENERATION', 16, -5, null],
  ['Conference – booth visits', 2, 'COMPLETED', 'ENGAGEMENT', 170, 160, null],
  ['Conference – spring edition', 2, 'CANCELED', 'ENGAGEMENT', 60, 30, 51],
  ['Hiring – engineers Berlin', 3, 'ACTIVE', 'JOB_APPLICANTS', 90, null, null],
  ['Hiring – sales Tōkyō', 3, 'ACTIVE', 'JOB_APPLICANTS', 33, null, null],
  ['Hiring – data team', 3, 'PENDING_DELETION', 'JOB_APPLICANTS', 125, 101, null],
  ['Autumn refresh', 0, 'DRAFT', 'BRAND_AWARENESS', -21, -80, null],
];

const FORMATS = [
  'SPONSORED_UPDATE_IMAGE',
  'SPONSORED_UPDATE_CAROUSEL',
  'SPONSORED_UPDATE_VIDEO',
  'TEXT_AD',
  'SPONSORED_MESSAGE',
];

export function demoCampaigns(): DemoCampaign[] {
  const random = new Random('campaigns');
  return PLANS.map(([name, group, status, objective, begins, ends, stopped], index) => {
    const costType = objective === 'BRAND_AWARENESS' || objective === 'VIDEO_VIEWS' ? 'CPM' : 'CPC';
    return {
      id: `cam_${String(index + 1).padStart(3, '0')}`,
      name,
      group,
      status,
      objective,
      format: objective === 'VIDEO_VIEWS' ? 'SPONSORED_UPDATE_VIDEO' : random.pick(FORMATS),
      costType,
      currency: name.includes('Europe') || name.includes('Berlin') ? 'EUR' : 'USD',
      begins,
      ends,
      stopped,
      reach: random.between(1500, 9000),
      clickRate: random.around(0.003, 0.012),
      price: costType === 'CPM' ? random.around(18, 45) : random.around(3, 9),
    };
  });
}

export function campaignRecords(day: string): CampaignRecord[] {
  return demoCampaigns().map((campaign, index) => {
    const daily = Math.round((campaign.reach * campaign.clickRate * 8) / 5) * 5 + 50;
    return {
      organization_id: DEMO_ORGANIZATION,
      id: campaign.id,
      network_a_campaign_id: String(130_400_000 + index * 1313),
      name: campaign.name,
      account_id: '507500001',
      campaign_group_id: `grp_${campaign.group + 1}`,
      campaign_group_name: GROUPS[campaign.group] as string,
      status: campaign.status,
      objective_type: campaign.objective,
      format: campaign.format,
      cost_type: campaign.costType,
      currency: campaign.currency,
      daily_budget: `${daily}.00`,
      ...(campaign.ends === null ? {} : { total_budget: `${daily * (campaign.begins - campaign.ends)}.00` }),
      start_date: daysBefore(day, campaign.begins),
      ...(campaign.ends === null ? {} : { end_date: daysBefore(day, campaign.ends) }),
      updated_at: `${day}T00:00:00Z`,
    };
  });
}

export interface DemoCreative {
  id: string;
  campaign: DemoCampaign;
  name: string;
  headline: string;
  /** Share of the campaign's figures, before they are divided by the sum. */
  weight: number;
}

const HEADLINES = [
  'Know which companies you reach',
  'Attribution without guesswork',
  'Your audience, in one place',
  'From impression to pipeline',
  'See who visits – before they write',
  'Stop paying for the wrong clicks',
  'Der Bericht, den Ihr CFO versteht',
  'Mesurez ce qui compte',
  '届けたい人に、届く広告',
];
const VARIANTS = ['Photo', 'Illustration', 'Quote', 'Chart', 'Short video', 'Carousel'];

export function demoCreatives(): DemoCreative[] {
  const random = new Random('creatives');
  const campaigns = demoCampaigns();
  return Array.from({ length: CREATIVES }, (_, index) => {
    const campaign = campaigns[index % CAMPAIGNS] as DemoCampaign;
    const variant = VARIANTS[Math.floor(index / CAMPAIGNS) % VARIANTS.length] as string;
    return {
      id: `cre_${String(index + 1).padStart(3, '0')}`,
      campaign,
      name: `${campaign.name} – ${variant}`,
      headline: random.pick(HEADLINES),
      weight: random.around(0.2, 2),
    };
  });
}

export function creativeRecords(day: string): CreativeRecord[] {
  const random = new Random('creative records');
  return demoCreatives().map(({ id, campaign, name, headline }, index) => {
    const running = campaign.status === 'ACTIVE';
    return {
      organization_id: DEMO_ORGANIZATION,
      id,
      network_a_creative_id: String(48_000_000 + index * 771),
      campaign_id: campaign.id,
      name,
      status: running ? (random.chance(0.9) ? 'ACTIVE' : 'PAUSED') : campaign.status,
      review_status: campaign.status === 'DRAFT' ? 'PENDING' : random.chance(0.96) ? 'APPROVED' : 'REJECTED',
      format: campaign.format,
      headline,
      landing_page_url: `https://www.reachline-demo.example/lp/${campaign.id.replace('_', '-')}?utm_content=${id}`,
      image_url: `https://static.reachline-demo.example/creatives/${id}.png`,
      updated_at: `${day}T00:00:00Z`,
    };
  });
}
