import { expect } from 'chai';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { getCompany } from '../../services/advertising/company-endpoint.js';
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import { accepted } from '../support/accepted.js';
import { call, openTemporaryStore } from './helper.js';

describe('advertising operations', () => {
  let store: AnalyticsStore;
  let dispose: () => Promise<void>;

  before(async () => {
    ({ store, dispose } = await openTemporaryStore());
    const organization_id = 'org_a';
    await store.insertCampaigns(
      accepted(
        [
          {
            organization_id,
            id: 'c1',
            name: 'Élan',
            status: 'ACTIVE',
            objective_type: 'WEBSITE_VISIT',
            currency: 'EUR',
            daily_budget: '12.50',
          },
          {
            organization_id,
            id: 'c2',
            name: 'zoo',
            status: 'CANCELLED',
            campaign_group_name: '50%_OFF',
            currency: 'USD',
          },
        ],
        1,
      ),
    );
    await store.insertCreatives(
      accepted([{ organization_id, id: 'r1', campaign_id: 'c1', name: 'Straße', headline: 'Hi' }], 1),
    );
    await store.insertCompanies(
      accepted(
        [
          {
            organization_id,
            id: 'o1',
            network_a_company_id: '77',
            name: 'Acme',
            domain: 'https://WWW.Acme.com/x',
          },
          { organization_id, id: 'o2', network_a_company_id: 'o1', name: 'Beta', domain: 'acme.com' },
        ],
        1,
      ),
    );
    await store.insertDeliveries(
      accepted(
        [
          {
            organization_id,
            date: '2026-10-01',
            campaign_id: 'c1',
            creative_id: 'r1',
            impressions: 3,
            clicks: 1,
            ad_spend: 0.1,
          },
          {
            organization_id,
            date: '2026-10-02',
            campaign_id: 'c1',
            creative_id: 'r1',
            impressions: 3,
            clicks: 1,
            ad_spend: '0.2',
          },
          { organization_id, date: '2026-10-02', campaign_id: 'c9', creative_id: 'r9', impressions: 1 },
          {
            organization_id,
            date: '2026-10-02',
            campaign_id: 'c9',
            company_id: 'o9',
            impressions: 4,
            engagements: 2,
          },
        ],
        1,
      ),
    );
  });
  after(() => dispose());

  const range = { start_date: '2026-10-01', end_date: '2026-10-03' };

  it('list campaigns with exact sums and a complete series, also those that only deliveries name', async () => {
    const answer = await call(searchCampaigns, store, 'org_a', range);
    expect(answer.total_count).to.equal(3);
    expect(answer.items.map(({ id }) => id)).to.deep.equal(['c1', 'c2', 'c9']);
    const [first] = answer.items;
    expect(first).to.include({
      ad_spend: '0.3',
      impressions: 6,
      ctr: 0.333333,
      cpm: 50,
      cpc: 0.15,
      daily_budget: '12.5',
      creatives_count: 1,
    });
    expect(first?.timeseries.map(({ period, impressions }) => [period, impressions])).to.deep.equal([
      ['2026-10-01', 3],
      ['2026-10-02', 3],
      ['2026-10-03', 0],
    ]);
    expect(answer.items[2]).to.include({ name: null, creatives_count: 1 });
  });

  it('find creatives case-insensitively in all of Unicode', async () => {
    const answer = await call(searchCreatives, store, 'org_a', {
      ...range,
      search: 'STRASSE',
      sort_by: 'cpm',
      granularity: 'monthly',
    });
    expect(answer.items).to.have.length(1);
    expect(answer.items[0]).to.include({ id: 'r1', campaign_name: 'Élan', currency: 'EUR', cpm: 50 });
    expect(answer.items[0]?.timeseries).to.have.length(1);
    expect(answer.items[0]?.timeseries[0]).to.include({
      period: '2026-10',
      start_date: '2026-10-01',
      end_date: '2026-10-03',
    });
  });

  it('filter by every known status, and by any that a campaign or creative carries', async () => {
    const organization_id = 'org_statuses';
    const statuses = [
      ...'ACTIVE PAUSED ARCHIVED COMPLETED CANCELED DRAFT PENDING_DELETION REMOVED'.split(' '),
    ];
    await store.insertCampaigns(
      accepted(
        [...statuses, 'Weird_new'].map((status) => ({
          organization_id,
          id: status,
          status,
          objective_type: status === 'DRAFT' ? 'Odd' : 'ENGAGEMENT',
        })),
        1,
      ),
    );
    await store.insertCreatives(
      accepted([{ organization_id, id: 'r1', campaign_id: 'DRAFT', status: 'Rejected' }], 1),
    );
    const find = async (filters: object) => {
      const { items, warnings } = await call(searchCampaigns, store, organization_id, {
        ...range,
        ...filters,
      });
      return [items.map(({ id }) => id), warnings.filter((each) => each.startsWith('unknown'))];
    };
    for (const status of statuses) {
      expect(await find({ statuses: [status.toLowerCase()] })).to.deep.equal([[status], []]);
    }
    expect(await find({ statuses: ['weird_NEW'], objective_types: ['engagements'] })).to.deep.equal([
      ['Weird_new'],
      [],
    ]);
    expect(await find({ objective_types: ['odd'] })).to.deep.equal([['DRAFT'], []]);
    expect(await find({ statuses: ['rejected'] })).to.deep.equal([[], []]);
    expect(
      await find({ statuses: ['REMOVED', 'nowhere'], objective_types: ['engagement', 'none'] }),
    ).to.deep.equal([
      ['REMOVED'],
      ['unknown_objective_type: Matches nothing: none.', 'unknown_status: Matches nothing: nowhere.'],
    ]);
    const creatives = await call(searchCreatives, store, organization_id, {
      ...range,
      statuses: ['REJECTED'],
      objective_types: ['ODD'],
    });
    expect(creatives.items.map(({ id }) => id)).to.deep.equal(['r1']);
    expect(creatives.warnings.join()).not.to.contain('unknown');
  });

  it('list companies with activity, and those that are named', async () => {
    const active = await call(searchCompanies, store, 'org_a', range);
    expect(active.items.map(({ id }) => id)).to.deep.equal(['o9']);
    expect(active.items[0]).to.include({
      engagement_rate: 0.5,
      first_seen: '2026-10-02',
      campaigns_reached: 1,
    });
    const named = await call(searchCompanies, store, 'org_a', { ...range, domains: ['www.ACME.com', 'x.y'] });
    expect(named.items.map(({ id }) => id)).to.deep.equal(['o1', 'o2']);
    expect(named.warnings.join()).to.contain('unmatched_domains').and.to.contain('x.y');
  });

  it('find a company by its id when only deliveries name it', async () => {
    const answer = await call(getCompany, store, 'org_a', { ...range, company_id: 'o9' });
    expect(answer.company).to.include({ id: 'o9', name: null });
    expect(answer.campaigns.map(({ campaign_id }) => campaign_id)).to.deep.equal(['c9']);
  });
});
