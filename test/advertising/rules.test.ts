import { expect } from 'chai';
import type { AnalyticsReader, AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { getCompany } from '../../services/advertising/company-endpoint.js';
import type { advertisingEndpoints } from '../../services/advertising/endpoints.js';
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import { Problem } from '../../services/http/problems.js';
import { compileValidator } from '../../services/shared/validation.js';
import { accepted } from '../support/accepted.js';
import { call, openTemporaryStore } from './helper.js';

const range = { start_date: '2026-10-01', end_date: '2026-10-31' };

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.then(
    () => new Error('no problem'),
    (caught: Error) => caught,
  );
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
      domain: 'twins.example',
    }));
    await store.insertCompanies(
      accepted(
        [
          ...companies,
          { organization_id: 'org_a', id: 'shared2', network_a_company_id: 'twin_03' },
          { organization_id: 'org_a', id: 'alone', network_a_company_id: 'alone_77' },
        ],
        1,
      ),
    );
    await store.insertCampaigns(accepted([{ organization_id: 'org_b', id: 'c1', name: 'of b' }], 1));
    await store.insertDeliveries(
      accepted(
        [
          {
            organization_id: 'org_a',
            date: '2026-10-05',
            campaign_id: 'c1',
            creative_id: 'r1',
            company_id: 'o1',
            impressions: 5,
          },
          {
            organization_id: 'org_b',
            date: '2026-10-05',
            campaign_id: 'c1',
            creative_id: 'r1',
            company_id: 'o1',
            impressions: 7,
          },
        ],
        1,
      ),
    );
  });
  after(() => dispose());

  it('reads sums of months for CSV, which has no series, by day too', async () => {
    const statements = async (format: 'csv' | 'ndjson') => {
      const names: string[] = [];
      const analytics: AnalyticsReader = {
        query(query, signal) {
          names.push(query.name);
          return store.query(query, signal);
        },
      };
      const services = { analytics, clock: { now: () => Date.parse('2026-11-21') }, provisionalDays: 7 };
      const { signal } = new AbortController();
      const context = { body: { ...range, granularity: 'daily' }, organizationId: 'org_a', services, signal };
      await searchCampaigns.list?.readPage(context as never, undefined, format);
      return names;
    };
    expect(await statements('csv')).to.include('creative_sealed_months');
    expect(await statements('ndjson')).not.to.include('creative_sealed_months');
  });

  it('rejects a page of more than 100 000 points before it queries the store', async () => {
    const asked: string[] = [];
    const ask = ({ name }: { name: string }) => {
      asked.push(name);
      return Promise.reject(new Error('asked'));
    };
    const counting = { query: ask };
    const decade = { start_date: '2016-01-01', end_date: '2026-01-08' };
    for (const operation of [
      searchCampaigns,
      searchCreatives,
      searchCompanies,
    ] as (typeof searchCampaigns)[]) {
      for (const [body, largest] of [
        [{ ...decade, page_size: 200 }, 27],
        [decade, 27],
        [{ start_date: '2025-01-01', end_date: '2026-05-16', page_size: 200 }, 199],
      ] as const) {
        const problem = await problemOf(call(operation, counting, 'org_a', body));
        expect([problem.status, problem.code]).to.deep.equal([422, 'too_many_points']);
        expect(problem.message)
          .to.include('set granularity to monthly')
          .and.include(`page_size to ${largest} or less`);
        expect(problem.extras.errors?.map(({ pointer }) => pointer)).to.deep.equal(['/page_size']);
      }
      expect(asked).to.deep.equal([]);
      const allowed = [
        { start_date: '2025-01-01', end_date: '2026-05-15', page_size: 200 },
        { ...decade, granularity: 'monthly', page_size: 200 },
      ] as const;
      for (const body of allowed) {
        expect((await call(operation, store, 'org_a', body)).page_size).to.equal(200);
      }
    }
    const company = await call(getCompany, store, 'org_a', {
      ...decade,
      company_id: 'o1',
      campaign_page_size: 200,
    });
    expect(company.timeseries).to.have.length(3661);
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

  it('reads a company_id as our id first, then as that of network_a', async () => {
    const idOf = async (company_id: string) =>
      (await call(getCompany, store, 'org_a', { ...range, company_id })).company.id;
    expect(await idOf('twin_03')).to.equal('twin_03');
    expect(await idOf('o1')).to.equal('o1');
    expect(await idOf('alone_77')).to.equal('alone');
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

  it('warns of missing days although a later day has a delivery', async () => {
    const warningsOf = async () =>
      (await call(searchCampaigns, store, 'org_late', { start_date: '2026-11-01', end_date: '2026-11-20' }))
        .warnings;
    const delivery = (date: string, campaign_id: string) => ({
      organization_id: 'org_late',
      date,
      campaign_id,
      creative_id: 'r1',
      impressions: 1,
    });
    await store.insertDeliveries(accepted([delivery('2026-11-10', 'c1'), delivery('2026-11-23', 'c1')], 1));
    const delayed = 'data_delayed: No delivery has arrived yet for days after 2026-11-10.';
    expect(await warningsOf()).to.include(delayed);
    await store.insertDeliveries(accepted([delivery('2026-11-23', 'c2'), delivery('2026-11-09', 'c3')], 2));
    expect(await warningsOf()).to.include(delayed);
    await store.insertDeliveries(accepted([delivery('2026-11-20', 'c3')], 3));
    expect((await warningsOf()).join()).not.to.include('data_delayed');
  });

  it('stops when the client has left', async () => {
    const left = AbortSignal.abort(new Error('the client left'));
    for (const operation of [
      searchCampaigns,
      searchCreatives,
      searchCompanies,
    ] as (typeof searchCampaigns)[]) {
      const answer = call(operation, store, 'org_a', range, undefined, left);
      expect(await answer.catch((error: Error) => error.message)).to.equal('the client left');
    }
    const company = call(getCompany, store, 'org_a', { ...range, company_id: 'o1' }, undefined, left);
    expect(await company.catch((error: Error) => error.message)).to.equal('the client left');
  });

  it('answers a page past the end with no items and the true count', async () => {
    const answer = await call(searchCampaigns, store, 'org_a', { ...range, page: 1_000_000, page_size: 200 });
    expect(answer).to.deep.include({ items: [], total_count: 1, page: 1_000_000, page_size: 200 });
  });

  it('limits lists, texts, pages and metrics as the contract does', () => {
    const codesOf = (operation: (typeof advertisingEndpoints)[number], body: object) =>
      compileValidator(operation.request)({ ...range, ...body }).map(({ pointer }) => pointer);
    const long = (length: number) => 'x'.repeat(length);
    for (const operation of [searchCampaigns, searchCreatives, searchCompanies, getCompany] as never[]) {
      expect(
        codesOf(operation, { campaign_ids: Array(100).fill(long(128)), metrics: ['clicks'] }),
      ).to.deep.equal([]);
      expect(codesOf(operation, { campaign_ids: Array(101).fill('x') })).to.deep.equal(['/campaign_ids']);
      expect(codesOf(operation, { campaign_ids: [long(129)] })).to.deep.equal(['/campaign_ids/0']);
      expect(codesOf(operation, { campaign_ids: [''] })).to.deep.equal(['/campaign_ids/0']);
      expect(
        codesOf(operation, { campaign_ids: null, granularity: null, organization_id: null }),
      ).to.deep.equal([]);
      expect(codesOf(operation, { metrics: [] })).to.deep.equal(['/metrics']);
      expect(codesOf(operation, { metrics: Array(65).fill('clicks') })).to.deep.equal(['/metrics']);
      expect(codesOf(operation, { metrics: ['nonsense'] })).to.deep.equal(['/metrics/0']);
      expect(codesOf(operation, { start_date: '2026-02-30' })).to.deep.equal(['/start_date']);
    }
    expect(
      codesOf(searchCampaigns as never, { search: long(200), page: 1_000_000, page_size: 200 }),
    ).to.deep.equal([]);
    expect(
      codesOf(searchCampaigns as never, { search: long(201), page: 1_000_001, page_size: 201 }),
    ).to.have.length(3);
    expect(codesOf(searchCampaigns as never, { page: 0, page_size: 0 })).to.have.length(2);
    expect(codesOf(searchCompanies as never, { domains: [long(253)] })).to.deep.equal([]);
    expect(codesOf(searchCompanies as never, { domains: [long(254)] })).to.deep.equal(['/domains/0']);
    expect(codesOf(searchCompanies as never, { metrics: ['ad_spend'] })).to.deep.equal(['/metrics/0']);
    expect(codesOf(getCompany as never, { campaign_page: 0, campaign_page_size: 201 })).to.have.length(2);
  });
});
