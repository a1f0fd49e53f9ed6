/** The questions of the SQL page, over contacts as CRMs export them, with addresses for domains, and a few days of advertising. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { ingestText } from '../../ingest/pipeline.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { issueKey } from '../../services/accounts/keys.js';
import { packageRoot } from '../../services/shared/fs.js';
import { acceptanceClock } from '../../services/shared/record-order.js';
import { type SqlEndpoint, startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { tempFolder } from '../support/temp-folder.js';

const PAGE = readFileSync(join(packageRoot, 'docs/reference/sql.md'), 'utf8');
const QUESTIONS = [...PAGE.matchAll(/^### \d+\. (?<question>.+)\n\n```sql\n(?<sql>[^`]+)```$/gm)].map(
  ({ groups }) => groups as { question: string; sql: string },
);
const ORGANIZATION = 'org_crm';
const scope = { organization_id: ORGANIZATION };

const company = (id: string, name: string, domain: string, industry: string | null) => ({
  ...{ ...scope, id, name, domain, industry },
});
const toCompany = (company_id: string, impressions: number, engagements: number, campaign_id = 'c') => ({
  ...{ ...scope, date: '2026-10-01', campaign_id, company_id, impressions, engagements },
});
/** The first and the last day are outside of the requested range. */
const BY_CREATIVE = [
  ['2026-08-31', 'c', 'k', '9', 9000, 9, 9],
  ['2026-10-17', 'c', 'k', '10', 4000, 8, 2],
  ['2026-10-24', 'c', 'l', '4.5', 1000, 4, 1],
  ['2026-10-27', 'c', 'l', '2', 1500, 3, 0],
  ['2026-10-27', 'd', 'm', '6', 500, 1, 0],
  ['2026-11-01', 'c', 'k', '9', 9000, 9, 9],
].map(([date, campaign_id, creative_id, ad_spend, impressions, clicks, leads]) => ({
  ...{ ...scope, date, campaign_id, creative_id, ad_spend, impressions, clicks, leads },
}));

/** Stream → a CSV text that a preset recognizes, or records. */
const INPUTS: [StreamName, string | object[]][] = [
  [
    'contacts',
    'Record ID,First Name,Last Name,Email,Job Title,Country/Region,Website URL\n1,Ann,Lee,ann@acme.example,CTO,Germany,https://www.acme.example/en\n',
  ],
  [
    'contacts',
    'ID,FIRSTNAME,LASTNAME,EMAIL,ACCOUNT.WEBSITE\n003A,Bo,Li,bo@bolt.example,http://WWW.Bolt.example\n',
  ],
  [
    'contacts',
    'First Name,Last Name,Title,Stage,Person Linkedin Url,Apollo Contact Id,Website\nCy,Ott,,Cold,http://www.linkedin.com/in/cy-ott,65f,https://cargo.example/de/\n',
  ],
  ['contacts', [{ ...scope, contact_id: '1', functional_area: 'IT', audience_ids: ['x', 'y'] }]],
  [
    'audiences',
    [
      { ...scope, id: 'x', name: 'Buyers' },
      { ...scope, id: 'y', name: 'Germans' },
    ],
  ],
  [
    'network-a-campaigns',
    [
      { ...scope, id: 'c', name: 'Leads', currency: 'EUR', objective_type: 'LEAD_GENERATION' },
      { ...scope, id: 'd', name: 'Brand', currency: 'USD', objective_type: 'BRAND_AWARENESS' },
    ],
  ],
  ['network-a-creatives', [{ ...scope, id: 'k', campaign_id: 'c', headline: 'Buy' }]],
  [
    'network-a-companies',
    [
      company('a', 'Acme', 'https://acme.example', 'Steel'),
      company('b', 'Bolt', 'bolt.example', 'Steel'),
      company('c', 'Cargo', 'www.cargo.example.', null),
      company('d', 'Dune', 'dune.example', 'Film'),
    ],
  ],
  // Restated below.
  ['network-a-deliveries', [toCompany('a', 1, 1)]],
  [
    'network-a-deliveries',
    [
      toCompany('a', 400, 40),
      toCompany('b', 300, 30),
      toCompany('c', 200, 20),
      toCompany('d', 100, 30),
      { ...toCompany('d', 60, 0, 'd'), date: '2026-08-31' },
      { ...toCompany('a', 50, 0, 'd'), date: '2026-10-02' },
      { ...toCompany('b', 100, 5, 'd'), date: '2026-10-02' },
      ...BY_CREATIVE,
    ],
  ],
  [
    'website-visits',
    [
      {
        ...{ organizationId: ORGANIZATION, id: 'v', createdAt: '2026-10-17T10:00:00Z', audienceId: 'x' },
        ...{ startUrl: 'https://www.ours.example/pricing?a=1', country: 'Germany', intentScore: 85 },
      },
    ],
  ],
];

