import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { tempFolder } from '../support/temp-folder.js';
import { run } from './support.js';

const RANGE = ['start_date=2026-01-01', 'end_date=2026-01-31'];
const STREAMS: [stream: string, filters: string[]][] = [
  ['audiences', []],
  ['contacts', []],
  ['website-visits', []],
  ['network-a-campaigns', RANGE],
  ['network-a-creatives', RANGE],
  ['network-a-companies', [...RANGE, 'company_ids=cmp_1']],
];
const RECORDS: Record<string, object[]> = {
  audiences: [
    {
      id: 'aud_1',
      name: '=Customers, "all"',
      description: 'a\nb',
      network_b: true,
      created_at: '2026-01-02T00:00:00Z',
    },
    { id: 'aud_2', name: "'=kept", created_at: '2026-01-03T00:00:00Z' },
  ],
  contacts: [
    {
      contact_id: 'con_1',
      first_name: '+Ada',
      last_name: 'L"ove"lace; B',
      job_title: 'VP of Sales',
      work_emails: ['a@x.example', 'b@x.example'],
      phones: ['+49 30 1', '2'],
      company_domain: 'x.example',
      age: 30,
      audience_ids: ['aud_1', 'aud_2'],
      created_at: '2026-01-02T00:00:00Z',
      updated_at: '2026-01-05T00:00:00Z',
    },
    { contact_id: 'con_2', dob: '1990-02-03', created_at: '2026-01-03T00:00:00Z' },
  ],
  'website-visits': [
    {
      id: 'vis_1',
      createdAt: '2026-01-15T10:00:00Z',
      hasRecording: false,
      intentScore: -3,
      ipAddress: '10.0.0.1',
    },
    { id: 'vis_2', createdAt: '2026-01-15T11:00:00Z', startUrl: 'https://x.example/?a=1,2' },
  ],
  'network-a-campaigns': [
    { id: 'cam_1', name: '-Spring', daily_budget: '10.50', currency: 'EUR', status: 'ACTIVE' },
  ],
  'network-a-creatives': [{ id: 'cre_1', campaign_id: 'cam_1', headline: '@all' }],
  'network-a-companies': [{ id: 'cmp_1', name: 'Acme', domain: 'acme.example' }],
  'network-a-deliveries': [
    // Deliveries with both breakdowns, with one each, and with nothing but zeros.
    { creative_id: 'cre_1', company_id: 'cmp_1', ad_spend: '1.250000000001', clicks: 3 },
    { creative_id: 'cre_1', ad_spend: '0.5', reported_at: '2026-02-20T10:00:00.123045Z' },
    { company_id: 'cmp_1', impressions: 9007199254740991 },
    { creative_id: 'cre_1', date: '2026-02-14' },
  ].map((delivery) => ({ date: '2026-02-15', campaign_id: 'cam_1', ...delivery })),
  'currency-rates': [
    { date: '2026-01-15', currency: 'USD', per_eur: '1.0867', updated_at: '2026-01-16T00:00:00Z' },
    { date: '2026-01-15', currency: 'GBP', per_eur: '0.8' },
  ],
};

