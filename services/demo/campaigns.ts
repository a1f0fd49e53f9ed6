import type { CampaignRecord, CreativeRecord } from '../advertising/records.js';
import { DEMO_ORGANIZATION, daysBefore } from './calendar.js';
import { Random } from './random.js';

/** Number of days with deliveries. The last is yesterday. */
export const DELIVERY_DAYS = 180;
const CREATIVES = 90;

/** A campaign and its performance. */
export type DemoCampaign = ReturnType<typeof demoCampaigns>[number];

const GROUPS = ['Always on', 'Product launch', 'Events & webinars', 'Hiring'];

/**
 * Days count back from today. `ends` is null while a campaign runs. `stopped` is the first day without deliveries, if the campaign stopped
 * before its end.
 */
const plan = (
  name: string,
  group: number,
  status: string,
  objective: string,
  begins: number,
  ends: number | null = null,
  stopped: number | null = null,
) => ({ name, group, status, objective, begins, ends, stopped });

/** Campaigns that are active, recently launched, paused, ended, canceled and never started. */
const PLANS = [
  plan('Brand – executives', 0, 'ACTIVE', 'BRAND_AWARENESS', 400),
  plan('Brand – Europe', 0, 'ACTIVE', 'BRAND_AWARENESS', 310),
  plan('Retargeting – site visitors', 0, 'ACTIVE', 'WEBSITE_CONVERSIONS', 260),
  plan('Retargeting – pricing page', 0, 'ACTIVE', 'WEBSITE_CONVERSIONS', 150),
  plan('Thought leadership – marketing', 0, 'ACTIVE', 'ENGAGEMENT', 220),
  plan('Video – customer stories', 0, 'ACTIVE', 'VIDEO_VIEWS', 130, -60),
  plan('Traffic – blog', 0, 'PAUSED', 'WEBSITE_VISITS', 240, null, 26),
  plan('Traffic – docs', 0, 'ARCHIVED', 'WEBSITE_VISITS', 300, 95),
  plan('Launch – teaser', 1, 'COMPLETED', 'VIDEO_VIEWS', 75, 56),
  plan('Launch – announcement', 1, 'COMPLETED', 'BRAND_AWARENESS', 56, 42),
  plan('Launch – lead form', 1, 'ACTIVE', 'LEAD_GENERATION', 56, -30),
  plan('Launch – comparison guide', 1, 'ACTIVE', 'LEAD_GENERATION', 40, -30),
  plan('Launch – engineers', 1, 'ACTIVE', 'WEBSITE_VISITS', 12, -48),
  plan('Launch – finance buyers', 1, 'ACTIVE', 'LEAD_GENERATION', 5, -55),
  plan('Launch – Americas', 1, 'PAUSED', 'WEBSITE_CONVERSIONS', 50, -10, 18),
  plan('Webinar – attribution', 2, 'COMPLETED', 'LEAD_GENERATION', 140, 118),
  plan('Webinar – first-party data', 2, 'COMPLETED', 'LEAD_GENERATION', 98, 77),
  plan('Webinar – measuring reach', 2, 'ACTIVE', 'LEAD_GENERATION', 16, -5),
  plan('Conference – booth visits', 2, 'COMPLETED', 'ENGAGEMENT', 170, 160),
  plan('Conference – spring edition', 2, 'CANCELED', 'ENGAGEMENT', 60, 30, 51),
  plan('Hiring – engineers Berlin', 3, 'ACTIVE', 'JOB_APPLICANTS', 90),
  plan('Hiring – sales Tōkyō', 3, 'ACTIVE', 'JOB_APPLICANTS', 33),
  plan('Hiring – data team', 3, 'PENDING_DELETION', 'JOB_APPLICANTS', 125, 101),
  plan('Autumn refresh', 0, 'DRAFT', 'BRAND_AWARENESS', -21, -80),
];

const FORMATS = ['SPONSORED_UPDATE_IMAGE', 'SPONSORED_UPDATE_CAROUSEL', 'TEXT_AD', 'SPONSORED_MESSAGE'];

export function demoCampaigns() {
  const random = new Random('campaigns');
  return PLANS.map((plan, index) => {
    const isVideo = plan.objective === 'VIDEO_VIEWS';
    const costType = isVideo || plan.objective === 'BRAND_AWARENESS' ? 'CPM' : 'CPC';
    return {
      ...plan,
      id: `cam_${String(index + 1).padStart(3, '0')}`,
      format: isVideo ? 'SPONSORED_UPDATE_VIDEO' : random.pick(FORMATS),
      costType,
      currency: /Europe|Berlin/.test(plan.name) ? 'EUR' : 'USD',
      /** Impressions on an average weekday. */
      baseImpressions: random.between(1500, 9000),
      clickRate: random.around(0.003, 0.012),
      /** Money per click, or per thousand impressions. */
      price: costType === 'CPM' ? random.around(18, 45) : random.around(3, 9),
    };
  });
}

export function campaignRecords(day: string): CampaignRecord[] {
  return demoCampaigns().map((campaign, index) => {
    const { ends, begins } = campaign;
    const daily = Math.round((campaign.baseImpressions * campaign.clickRate * 8) / 5) * 5 + 50;
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
      start_date: daysBefore(day, begins),
      ...(ends !== null && {
        total_budget: `${daily * (begins - ends)}.00`,
        end_date: daysBefore(day, ends),
      }),
      updated_at: `${day}T00:00:00Z`,
    };
  });
}

export type DemoCreative = ReturnType<typeof demoCreatives>[number];

const HEADLINES = [
  'Know which companies you reach',
  'Attribution without guesswork',
  'From impression to pipeline',
  'Stop paying for the wrong clicks',
  'Der Bericht, den Ihr CFO versteht',
  'Mesurez ce qui compte',
  '届けたい人に、届く広告',
];
const VARIANTS = ['Photo', 'Illustration', 'Quote', 'Chart'];

export function demoCreatives() {
  const random = new Random('creatives');
  const campaigns = demoCampaigns();
  return Array.from({ length: CREATIVES }, (_, index) => {
    const campaign = campaigns[index % campaigns.length] as DemoCampaign;
    return {
      id: `cre_${String(index + 1).padStart(3, '0')}`,
      campaign,
      name: `${campaign.name} – ${VARIANTS[Math.floor(index / campaigns.length)]}`,
      headline: random.pick(HEADLINES),
      /** Share of the campaign's impressions, before it is divided by the sum of shares. */
      weight: random.around(0.2, 2),
    };
  });
}

export function creativeRecords(day: string): CreativeRecord[] {
  return demoCreatives().map(({ id, campaign, name, headline }, index) => ({
    organization_id: DEMO_ORGANIZATION,
    id,
    network_a_creative_id: String(48_000_000 + index * 771),
    campaign_id: campaign.id,
    name,
    status: campaign.status === 'ACTIVE' && index % 10 === 9 ? 'PAUSED' : campaign.status,
    review_status: campaign.status === 'DRAFT' ? 'PENDING' : index % 30 === 29 ? 'REJECTED' : 'APPROVED',
    format: campaign.format,
    headline,
    landing_page_url: `https://www.reachline-demo.example/lp/${campaign.id.replace('_', '-')}?utm_content=${id}`,
    image_url: `https://static.reachline-demo.example/creatives/${id}.png`,
    updated_at: `${day}T00:00:00Z`,
  }));
}