/** By question: the columns and the rows of its response. */
const ANSWERS: [columns: string, ...rows: unknown[][]][] = [
  [
    'campaign_id name currency spend shown clicked ctr cost_per_click',
    ['c', 'Leads', 'EUR', 16.5, 6500, 15, 0.002308, 1.1],
    ['d', 'Brand', 'USD', 6, 500, 1, 0.002, 6],
  ],
  [
    'week currency spend leads',
    ['2026-10-12', 'EUR', 10, 2],
    ['2026-10-19', 'EUR', 4.5, 1],
    ['2026-10-26', 'EUR', 2, 0],
    ['2026-10-26', 'USD', 6, 0],
  ],
  ['objective currency leads spend cost_per_lead', ['LEAD_GENERATION', 'EUR', 3, 16.5, 5.5]],
  // The other creative of the campaign gets more clicks. The creative of the other campaign was shown too rarely.
  ['campaign_id creative_id headline shown ctr', ['c', 'l', null, 2500, 0.0028]],
  [
    'company_id name domain shown engaged campaigns_engaged',
    ['a', 'Acme', 'acme.example', 450, 40, 1],
    ['b', 'Bolt', 'bolt.example', 400, 35, 2],
    ['d', 'Dune', 'dune.example', 100, 30, 1],
    ['c', 'Cargo', 'cargo.example', 200, 20, 1],
  ],
  [
    'industry reached shown engagement_rate',
    ['Steel', 2, 850, 0.088235],
    ['unknown', 1, 200, 0.1],
    ['Film', 1, 100, 0.3],
  ],
  ['campaign_id shown shown_before change', ['c', 1500, 1000, 0.5], ['d', 500, 0, null]],
  ['weekday name shown_a_day ctr', [2, 'Tuesday', 2000, 0.002], [6, 'Saturday', 2500, 0.0024]],
  [
    'campaign_id date spend mean_of_seven',
    ['c', '2026-10-17', 10, 10],
    ['c', '2026-10-24', 4.5, 7.25],
    ['c', '2026-10-27', 2, 5.5],
    ['d', '2026-10-27', 6, 6],
  ],
  [
    'company_id first_seen first_campaign shown',
    ['a', '2026-10-01', 'c', 450],
    ['b', '2026-10-01', 'c', 400],
    ['c', '2026-10-01', 'c', 200],
  ],
  ['company shown known areas', ['Acme', 450, 1, ['IT']], ['Bolt', 400, 1, []], ['Cargo', 200, 1, []]],
  ['contact_id job_title company engagements', ['003A', null, null, 35], ['65f', null, null, 20]],
  ['audience members reached share', ['Buyers', 1, 1, 1], ['Germans', 1, 1, 1]],
  ['audience visits intent of_high_intent', ['Buyers', 1, 85, 1]],
  ['audience visits members_reached companies_reached', ['Buyers', 1, 1, 1]],
  [
    'date clicks visits visits_per_click',
    ['2026-10-17', 8, 1, 0.125],
    ['2026-10-24', 4, 0, 0],
    ['2026-10-27', 4, 0, 0],
  ],
  ['page visits audiences intent', ['/pricing', 1, 1, 85]],
  ['audience other_audience members_of_both', ['x', 'y', 1]],
  ['company domain shown', ['Dune', 'dune.example', 100]],
  ['country visits known', ['Germany', 1, 1]],
  [
    'domain exposed_on contacts visits influenced known_before',
    ['acme.example', '2026-10-01', 0, 0, 0, 0],
    ['bolt.example', '2026-10-01', 0, 0, 0, 0],
    ['cargo.example', '2026-10-01', 0, 0, 0, 0],
    // The day before the range counts into the sum of its first day.
    ['dune.example', '2026-09-01', 0, 0, 0, 0],
  ],
];

describe('The questions of the SQL page, over contacts of HubSpot, Salesforce and Apollo', () => {
  let stores: Stores;
  let endpoint: SqlEndpoint;
  let key: string;

  before(async () => {
    stores = await openStores({ dataDir: tempFolder(), searchProcesses: 1 });
    const accept = acceptanceClock(stores.records);
    for (const [stream, input] of INPUTS) {
      const isCsv = typeof input === 'string';
      const result = await ingestText({
        stream: STREAMS[stream] as Stream,
        stores,
        source: Readable.from([Buffer.from(isCsv ? input : JSON.stringify(input))]),
        format: isCsv ? 'csv' : 'json',
        ...(isCsv && { mapping: { preset: 'auto' } }),
        organizationId: ORGANIZATION,
        acceptance: await accept(),
      });
      expect(result.errors, stream).to.deep.equal([]);
    }
    key = await issueKey(stores.records, { organizationId: ORGANIZATION });
    const { records } = stores;
    const engine = await stores.engine?.();
    if (!engine) throw new Error('no engine');
    await stores.follower?.run();
    endpoint = await startSqlEndpoint({ engine, records, port: 0 });
  });
  after(async () => {
    await endpoint.close();
    await stores.close();
  });

  async function ask(sql: string, organization = ORGANIZATION): Promise<object[]> {
    const parameters = new URLSearchParams({
      ...{ param_organization: organization, param_from: '2026-09-01', param_to: '2026-10-31' },
      default_format: 'JSONEachRow',
      output_format_json_quote_64bit_integers: '0',
    });
    const answer = await fetch(`${endpoint.url}/?${parameters}`, {
      method: 'POST',
      body: sql,
      headers: { 'X-ClickHouse-User': 'ann', 'X-ClickHouse-Key': key },
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }

  it('are twenty-one', () => expect(QUESTIONS).to.have.length(ANSWERS.length).and.to.have.length(21));

  QUESTIONS.forEach(({ question, sql }, index) => {
    it(`are answered right, for the organization asked for alone: ${question}`, async () => {
      const [columns = '', ...expected] = ANSWERS[index] ?? [];
      const rows = await ask(sql);
      expect(rows.map((row) => Object.values(row))).to.deep.equal(expected);
      expect(Object.keys(rows[0] ?? {}).join(' ')).to.equal(columns);
      expect(await ask(sql, 'org_other')).to.deep.equal([]);
    });
  });
});
