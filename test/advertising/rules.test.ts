import { expect } from 'chai';
import type {
  AnalyticsQuery,
  AnalyticsReader,
  AnalyticsStore,
} from '../../services/advertising/analytics-store.js';
import { getCompany } from '../../services/advertising/company-endpoint.js';
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import { CAMPAIGN_SORTS, COMPANY_SORTS, CREATIVE_SORTS } from '../../services/advertising/requests.js';
import { Problem } from '../../services/http/problems.js';
import { placeholders } from '../../services/stores/clickhouse/bind.js';
import { accepted } from '../support/accepted.js';
import { call, openTemporaryStore, TODAY } from './helper.js';

const range = { start_date: '2026-10-01', end_date: '2026-10-31' };
// Values that resemble no identifier or keyword: none may appear in a statement. The first is in capitals like a currency.
const HOSTILE = ["X'); DROP TABLE DELIVERIES; --", '{ids:String}', '\\'];
const [FIRST = ''] = HOSTILE;
const UNNAMED = `unnamed ${FIRST}`;
const SEALED = { month: '2026-10-01', build: '12345678901234567890' };
const monthly = { granularity: 'monthly', metrics: ['clicks', 'ctr'] };
const hostileRange = { start_date: '2026-09-15', end_date: '2026-10-31' };

const ofCampaigns = { campaign_ids: HOSTILE, search: FIRST };
const ofAds = { ...ofCampaigns, statuses: HOSTILE, objective_types: HOSTILE };
const ofCompanies = { company_ids: HOSTILE, network_a_company_ids: HOSTILE, domains: HOSTILE };
const LISTS = [
  { list: searchCampaigns, sorts: CAMPAIGN_SORTS, every: HOSTILE, all: ofAds },
  { list: searchCreatives, sorts: CREATIVE_SORTS, every: HOSTILE, all: { ...ofAds, creative_ids: HOSTILE } },
  {
    list: searchCompanies,
    sorts: COMPANY_SORTS,
    every: [...HOSTILE, UNNAMED],
    all: { ...ofCampaigns, ...ofCompanies },
  },
] as { list: typeof searchCampaigns; sorts: typeof CAMPAIGN_SORTS; every: string[]; all: object }[];

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.catch((caught: unknown) => caught);
  expect(error).to.be.instanceOf(Problem);
  return error as Problem;
}

