import { expect } from 'chai';
import { searchCompanies as search } from '../../services/companies/endpoints.js';

const domainsOf = (count: number) => Array.from({ length: count }, (_, index) => `d${index}.example`);
const PARAMETER_BYTES = 256 * 1024;

/** Calls companies/search over stores that answer this many domains with ads and with visits. */
async function answer(active: number, visiting: number, body: object = {}): Promise<unknown> {
  const records = {
    countVisitsByCompany: async ({ domains, limit }: { domains?: string[]; limit: number }) => ({
      companies: (domains ?? domainsOf(visiting))
        .slice(0, limit)
        .map((domain) => ({ domain, count: 1, lastMs: 0 })),
      withoutDomain: 0,
    }),
    countContacts: async (_: string, filters: object[]) => filters.map(() => 0),
  };
  const query = async ({
    name,
    params,
  }: {
    name: string;
    params: { limit?: number; domains?: string[] };
  }) => {
    expect(JSON.stringify(params.domains ?? []).length).to.be.below(PARAMETER_BYTES);
    const rows =
      name === 'companies_by_domain'
        ? domainsOf(active)
            .slice(0, params.limit)
            .map((domain) => ({ domain, companies: 1, sort_value: 1 }))
        : name === 'warnings_context'
          ? [{ first_date: null, last_date: null }]
          : [];
    return { rows, total: rows.length };
  };
  const response = await search
    .handle({
      ...{ operation: search.path, params: {}, query: {}, keyId: 'key', organizationId: 'org_a' },
      body: { start_date: '2026-10-01', end_date: '2026-10-31', page_size: 1, ...body } as never,
      services: {
        ...{ records, provisionalDays: 7, clock: { now: () => Date.parse('2026-11-21') } },
        analytics: { query },
      } as never,
      signal: new AbortController().signal,
      beginsToWrite: () => undefined,
      responseHeaders: {},
    })
    .catch((error: { code: string }) => error);
  return 'code' in response ? response.code : response.total_count;
}

describe('The limits of companies/search', () => {
  it('answers 100 000 domains with ads or visits and refuses one more', async () => {
    expect(await answer(100_000, 100_000)).to.equal(100_000);
    expect(await answer(100_001, 0)).to.equal('too_many_companies');
    expect(await answer(0, 100_001)).to.equal('too_many_companies');
  });

  it('answers named domains, however many domains visited', async () => {
    expect(await answer(0, 100_001, { domains: ['d7.example', 'd8.example'] })).to.equal(2);
  });

  it('reads the names of 100 000 domains in statements that the embedded engine takes', async () => {
    expect(await answer(0, 100_000, { sort_by: 'name' })).to.equal(100_000);
  });
});
