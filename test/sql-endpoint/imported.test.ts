/** The questions of the SQL page that join people and companies, over contacts as CRMs export them: with addresses for domains. */
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
const QUESTIONS = [...PAGE.matchAll(/^### \d+\. .+\n\n```sql\n(?<sql>[^`]+)```$/gm)].map(
  ({ groups }) => groups?.sql ?? '',
);
const ORGANIZATION = 'org_crm';
const scope = { organization_id: ORGANIZATION };
const delivery = (company_id: string, impressions: number) => ({
  ...scope,
  ...{
    date: '2026-10-01',
    campaign_id: 'c',
    company_id,
    impressions,
    engagements: impressions / 10,
    clicks: 2,
  },
});

const clicks = { ...scope, date: '2026-10-01', campaign_id: 'c', creative_id: 'k', clicks: 8 };

/** Stream → a text, of CSV an export that a preset is recognized by. */
const INPUTS: [StreamName, string][] = [
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
    'First Name,Last Name,Person Linkedin Url,Apollo Contact Id,Website\nCy,Ott,http://www.linkedin.com/in/cy-ott,65f,https://cargo.example/de/\n',
  ],
  [
    'network-a-companies',
    JSON.stringify([
      { ...scope, id: 'a', name: 'Acme', domain: 'https://acme.example' },
      { ...scope, id: 'b', name: 'Bolt', domain: 'bolt.example' },
      { ...scope, id: 'c', name: 'Cargo', domain: 'www.cargo.example.' },
      { ...scope, id: 'd', name: 'Dune', domain: 'dune.example' },
    ]),
  ],
  [
    'network-a-deliveries',
    JSON.stringify([delivery('a', 400), delivery('b', 300), delivery('c', 200), delivery('d', 100), clicks]),
  ],
  [
    'website-visits',
    JSON.stringify([
      {
        ...{ organizationId: ORGANIZATION, id: 'v', createdAt: '2026-10-01T10:00:00Z', audienceId: 'x' },
        ...{ startUrl: 'https://www.ours.example/pricing?a=1', country: 'Germany', intentScore: 85 },
      },
    ]),
  ],
  [
    'audiences',
    JSON.stringify([
      { ...scope, id: 'x', name: 'Buyers' },
      { ...scope, id: 'y', name: 'Germans' },
    ]),
  ],
  ['contacts', JSON.stringify([{ ...scope, contact_id: '1', audience_ids: ['x', 'y'] }])],
];

describe('The questions of the SQL page, over contacts of HubSpot, Salesforce and Apollo', () => {
  let stores: Stores;
  let endpoint: SqlEndpoint;
  let key: string;

  before(async () => {
    stores = await openStores({ dataDir: tempFolder(), searchThreads: 1 });
    const accept = acceptanceClock();
    for (const [stream, text] of INPUTS) {
      const isJson = text.startsWith('[');
      const result = await ingestText({
        stream: STREAMS[stream] as Stream,
        stores,
        source: Readable.from([Buffer.from(text)]),
        format: isJson ? 'json' : 'csv',
        ...(!isJson && { mapping: 'auto' as const }),
        organizationId: ORGANIZATION,
        acceptance: accept(),
      });
      expect(result.errors, text).to.deep.equal([]);
    }
    key = await issueKey(stores.search, { organizationId: ORGANIZATION });
    const { search } = stores;
    const engine = await stores.engine?.();
    if (!engine) throw new Error('no engine');
    endpoint = await startSqlEndpoint({ engine, search, port: 0, password: 'analysts' });
  });
  after(async () => {
    await endpoint.close();
    await stores.close();
  });

  const rows = async (question: number) => {
    const parameters = new URLSearchParams({
      ...{ param_organization: ORGANIZATION, param_from: '2026-09-01', param_to: '2026-10-31' },
      default_format: 'JSONEachRow',
      output_format_json_quote_64bit_integers: '0',
    });
    const answer = await fetch(`${endpoint.url}/?${parameters}`, {
      method: 'POST',
      body: QUESTIONS[question - 1] ?? '',
      headers: { 'X-ClickHouse-User': 'ann', 'X-ClickHouse-Key': key },
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  };

  it('each have an answer', async () => {
    expect(QUESTIONS).to.have.length(20);
    for (const number of QUESTIONS.keys()) await rows(number + 1);
  });

  const known = (company: string, shown: number) => ({ company, shown, known: 1 });
  /** Question → its rows, of their columns those that the records here decide. */
  const answers: Record<number, object[]> = {
    11: [known('Acme', 400), known('Bolt', 300), known('Cargo', 200)],
    12: [
      { contact_id: '003A', engagements: 30 },
      { contact_id: '65f', engagements: 20 },
    ],
    13: [
      { audience: 'Buyers', members: 1, reached: 1, share: 1 },
      { audience: 'Germans', members: 1, reached: 1, share: 1 },
    ],
    14: [{ audience: 'Buyers', visits: 1, intent: 85, of_high_intent: 1 }],
    15: [{ audience: 'Buyers', visits: 1, members_reached: 1, companies_reached: 1 }],
    16: [{ date: '2026-10-01', clicks: 8, visits: 1, visits_per_click: 0.125 }],
    17: [{ page: '/pricing', visits: 1, audiences: 1, intent: 85 }],
    18: [{ audience: 'x', other_audience: 'y', members_of_both: 1 }],
    19: [{ company: 'Dune', domain: 'dune.example', shown: 100 }],
    20: [{ country: 'Germany', visits: 1, known: 1 }],
  };
  for (const [question, expected] of Object.entries(answers)) {
    it(`${question} is answered right`, async () => {
      const found = await rows(Number(question));
      expect(found).to.have.length(expected.length);
      for (const [index, row] of expected.entries()) expect(found[index]).to.include(row);
    });
  }
});