describe('the advertising API', () => {
  let store: AnalyticsStore;
  let dispose: () => Promise<void>;

  before(async () => {
    ({ store, dispose } = await openTemporaryStore());
    const companies = Array.from({ length: 25 }, (_, index) => ({
      organization_id: 'org_a',
      id: `twin_${String(index).padStart(2, '0')}`,
      network_a_company_id: 'shared',
      name: index === 0 ? undefined : `Twin ${index}`,
    }));
    await store.insertCompanies(accepted(companies, 1));
    const delivery = { date: '2026-10-05', campaign_id: 'c1', creative_id: 'r1', company_id: 'o1' };
    await store.insertDeliveries(accepted([{ ...delivery, organization_id: 'org_a', impressions: 5 }], 1));
    const named = HOSTILE.map((id) => ({ organization_id: FIRST, id, name: id, status: id }));
    const ofNetwork = (id: string) => ({ network_a_company_id: id, domain: id });
    await store.insertCampaigns(
      accepted(
        named.map((each) => ({ ...each, objective_type: each.id, currency: FIRST })),
        1,
      ),
    );
    await store.insertCreatives(
      accepted(
        named.map((each) => ({ ...each, campaign_id: each.id })),
        1,
      ),
    );
    await store.insertCompanies(
      accepted(
        named.map(({ status: _, ...each }) => ({ ...each, ...ofNetwork(each.id) })),
        1,
      ),
    );
    const deliveries = [...HOSTILE, UNNAMED].map((company_id, index) => ({
      organization_id: FIRST,
      date: '2026-09-20',
      campaign_id: HOSTILE[index % 3] as string,
      creative_id: HOSTILE[index % 3],
      company_id,
      clicks: 1,
    }));
    await store.insertDeliveries(accepted(deliveries, 1));
  });
  after(() => dispose());

  it('counts the points of the items that a page has, and rejects too many before it reads a series', async () => {
    const organization_id = 'org_points';
    const entities = Array.from({ length: 43 }, (_, index) => ({ organization_id, id: `e${index}` }));
    await store.insertCampaigns(accepted(entities, 1));
    await store.insertCreatives(
      accepted(
        entities.map((entity) => ({ ...entity, campaign_id: entity.id })),
        1,
      ),
    );
    await store.insertCompanies(accepted(entities, 1));
    const asked: string[] = [];
    const counting: AnalyticsReader = {
      query(query, signal) {
        asked.push(query.name);
        return store.query(query, signal);
      },
    };
    const range = { start_date: '2020-06-01', end_date: '2026-11-27' };
    const ids = (count: number) => entities.slice(0, count).map(({ id }) => id);
    for (const [list, field] of [
      [searchCampaigns, 'campaign_ids'],
      [searchCreatives, 'creative_ids'],
      [searchCompanies, 'company_ids'],
    ] as [typeof searchCampaigns, 'campaign_ids'][]) {
      const ask = (count: number, page = {}) =>
        call(list, counting, organization_id, {
          ...range,
          [field]: ids(count),
          metrics: ['clicks'],
          ...page,
        });
      const { items } = await ask(5);
      expect(items.map(({ timeseries }) => timeseries.length)).to.deep.equal(Array(5).fill(2371));
      asked.length = 0;
      const { code, message } = await problemOf(ask(43));
      expect(code).to.equal('too_many_points');
      expect(message).to.include('43 items × 2371 daily periods').and.include('page_size to 42 or less');
      expect(asked.join()).not.to.include('figures');
      // The second page has one item.
      expect((await ask(43, { page: 2, page_size: 42 })).items).to.have.length(1);
    }
  });

  it('rejects a range of more than 3 660 days, its first and last included', async () => {
    const longest = { start_date: '2016-11-28', end_date: '2026-12-05' };
    const company = await call(getCompany, store, 'org_a', { ...longest, company_id: 'o1' });
    expect(company.timeseries).to.have.length(3660);
    const longer = { ...longest, start_date: '2016-11-27' };
    for (const answer of [
      ...LISTS.map(({ list }) => call(list, store, 'org_a', longer)),
      call(getCompany, store, 'org_a', { ...longer, company_id: 'o1' }),
    ]) {
      const [error] = (await problemOf(answer)).extras.errors ?? [];
      expect(error).to.include({ pointer: '/end_date', code: 'range_too_long' });
    }
  });

  it('rejects a comparison with a range before the year 0000', async () => {
    for (const compare_to of ['previous_period', 'previous_month', 'previous_year'] as const) {
      const body = { start_date: '0000-01-01', end_date: '0000-01-02', compare_to };
      const problem = await problemOf(call(searchCampaigns, store, 'org_a', body));
      expect(problem.extras.errors?.map(({ pointer }) => pointer)).to.deep.equal(['/compare_to']);
    }
  });

  it('finds no deliveries in ranges outside the days they can have', async () => {
    for (const [start_date, end_date] of [
      ['1900-01-01', '1969-12-31'],
      ['2149-06-07', '2150-01-01'],
    ] as const) {
      const answer = await call(searchCampaigns, store, 'org_a', {
        start_date,
        end_date: start_date < '1970' ? '1900-02-01' : end_date,
        granularity: 'monthly',
      });
      expect(answer.items[0]).to.include({ impressions: 0 });
    }
    const across = await call(searchCampaigns, store, 'org_a', {
      start_date: '2020-01-01',
      end_date: '2026-12-31',
      granularity: 'monthly',
    });
    expect(across.items[0]).to.include({ impressions: 5 });
  });

  it('answers 409 with at most twenty candidates for a network_a id of several companies', async () => {
    const problem = await problemOf(call(getCompany, store, 'org_a', { ...range, company_id: 'shared' }));
    expect([problem.status, problem.code]).to.deep.equal([409, 'ambiguous_company']);
    expect(problem.message).to.include('25 companies').and.include('company_id');
    const candidates = problem.extras.candidates as unknown[];
    expect(candidates).to.have.length(20);
    expect(candidates[0]).to.deep.equal({ id: 'twin_00', network_a_company_id: 'shared', name: null });
    expect(problem.extras.organization_id).to.equal('org_a');
  });

  it('warns of missing days, today not among them, although a later day has a delivery, and counts ids that nothing has', async () => {
    const body = { start_date: '2026-11-01', end_date: TODAY };
    const warningsOf = async (filters = {}) =>
      (await call(searchCampaigns, store, 'org_late', { ...body, ...filters })).warnings;
    const delivery = (date: string, campaign_id: string) => ({
      organization_id: 'org_late',
      date,
      campaign_id,
      creative_id: 'r1',
      impressions: 1,
    });
    expect(await warningsOf()).to.include('data_delayed: No delivery has arrived yet.');
    await store.insertDeliveries(accepted([delivery('2026-11-10', 'c1'), delivery('2026-11-23', 'c1')], 1));
    const delayed = 'data_delayed: No delivery has arrived yet for days after 2026-11-10.';
    expect(await warningsOf()).to.include(delayed);
    await store.insertDeliveries(accepted([delivery('2026-11-23', 'c2'), delivery('2026-11-09', 'c3')], 2));
    expect(await warningsOf()).to.include(delayed);
    await store.insertDeliveries(accepted([delivery('2026-11-20', 'c3')], 3));
    expect((await warningsOf()).join()).not.to.include('data_delayed');
    expect(await warningsOf({ campaign_ids: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'c1'] })).to.include(
      'unknown_campaign_ids: No campaign has the id: a, b, c, d, e and 2 more.',
    );
  });

  it('never adds amounts of a creative in two currencies, in items, series, comparisons, orders and totals', async () => {
    const organization_id = 'org_two';
    const campaigns = { us: 'USD', eu: 'EUR', none: undefined };
    await store.insertCampaigns(
      accepted(
        Object.entries(campaigns).map(([id, currency]) => ({ organization_id, id, currency })),
        1,
      ),
    );
    await store.insertCreatives(accepted([{ organization_id, id: 'k', campaign_id: 'eu' }], 1));
    const delivery = (campaign_id: string, date: string, ad_spend: number) => ({
      organization_id,
      campaign_id,
      creative_id: 'k',
      date,
      ad_spend,
      clicks: 1,
    });
    const amounts = [
      delivery('us', '2026-10-05', 100),
      delivery('eu', '2026-10-05', 1),
      delivery('none', '2026-10-05', 10),
      delivery('us', '2026-09-05', 1000),
    ];
    await store.insertDeliveries(accepted(amounts, 1));
    const body = { ...range, compare_to: 'previous_month' as const, metrics: ['ad_spend', 'cpc'] as const };
    const ask = (more = {}) =>
      call(searchCreatives, store, organization_id, { ...body, metrics: [...body.metrics], ...more });
    const { items, totals, previous_totals, warnings } = await ask();
    expect(items).to.have.length(1);
    expect(items[0]).to.deep.include({ id: 'k', currency: 'EUR', ad_spend: '1', cpc: 1 });
    expect(items[0]?.previous).to.deep.equal({ ad_spend: '0', cpc: null });
    expect(items[0]?.timeseries[4]).to.deep.include({ period: '2026-10-05', ad_spend: '1' });
    expect(totals).to.deep.equal([
      { currency: 'EUR', ad_spend: '1', cpc: 1 },
      { currency: 'USD', ad_spend: '100', cpc: 100 },
      { currency: null, ad_spend: '10', cpc: 10 },
    ]);
    expect(previous_totals).to.deep.equal([
      { currency: 'EUR', ad_spend: '0', cpc: null },
      { currency: 'USD', ad_spend: '1000', cpc: 1000 },
    ]);
    expect(warnings.join()).to.include('mixed_currencies').and.include('such as k');
    const clicks = await ask({ metrics: ['clicks'], sort_by: 'clicks' });
    expect(clicks.items[0]).to.include({ clicks: 1 });
    expect(clicks.warnings.join()).to.include('mixed_currencies');
    const whole = await call(searchCampaigns, store, organization_id, { ...range, metrics: ['ad_spend'] });
    expect(whole.totals).to.deep.equal([
      { currency: 'EUR', ad_spend: '1' },
      { currency: 'USD', ad_spend: '100' },
      { currency: null, ad_spend: '10' },
    ]);
  });

  it('warns of a campaign without a currency beside one that has a currency', async () => {
    const organization_id = 'org_unknown';
    const campaigns = [
      { organization_id, id: 'known', currency: 'USD' },
      { organization_id, id: 'unknown' },
    ];
    await store.insertCampaigns(accepted(campaigns, 1));
    const body = { ...range, metrics: ['clicks' as const] };
    const { warnings } = await call(searchCampaigns, store, organization_id, body);
    expect(warnings.join()).to.include('mixed_currencies').and.include('USD, unknown');
  });

  it('warns of several currencies only where money is shown or ordered by', async () => {
    const campaigns = ['EUR', 'USD'].map((currency) => ({
      organization_id: 'org_mixed',
      id: currency,
      currency,
    }));
    await store.insertCampaigns(accepted(campaigns, 1));
    for (const [metric, sort_by, isWarned] of [
      ['clicks', 'clicks', false],
      ['clicks', 'ad_spend', true],
      ['cpc', 'clicks', true],
    ] as const) {
      const body = { ...range, metrics: [metric], sort_by };
      const { warnings } = await call(searchCampaigns, store, 'org_mixed', body);
      expect(warnings.join().includes('mixed_currencies'), `${metric} by ${sort_by}`).to.equal(isWarned);
    }
  });

  it('stops when the client has left', async () => {
    const left = AbortSignal.abort(new Error('the client left'));
    for (const { list } of LISTS) {
      const answer = call(list, store, 'org_a', range, undefined, left);
      expect(await answer.catch((error: Error) => error.message)).to.equal('the client left');
    }
    const company = call(getCompany, store, 'org_a', { ...range, company_id: 'o1' }, undefined, left);
    expect(await company.catch((error: Error) => error.message)).to.equal('the client left');
  });

  it('leaves out empty periods of series of more than 20 000 points, and says so', async () => {
    const campaign = (index: number) => ({ organization_id: 'org_sparse', id: `c${index}` });
    await store.insertCampaigns(
      accepted(
        Array.from({ length: 6 }, (_, index) => campaign(index)),
        1,
      ),
    );
    await store.insertDeliveries(
      accepted(
        [
          {
            organization_id: 'org_sparse',
            date: '2026-10-05',
            campaign_id: 'c1',
            creative_id: 'r',
            clicks: 1,
          },
        ],
        1,
      ),
    );
    const body = { start_date: '2016-11-21', end_date: '2026-11-20', metrics: ['clicks' as const] };
    const ask = (page_size: number) => call(searchCampaigns, store, 'org_sparse', { ...body, page_size });
    const six = await ask(6);
    const points = six.items.map(({ id, timeseries }) => [id, timeseries.length]);
    expect(Object.fromEntries(points)).to.deep.equal({ c0: 0, c1: 1, c2: 0, c3: 0, c4: 0, c5: 0 });
    expect(six.warnings.join()).to.contain('timeseries_sparse');
    const five = await ask(5);
    expect(five.items.map(({ timeseries }) => timeseries.length)).to.deep.equal(Array(5).fill(3652));
    expect(five.warnings.join()).not.to.contain('timeseries_sparse');
  });

  it('adds up money beyond 26 digits', async () => {
    const ad_spend = '99999999999999999999999999.999999999999';
    const batch = Array.from({ length: 30 }, (_, index) => ({
      organization_id: 'org_rich',
      date: '2026-10-01',
      campaign_id: 'c',
      creative_id: `r${index}`,
      ad_spend,
      clicks: 1,
    }));
    await store.insertDeliveries(accepted(batch, 1));
    const { items } = await call(searchCampaigns, store, 'org_rich', { ...range, sort_by: 'cpc' });
    expect(items[0]).to.include({ ad_spend: '2999999999999999999999999999.99999999997', cpc: 1e26 });
  });

  it('binds every value in statements, and finds by it', async () => {
    const queries: AnalyticsQuery[] = [];
    const reader: AnalyticsReader = {
      async query(query, signal) {
        queries.push(query);
        const answer = await store.query<never>(query, signal);
        return query.name.endsWith('_sealed_months') ? { ...answer, rows: [SEALED as never] } : answer;
      },
    };
    for (const { list, every, all } of LISTS) {
      for (const [body, ids] of [
        [{ ...all, ...monthly }, [FIRST]],
        [{ ...all, currency: FIRST, compare_to: 'previous_month' }, [FIRST]],
        // The range contains only deliveries of this month, for which there are no sums.
        [{ ...monthly, start_date: '2026-10-01' }, list.name === 'SearchCompanies' ? [] : every],
      ] as [object, string[]][]) {
        const { items } = await call(list, reader, FIRST, { ...hostileRange, ...body });
        expect(
          items.map(({ id }) => id),
          JSON.stringify(body),
        ).to.have.members(ids);
      }
    }
    for (const named of [{ company_id: FIRST }, { company_id: UNNAMED }, { domain: HOSTILE[1] }]) {
      const { company } = await call(getCompany, reader, FIRST, { ...hostileRange, ...named });
      expect(company.id).to.equal(named.company_id ?? HOSTILE[1]);
    }
    const unknown = call(getCompany, reader, FIRST, { ...hostileRange, company_id: `not ${FIRST}` });
    expect(await unknown.catch(({ code }) => code)).to.equal('company_not_found');
    for (const { sql, params, name } of queries) {
      for (const value of [
        ...HOSTILE.slice(0, 2),
        hostileRange.start_date,
        hostileRange.end_date,
        TODAY,
        SEALED.build,
      ])
        expect(sql.text, name).not.to.contain(value);
      expect([...new Set(placeholders(sql))].sort(), name).to.deep.equal(Object.keys(params).sort());
    }
  });

  it('answers in every order', async () => {
    const onlyPages: AnalyticsReader = {
      async query(query, signal) {
        if (!query.name.endsWith('_page')) return { rows: [{} as never], total: 1 };
        return { rows: [], total: (await store.query(query, signal)).total };
      },
    };
    for (const { list, sorts, every } of LISTS) {
      for (const [index, sort_by] of sorts.entries()) {
        const sort_direction = index % 2 === 0 ? ('asc' as const) : ('desc' as const);
        const body = { ...hostileRange, metrics: ['clicks' as const], sort_by, sort_direction };
        const { total_count } = await call(list, onlyPages, FIRST, body);
        expect(total_count, `${list.path} ${sort_by}`).to.equal(every.length);
      }
    }
  });
});
