import { expect } from 'chai';
import type { AnalyticsQuery } from '../../services/advertising/analytics-store.js';
import {
  adAttributesQuery,
  adMetricsQuery,
  adRatesQuery,
  adsQuery,
  adTotalsQuery,
  CAMPAIGNS,
  CREATIVES,
} from '../../services/advertising/campaign-queries.js';
import {
  companiesOfQuery,
  companiesQuery,
  companyAttributesQuery,
  companyCampaignsQuery,
  companyMetricsQuery,
  companyNameQuery,
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
const inEuro = { ...report(few), currency: HOSTILE[0] as string };
const BOTH = { points: true, totals: true };

/** What a list is asked for. */
const asked = <By extends string, F extends object>(
  metrics: readonly (typeof METRIC_NAMES)[number][],
  filters: F,
  by: By,
  descending = true,
) => ({ report: report(metrics), filters, sort: { by, descending }, page });
const ofCompanies = asked(COMPANY_METRIC_NAMES, {}, 'engagements');

const CASES: [string, AnalyticsQuery][] = [
  ['campaigns', adsQuery(CAMPAIGNS, asked(METRIC_NAMES, {}, 'ad_spend'))],
  ['campaigns, filtered', adsQuery(CAMPAIGNS, asked(few, campaignEverything, 'return_on_ad_spend', false))],
  ['creatives', adsQuery(CREATIVES, asked(few, {}, 'campaign_name', false))],
  ['creatives, filtered', adsQuery(CREATIVES, asked(few, creativeEverything, 'cpm'))],
  ['attributes of campaigns', adAttributesQuery(CAMPAIGNS, 'org_hostile', HOSTILE)],
  ['attributes of creatives', adAttributesQuery(CREATIVES, 'org_hostile', HOSTILE)],
  ['figures of campaigns', adMetricsQuery(CAMPAIGNS, report(few), HOSTILE, BOTH)],
  [
    'series of creatives, monthly',
    adMetricsQuery(CREATIVES, report(few, 'monthly'), HOSTILE, { points: true, totals: false }),
  ],
  ['companies', companiesQuery(ofCompanies)],
  [
    'companies, of a month with sums',
    companiesQuery({ ...ofCompanies, report: { ...ofCompanies.report, sealed: SEALED } }),
  ],
  [
    'figures of campaigns, of a month with sums',
    adMetricsQuery(CAMPAIGNS, { ...report(few, 'monthly'), sealed: SEALED }, HOSTILE, BOTH),
  ],
  ['months with sums', sealedMonthsQuery('org_hostile', 'company', ['2026-10-01'])],
  ['companies, by reach', companiesQuery(asked(['ctr'], { campaign_ids: HOSTILE }, 'campaigns_reached'))],
  ['companies, by ids', companiesQuery(asked(['ctr'], { company_ids: HOSTILE }, 'name', false))],
  ['companies, filtered', companiesQuery(asked(['ctr'], companyEverything, 'engagement_rate', false))],
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
  ['company by the name of a delivery', companyNameQuery('org_hostile', HOSTILE[0] as string)],
  ['companies of a domain', companiesOfQuery('org_hostile', 'domain', HOSTILE[0] as string, 20)],
  ['context', contextQuery('org_hostile', '2026-11-21', {})],
  ['totals of campaigns', adTotalsQuery(CAMPAIGNS, report(few), {})],
  ['totals of campaigns, filtered', adTotalsQuery(CAMPAIGNS, report(few), campaignEverything)],
  ['totals of creatives, filtered', adTotalsQuery(CREATIVES, report(few), creativeEverything)],
  ['totals of all companies', companyTotalsQuery(report(['ctr']), {})],
  ['totals of all companies, filtered', companyTotalsQuery(report(['ctr']), companyEverything)],
  ['campaigns, converted', adsQuery(CAMPAIGNS, { ...asked(few, campaignEverything, 'cpc'), report: inEuro })],
  ['totals of creatives, converted', adTotalsQuery(CREATIVES, inEuro, creativeEverything)],
  ['figures of creatives, converted', adMetricsQuery(CREATIVES, inEuro, HOSTILE, BOTH)],
  ['rates of campaigns', adRatesQuery(CAMPAIGNS, inEuro, {})],
  ['rates of creatives, filtered', adRatesQuery(CREATIVES, inEuro, creativeEverything)],
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
    const inOrder = [true, false].flatMap((descending) => [
      ...CAMPAIGN_SORTS.map((by) => adsQuery(CAMPAIGNS, asked(['clicks'], {}, by, descending))),
      ...CREATIVE_SORTS.map((by) => adsQuery(CREATIVES, asked(['clicks'], {}, by, descending))),
      ...COMPANY_SORTS.map((by) => companiesQuery(asked(['clicks'], {}, by, descending))),
    ]);
    try {
      for (const query of [...CASES.map(([, each]) => each), ...inOrder])
        expect((await store.query(query)).rows.length, query.sql).to.be.at.most(HOSTILE.length);
    } finally {
      await dispose();
    }
  });
});
