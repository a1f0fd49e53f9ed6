import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { run } from '../cli/support.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { tempFolder } from '../support/temp-folder.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';

const ORGANIZATION = { organization_id: 'org_a' };
const RANGE = { start_date: '2026-01-01', end_date: '2026-01-31' };
const REQUESTS: [path: string, body: object][] = [
  ['/api/contacts/search', { ...ORGANIZATION, limit: 50 }],
  ['/api/contacts/search', { ...ORGANIZATION, query: 'ada lovelace' }],
  ['/api/audiences/contacts/search', { ...ORGANIZATION, audience_id: 'aud_1' }],
  ['/api/audiences/search', ORGANIZATION],
  ['/api/website-visits/search', { ...ORGANIZATION, start_url: 'page' }],
  ['/api/advertising/network_a/campaigns', RANGE],
  ['/api/advertising/network_a/campaigns', { ...RANGE, currency: 'EUR' }],
  ['/api/advertising/network_a/companies', { ...RANGE, company_ids: ['cmp_1'] }],
];

const numbered = <T>(make: (index: number) => T) => Array.from({ length: 40 }, (_, index) => make(index));
const RECORDS: Record<string, object[]> = {
  audiences: [{ id: 'aud_1', name: 'Customers', created_at: '2026-01-01T00:00:00Z' }],
  contacts: numbered((index) => ({
    contact_id: `con_${index}`,
    first_name: 'Ada',
    last_name: `Lovelace${index}`,
    audience_ids: ['aud_1'],
    created_at: '2026-01-02T00:00:00Z',
  })),
  'website-visits': numbered((index) => ({
    id: `vis_${index}`,
    createdAt: '2026-01-03T00:00:00Z',
    startUrl: `https://site.example/page/${index}`,
  })),
  'network-a-campaigns': [{ id: 'cam_1', name: 'Spring', currency: 'USD' }],
  'currency-rates': numbered((index) => ({
    date: `2026-01-${String(1 + (index % 30)).padStart(2, '0')}`,
    currency: 'USD',
    per_eur: `1.1${index}`,
  })),
  'network-a-deliveries': numbered((index) => ({
    date: `2026-01-${String(1 + (index % 30)).padStart(2, '0')}`,
    campaign_id: 'cam_1',
    creative_id: `cre_${index % 3}`,
    company_id: 'cmp_1',
    impressions: index,
    ad_spend: `${index}.37`,
    reported_at: '2026-02-01T00:00:00Z',
  })),
};