describe('reachline export', () => {
  let from: TestGateway;
  let folder: string;
  before(async () => {
    from = await startTestGateway();
    folder = tempFolder();
    for (const [stream, records] of Object.entries(RECORDS)) {
      expect((await from.ingest(stream, records)).body, stream).to.include({ rejected: 0 });
    }
  });
  after(async () => {
    await from.close();
  });
  async function exported(stream: string, filters: string[], key = from.key, more: string[] = []) {
    const filter = filters.length === 0 ? [] : ['--filter', ...filters];
    const env = { REACHLINE_URL: from.url, REACHLINE_API_KEY: key };
    const outcome = await run(['export', stream, ...filter, ...more], { env });
    expect(outcome.code, outcome.stderr).to.equal(0);
    return outcome;
  }
  const environment = ({ url, key }: TestGateway) => ({ REACHLINE_URL: url, REACHLINE_API_KEY: key });

  /** The records of another organization, which has none yet. */
  const renamed = (text: string) => text.replaceAll('org_a', 'org_b');
  /** A record without `updated_at` counts as changed when it was accepted, at a time that differs between runs. */
  const stable = (text: string) => text.replaceAll(/(?<=con_2.*)\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');

  it('writes NDJSON that HTTP ingest takes into an empty store, which then answers the same', async () => {
    const key = await from.keyFor('org_b');
    const before: string[] = [];
    for (const [stream, filters] of STREAMS) {
      const { stdout } = await exported(stream, filters);
      expect(stdout.split('\n')).to.have.length((RECORDS[stream]?.length ?? 0) + 1);
      const took = await from.ingest(
        stream,
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(renamed(line))),
        { key },
      );
      expect(took.body, took.text).to.include({ accepted: RECORDS[stream]?.length, rejected: 0 });
      before.push(stable(renamed(stdout)));
    }
    for (const [index, [stream, filters]] of STREAMS.entries()) {
      const { stdout } = await exported(stream, filters, key);
      expect(stable(stdout)).to.equal(before[index]);
    }
  });

  it('writes CSV that reachline ingest takes into an empty store, which then answers the same', async () => {
    const key = await from.keyFor('org_c');
    for (const [stream, filters] of STREAMS.filter(([name]) => ['audiences', 'contacts'].includes(name))) {
      const file = join(folder, `${stream}.csv`);
      const wrote = await exported(stream, [...filters], from.key, ['--out', file]);
      expect(wrote.stderr).to.include(`${stream}: ${RECORDS[stream]?.length} exported`);
      const text = readFileSync(file, 'utf8').replaceAll('org_a', 'org_c');
      const renamedFile = join(folder, `renamed-${stream}.csv`);
      writeFileSync(renamedFile, text);
      const took = await run(['ingest', stream, renamedFile], {
        env: { REACHLINE_URL: from.url, REACHLINE_API_KEY: key },
      });
      expect(took.code, took.stdout + took.stderr).to.equal(0);
      const again = await exported(stream, filters, key, ['--format', 'csv']);
      expect(stable(again.stdout)).to.equal(stable(text));
    }
  });

  for (const format of ['ndjson', 'csv']) {
    it(`writes all eight streams as ${format} that an empty folder takes, which then writes the same`, async () => {
      const empty = await startTestGateway();
      const copies: [stream: string, file: string][] = [];
      for (const [stream, records] of Object.entries(RECORDS)) {
        const file = join(folder, `whole-${stream}.${format}`);
        const { stderr } = await exported(stream, [], from.key, ['--out', file]);
        expect(stderr).to.include(`${stream}: ${records.length} exported`);
        const took = await run(['ingest', stream, file], { env: environment(empty) });
        expect(took.code, took.stdout + took.stderr).to.equal(0);
        copies.push([stream, file]);
      }
      for (const [stream, file] of copies) {
        const again = await run(['export', stream, '--format', format], { env: environment(empty) });
        expect(again.stdout, stream).to.equal(readFileSync(file, 'utf8'));
      }
      await empty.close();
    });
  }

  it('narrows by filters, and keeps no file that is incomplete', async () => {
    const env = environment(from);
    const { stdout } = await run(['export', 'contacts', '--filter', 'audience_id=aud_2', 'first_name=ada'], {
      env,
    });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).to.deep.equal(['con_1']);
    const members = await run(['export', 'audience', 'aud_2', '--as', 'network-a-companies'], { env });
    expect(members.stdout).to.match(/^companyname,companywebsite,[^\r]*\r\n/);
    for (const wrong of [
      ['audience'],
      ['contacts', 'aud_2'],
      ['audiences', '--as', 'network-a-contacts'],
      ['audience', 'aud_2', '--as', 'network-a-contacts', '--format', 'csv'],
    ]) {
      expect(await run(['export', ...wrong], { env }), wrong.join(' ')).to.include({ code: 2 });
    }
    const file = join(folder, 'none.csv');
    const failed = await run(['export', 'contacts', '--filter', 'contry=US', '--out', file], { env });
    expect(failed.code).to.equal(2);
    expect(failed.stderr).to.match(/422 validation_failed: .*country/);
    expect(readdirSync(folder).filter((name) => name.startsWith('none.csv'))).to.deep.equal([]);
  });

  it('reads the data folder where no server holds it', async function () {
    this.timeout(60_000);
    const env = { REACHLINE_DATA_DIR: folder };
    await run(['audiences', 'create', '--organization', 'org_x', '--id', 'aud_x', '--name', 'X'], { env });
    const { code, stdout, stderr } = await run(
      ['export', 'audiences', '--organization', 'org_x', '--format', 'csv'],
      { env },
    );
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^id,organization_id,name,.*updated_at\r\naud_x,org_x,X,/);
    const unnamed = await run(['export', 'audiences'], { env });
    expect(unnamed).to.include({ code: 2 });
    expect(unnamed.stderr).to.include('--organization');
  });

  it('reads through the server that holds the data folder', async function () {
    this.timeout(60_000);
    const env = { REACHLINE_DATA_DIR: from.dataDir };
    from.stores.announcePort(Number(new URL(from.url).port));
    const beside = await run(['export', 'contacts', '--organization', 'org_a'], { env });
    expect(beside.code, beside.stderr).to.equal(0);
    expect(beside.stderr).to.include('uses the data folder, so this command goes through it');
    expect(beside.stdout).to.equal((await exported('contacts', [])).stdout);
    const keys = await run(['keys', 'list', '--json'], { env });
    expect(keys.stdout).to.not.include('one run');
  });
});
