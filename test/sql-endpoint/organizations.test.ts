import { expect } from 'chai';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import { issueKey } from '../../services/accounts/keys.js';
import { type SqlEndpoint, startSqlEndpoint } from '../../services/sql-endpoint/server.js';
import { Runner } from '../../services/sql-endpoint/statement.js';
import { openAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import type { SqlCopy } from '../../services/stores/common/sql-copy.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { accepted } from '../support/accepted.js';
import { rawSql } from '../support/raw-sql.js';
import { tempFolder } from '../support/temp-folder.js';

const DAY = '2026-10-01';
const MOMENT = `${DAY}T10:00:00Z`;

/** Records of an organization; every text but the shared domain contains the word. */
function recordsOf(organization: string, word: string): [StreamName, object[]][] {
  const scope = { organization_id: organization };
  const delivery = { ...scope, date: DAY, campaign_id: word, impressions: 5, clicks: 1 };
  return [
    ['audiences', [{ ...scope, id: word, name: word, tracking_utm_value: word }]],
    [
      'contacts',
      [
        {
          ...scope,
          contact_id: word,
          first_name: word,
          work_emails: [`${word}@shared.example`],
          company_domain: 'shared.example',
          age: 44,
          dob: '1981-02-03',
          audience_ids: [word],
          updated_at: MOMENT,
        },
      ],
    ],
    [
      'website-visits',
      [
        {
          organizationId: organization,
          id: word,
          createdAt: MOMENT,
          audienceId: word,
          city: word,
          hasRecording: true,
        },
      ],
    ],
    ['currency-rates', [{ ...scope, date: DAY, currency: word === 'apple' ? 'USD' : 'CHF', per_eur: '1.1' }]],
    ['network-a-campaigns', [{ ...scope, id: word, name: word, updated_at: MOMENT }]],
    ['network-a-creatives', [{ ...scope, id: word, campaign_id: word, name: word, updated_at: MOMENT }]],
    [
      'network-a-companies',
      [{ ...scope, id: word, name: word, domain: 'shared.example', updated_at: MOMENT }],
    ],
    [
      'network-a-deliveries',
      [
        { ...delivery, creative_id: word, ad_spend: '1.5' },
        { ...delivery, company_id: word },
      ],
    ],
  ];
}

describe('An API key at the SQL endpoint', () => {
  let folder: string;
  let stores: Stores;
  let endpoint: SqlEndpoint;
  let ours: string;
  let theirs: string;

  before(async () => {
    folder = tempFolder();
    stores = await openStores({ dataDir: folder, searchProcesses: 1 });
    for (const [organization, word] of [
      ['org_ours', 'apple'],
      ['org_theirs', 'zebra'],
    ] as const) {
      for (const [name, records] of recordsOf(organization, word)) {
        await STREAMS[name].write(stores, accepted(records as never[], Date.parse(MOMENT)));
      }
    }
    ours = await issueKey(stores.records, { organizationId: 'org_ours' });
    theirs = await issueKey(stores.records, { organizationId: 'org_theirs' });
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

  const ask = async (query: string, password = ours, parameters: Record<string, string> = {}) => {
    const answer = await fetch(`${endpoint.url}/?${new URLSearchParams(parameters)}`, {
      method: 'POST',
      body: query,
      headers: { 'X-ClickHouse-User': 'ann', 'X-ClickHouse-Key': password },
    });
    return { code: answer.headers.get('x-clickhouse-exception-code'), text: await answer.text() };
  };

  it('reads every view, and in each its own organization alone', async () => {
    const views = (await ask('SHOW TABLES')).text.trim().split('\n');
    expect(views).to.have.length(11);
    for (const view of views) {
      const distinct = `SELECT DISTINCT organization_id FROM ${view}`;
      expect((await ask(distinct)).text, view).to.equal('org_ours\n');
      expect((await ask(distinct, theirs)).text, view).to.equal('org_theirs\n');
      expect((await ask(`SELECT * FROM ${view} FORMAT TSV`)).text, view)
        .to.match(/apple|USD/)
        .and.not.to.match(/zebra|CHF/);
    }
  });

  it('reads values in their own types', async () => {
    const { text } = await ask(
      'SELECT work_emails, age, dob, company_name, audience_ids, updated_at FROM contacts FORMAT JSONCompactEachRow',
    );
    expect(JSON.parse(text)).to.deep.equal([
      ['apple@shared.example'],
      44,
      '1981-02-03',
      null,
      ['apple'],
      '2026-10-01 10:00:00.000',
    ]);
    expect(
      (await ask('SELECT created_at, city, has_recording, intent_score FROM website_visits')).text,
    ).to.equal('2026-10-01 10:00:00.000\tapple\ttrue\t\\N\n');
  });

  const ROUNDABOUT: [statement: string, parameters?: Record<string, string>][] = [
    ["SELECT * FROM campaigns WHERE organization_id = 'org_theirs'"],
    ["SELECT * FROM contacts WHERE organization_id = 'org_theirs'"],
    ['SELECT * FROM campaigns WHERE toUInt8(name) = 1'],
    ['SELECT * FROM campaign_daily WHERE toUInt8(campaign_id) = 1 AND impressions > 0'],
    ["SELECT toUInt8(replaceRegexpAll(campaign_id, 'apple', '1')) FROM campaigns"],
    ["SELECT 1 FROM companies WHERE toUInt8(replaceRegexpAll(name, 'apple', '1')) = 1"],
    ["SELECT toUInt8(replaceRegexpAll(contact_id, 'apple', '1')) FROM contacts"],
    ['SELECT name FROM campaigns UNION ALL SELECT campaign_id FROM creative_daily'],
    ['SELECT (SELECT groupArray(name) FROM campaigns), (SELECT max(name) FROM companies)'],
    ["SELECT 'zebra' IN (SELECT name FROM campaigns) AS found WHERE found"],
    ["SELECT 1 WHERE ('org_theirs', 'zebra') IN (SELECT organization_id, campaign_id FROM campaign_daily)"],
    ['SELECT a.name, b.name FROM campaigns AS a CROSS JOIN (SELECT name FROM campaigns) AS b'],
    ['WITH RECURSIVE r AS (SELECT name FROM campaigns UNION ALL SELECT name FROM r WHERE 0) SELECT * FROM r'],
    ['SELECT name FROM reachline.campaigns QUALIFY row_number() OVER (ORDER BY name DESC) = 1'],
    ['SELECT any(name), topK(5)(name), groupUniqArray(name) FROM campaigns'],
    ['SELECT name FROM {t:Identifier}', { param_t: 'reachline.campaigns' }],
    ['SELECT organization_id FROM campaigns', { param_organization: 'org_theirs' }],
    ['SELECT name FROM campaigns', { additional_table_filters: '{}' }],
    ["SELECT name FROM campaigns SETTINGS additional_table_filters = {'x': '1'}"],
    ['SELECT name FROM campaigns SETTINGS query_plan_merge_filters = 1'],
    ['SELECT name FROM default.campaigns'],
    ["SELECT value FROM system.settings WHERE name = 'additional_table_filters' AND value LIKE '%theirs%'"],
    ['EXPLAIN actions = 1 SELECT name FROM campaigns'],
    ['SHOW CREATE TABLE contacts'],
    ['SELECT create_table_query, as_select FROM system.tables'],
    ['SELECT total_rows, total_bytes FROM system.tables WHERE total_rows > 0'],
  ];
  for (const [statement, parameters] of ROUNDABOUT) {
    it(`tells nothing of another organization: ${statement}`, async () => {
      const { text } = await ask(statement, ours, parameters);
      expect(text).not.to.match(/zebra|org_theirs(?!')|records\/[0-9a-f]/);
    });
  }

  it('reads its own organization alone, also in a table that a swap renames while the statement is planned', async () => {
    const analytics = await openAnalyticsStore({ path: tempFolder() });
    const engine = await analytics.engine?.();
    if (!engine) throw new Error('no engine');
    const swapped = await startSqlEndpoint({ engine, records: stores.records, port: 0 });
    const asOwner = async (text: string) => {
      const surroundings = { role: 'owner' as const, database: 'default', settings: {}, params: {} };
      const statement = { ...surroundings, sql: rawSql(text), format: 'TabSeparated' };
      return Buffer.from((await new Runner(engine).run(statement)).bytes()).toString();
    };
    try {
      const [copy] = analytics.sqlCopies as [SqlCopy];
      const made = await copy.begin(['contacts', 'audiences', 'website_visits']);
      await made.swap();
      const names = await asOwner(
        "SELECT table FROM system.columns WHERE database = 'default' AND name = 'organization_id'",
      );
      const tables = names.trim().split('\n');
      expect(tables).to.include('contacts_next');
      // A statement that is planned during the swap has the table under its other name.
      for (const table of tables.filter((name) => /^(contacts|audiences|website_visits)/.test(name))) {
        const values = "SELECT arrayJoin(['org_ours', 'org_theirs']) AS organization_id";
        await asOwner(`INSERT INTO ${table} (organization_id) ${values}`);
        await asOwner(
          `CREATE OR REPLACE VIEW reachline.probe DEFINER = default SQL SECURITY DEFINER AS SELECT organization_id FROM default.${table}`,
        );
        const { rows } = await swapped.query(
          { organizationId: 'org_ours', statement: 'SELECT * FROM probe', params: {}, limit: 10 },
          new AbortController().signal,
        );
        expect(rows, table).to.deep.equal([['org_ours']]);
      }
    } finally {
      await swapped.close();
      await analytics.store.close();
    }
  });

  it('opens records and nothing else: files, addresses and writes stay rejected', async () => {
    for (const statement of [
      "SELECT file('/etc/passwd') FROM contacts",
      "SELECT * FROM contacts, file('/etc/passwd', LineAsString)",
      "SELECT * FROM contacts, url('http://127.0.0.1:1/', LineAsString)",
      'SELECT 1 FROM contacts WHERE 1 IN (SELECT 1 FROM system.processes)',
      "INSERT INTO contacts (contact_id) VALUES ('x')",
      'INSERT INTO default.campaigns (id) SELECT contact_id FROM contacts',
      'CREATE TEMPORARY TABLE contacts AS SELECT 1',
      'DROP VIEW contacts',
      'ALTER TABLE contacts MODIFY QUERY SELECT 1',
      'SELECT * FROM contacts SETTINGS readonly = 0',
      'SELECT * FROM contacts; DROP VIEW contacts',
      "SELECT 1 FROM contacts INTO OUTFILE '/tmp/x'",
    ]) {
      expect(Number((await ask(statement)).code), statement).to.be.greaterThan(0);
    }
    for (const name of ['readonly']) {
      expect((await ask('SELECT * FROM contacts', ours, { [name]: '0' })).code, name).to.equal('164');
    }
    expect((await ask('SELECT count() FROM contacts')).text).to.equal('1\n');
  });

  it('is rejected when it is unknown, revoked, expired, or may not read all that the views hold', async () => {
    const narrow = await issueKey(stores.records, {
      organizationId: 'org_ours',
      scopes: ['advertising:read'],
    });
    const old = await issueKey(stores.records, {
      organizationId: 'org_ours',
      expiresAt: '2020-01-01T00:00:00Z',
    });
    const revoked = await issueKey(stores.records, { organizationId: 'org_ours' });
    await stores.records.revokeKey(revoked.split('_')[2] as string, new Date().toISOString());
    expect(await ask('SELECT 1', narrow)).to.deep.include({ code: '497' });
    expect((await ask('SELECT 1', narrow)).text).to.match(/contacts:read/);
    for (const key of [old, revoked, `${ours}x`, 'rl_live_00000000_x', 'analysts', '']) {
      expect((await ask('SELECT 1', key)).code, key).to.equal('516');
    }
    const without = await fetch(`${endpoint.url}/?query=SELECT+1`);
    expect([without.status, without.headers.get('x-clickhouse-exception-code')]).to.deep.equal([401, '194']);
  });

  it('is the password of basic credentials, and never all of them', async () => {
    for (const [credentials, status] of [
      [`ann:${ours}`, 200],
      [`:${ours}`, 200],
      [ours, 403],
    ] as const) {
      const headers = { Authorization: `Basic ${btoa(credentials)}` };
      expect((await fetch(`${endpoint.url}/?query=SELECT+1`, { headers })).status).to.equal(status);
    }
  });
});