describe('A snapshot of Elasticsearch and a backup of ClickHouse', () => {
  const indices = testIndices();
  const database = testDatabase();
  let gateway: TestGateway | undefined;
  let elasticsearch: Client;
  let repository: string;

  before(() => {
    elasticsearch = indices.client();
    repository = `${indices.config.indexPrefix}-repository`;
  });
  after(async () => {
    await gateway?.close();
    await elasticsearch.snapshot.deleteRepository({ name: repository }, { ignore: [404] });
  });

  const start = async () => {
    gateway = await startTestGateway({ elasticsearch: indices.config, clickhouse: database.config });
    return gateway;
  };
  const answersOf = async ({ call }: TestGateway, key: string) => {
    const answers: string[] = [];
    for (const [path, body] of REQUESTS) {
      const { status, text } = await call(path, body, { key });
      expect(status, `${path} ${text}`).to.equal(200);
      answers.push(`${path} ${text}`);
    }
    return answers;
  };
  const expectAlike = (answers: string[], expected: string[]) => {
    for (const [index, answer] of answers.entries()) expect(answer).to.equal(expected[index]);
  };
  /** Statements of docs/operating/backup.md, over both databases. */
  const databases = () => {
    const { database: views } = database.config;
    return `DATABASE ${views}_tables, DATABASE ${views}`;
  };

  it('bring the same answers back after every index and table is lost', async () => {
    const first = await start();
    const { key } = first;
    await first.stores.records.setCredits('org_a', 5);
    for (const [stream, records] of Object.entries(RECORDS)) {
      expect((await first.ingest(stream, records)).body.accepted).to.equal(records.length);
    }
    const before = await answersOf(first, key);

    const index = `${indices.config.indexPrefix}-*`;
    await elasticsearch.snapshot.createRepository({
      name: repository,
      repository: { type: 'fs', settings: { location: repository } },
    });
    const taken = await elasticsearch.snapshot.create({
      repository,
      snapshot: 'nightly',
      indices: index,
      include_global_state: false,
      wait_for_completion: true,
    });
    expect(taken.snapshot?.state).to.equal('SUCCESS');
    const file = `File('${database.config.database}')`;
    await database.client.command({ query: `BACKUP ${databases()} TO ${file}` });

    await first.close();
    await indices.remove();
    for (const name of [database.config.database, `${database.config.database}_tables`]) {
      await database.client.command({ query: `DROP DATABASE ${name} SYNC` });
    }

    const restored = await elasticsearch.snapshot.restore({
      repository,
      snapshot: 'nightly',
      indices: index,
      include_global_state: false,
      wait_for_completion: true,
    });
    expect(restored.snapshot?.shards.failed).to.equal(0);
    await database.client.command({ query: `RESTORE ${databases()} FROM ${file}` });
    expectAlike(await answersOf(await start(), key), before);
    expect(await gateway?.stores.records.getCredits('org_a')).to.equal(5);
    // Sums are derived again from inserts.
    const again = await gateway?.ingest('network-a-deliveries', RECORDS['network-a-deliveries'] as object[]);
    expect(again?.body.accepted).to.equal(40);
    expectAlike(await answersOf(gateway as TestGateway, key), before);
  });
});

describe('A backup of embedded ClickHouse beside Elasticsearch', () => {
  const indices = testIndices();
  const campaigns = ['/api/advertising/network_a/campaigns', RANGE] as const;
  const environment = (dataDir: string) => ({
    ELASTICSEARCH_URL: indices.config.nodes.join(','),
    ELASTICSEARCH_INDEX_PREFIX: indices.config.indexPrefix,
    REACHLINE_DATA_DIR: dataDir,
  });

  it('is restored, and says what it does not hold', async () => {
    const folder = tempFolder();
    const dataDir = join(folder, 'data');
    const first = await startTestGateway({ elasticsearch: indices.config, dataDir });
    const { key } = first;
    for (const stream of ['contacts', 'network-a-campaigns', 'network-a-deliveries']) {
      const records = RECORDS[stream] as object[];
      expect((await first.ingest(stream, records)).body.accepted).to.equal(records.length);
    }
    const before = await first.call(...campaigns);
    expect(before.body.items).to.have.length(1);
    const backup = join(folder, 'backup');
    const taken = await run(['backup', backup], { env: environment(dataDir) });
    expect(taken, taken.stderr).to.include({ code: 0 });
    expect(taken.stderr).to.contain('Elasticsearch is on a server and not part of this backup');
    await first.close();

    const env = environment(join(folder, 'restored'));
    expect(await run(['restore', backup, '--dry-run'], { env })).to.include({ code: 0 });
    const refused = await run(['restore', backup, '--suppressions-from', dataDir], { env });
    expect(refused.stderr).to.contain('leave --suppressions-from out');
    expect(existsSync(env.REACHLINE_DATA_DIR)).to.equal(false);
    const restored = await run(['restore', backup], { env });
    expect(restored, restored.stderr).to.include({ code: 0, stderr: '' });
    const second = await startTestGateway({
      elasticsearch: indices.config,
      dataDir: env.REACHLINE_DATA_DIR,
    });
    expect((await second.call(campaigns[0], campaigns[1], { key })).text).to.equal(before.text);
    await second.close();
  });
});
