import { expect } from 'chai';
import { influence } from '../../services/influence/endpoints.js';
import type { DomainActivityStore } from '../../services/search/domain-activity.js';

const exposures = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ domain: `d${index}.example`, exposed_on: '2026-10-01', exposed: 1, impressions: 0 },
    ...{ name: null, company_ids: [`co${index}`] },
  }));
const days = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ domain: 'd0.example', day: index, count: 1, first: index }));

/** Calls the operation over stores that answer this many exposed companies, days with contacts and days with visits. */
async function answer(companies: number, contacts: number, visits: number): Promise<unknown> {
  const records: DomainActivityStore = {
    countDomainDays: async (kind, { limit }) => days(kind === 'contacts' ? contacts : visits).slice(0, limit),
    findOldest: async (_, { windows }) => windows.map(() => []),
    countPlaced: async () => ({ all: 0, withoutDomain: 0 }),
  };
  const query = async ({ name, params }: { name: string; params: { limit?: number } }) => {
    const rows =
      name === 'influence_exposures'
        ? exposures(companies).slice(0, params.limit)
        : name === 'warnings_context'
          ? [{ first_date: null, last_date: null }]
          : [];
    return { rows, total: rows.length };
  };
  const response = await influence
    .handle({
      ...{ operation: influence.path, params: {}, query: {}, keyId: 'key', organizationId: 'org_a' },
      body: { start_date: '2026-10-01', end_date: '2026-10-31' } as never,
      services: {
        ...{ records, provisionalDays: 7, clock: { now: () => Date.parse('2026-11-21') } },
        analytics: { query: query as never },
      },
      signal: new AbortController().signal,
      beginsToWrite: () => undefined,
      responseHeaders: {},
    })
    .catch((error: { code: string }) => error);
  return 'code' in response ? response.code : response.total_count;
}

describe('The limits of influence', () => {
  it('answers 20 000 companies and refuses one more', async () => {
    expect(await answer(20_000, 0, 0)).to.equal(20_000);
    expect(await answer(20_001, 0, 0)).to.equal('too_many_companies');
  });

  it('answers 200 000 days with outcomes and refuses one more', async () => {
    expect(await answer(1, 120_000, 80_000)).to.equal(1);
    expect(await answer(1, 120_000, 80_001)).to.equal('too_many_outcomes');
    expect(await answer(1, 200_001, 0)).to.equal('too_many_outcomes');
  });
});
