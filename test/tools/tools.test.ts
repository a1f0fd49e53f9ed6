import { expect } from 'chai';
import { TODAY } from '../advertising/helper.js';
import { openSampleEndpoint, type SampleEndpoint } from '../sql-endpoint/sample-endpoint.js';
import { MissingPrerequisite } from '../stack/stack-error.js';
import { type CallResult, go, jdbc, python, type ToolProgram } from './programs.js';

/** Types as the driver of Metabase gives them. */
const METABASE = [
  'select_sequential_consistency=true',
  'use_server_time_zone_for_dates=true',
  'databaseTerm=schema',
  'http_connection_provider=HTTP_URL_CONNECTION',
];
const VIEWS =
  'audiences campaign_daily campaigns companies company_daily contacts creative_daily creatives currency_rates memberships website_visits';

/** The calls whose detail must be this; every other call only needs a response. */
const JDBC_DETAILS = {
  getTables: VIEWS,
  'getTables of raw tables': '0',
  'getSchemas of a pattern': 'reachline',
  getTypeInfo: 'true',
  'types of every column': 'true',
  currentDatabase: 'reachline',
  'time zone': 'UTC',
};
const CLIENTS: [title: string, program: ToolProgram, details: Record<string, string>][] = [
  ['JDBC 0.8.6', jdbc('0.8.6'), JDBC_DETAILS],
  ['JDBC 0.8.6 as Metabase configures it', jdbc('0.8.6', METABASE), JDBC_DETAILS],
  ['JDBC 0.9.8', jdbc('0.9.8'), JDBC_DETAILS],
  ...['none', 'gzip', 'lz4', 'zstd', 'br'].map(
    (compression): [string, ToolProgram, Record<string, string>] => [
      `clickhouse-go 2.50 with compression ${compression}`,
      go(compression),
      {
        'raw tables': '0',
        tables: `${VIEWS.split(' ').length}`,
        'current database': 'reachline',
        parameters: "it's",
      },
    ],
  ),
  ['clickhouse-connect with pandas', python('connect'), { 'raw tables': '0' }],
  ['the inspector of SQLAlchemy', python('sqlalchemy'), {}],
  ['ibis', python('ibis'), {}],
  ['polars', python('polars'), {}],
];

describe('Clients of analysts at the SQL endpoint', function () {
  this.timeout(600_000);
  let endpoint: SampleEndpoint;

  before(async () => {
    endpoint = await openSampleEndpoint(TODAY);
  });
  after(() => endpoint?.close());

  for (const [title, program, details] of CLIENTS) {
    it(`${title}: every call is answered`, async function () {
      let results: CallResult[];
      try {
        results = await program(endpoint.url, endpoint.key);
      } catch (error) {
        if (!(error instanceof MissingPrerequisite)) throw error;
        process.stdout.write(`  skipped: ${error.message}\n`);
        return this.skip();
      }
      expect(results.filter(({ ok }) => !ok)).to.deep.equal([]);
      expect(results.length).to.be.greaterThan(3);
      const answered = Object.fromEntries(results.map((result) => [result.title, result.detail]));
      expect(answered).to.deep.include(details);
    });
  }
});
