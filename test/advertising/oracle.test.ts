import { expect } from 'chai';
import type { TSchema } from 'typebox';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { getCompany } from '../../services/advertising/company-endpoint.js';
import {
  searchCampaigns,
  searchCompanies,
  searchCreatives,
} from '../../services/advertising/list-endpoints.js';
import type { Endpoint } from '../../services/http/endpoint.js';
import type { Problem } from '../../services/http/problems.js';
import { accepted } from '../support/accepted.js';
import { Random, runs, SEED } from '../support/random.js';
import { call, openTemporaryStore, TODAY } from './helper.js';
import { type ExpectedWarning, Oracle, type OracleRequest, type Records } from './oracle.js';
import {
  batches,
  inCurrency,
  ORGANIZATIONS,
  randomCampaignsRequest,
  randomCompaniesRequest,
  randomCompanyRequest,
  randomCreativesRequest,
  randomRecords,
  ratedRecords,
} from './random-records.js';

const REQUESTS = runs(8);

type Answer = { warnings: string[] };

/** Fields without a value are not sent. */
const sent = (request: OracleRequest): OracleRequest => JSON.parse(JSON.stringify(request));

function checkWarnings(warnings: string[], expected: ExpectedWarning[], context: string) {
  expect(warnings, context).to.deep.equal([...new Set(warnings)].sort());
  expect(
    warnings.map((warning) => warning.split(':')[0]),
    context,
  ).to.deep.equal(expected.map(({ code }) => code));
  expected.forEach(({ names }, index) => {
    for (const name of names) expect(warnings[index], context).to.contain(name);
  });
}

async function insert(store: AnalyticsStore, records: Records, random: Random) {
  for (const { records: some, acceptedAt } of batches(random, records.campaigns))
    await store.insertCampaigns(accepted(some, acceptedAt));
  for (const { records: some, acceptedAt } of batches(random, records.creatives))
    await store.insertCreatives(accepted(some, acceptedAt));
  for (const { records: some, acceptedAt } of batches(random, records.companies))
    await store.insertCompanies(accepted(some, acceptedAt));
  for (const { records: some, acceptedAt } of batches(random, records.deliveries))
    await store.insertDeliveries(accepted(some, acceptedAt));
  for (const { records: some, acceptedAt } of batches(random, records.rates ?? []))
    await store.insertCurrencyRates(accepted(some, acceptedAt));
}

/** Compares answers over records of one kind; `alter` makes the requests fit the records. */
function describeAnswers(
  title: string,
  recordsOf: (random: Random, size: number) => Records,
  alter: (random: Random, request: OracleRequest) => OracleRequest,
  operations: readonly string[],
) {
  describe(`advertising answers equal those computed from the raw records${title} (TEST_SEED=${SEED})`, function () {
    this.timeout(runs(120_000));
    const random = new Random(SEED);
    let store: AnalyticsStore;
    let dispose: () => Promise<void>;
    let oracles: Map<string, Oracle>;

    before(async () => {
      ({ store, dispose } = await openTemporaryStore());
      const records = recordsOf(random, 1000);
      // Adjacent records are accepted together, as in a batch.
      records.deliveries.forEach((entry, index) => {
        entry.acceptedAt = Date.parse('2026-10-01') + Math.floor(index / 300) * 7_200_000;
      });
      await insert(store, records, random);
      oracles = new Map(
        ORGANIZATIONS.map((organization) => [organization, new Oracle(records, organization, TODAY)]),
      );
    });
    after(() => dispose());

    const compare = (
      operation: Endpoint<TSchema, TSchema, TSchema>,
      makeRequest: (random: Random) => OracleRequest,
      expectation: (
        oracle: Oracle,
        request: OracleRequest,
      ) => (Omit<Answer, 'warnings'> & { warnings: ExpectedWarning[] }) | { missing: string[] } | null,
    ) =>
      async function (this: Mocha.Context) {
        for (let count = 0; count < REQUESTS; count++) {
          const organization = random.pick(ORGANIZATIONS);
          const request = sent(alter(random, makeRequest(random)));
          const context = `${organization} ${JSON.stringify(request)}`;
          const expected = expectation(oracles.get(organization) as Oracle, request);
          const answer = await call(operation, store, organization, request).catch((error: Error) => error);
          if (expected === null) {
            expect(answer, context).to.have.property('name', 'Problem');
            continue;
          }
          if ('missing' in expected) {
            expect(answer, context).to.include({ name: 'Problem', code: 'missing_rates' });
            expect((answer as Problem).extras.days, context).to.deep.equal(expected.missing);
            continue;
          }
          if (answer instanceof Error) throw new Error(context, { cause: answer });
          const { warnings, ...rest } = answer as Answer;
          const { warnings: expectedWarnings, ...expectedRest } = expected;
          expect(rest, context).to.deep.equal(expectedRest);
          checkWarnings(warnings, expectedWarnings, context);
        }
      };

    const cases: Record<string, () => Mocha.AsyncFunc> = {
      campaigns: () =>
        compare(searchCampaigns as never, randomCampaignsRequest, (oracle, request) =>
          oracle.campaigns(request),
        ),
      creatives: () =>
        compare(searchCreatives as never, randomCreativesRequest, (oracle, request) =>
          oracle.creatives(request),
        ),
      companies: () =>
        compare(searchCompanies as never, randomCompaniesRequest, (oracle, request) =>
          oracle.companies(request),
        ),
      'one company': () =>
        compare(getCompany as never, randomCompanyRequest, (oracle, request) => oracle.company(request)),
    };
    for (const name of operations) it(`for ${name}`, cases[name]?.());
  });
}

const asDrawn = (_: Random, request: OracleRequest) => request;
describeAnswers('', randomRecords, asDrawn, ['campaigns', 'creatives', 'companies', 'one company']);
describeAnswers(', in one currency by the rate of each day', ratedRecords, inCurrency, [
  'campaigns',
  'creatives',
]);
