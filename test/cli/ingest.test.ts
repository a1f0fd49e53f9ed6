import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { loadConfig } from '../../services/shared/config.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { compressZstd } from '../support/compress.js';
import { startTestGateway, temporaryFolder } from '../support/gateway.js';
import { parsed } from '../support/parsed-store.js';
import { unpackRealData } from '../support/real-data.js';
import { until } from '../support/until.js';
import { MAIN, run, serve, start, takenPort } from './support.js';

async function withStores<T>(dataDir: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const config = loadConfig({ REACHLINE_DATA_DIR: dataDir, REACHLINE_SEARCH_THREADS: '1' });
  const stores = await openStores(config, { analyticsOnDemand: true });
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

describe('reachline ingest', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let dataDir: string;
  let env: Record<string, string>;
  before(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, 'data');
    env = { REACHLINE_DATA_DIR: dataDir };
  });
  after(() => folder.remove());

  const file = async (name: string, content: string | Buffer) => {
    await writeFile(join(folder.path, name), content);
    return join(folder.path, name);
  };
  const ndjson = (text: string) => file('lines.ndjson', text);
  const contact = (id: string) => withStores(dataDir, ({ search }) => parsed(search).getContact('org_a', id));

  it('takes lines from standard input, with the organization as an option', async () => {
    const { code, stdout } = await run(['ingest', 'contacts', '-', '--organization', 'org_a'], {
      env,
      stdin: '{"contact_id":"s1","city":"Łódź"}\n{"contact_id":"s2"}',
    });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^contacts: 2 accepted, 0 rejected in [\d.]+ s \([\d ]+ records\/s\)\n$/);
    expect(await contact('s1')).to.include({ city: 'Łódź' });
  });

  it('takes lines from a pipe into an empty folder, and its engine reads none of them', async () => {
    const records = await file('piped.ndjson', '{"id":"p1","name":"Piped"}\n');
    const own = join(folder.path, 'piped');
    const command = `cat '${records}' | '${process.execPath}' '${MAIN}' ingest audiences - --organization org_a --format ndjson`;
    const { status, stderr } = spawnSync('sh', ['-c', command], {
      env: { ...process.env, REACHLINE_DATA_DIR: own },
      encoding: 'utf8',
    });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(await withStores(own, ({ search }) => search.getAudience('org_a', 'p1'))).to.include({
      name: 'Piped',
    });
  });

  it('takes gzipped and zstd lines, from a file or a pipe, and JSON arrays', async () => {
    // Behind a skippable frame, as tools that compress in parallel write it.
    const zstd = Buffer.concat([
      Buffer.from('502a4d180200000001ff', 'hex'),
      await compressZstd(Buffer.from('{"contact_id":"z2","organization_id":"org_a"}\n')),
    ]);
    const piped = await run(['ingest', 'contacts', '-'], { env, stdin: zstd });
    expect(piped.stdout, piped.stderr).to.match(/1 accepted/);
    const short = await file('z.ndjson.zst', zstd.subarray(0, -6));
    expect((await run(['ingest', 'contacts', short], { env })).stderr).to.match(/z.ndjson.zst is damaged/);
    const zipped = gzipSync('{"contact_id":"z1","organization_id":"org_a"}\n');
    expect((await run(['ingest', 'contacts', await file('z.ndjson.gz', zipped)], { env })).code).to.equal(0);
    expect((await run(['ingest', 'contacts', '-'], { env, stdin: zipped })).code).to.equal(0);
    const array = await file('a.json', '\ufeff [{"contact_id":"j1","organization_id":"org_a"}]');
    expect((await run(['ingest', 'contacts', array], { env })).stdout).to.match(/1 accepted/);
    const cut = await run(['ingest', 'contacts', '-'], { env, stdin: zipped.subarray(0, 30) });
    expect(cut).to.include({ code: 1 });
    expect(cut.stderr).to.match(/standard input is damaged/);
  });

  it('answers 1 when a record is rejected, names it, and keeps its line byte for byte', async () => {
    const bad = [
      Buffer.from('{"contact_id":"r1", "first_nam" :"x"}\r'),
      Buffer.from([0x7b, 0xff, 0x7d]),
      Buffer.from(`{"contact_id":"${'x'.repeat(1_100_000)}"}`),
      Buffer.from('{"contact_id":"r2","age":-1}'),
    ];
    const lines = [Buffer.from('{"contact_id":"r0"}'), ...bad, Buffer.from('{"contact_id":"r9"}')];
    const rejects = await file('rejects.ndjson', 'left over from before\n');
    const input = await file('bad.ndjson', Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])));
    const args = ['ingest', 'contacts', input, '--organization', 'org_a', '--rejects', rejects];
    const { code, stdout, stderr } = await run(args, { env });
    expect(code).to.equal(1);
    expect(stdout).to.match(/2 accepted, 4 rejected/);
    expect(stderr).to.match(/line 2: \/first_nam: .*first_name.*\(unknown_field\)/);
    expect(stderr).to.match(/line 3: .*\(invalid_utf8\)\nline 4: .*\(line_too_long\)\nline 5: \/age: /);
    const expected = Buffer.concat(bad.flatMap((line) => [line, Buffer.from('\n')]));
    expect((await readFile(rejects)).equals(expected)).to.equal(true);
    const good = await file('good.ndjson', '{"contact_id":"r0"}');
    await run(['ingest', 'contacts', good, '--organization', 'org_a', '--rejects', rejects], { env });
    expect((await readFile(rejects)).length).to.equal(0);
  });

  it('leaves unknown fields out where REACHLINE_INGEST_UNKNOWN_FIELDS=ignore, also in a dry run', async () => {
    const input = await file('unknown.ndjson', '{"contact_id":"u1","shoe_size":41}');
    const args = ['ingest', 'contacts', input, '--organization', 'org_u'];
    const ignoring = { env: { ...env, REACHLINE_INGEST_UNKNOWN_FIELDS: 'ignore' } };
    expect((await run([...args, '--dry-run'], { env })).code).to.equal(1);
    for (const more of [['--dry-run'], []]) {
      const { code, stdout, stderr } = await run([...args, ...more], ignoring);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.contain('1 accepted (unknown fields of 1 left out), 0 rejected');
    }
  });

  it('shows twenty rejections and counts the others', async () => {
    const { stderr } = await run(['ingest', 'contacts', await ndjson('x\n'.repeat(50))], { env });
    expect(stderr.match(/^line /gm)?.length).to.equal(20);
    expect(stderr.match(/more rejected/g)).to.have.lengthOf(1);
    expect(stderr).to.match(/and 30 more rejected/);
  });

  it('will not keep rejected records in the file it reads', async () => {
    const input = await file('same.ndjson', '{"contact_id":"x"}');
    const outcome = await run(['ingest', 'contacts', input, '--rejects', input], { env });
    expect(outcome.code).to.equal(2);
    expect(await readFile(input, 'utf8')).to.equal('{"contact_id":"x"}');
  });

  it('names the formats there are for a file of another one', async () => {
    for (const extension of ['parquet', 'xlsx', 'avro', 'orc', 'ndjson.br']) {
      const other = await file(`records.${extension}`, '{"contact_id":"o1"}');
      const { code, stderr } = await run(['ingest', 'contacts', other], { env });
      expect(code, extension).to.equal(2);
      expect(stderr).to.match(/NDJSON .*CSV .*JSON arrays .*--format/);
    }
    const args = ['ingest', 'contacts', join(folder.path, 'records.avro'), '--organization', 'org_a'];
    expect(await run([...args, '--format', 'ndjson'], { env })).to.include({ code: 0 });
  });

  it('loads several files and folders in one command, with a report for each', async () => {
    const exports = join(folder.path, 'exports');
    await mkdir(join(exports, 'more'), { recursive: true });
    await file('exports/a.csv', 'contact_id,age\nfo1,20\nfo2,old\n');
    await file('exports/more/a.csv', 'contact_id,age\nfo3,young\n');
    await file('exports/b.ndjson.gz', gzipSync('{"contact_id":"fo4"}\n'));
    await file('exports/notes.md', 'not records');
    await file('2026-01.json', '[{"contact_id":"fo5"}]');
    await file('2026-02.json', '{"contact_id":"fo6"}');
    const rejects = join(folder.path, 'rejected');
    const months = ['2026-01.json', '2026-02.json'].map((name) => join(folder.path, name));
    const { code, stdout, stderr } = await run(
      ['ingest', 'contacts', exports, ...months, '--organization', 'org_a', '--rejects', rejects],
      { env },
    );
    expect(code, stderr).to.equal(1);
    expect(stderr).to.contain('1 files in').and.to.contain('a.csv: line 3: /age');
    const rows = stdout.split('\n').map((line) => line.replace(folder.path, '').split(/ +/).slice(0, 3));
    expect(rows.slice(0, 6)).to.deep.equal([
      ['FILE', 'ACCEPTED', 'REJECTED'],
      ['/exports/a.csv', '1', '1'],
      ['/exports/b.ndjson.gz', '1', '0'],
      ['/exports/more/a.csv', '0', '1'],
      ['/2026-01.json', '1', '0'],
      ['/2026-02.json', '1', '0'],
    ]);
    expect(stdout).to.contain('contacts: 4 accepted, 2 rejected');
    expect(await readFile(join(rejects, 'a.csv'), 'utf8')).to.equal('contact_id,age\nfo2,old\n');
    expect(await readFile(join(rejects, '3-a.csv'), 'utf8')).to.equal('contact_id,age\nfo3,young\n');
    const none = await run(['ingest', 'contacts', join(folder.path, '2031-01.json')], { env });
    expect(none).to.include({ code: 1 });
    expect(none.stderr).to.contain('2031-01.json does not exist');
    await mkdir(join(folder.path, 'empty', '.hidden'), { recursive: true });
    await file('empty/.hidden/a.csv', 'contact_id\nfo7\n');
    const empty = await run(['ingest', 'contacts', join(folder.path, 'empty')], { env });
    expect(empty).to.include({ code: 2 });
  });

  it('reports on Ctrl-C how many records are loaded, and that loading again is harmless', async () => {
    const loading = start(['ingest', 'contacts', '-', '--organization', 'org_a'], { env });
    const isStored = () => {
      const database = new DatabaseSync(join(dataDir, 'reachline.db'), { readOnly: true });
      try {
        return database.prepare(`SELECT 1 FROM contacts WHERE id = 'i1'`).get() !== undefined;
      } finally {
        database.close();
      }
    };
    let stderr = '';
    loading.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    loading.stdin?.write('{"contact_id":"i1"}\n');
    await until(isStored, 'the record is stored while more could come', { pollMs: 100 });
    loading.kill('SIGINT');
    const [code] = (await once(loading, 'close')) as [number | null];
    expect({ code, stderr }).to.deep.equal({
      code: 130,
      stderr:
        'Interrupted: 1 records are in. Loading all of them again is harmless: those that are in stay as they are.\n',
    });
    expect(await contact('i1')).to.include({ contact_id: 'i1' });
  });

  it('fails without waiting when nothing listens on the port', async () => {
    const { port, release } = await takenPort();
    await release();
    const input = await ndjson('{"contact_id":"x"}');
    const args = ['ingest', 'contacts', input, '--url', `http://127.0.0.1:${port}`, '--api-key', 'k'];
    const { code, stderr } = await run(args);
    expect(code).to.equal(1);
    expect(stderr).to.match(/cannot be reached \(ECONNREFUSED\).*reachline serve/);
    expect(stderr).to.not.include('trying again');
  });

  it('sends through the server that has the data folder, with a key that is revoked afterwards and not listed', async () => {
    const own = { REACHLINE_DATA_DIR: join(folder.path, 'served') };
    const served = await serve([], { env: own });
    try {
      const args = ['ingest', 'contacts', await ndjson('{"contact_id":"t1"}')];
      const sent = await run([...args, '--organization', 'org_a'], { env: own });
      expect(sent, sent.stderr).to.include({ code: 0 });
      expect(sent.stderr).to.contain(`The server at ${served.url} has the data folder`);
      expect(sent.stdout).to.match(/1 accepted/);
      expect(await run(['keys', 'list', '--json'], { env: own })).to.include({ code: 0, stdout: '' });
      const unnamed = await run(args, { env: own });
      expect(unnamed.code).to.equal(2);
      expect(unnamed.stderr).to.match(/in use by the server at .*--organization/);
    } finally {
      await served.stop();
    }
    await withStores(own.REACHLINE_DATA_DIR, async ({ search }) => {
      expect(await parsed(search).getContact('org_a', 't1')).to.include({ contact_id: 't1' });
      const keys = await search.listKeys('org_a');
      expect(keys.map(({ scopes }) => scopes)).to.deep.equal([['ingest:write']]);
      expect(keys[0]?.revoked_at).to.be.a('string');
    });
  });

  it('takes CSV whose columns bear the names of fields', async () => {
    const csv =
      'contact_id,first_name,phones,age,dob\nc1,"Müller, Anna","030 1; 030 2",41,\n\nc2,"say ""hi""",,,1980-01-02\n';
    const args = ['ingest', 'contacts', await file('plain.csv', csv), '--organization', 'org_a'];
    expect(await run(args, { env })).to.include({ code: 0 });
    expect(await contact('c1')).to.deep.include({
      first_name: 'Müller, Anna',
      phones: ['030 1', '030 2'],
      age: 41,
      dob: null,
    });
    expect(await contact('c2')).to.deep.include({ first_name: 'say "hi"', phones: [], age: null });
  });

  it('finds out that cells are divided by semicolons', async () => {
    const csv = '\ufeffcontact_id;first_name;phones\nd1;Zoë;"1;2"\n';
    await run(['ingest', 'contacts', await file('semi.csv', csv), '--organization', 'org_a'], { env });
    expect(await contact('d1')).to.deep.include({ first_name: 'Zoë', phones: ['1', '2'] });
  });

  it('names every column it knows nothing of, and takes nothing', async () => {
    const csv = await file('odd.csv', 'contact_id,fist_name,Notes\nodd1,A,B\n');
    const { code, stderr } = await run(['ingest', 'contacts', csv, '--organization', 'org_a'], { env });
    expect(code).to.equal(2);
    expect(stderr).to.match(/"fist_name".*Did you mean first_name\?\n.*"Notes"/);
    expect(await contact('odd1')).to.equal(null);
  });

  it('needs to know the organization of a CSV file', async () => {
    const csv = await file('noorg.csv', 'contact_id\nn1\n');
    const outcome = await run(['ingest', 'contacts', csv], { env });
    expect(outcome.code).to.equal(2);
    expect(outcome.stderr).to.match(/--organization/);
    const own = await file('org.csv', 'contact_id,organization_id\nn1,org_a\n');
    expect((await run(['ingest', 'contacts', own], { env })).code).to.equal(0);
  });

  it('maps columns and JSON as a file says, and shows with --dry-run what would be written', async () => {
    const mapping = await file(
      'crm.json',
      JSON.stringify({
        timezone: 'Europe/Berlin',
        fields: {
          contact_id: ['ID', 'Notes'],
          work_emails: { all: ['E-Mail', 'E-Mail 2'] },
          country: { value: 'Germany' },
          created_at: { path: 'Created', format: 'DD.MM.YYYY HH:mm' },
        },
        where: { Kind: ['', 'person'] },
        ignore: ['Notes', 'Kind'],
      }),
    );
    const rows = [
      'm1,A@x.de,b@x.de,hm,02.07.2024 09:30,person',
      ',c@x.de,,n2,,',
      'm3,d@x.de,,,2024-07-02,',
      'm4,,,,,firm',
    ];
    const csv = await file('crm.csv', `ID,E-Mail,E-Mail 2,Notes,Created,Kind\n${rows.join('\n')}\n`);
    const args = (path: string) => ['ingest', 'contacts', path, '--organization', 'org_a', '--map', mapping];
    const tried = await run([...args(csv), '--dry-run'], { env });
    expect(tried).to.include({ code: 1 });
    expect(tried.stdout).to.match(
      /^line 2: \{"ID":"m1","E-Mail":"A@x\.de".*\n {2}becomes \{"contact_id":"m1","work_emails":\["a@x\.de","b@x\.de"\],.*"created_at":"2024-07-02T09:30:00\+02:00".*\}\n/,
    );
    expect(tried.stdout).to.match(/2 accepted, 1 rejected, 1 skipped.*nothing was written\n$/);
    expect(tried.stderr).to.match(/^line 4: \/created_at: .*DD\.MM\.YYYY HH:mm.*\(invalid_date_time\)\n$/);
    expect(await contact('m1')).to.equal(null);
    const loaded = await run(args(csv), { env });
    expect(loaded.stdout).to.match(/2 accepted, 1 rejected, 1 skipped in/);
    expect(await contact('m1')).to.deep.include({ work_emails: ['a@x.de', 'b@x.de'], country: 'Germany' });
    const lines = await file(
      'crm.ndjson',
      '{"ID":7,"E-Mail":["e@x.de"],"Kind":"person"}\n{"ID":8,"Kind":"x"}\n',
    );
    expect(await run(args(lines), { env })).to.include({ code: 0 });
    expect(await contact('7')).to.deep.include({ work_emails: ['e@x.de'] });
  });

  it('refuses a table whose dates or amounts can be read in two ways before it writes, and takes an order and a mark', async () => {
    const map = await file(
      'ads.json',
      JSON.stringify({ fields: { date: 'Day', ad_spend: 'Cost', campaign_id: 'C', creative_id: 'C' } }),
    );
    const uk = await file('uk.csv', 'Day,Cost,C\n05/10/2025,"1.234",c\n06/10/2025,"12.500",c\n');
    const args = ['ingest', 'network-a-deliveries', uk, '--organization', 'org_a', '--map', map];
    const refused = await run(args, { env });
    expect(refused).to.include({ code: 2, stdout: '' });
    expect(refused.stderr).to.match(/"05\/10\/2025" is 2025-10-05 .* 2025-05-10 .*--date-order/);
    const halfTold = await run([...args, '--date-order', 'dmy'], { env });
    expect(halfTold.stderr).to.match(/"1\.234" is 1\.234 .* 1234 .*--decimal/);
    const told = await run([...args, '--date-order', 'dmy', '--decimal', ',', '--dry-run'], { env });
    expect(told.stdout).to.contain('"date":"2025-10-05"').and.to.contain('"ad_spend":"12500"');
  });

  it('refuses a mapping that cannot be used, by its path in the file, and says which columns are missing', async () => {
    const csv = await file('small.csv', 'ID,Nam\nw1,x\n');
    const args = ['ingest', 'contacts', csv, '--organization', 'org_a', '--map'];
    const wrong = await file('wrong.json', '{"fields":{"fist_name":"Name"},"ignored":[]}');
    const rejected = await run([...args, wrong], { env });
    expect(rejected).to.include({ code: 2 });
    expect(rejected.stderr).to.match(/ignored is not a field of a mapping\. Did you mean ignore\?/);
    const other = await file('other.json', '{"stream":"audiences","fields":{}}');
    expect((await run([...args, other], { env })).stderr).to.match(/reachline ingest audiences /);
    const missing = await file(
      'missing.json',
      '{"fields":{"contact_id":"ID","city":"Name"},"ignore":"rest"}',
    );
    const loaded = await run([...args, missing], { env });
    expect(loaded).to.include({ code: 0 });
    expect(loaded.stderr).to.match(/small\.csv has no column "Name"\. Did you mean Nam\?/);
  });

  it('keeps rejected rows with their header, so that the file can be mended and loaded', async () => {
    const rows = ['k1,41', 'k2,old', '"k\n3",1', 'k4,5,6', 'k5,42'];
    const csv = await file('rows.csv', `contact_id,age\r\n${rows.join('\r\n')}\r\n`);
    const rejects = join(folder.path, 'rows-rejects.csv');
    const args = ['ingest', 'contacts', csv, '--organization', 'org_a', '--rejects', rejects];
    const { code, stdout, stderr } = await run(args, { env });
    expect(code).to.equal(1);
    expect(stdout).to.match(/2 accepted, 3 rejected/);
    expect(stderr).to.match(/^line 3: \/age.*\nline 4: \/contact_id.*\nline 6: .*3 cells.*2 columns/);
    expect(await readFile(rejects, 'utf8')).to.equal(
      `contact_id,age\r\n${rows.slice(1, 4).join('\r\n')}\r\n`,
    );
  });

  it('says where a quotation mark is missing', async () => {
    const csv = await file('quote.csv', 'contact_id,city\nq1,"Ulm\nq2,Bonn\n');
    const { code, stderr } = await run(['ingest', 'contacts', csv, '--organization', 'org_a'], { env });
    expect(code).to.equal(1);
    expect(stderr).to.match(/quotation mark/);
  });

  describe('through a gateway', () => {
    let gateway: Awaited<ReturnType<typeof startTestGateway>>;
    before(async () => {
      gateway = await startTestGateway();
    });
    after(() => gateway.close());
    const through = (key: string) => ['--url', gateway.url, '--api-key', key];

    it('sends records, and finds every rejected one beyond those an answer lists', async () => {
      const lines = Array.from({ length: 1000 }, (_, n) =>
        n % 3 === 0 ? `{"contact_id":"g${n}"}` : `{"contact_id":"g${n}","age":-${n}}`,
      );
      const input = await file('many.ndjson', `\n${lines.join('\n')}`);
      const rejects = join(folder.path, 'many-rejects.ndjson');
      const { code, stdout, stderr } = await run([
        'ingest',
        'contacts',
        input,
        '--rejects',
        rejects,
        ...through(gateway.key),
      ]);
      expect(code).to.equal(1);
      expect(stdout).to.match(/334 accepted, 666 rejected/);
      expect(stderr).to.match(/^line 3: \/age/);
      expect(await readFile(rejects, 'utf8')).to.equal(`${lines.filter((_, n) => n % 3 !== 0).join('\n')}\n`);
      expect(await parsed(gateway.stores.search).getContact('org_a', 'g999')).to.include({
        contact_id: 'g999',
      });
    });

    it('counts every rejected record once, also those that no answer lists', async () => {
      const input = await ndjson('x\n'.repeat(250));
      const { stderr } = await run(['ingest', 'contacts', input, ...through(gateway.key)]);
      expect(stderr.match(/more rejected/g)).to.have.lengthOf(1);
      expect(stderr).to.contain('and 230 more rejected');
    });

    it('takes address and key from the environment', async () => {
      const env = { REACHLINE_URL: gateway.url, REACHLINE_API_KEY: gateway.key };
      const input = await ndjson('{"contact_id":"ge1"}');
      const loaded = await run(['ingest', 'contacts', input], { env });
      expect(loaded).to.include({ code: 0 });
      expect(await parsed(gateway.stores.search).getContact('org_a', 'ge1')).to.include({
        contact_id: 'ge1',
      });
      const keyless = await run(['ingest', 'contacts', input], { env: { REACHLINE_URL: gateway.url } });
      expect(keyless).to.include({ code: 2 });
      expect(keyless.stderr).to.contain('REACHLINE_API_KEY');
    });

    it('sends CSV as records of the organization of the key', async () => {
      const csv = await file('gate.csv', 'contact_id,age\ngc1,30\n');
      expect((await run(['ingest', 'contacts', csv, ...through(gateway.key)])).code).to.equal(0);
      expect(await parsed(gateway.stores.search).getContact('org_a', 'gc1')).to.include({ age: 30 });
    });

    it('is refused an organization that is not that of the key', async () => {
      const input = await ndjson('{"contact_id":"go1"}');
      const args = ['ingest', 'contacts', input, '--organization', 'org_b', ...through(gateway.key)];
      const { code, stderr } = await run(args);
      expect(code).to.equal(1);
      expect(stderr).to.equal('The key belongs to org_a, not to org_b.\n');
    });

    it('says why a key is not taken', async () => {
      const key = await gateway.keyFor('org_a', ['contacts:read']);
      const input = await ndjson('{"contact_id":"x"}');
      const rejected = await run(['ingest', 'contacts', input, ...through(key)]);
      expect(rejected).to.include({ code: 1 });
      expect(rejected.stderr).to.match(/403 insufficient_scope.*ingest:write/s);
      const unknown = await run(['ingest', 'contacts', input, ...through('nonsense')]);
      expect(unknown.stderr).to.match(/401 invalid_api_key/);
    });

    it('is named in the error about a held data folder', async () => {
      const held = { REACHLINE_DATA_DIR: gateway.dataDir };
      const { code, stderr } = await run(['ingest', 'contacts', await ndjson('{}')], { env: held });
      expect(code).to.equal(1);
      expect(stderr).to.match(/in use.*--url/);
      expect((await run(['keys', 'create', '--organization', 'org_a'], { env: held })).code).to.equal(0);
      expect((await run(['credits', 'set', '--organization', 'org_a', '3'], { env: held })).stdout).to.equal(
        '3\n',
      );
      expect(await gateway.stores.search.getCredits('org_a')).to.equal(3);
    });
  });

  describe('with the files of a connector', () => {
    const exported = [
      'campaign_history',
      'campaign_group_history',
      'creative_history',
      'ad_analytics_by_creative',
    ];
    let data: ReturnType<typeof unpackRealData>;
    before(() => {
      data = unpackRealData();
    });
    after(() => data.remove());

    const csv = (table: string) => join(data.path, `linkedin_${table}.csv`);
    const organization = ['--organization', 'org_congress'];
    const preset = ['--preset', 'fivetran-linkedin'];
    const stateOf = (dir: string) =>
      withStores(dir, async ({ analytics }) => {
        const rows = async (name: string, sql: string) =>
          (await analytics.query({ name, sql, params: {} })).rows;
        return {
          // The seeds do not tell the currency, the records were made for US dollars.
          campaigns: await rows(
            'campaigns',
            "SELECT * REPLACE ('' AS currency) FROM campaigns FINAL ORDER BY id",
          ),
          creatives: await rows('creatives', 'SELECT * FROM creatives FINAL ORDER BY id'),
          deliveries: await rows(
            'deliveries',
            "SELECT * EXCEPT (version, mark) FROM creative_deliveries FINAL WHERE campaign_id != '' ORDER BY date, campaign_id, creative_id",
          ),
        };
      });

    it('stores the same as the records made from them', async () => {
      const fromRecords = { REACHLINE_DATA_DIR: join(folder.path, 'records') };
      const fromFiles = { REACHLINE_DATA_DIR: join(folder.path, 'files') };
      const loads: [stream: string, table: string, accepted: number][] = [
        ['network-a-campaigns', 'campaign_history', 100],
        ['network-a-creatives', 'creative_history', 100],
        ['network-a-deliveries', 'ad_analytics_by_creative', 100],
      ];
      for (const [stream, table, accepted] of loads) {
        const records = await run(['ingest', stream, join(data.path, `${stream}.ndjson`)], {
          env: fromRecords,
        });
        expect(records.code).to.equal(0);
        const { code, stdout } = await run(['ingest', stream, csv(table), ...preset, ...organization], {
          env: fromFiles,
        });
        expect(code).to.equal(0);
        expect(stdout).to.contain(`${accepted} accepted, 0 rejected`);
      }
      const stored = await stateOf(fromRecords.REACHLINE_DATA_DIR);
      expect(stored.campaigns.length).to.equal(12);
      expect(stored.creatives.length).to.equal(66);
      expect(stored.deliveries.length).to.equal(100);
      expect(await stateOf(fromFiles.REACHLINE_DATA_DIR)).to.deep.equal(stored);
    });

    it('takes the other tables from --with, and names missing ones', async () => {
      const elsewhere = join(folder.path, 'elsewhere');
      await mkdir(elsewhere);
      for (const table of exported) await copyFile(csv(table), join(elsewhere, `${table}-moved.csv`));
      const moved = (table: string) => join(elsewhere, `${table}-moved.csv`);
      const deliveries = [moved('ad_analytics_by_creative'), ...preset, ...organization];
      const load = (...more: string[]) =>
        run(['ingest', 'network-a-deliveries', ...deliveries, '--dry-run', ...more]);
      const alone = await load();
      expect(alone).to.include({ code: 0 });
      expect(alone.stderr).to.match(/No creative_history.*--with/);
      expect(alone.stdout).to.match(/"campaign_id":"unknown_/);
      const together = await load('--with', moved('campaign_history'), moved('creative_history'));
      expect(together).to.include({ code: 0 });
      expect(together.stderr).not.to.match(/No creative_history/);
    });

    it('names the stream a table belongs to', async () => {
      const { code, stderr } = await run(
        ['ingest', 'network-a-creatives', csv('campaign_history'), ...preset],
        { env },
      );
      expect(code).to.equal(2);
      expect(stderr).to.match(/belongs to the stream network-a-campaigns/);
    });
  });
});
