import { expect } from 'chai';
import type { AnalyticsQuery } from '../../services/advertising/analytics-store.js';
import {
  adAttributesQuery,
  adMetricsQuery,
  adsQuery,
  adTotalsQuery,
  CAMPAIGNS,
  CREATIVES,
} from '../../services/advertising/campaign-queries.js';
import {
  companiesByDomainQuery,
  companiesQuery,
  companyAttributesQuery,
  companyByIdQuery,
  companyCampaignsQuery,
  companyMetricsQuery,
  companyTotalsQuery,
} from '../../services/advertising/company-queries.js';
import { contextQuery } from '../../services/advertising/context-query.js';
import { COMPANY_METRIC_NAMES, METRIC_NAMES } from '../../services/advertising/metrics.js';
import { parseReportParams } from '../../services/advertising/report-params.js';
import { CAMPAIGN_SORTS, COMPANY_SORTS, CREATIVE_SORTS } from '../../services/advertising/requests.js';
import { sealedMonthsQuery } from '../../services/advertising/rollups.js';
import { placeholders } from '../../services/stores/clickhouse/bind.js';
import { openTemporaryStore } from './helper.js';

// Values no identifier or keyword looks like: none of them may appear in a statement.
const HOSTILE = ["x'); DROP TABLE deliveries; --", '{ids:String}', '\\'];
const page = { page: 3, size: 20 };
const report = (
  metrics: readonly (typeof METRIC_NAMES)[number][],
  granularity: 'daily' | 'monthly' = 'daily',
) =>
  parseReportParams(
    { start_date: '2026-10-01', end_date: '2026-10-31', granularity, metrics },
    METRIC_NAMES,
    'org_hostile',
    {
      now: Date.parse('2026-11-21'),
      provisionalDays: 7,
    },
  );
const campaignEverything = {
  campaign_ids: HOSTILE,
  statuses: HOSTILE,
  objective_types: HOSTILE,
  search: HOSTILE[0],
};
const creativeEverything = { ...campaignEverything, creative_ids: HOSTILE };
const companyEverything = {
  campaign_ids: HOSTILE,
  company_ids: HOSTILE,
  network_a_company_ids: HOSTILE,
  domains: HOSTILE,
  search: HOSTILE[0],
};
const SEALED = [{ month: '2026-10-01', build: '12345678901234567890' }];
const few = ['clicks', 'cpc'] as const;
const BOTH = { points: true, totals: true };

const CASES: [string, AnalyticsQuery][] = [
  [
    'campaigns',
    adsQuery(CAMPAIGNS, {
      report: report(METRIC_NAMES),
      filters: {},
      sort: { by: 'ad_spend', descending: true },
      page,
    }),
  ],
  [
    'campaigns, filtered',
    adsQuery(CAMPAIGNS, {
      report: report(few),
      filters: campaignEverything,
      sort: { by: 'return_on_ad_spend', descending: false },
      page,
    }),
  ],
  [
    'creatives',
    adsQuery(CREATIVES, {
      report: report(few),
      filters: {},
      sort: { by: 'campaign_name', descending: false },
      page,
    }),
  ],
  [
    'creatives, filtered',
    adsQuery(CREATIVES, {
      report: report(few),
      filters: creativeEverything,
      sort: { by: 'cpm', descending: true },
      page,
    }),
  ],
  ['attributes of campaigns', adAttributesQuery(CAMPAIGNS, 'org_hostile', HOSTILE)],
  ['attributes of creatives', adAttributesQuery(CREATIVES, 'org_hostile', HOSTILE)],
  ['figures of campaigns', adMetricsQuery(CAMPAIGNS, report(few), HOSTILE, BOTH)],
  [
    'series of creatives, monthly',
    adMetricsQuery(CREATIVES, report(few, 'monthly'), HOSTILE, { points: true, totals: false }),
  ],
  [
    'companies',
    companiesQuery({
      report: report(COMPANY_METRIC_NAMES),
      filters: {},
      sort: { by: 'engagements', descending: true },
      page,
    }),
  ],
  [
    'companies, of a month with sums',
    companiesQuery({
      report: { ...report(COMPANY_METRIC_NAMES), sealed: SEALED },
      filters: {},
      sort: { by: 'engagements', descending: true },
      page,
    }),
  ],
  [
    'figures of campaigns, of a month with sums',
    adMetricsQuery(CAMPAIGNS, { ...report(few, 'monthly'), sealed: SEALED }, HOSTILE, BOTH),
  ],
  ['months with sums', sealedMonthsQuery('org_hostile', 'company', ['2026-10-01'])],
  [
    'companies, by reach',
    companiesQuery({
      report: report(['ctr']),
      filters: { campaign_ids: HOSTILE },
      sort: { by: 'campaigns_reached', descending: true },
      page,
    }),
  ],
  [
    'companies, by ids',
    companiesQuery({
      report: report(['ctr']),
      filters: { company_ids: HOSTILE },
      sort: { by: 'name', descending: false },
      page,
    }),
  ],
  [
    'companies, filtered',
    companiesQuery({
      report: report(['ctr']),
      filters: companyEverything,
      sort: { by: 'engagement_rate', descending: false },
      page,
    }),
  ],
  ['attributes of companies', companyAttributesQuery('org_hostile', HOSTILE)],
  ['figures of companies', companyMetricsQuery(report(['ctr']), HOSTILE, HOSTILE, BOTH)],
  [
    'totals of companies, of a month with sums',
    companyMetricsQuery({ ...report(['ctr']), sealed: SEALED }, HOSTILE, undefined, {
      points: false,
      totals: true,
    }),
  ],
  [
    'figures of companies, of a month with sums',
    companyMetricsQuery({ ...report(['ctr'], 'monthly'), sealed: SEALED }, HOSTILE, undefined, BOTH),
  ],
  ['campaigns of a company', companyCampaignsQuery(report(['ctr']), HOSTILE[0] as string, HOSTILE, page)],
  ['company by id', companyByIdQuery('org_hostile', HOSTILE[0] as string, 20)],
  ['companies by domain', companiesByDomainQuery('org_hostile', HOSTILE[0] as string, 20)],
  ['context', contextQuery('org_hostile', '2026-11-21', {})],
  ['totals of campaigns', adTotalsQuery(CAMPAIGNS, report(few), {})],
  ['totals of campaigns, filtered', adTotalsQuery(CAMPAIGNS, report(few), campaignEverything)],
  ['totals of creatives, filtered', adTotalsQuery(CREATIVES, report(few), creativeEverything)],
  ['totals of all companies', companyTotalsQuery(report(['ctr']), {})],
  ['totals of all companies, filtered', companyTotalsQuery(report(['ctr']), companyEverything)],
  ['context of campaigns', contextQuery('org_hostile', '2026-11-21', { campaign_ids: HOSTILE })],
  ['context of creatives', contextQuery('org_hostile', '2026-11-21', { creative_ids: HOSTILE })],
  ['context of companies', contextQuery('org_hostile', '2026-11-21', companyEverything)],
];

describe('advertising queries', () => {
  it('bind every value', () => {
    const dates = ['2026-10-01', '2026-10-31', '2026-11-21'];
    for (const [title, { sql, params }] of CASES) {
      for (const value of [...HOSTILE.slice(0, 2), 'org_hostile', ...dates, '12345678901234567890'])
        expect(sql, title).not.to.contain(value);
      expect([...new Set(placeholders(sql))].sort(), title).to.deep.equal(Object.keys(params).sort());
    }
  });

  it('run on the engine, in every order', async () => {
    const { store, dispose } = await openTemporaryStore();
    const inOrder = [true, false].flatMap((descending) => {
      const common = { report: report(['clicks']), filters: {}, page };
      return [
        ...CAMPAIGN_SORTS.map((by) => adsQuery(CAMPAIGNS, { ...common, sort: { by, descending } })),
        ...CREATIVE_SORTS.map((by) => adsQuery(CREATIVES, { ...common, sort: { by, descending } })),
        ...COMPANY_SORTS.map((by) => companiesQuery({ ...common, sort: { by, descending } })),
      ];
    });
    try {
      for (const query of [...CASES.map(([, each]) => each), ...inOrder])
        expect((await store.query(query)).rows.length, query.sql).to.be.at.most(HOSTILE.length);
    } finally {
      await dispose();
    }
  });
});
