import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { loadConfig } from '../../services/shared/config.js';
import { sql } from '../../services/shared/sql.js';
import { SEARCH_FILE } from '../../services/stores/data-folder/layout.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { Connection } from '../../services/stores/sqlite/connection.js';
import { freePort } from '../stack/free-port.js';
import { compressZstd } from '../support/compress.js';
import { useGateway } from '../support/gateway.js';
import { parsed } from '../support/parsed-store.js';
import { rawSql } from '../support/raw-sql.js';
import { unpackRealData } from '../support/real-data.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { MAIN, type RunOptions, run, serve, start } from './support.js';

async function withStores<T>(dataDir: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const config = loadConfig({ REACHLINE_DATA_DIR: dataDir, REACHLINE_SEARCH_PROCESSES: '1' });
  const stores = await openStores(config, { analyticsOnDemand: true });
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

describe('reachline ingest', function () {
  this.timeout(60_000);
  let folder: string;
  let dataDir: string;
  let env: Record<string, string>;
  before(() => {
    folder = tempFolder();
    dataDir = join(folder, 'data');
    env = { REACHLINE_DATA_DIR: dataDir };
  });

  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const lines = (text: string) => file('lines.ndjson', text);
  const ingest = (args: string[], options: RunOptions = {}) =>
    run(['ingest', 'contacts', ...args], { env, ...options });
  /** For `org_a`. */
  const load = (...args: string[]) => ingest([...args, '--organization', 'org_a']);
  const contact = (id: string) =>
    withStores(dataDir, ({ records }) => parsed(records).getContact('org_a', id));

  it('takes lines from a pipe into an empty folder, and its engine reads none of them', async () => {
    const records = file('piped.ndjson', '{"id":"p1","name":"Łódź"}\n');
    const own = join(folder, 'piped');
    const command = `cat '${records}' | '${process.execPath}' '${MAIN}' ingest audiences - --organization org_a --format ndjson`;
    const { status, stderr, stdout } = spawnSync('sh', ['-c', command], {
      env: { ...process.env, REACHLINE_DATA_DIR: own },
      encoding: 'utf8',
    });
    // Leaves out the progress lines that a command prints after a second.
    const said = stderr.replaceAll(/^\d+ records, .*…\n/gm, '');
    expect({ status, said }).to.deep.equal({ status: 0, said: '' });
    expect(stdout).to.match(/^audiences: 1 accepted, 0 rejected in [\d.]+ s \([\d ]+ records\/s\)\n$/);
    const stored = await withStores(own, ({ records }) => records.getAudience('org_a', 'p1'));
    expect(stored).to.include({ name: 'Łódź' });
  });

  it('leaves to the loop of a shell that runs it what the loop reads', () => {
    const paths = ['k1', 'k2'].map((id) => file(`${id}.ndjson`, `{"contact_id":"${id}"}\n`));
    const command = `printf '%s\\n' ${paths.join(' ')} | while read path; do '${process.execPath}' '${MAIN}' ingest contacts "$path" --organization org_a; done`;
    const { stderr, stdout } = spawnSync('sh', ['-c', command], {
      env: { ...process.env, REACHLINE_DATA_DIR: join(folder, 'looped') },
      encoding: 'utf8',
    });
    expect(stderr).to.equal('');
    expect(stdout.match(/1 accepted/g)).to.have.length(2);
  });

  it('takes gzipped, zstd and UTF-16 lines, from a file or a pipe, and JSON arrays', async () => {
    // The text follows a skippable frame, as parallel compressors write it.
    const zstd = Buffer.concat([
      Buffer.from('502a4d180200000001ff', 'hex'),
      await compressZstd(Buffer.from('{"contact_id":"z2","organization_id":"org_a"}\n')),
    ]);
    const zipped = gzipSync('{"contact_id":"z1","organization_id":"org_a"}\n');
    const wide = Buffer.from('\ufeff{"contact_id":"u1","organization_id":"org_a"}\r\n', 'utf16le');
    expect((await ingest(['-'], { stdin: zstd })).stdout).to.match(/1 accepted/);
    const array = file('a.json', '\ufeff [{"contact_id":"j1","organization_id":"org_a"}]');
    for (const path of [file('z.ndjson.gz', zipped), file('u.ndjson', wide), array])
      expect((await ingest([path])).stdout).to.match(/1 accepted/);
    const short = file('z.ndjson.zst', zstd.subarray(0, -6));
    expect((await ingest([short])).stderr).to.match(/z.ndjson.zst is damaged/);
    // One bit differs from the compressed original, so its addresses differ.
    const flipped = await load('test/data/files/06-checksum-fails.ndjson.zst');
    expect(flipped).to.include({ code: 1, stdout: '' });
    expect(flipped.stderr).to.match(/is damaged: its checksum does not match its content/);
    const piped = readFileSync('test/data/files/06-checksum-fails.ndjson.zst');
    expect((await ingest(['-', '--organization', 'org_a'], { stdin: piped })).stderr).to.match(
      /standard input is damaged/,
    );
    const cut = await ingest(['-'], { stdin: zipped.subarray(0, 30) });
    expect(cut).to.include({ code: 1 });
    expect(cut.stderr).to.match(/standard input is damaged/);
  });

  it('answers 0 for up to --max-rejected rejected records, and says how to keep them', async () => {
    const input = file('two-bad.ndjson', '{"contact_id":"kept_1"}\n{"age":1}\n{"age":2}\n');
    const outcome = async (...options: string[]) => {
      const { code, stderr } = await load(input, ...options);
      return [code, stderr.includes('add --rejects <file>')];
    };
    expect(await outcome()).to.deep.equal([1, true]);
    expect(await outcome('--max-rejected', '1')).to.deep.equal([1, true]);
    expect(await outcome('--max-rejected', '2')).to.deep.equal([0, true]);
    expect(await outcome('--rejects', join(folder, 'two.ndjson'))).to.deep.equal([1, false]);
    expect((await load(input, '--max-rejected', '-1')).code).to.equal(2);
  });

  it('names the ways to load a list with columns of its own, and its charset', async () => {
    const list = (name: string, charset: BufferEncoding) =>
      file(name, Buffer.from('Vorname;Nachname;E-Mail\nJürgen;Müller;jm@acme.example\n', charset));
    const own = await load(list('own.csv', 'utf8'));
    expect(own.code).to.equal(2);
    expect(own.stderr).to.contain(
      `Add --preset auto if the file is an export of a known tool. Otherwise draft a mapping with: reachline mapping draft ${join(folder, 'own.csv')} --stream contacts`,
    );
    const western = list('western.csv', 'latin1');
    const unknown = await load(western, '--preset', 'auto');
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.contain('--charset windows-1252');
    const draft = await run(['mapping', 'draft', western, '--stream', 'contacts']);
    expect(draft.stderr).to.contain('--charset windows-1252');
  });

  it('names the other streams of a file that it loads', async () => {
    const report = 'test/data/presets/linkedin-campaign-manager/ad_set_performance_report.csv';
    const command = (stream: string, preset: string) =>
      `Load them with: reachline ingest ${stream} ${report} --preset linkedin-campaign-manager/${preset}`;
    const dry = (stream: string) =>
      run(['ingest', stream, report, '--organization', 'org_a', '--preset', 'auto', '--dry-run'], { env });
    const deliveries = await dry('network-a-deliveries');
    expect(deliveries.stderr).to.contain(command('network-a-campaigns', 'ad-sets'));
    expect(deliveries.stderr.match(/also holds/g)).to.have.length(1);
    expect((await dry('network-a-campaigns')).stderr).to.contain(
      command('network-a-deliveries', 'campaign-performance'),
    );
  });

  it('answers 1 when a record is rejected, names it, and keeps its line byte for byte', async () => {
    const bad = [
      Buffer.from('{"contact_id":"r1", "first_nam" :"x"}\r'),
      Buffer.from([0x7b, 0xff, 0x7d]),
      Buffer.from(`{"contact_id":"${'x'.repeat(1_100_000)}"}`),
      Buffer.from('{"contact_id":"r2","age":-1}'),
    ];
    const all = [Buffer.from('{"contact_id":"r0"}'), ...bad, Buffer.from('{"contact_id":"r9"}')];
    const ended = (parts: Buffer[]) => Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]));
    const rejects = file('rejects.ndjson', 'left over from before\n');
    const { code, stdout, stderr } = await load(file('bad.ndjson', ended(all)), '--rejects', rejects);
    expect(code).to.equal(1);
    expect(stdout).to.match(/2 accepted, 4 rejected/);
    expect(stderr).to.match(/line 2: \/first_nam: .*first_name.*\(unknown_field\)/);
    expect(stderr).to.match(/line 3: .*\(invalid_utf8\)\nline 4: .*\(line_too_long\)\nline 5: \/age: /);
    expect(readFileSync(rejects).equals(ended(bad))).to.equal(true);
    await load(file('good.ndjson', '{"contact_id":"r0"}'), '--rejects', rejects);
    expect(readFileSync(rejects).length).to.equal(0);
  });

  it('leaves unknown fields out where REACHLINE_INGEST_UNKNOWN_FIELDS=ignore, also in a dry run', async () => {
    const args = [file('unknown.ndjson', '{"contact_id":"u1","shoe_size":41}'), '--organization', 'org_u'];
    expect((await ingest([...args, '--dry-run'])).code).to.equal(1);
    for (const more of [['--dry-run'], []]) {
      const ignoring = { env: { ...env, REACHLINE_INGEST_UNKNOWN_FIELDS: 'ignore' } };
      const { code, stdout, stderr } = await ingest([...args, ...more], ignoring);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.contain('1 accepted (unknown fields left out of 1), 0 rejected');
    }
  });

  it('shows twenty rejections and counts the others', async () => {
    const { stderr } = await ingest([lines('x\n'.repeat(50))]);
    expect(stderr.match(/^line /gm)?.length).to.equal(20);
    expect(stderr.match(/more rejected/g)).to.have.lengthOf(1);
    expect(stderr).to.match(/and 30 more rejected/);
  });

  it('names the formats there are for a file of another one', async () => {
    for (const extension of ['parquet', 'ods', 'orc', 'ndjson.br', 'avro']) {
      const { code, stderr } = await load(file(`records.${extension}`, '{"contact_id":"o1"}'));
      expect(code, extension).to.equal(2);
      expect(stderr).to.match(/NDJSON .*CSV .*JSON arrays .*--format/);
    }
    expect(await load(join(folder, 'records.avro'), '--format', 'ndjson')).to.include({ code: 0 });
  });

  it('loads several files and folders in one command, with a report for each', async () => {
    const exports = join(folder, 'exports');
    mkdirSync(join(exports, 'more'), { recursive: true });
    file('exports/a.csv', 'contact_id,age\nfo1,20\nfo2,old\n');
    file('exports/more/a.csv', 'contact_id,age\nfo3,young\n');
    file('exports/b.ndjson.gz', gzipSync('{"contact_id":"fo4"}\n'));
    file('exports/notes.md', 'not records');
    const months = [
      file('2026-01.json', '[{"contact_id":"fo5"}]'),
      file('2026-02.json', '{"contact_id":"fo6"}'),
    ];
    const rejects = join(folder, 'rejected');
    const { code, stdout, stderr } = await load(exports, ...months, '--rejects', rejects);
    expect(code, stderr).to.equal(1);
    expect(stderr).to.contain('1 files in').and.to.contain('a.csv: line 3: /age');
    const rows = stdout.split('\n').map((line) => line.replace(folder, '').split(/ +/).slice(0, 3).join(' '));
    expect(rows.slice(0, 6)).to.deep.equal([
      'FILE ACCEPTED REJECTED',
      '/exports/a.csv 1 1',
      '/exports/b.ndjson.gz 1 0',
      '/exports/more/a.csv 0 1',
      '/2026-01.json 1 0',
      '/2026-02.json 1 0',
    ]);
    expect(stdout).to.contain('contacts: 4 accepted, 2 rejected');
    expect(readFileSync(join(rejects, 'a.csv'), 'utf8')).to.equal('contact_id,age\nfo2,old\n');
    expect(readFileSync(join(rejects, '3-a.csv'), 'utf8')).to.equal('contact_id,age\nfo3,young\n');
    mkdirSync(join(folder, 'empty', '.hidden'), { recursive: true });
    file('empty/.hidden/a.csv', 'contact_id\nfo7\n');
    expect(await ingest([join(folder, 'empty')])).to.include({ code: 2 });
  });

  describe('--rejects', () => {
    const GOOD = '{"contact_id":"rej1"}\n';
    const inFolder = (name: string) => {
      const path = join(folder, name);
      mkdirSync(path, { recursive: true });
      return path;
    };

    it('never names a file that is read, by whatever link', async () => {
      const real = inFolder('real');
      const input = file('real/a.ndjson', GOOD);
      symlinkSync(real, join(folder, 'link'));
      symlinkSync(input, join(folder, 'link-to-file'));
      linkSync(input, join(folder, 'second-name'));
      const other = file('real/b.ndjson', GOOD);
      mkdirSync(join(real, 'deep'));
      symlinkSync(join(real, 'deep'), join(folder, 'link-down'));
      for (const [inputs, rejects] of [
        [[input], join(folder, 'link', 'a.ndjson')],
        [[input], join(folder, 'link-to-file')],
        [[input], join(folder, 'second-name')],
        [[join(folder, 'link', 'a.ndjson')], input],
        [[input, other], join(folder, 'link')],
        [[input], `${folder}/link-down/../a.ndjson`],
        [[`${folder}/link-down/../a.ndjson`], input],
        [[join(folder, 'link', 'a.ndjson'), other], real],
      ] as [string[], string][]) {
        const { code, stderr } = await load(...inputs, '--rejects', rejects);
        expect({ code, stderr }, rejects).to.deep.include({ code: 2 });
        for (const path of [input, other]) expect(readFileSync(path, 'utf8')).to.equal(GOOD);
      }
      const missing = await load(input, '--rejects', `${folder}/no-such-folder/../real/a.ndjson`);
      expect(missing.code, missing.stderr).to.equal(1);
      expect(readFileSync(input, 'utf8')).to.equal(GOOD);
      const piped = spawnSync(
        'sh',
        [
          '-c',
          `'${process.execPath}' '${MAIN}' ingest contacts - --organization org_a --rejects '${input}' < '${input}'`,
        ],
        { env: { ...process.env, ...env }, encoding: 'utf8' },
      );
      expect(piped.status, piped.stderr).to.equal(2);
      expect(readFileSync(input, 'utf8')).to.equal(GOOD);
    });

    /** Runs a command whose standard input is a file. */
    const loadFrom = (input: string, ...args: string[]) => {
      const command = [process.execPath, MAIN, 'ingest', 'contacts', ...args, '--organization', 'org_a'];
      const text = `${command.map((each) => `'${each}'`).join(' ')} < '${input}'`;
      return spawnSync('sh', ['-c', text], { env: { ...process.env, ...env }, encoding: 'utf8' });
    };

    it('reads standard input by each of its names, and never overwrites what it comes from', () => {
      const input = file('by-name.ndjson', GOOD);
      const linked = join(folder, 'link-to-stdin');
      symlinkSync('/dev/stdin', linked);
      for (const name of ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0', '/dev/../dev/stdin', linked]) {
        const loaded = loadFrom(input, name, '--dry-run');
        expect(loaded.status, loaded.stderr).to.equal(0);
        expect(loaded.stdout, name).to.contain('contacts: 1 accepted');
      }
      const written = loadFrom(input, linked);
      expect(written.stdout, written.stderr).to.contain('contacts: 1 accepted');
      const onto = loadFrom(input, '/dev/stdin', '--rejects', input);
      expect(onto.status, onto.stderr).to.equal(2);
      expect(readFileSync(input, 'utf8')).to.equal(GOOD);
      for (const option of ['--map', '--with', '--rejects']) {
        const refused = loadFrom(input, input, option, '/dev/stdin');
        expect(refused.status, option + refused.stderr).to.equal(2);
        expect(refused.stderr, option).to.contain('standard input');
      }
      const several = loadFrom(input, '/dev/stdin', input);
      expect(several.status, several.stderr).to.equal(2);
      expect(readFileSync(input, 'utf8')).to.equal(GOOD);
    });

    it('leaves files alone whose names end in .part, also where it names a link', async () => {
      const real = inFolder('parts');
      const bad = '{"contact_id":"rej4","age":-1}\n';
      const input = file('parts/real.ndjson.part', bad);
      const unrelated = file('parts/other.ndjson.part', 'of somebody else\n');
      symlinkSync(join(real, 'real.ndjson'), join(folder, 'link-to-parts'));
      file('parts/real.ndjson', 'from before\n');
      expect(await load(input, '--format', 'ndjson', '--rejects', join(folder, 'link-to-parts'))).to.include({
        code: 1,
      });
      expect(await load(input, '--format', 'ndjson', '--rejects', join(real, 'other.ndjson'))).to.include({
        code: 1,
      });
      expect(readFileSync(input, 'utf8')).to.equal(bad);
      expect(readFileSync(unrelated, 'utf8')).to.equal('of somebody else\n');
      expect(readFileSync(join(real, 'real.ndjson'), 'utf8')).to.equal(bad);
      const names = ['other.ndjson', 'other.ndjson.part', 'real.ndjson', 'real.ndjson.part'];
      expect(readdirSync(real).sort()).to.deep.equal(names);
    });

    it('never names a file of a store, by whatever link', async () => {
      const own = inFolder('stores');
      const settings = { env: { ...env, REACHLINE_DATA_DIR: own } };
      const bad = file('onto-store.ndjson', '{"contact_id":"rej5","age":-1}\n');
      const args = ['ingest', 'contacts', bad, '--organization', 'org_a', '--rejects'];
      expect(await run([...args, join(folder, 'made.ndjson')], settings)).to.include({ code: 1 });
      symlinkSync(own, join(folder, 'link-to-stores'));
      symlinkSync(join(own, 'reachline.db'), join(folder, 'link-to-db'));
      // SQLite creates and deletes the other two files.
      const content = () => readdirSync(own).filter((name) => !/-(?:wal|shm)$/.test(name));
      const before = content().sort();
      for (const rejects of [
        join(own, 'reachline.db'),
        join(own, 'REACHLINE.db-wal'),
        join(own, 'reachline.db-shm'),
        join(own, 'lock.db'),
        join(own, 'holder.json'),
        join(own, 'clickhouse', 'reachline-mark.json'),
        join(own, 'clickhouse', 'new', 'deep.ndjson'),
        join(own, 'commands', 'x'),
        join(folder, 'link-to-stores', 'reachline.db'),
        join(folder, 'link-to-db'),
      ]) {
        // In one of two runs, another installation has the folder.
        for (const used of [settings, { env }]) {
          const refused = await run([...args, rejects], used);
          expect(refused, rejects).to.include({ code: 2 });
          expect(refused.stderr).to.contain('is a file of the stores in the data folder');
          const out = await run(['export', 'contacts', '--organization', 'org_a', '--out', rejects], used);
          expect(out, rejects).to.include({ code: 2 });
        }
      }
      const backup = await run(['backup', join(folder, 'link-to-stores', 'copy')], settings);
      expect(backup).to.include({ code: 1 });
      expect(backup.stderr).to.contain('lies in the data folder');
      expect(content().sort()).to.deep.equal(before);
      expect(readFileSync(join(own, 'reachline.db')).toString('latin1', 0, 15)).to.equal('SQLite format 3');
      expect(await run([...args, join(own, 'mine.ndjson')], settings)).to.include({ code: 1 });
    });

    it('names a new file inside of a linked folder of inputs', async () => {
      const input = join(inFolder('linked'), 'a.ndjson');
      writeFileSync(input, `${GOOD}{"contact_id":"rej2","age":-1}\n`);
      symlinkSync(join(folder, 'linked'), join(folder, 'link-2'));
      const rejects = join(folder, 'link-2', 'new.ndjson');
      expect(await load(input, '--rejects', rejects)).to.include({ code: 1 });
      expect(readFileSync(join(folder, 'linked', 'new.ndjson'), 'utf8')).to.equal(
        '{"contact_id":"rej2","age":-1}\n',
      );
      expect(readdirSync(join(folder, 'linked')).sort()).to.deep.equal(['a.ndjson', 'new.ndjson']);
    });

    it('keeps a link that it names, and what was there where the load fails', async () => {
      const before = file('before.ndjson', 'from before\n');
      const link = join(folder, 'link-to-rejects');
      symlinkSync(before, link);
      const bad = file('bad-once.ndjson', '{"contact_id":"rej3","age":-1}\n');
      const url = `http://127.0.0.1:${await freePort()}`;
      const failed = await ingest([bad, '--rejects', link, '--url', url, '--api-key', 'k']);
      expect(failed).to.include({ code: 1 });
      expect(readFileSync(before, 'utf8')).to.equal('from before\n');
      expect(await load(bad, '--rejects', link)).to.include({ code: 1 });
      expect(readFileSync(before, 'utf8')).to.equal('{"contact_id":"rej3","age":-1}\n');
      expect(lstatSync(link).isSymbolicLink()).to.equal(true);
    });

    it('has a file for each input, also where made names meet given ones', async () => {
      const names = ['n1/a.csv', 'n2/a.csv', 'n3/2-a.csv', 'n4/A.csv'];
      const inputs = names.map((name, index) => {
        inFolder(dirname(name));
        return file(name, `contact_id,age\nna${index},old\n`);
      });
      const rejects = join(folder, 'named');
      expect(await load(...inputs, '--rejects', rejects)).to.include({ code: 1 });
      const kept = readdirSync(rejects).map((name) => readFileSync(join(rejects, name), 'utf8'));
      expect(kept.sort()).to.deep.equal(names.map((_, index) => `contact_id,age\nna${index},old\n`));
    });
  });

  it('reads a file once whatever names it has, and says which linked folders it leaves out', async () => {
    const inputs = join(folder, 'twice');
    mkdirSync(join(inputs, 'more'), { recursive: true });
    const one = file('twice/one.ndjson', '{"contact_id":"twice"}\n');
    symlinkSync(one, join(inputs, 'two.ndjson'));
    symlinkSync(join(inputs, 'more'), join(inputs, 'linked'));
    const { code, stdout, stderr } = await load(inputs);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain('contacts: 1 accepted');
    expect(stderr).to.contain('1 links to folders in');
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
      stderr: 'Interrupted after 1 record. You can safely run the command again.\n',
    });
    expect(await contact('i1')).to.include({ contact_id: 'i1' });
  });

  it('fails without waiting when nothing listens on the port', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await ingest([lines('{"contact_id":"x"}'), '--url', url, '--api-key', 'k']);
    expect(code).to.equal(1);
    expect(stderr).to.match(/cannot be reached \(ECONNREFUSED\).*reachline serve/);
    expect(stderr).to.not.include('trying again');
  });

  it('sends through the server that has the data folder, with a key that is revoked afterwards and not listed', async () => {
    const served = { REACHLINE_DATA_DIR: join(folder, 'served') };
    const server = await serve([], { env: served });
    try {
      const args = [lines('{"contact_id":"t1"}')];
      const sent = await ingest([...args, '--organization', 'org_a'], { env: served });
      expect(sent, sent.stderr).to.include({ code: 0 });
      expect(sent.stderr).to.contain(`The server at ${server.url} uses the data folder`);
      expect(sent.stdout).to.match(/1 accepted/);
      expect(await run(['keys', 'list', '--json'], { env: served })).to.include({ code: 0, stdout: '' });
      const unnamed = await ingest(args, { env: served });
      expect(unnamed.code).to.equal(2);
      expect(unnamed.stderr).to.match(/in use by the server at .*--organization/);
    } finally {
      await server.stop();
    }
    await withStores(served.REACHLINE_DATA_DIR, async ({ records }) => {
      expect(await parsed(records).getContact('org_a', 't1')).to.include({ contact_id: 't1' });
      const path = join(served.REACHLINE_DATA_DIR, SEARCH_FILE);
      const connection = new Connection(path, { cacheMb: 1, readOnly: true });
      const [[id], ...others] = connection.rows<[string]>(sql`SELECT id FROM keys`) as [[string]];
      connection.close();
      expect(others).to.deep.equal([]);
      const key = await records.findKey(id);
      expect(key?.scopes).to.deep.equal(['ingest:write']);
      expect(key?.revoked_at).to.be.a('string');
    });
  });

  it('takes CSV whose columns bear the names of fields, divided by commas or semicolons', async () => {
    const commas =
      'contact_id,first_name,phones,age,dob\nc1,"Müller, Anna","030 1; 030 2",41,\n\nc2,"say ""hi""",,,1980-01-02\n';
    expect(await load(file('plain.csv', commas))).to.include({ code: 0 });
    const phones = ['030 1', '030 2'];
    expect(await contact('c1')).to.deep.include({ first_name: 'Müller, Anna', phones, age: 41, dob: null });
    expect(await contact('c2')).to.deep.include({ first_name: 'say "hi"', phones: [], age: null });
    await load(file('semi.csv', '\ufeffcontact_id;first_name;phones\nd1;Zoë;"1;2"\n'));
    expect(await contact('d1')).to.deep.include({ first_name: 'Zoë', phones: ['1', '2'] });
  });

  const rejected: [what: string, csv: string, code: number, message: RegExp][] = [
    [
      'columns it knows nothing of',
      'contact_id,fist_name,Notes\nodd1,A,B\n',
      2,
      /"fist_name".*Did you mean first_name\?\n.*"Notes"/,
    ],
    ['a quotation mark that is missing', 'contact_id,city\nq1,"Ulm\nq2,Bonn\n', 1, /quotation mark/],
  ];
  for (const [what, csv, code, message] of rejected) {
    it(`names ${what} in CSV`, async () => {
      const outcome = await load(file('rejected.csv', csv));
      expect(outcome.code).to.equal(code);
      expect(outcome.stderr).to.match(message);
    });
  }

  it('keeps a row of CSV that is too long, byte for byte, and loads the others', async () => {
    const long = `"${'ü\n'.repeat(600 * 1024)}",30`;
    const csv = file('long.csv', `contact_id,age\nlong1,30\n${long}\nlong2,old\nlong3,30\n`);
    const rejects = join(folder, 'long-rejects.csv');
    const { code, stdout, stderr } = await load(csv, '--rejects', rejects);
    expect(code, stderr).to.equal(1);
    expect(stdout).to.contain('2 accepted, 2 rejected');
    expect(stderr).to.contain('line 3: A record may have 1048576 bytes at most. (line_too_long)');
    expect(stderr).to.contain('line 614404: /age: ');
    expect(readFileSync(rejects, 'utf8') === `contact_id,age\n${long}\nlong2,old\n`).to.equal(true);
  });

  it('reads the charset, the header row and the workbook that it is told, and proposes them', async () => {
    const western = 'test/data/files/contacts-windows-1252.csv';
    const told = await load(western, '--charset', 'windows-1252');
    expect(told, told.stderr).to.include({ code: 0 });
    expect(await contact('2')).to.include({ last_name: 'Š€', city: 'Zürich' });
    expect((await load(western)).stderr).to.contain('perhaps it must be read with --charset windows-1252.');
    expect(await load(western, '--charset', 'klingon')).to.include({ code: 2 });
    const book = 'test/data/files/contacts-openpyxl.xlsx';
    expect((await load(book, '--dry-run')).stderr).to.contain('perhaps it must be read with --header-row 3.');
    const rejects = join(folder, 'book-rejects.csv');
    const loaded = await load(book, '--header-row', '3', '--rejects', rejects);
    expect(loaded.stdout, loaded.stderr).to.contain('2 accepted, 1 rejected');
    expect(await contact('003')).to.include({ last_name: 'O’Neil' });
    // The file of rejected rows is read in the same way as its source.
    const fixed = readFileSync(rejects, 'utf8').replace('2026-03-01 14:05:00', '2026-03-01T14:05:00Z');
    const again = await load(file('fixed.csv', fixed), '--header-row', '3');
    expect(again.stdout, again.stderr).to.contain('1 accepted, 0 rejected');
    const mixed = file('mixed.csv', Buffer.from('contact_id,age,city\nl1,old,Köln\n', 'latin1'));
    await load(mixed, '--charset', 'windows-1252', '--rejects', rejects);
    const corrected = file('corrected.csv', readFileSync(rejects, 'utf8').replace('old', '30'));
    expect((await load(corrected, '--charset', 'windows-1252')).stdout).to.contain('1 accepted');
    expect(await contact('l1')).to.include({ city: 'Köln', age: 30 });
  });

  it('needs to know the organization of a CSV file', async () => {
    const outcome = await ingest([file('noorg.csv', 'contact_id\nn1\n')]);
    expect(outcome.code).to.equal(2);
    expect(outcome.stderr).to.match(/--organization/);
    const own = await ingest([file('org.csv', 'contact_id,organization_id\nn1,org_a\n')]);
    expect(own).to.include({ code: 0 });
  });

  it('maps columns and JSON as a file says, and shows with --dry-run what would be written', async () => {
    const mapping = {
      timezone: 'Europe/Berlin',
      fields: {
        contact_id: ['ID', 'Notes'],
        work_emails: { all: ['E-Mail', 'E-Mail 2'] },
        country: { value: 'Germany' },
        created_at: { path: 'Created', format: 'DD.MM.YYYY HH:mm' },
      },
      where: { Kind: ['', 'person'] },
      ignore: ['Notes', 'Kind'],
    };
    const rows = [
      'm1,A@x.de,b@x.de,hm,02.07.2024 09:30,person',
      ',c@x.de,,n2,,',
      'm3,d@x.de,,,2024-07-02,',
      'm4,,,,,firm',
    ];
    const csv = file('crm.csv', `ID,E-Mail,E-Mail 2,Notes,Created,Kind\n${rows.join('\n')}\n`);
    const map = ['--map', file('crm.json', JSON.stringify(mapping))];
    const tried = await load(csv, ...map, '--dry-run');
    expect(tried).to.include({ code: 1 });
    expect(tried.stdout).to.match(
      /^line 2: \{"ID":"m1","E-Mail":"A@x\.de".*\n {2}becomes \{"contact_id":"m1","work_emails":\["a@x\.de","b@x\.de"\],.*"created_at":"2024-07-02T09:30:00\+02:00".*\}\n/,
    );
    expect(tried.stdout).to.match(/2 accepted, 1 rejected, 1 skipped.*nothing was written\n$/);
    expect(tried.stderr).to.match(
      /^crm\.csv: columns left out: Kind\.\nline 4: \/created_at: .*DD\.MM\.YYYY HH:mm.*\(invalid_date_time\)\n$/,
    );
    expect(await contact('m1')).to.equal(null);
    expect((await load(csv, ...map)).stdout).to.match(/2 accepted, 1 rejected, 1 skipped in/);
    expect(await contact('m1')).to.deep.include({ work_emails: ['a@x.de', 'b@x.de'], country: 'Germany' });
    const json = '{"ID":7,"E-Mail":["e@x.de"],"Kind":"person"}\n{"ID":8,"Kind":"x"}\n';
    expect(await load(file('crm.ndjson', json), ...map)).to.include({ code: 0 });
    expect(await contact('7')).to.deep.include({ work_emails: ['e@x.de'] });
  });

  it('names the line of the file where a row or list is several records', async () => {
    const rates = file(
      'eurofxref.csv',
      'Date,USD,JPY,CZK,DKK\n2026-11-20,1.15,179,,\n2026-11-19,x,178,,\n2026-11-18,1.1,0,,\n',
    );
    const args = ['ingest', 'currency-rates', rates, '--organization', 'org_a', '--preset', 'ecb'];
    const tried = await run([...args, '--dry-run'], { env });
    expect(tried.stderr).to.match(/^line 3: \/per_eur: .*\nline 4: \/per_eur: .*greater than 0/m);
    expect(tried.stdout).to.match(
      /^line 2: .*"USD".*\n.*1\.15.*\nline 2: .*"JPY".*\n.*179.*\nline 3: .*\n {2}becomes rejected/,
    );
    expect((await run(args, { env })).stdout).to.match(/4 accepted, 2 rejected/);
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
    const csv = file('small.csv', 'ID,Nam\nw1,x\n');
    const map = (mapping: object) => load(csv, '--map', file('map.json', JSON.stringify(mapping)));
    const wrong = await map({ fields: { fist_name: 'Name' }, ignored: [] });
    expect(wrong).to.include({ code: 2 });
    expect(wrong.stderr).to.match(/ignored is not a field of a mapping\. Did you mean ignore\?/);
    const other = await map({ stream: 'audiences', fields: {} });
    expect(other.stderr).to.match(/reachline ingest audiences /);
    const missing = await map({ fields: { contact_id: 'ID', city: 'Name' }, ignore: 'rest' });
    expect(missing).to.include({ code: 0 });
    expect(missing.stderr).to.match(/small\.csv has no column "Name"\. Did you mean Nam\?/);
  });

  it('keeps rejected rows with their header, so that the file can be mended and loaded, and never in the file it reads', async () => {
    const rows = ['k1,41', 'k2,old', '"k\n3",1', 'k4,5,6', 'k5,42'];
    const csv = file('rows.csv', `contact_id,age\r\n${rows.join('\r\n')}\r\n`);
    const rejects = join(folder, 'rows-rejects.csv');
    const { code, stdout, stderr } = await load(csv, '--rejects', rejects);
    expect(code).to.equal(1);
    expect(stdout).to.match(/2 accepted, 3 rejected/);
    expect(stderr).to.match(/^line 3: \/age.*\nline 4: \/contact_id.*\nline 6: .*3 cells.*2 columns/);
    const kept = `contact_id,age\r\n${rows.slice(1, 4).join('\r\n')}\r\n`;
    expect(readFileSync(rejects, 'utf8')).to.equal(kept);
    expect(await load(rejects, '--rejects', rejects)).to.include({ code: 2 });
    expect(readFileSync(rejects, 'utf8')).to.equal(kept);
  });

  describe('through a gateway', () => {
    const gateway = useGateway();
    const through = (args: string[], key = gateway.key, more: string[] = []) =>
      ingest([...args, '--url', gateway.url, '--api-key', key, ...more], { env: {} });
    const sent = (id: string) => parsed(gateway.stores.records).getContact('org_a', id);

    it('sends records, and finds every rejected one beyond those an answer lists', async () => {
      const all = Array.from({ length: 1000 }, (_, n) =>
        n % 3 === 0 ? `{"contact_id":"g${n}"}` : `{"contact_id":"g${n}","age":-${n}}`,
      );
      const rejects = join(folder, 'many-rejects.ndjson');
      const input = file('many.ndjson', `\n${all.join('\n')}`);
      const { code, stdout, stderr } = await through([input, '--rejects', rejects]);
      expect(code).to.equal(1);
      expect(stdout).to.match(/334 accepted, 666 rejected/);
      expect(stderr).to.match(/^line 3: \/age/);
      expect(stderr.match(/more rejected/g)).to.have.lengthOf(1);
      expect(stderr).to.contain('and 646 more rejected');
      const bad = all.filter((_, n) => n % 3 !== 0);
      expect(readFileSync(rejects, 'utf8')).to.equal(`${bad.join('\n')}\n`);
      expect(await sent('g999')).to.include({ contact_id: 'g999' });
    });

    it('takes a JSON array however it is broken into lines, and keeps its rejected elements as lines', async () => {
      const people = Array.from({ length: 300 }, (_, n) => ({
        contact_id: `ja${n}`,
        ...(n % 3 === 1 ? { age: -n } : { first_name: 'a\nb' }),
      }));
      const texts = {
        pretty: JSON.stringify(people, null, 2).replaceAll('\n', '\r\n'),
        lines: `[\n${people.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`,
      };
      for (const [name, text] of Object.entries(texts)) {
        const rejects = join(folder, `${name}-rejects.json`);
        const first = await through([file(`${name}.json`, text), '--rejects', rejects]);
        expect(first.stdout, first.stderr).to.contain('200 accepted, 100 rejected');
        expect(first.stderr).to.match(/^line 2: \/age/);
        const kept = readFileSync(rejects, 'utf8').trimEnd().split('\n');
        expect(kept.map((line) => JSON.parse(line))).to.deep.equal(people.filter((_, n) => n % 3 === 1));
        writeFileSync(rejects, readFileSync(rejects, 'utf8').replaceAll(/-\d+/g, '30'));
        const corrected = await through([rejects]);
        expect(corrected.stdout, corrected.stderr).to.contain('100 accepted, 0 rejected');
      }
      expect(await sent('ja299')).to.include({ first_name: 'a\nb' });
    });

    it('sends what it read from a pipe within a second, and keeps it when it is terminated', async () => {
      const args = ['ingest', 'contacts', '-', '--url', gateway.url, '--api-key', gateway.key];
      const loading = start(args);
      loading.stdin?.write('{"contact_id":"slow1"}\n');
      await until(async () => (await sent('slow1')) !== null, 'the record is stored while more could come');
      loading.stdin?.write('{"contact_id":"slow2"}\n');
      // The record is read, but not sent yet.
      await new Promise((resolve) => setTimeout(resolve, 200));
      loading.kill('SIGTERM');
      const [code] = (await once(loading, 'close')) as [number | null];
      expect(code).to.equal(130);
      expect(await sent('slow2')).to.include({ contact_id: 'slow2' });
    });

    it('ends when it fails, while the producer of its input goes on', async () => {
      const held = { REACHLINE_DATA_DIR: gateway.dataDir };
      for (const [args, env] of [
        [['--url', `http://127.0.0.1:${await freePort()}`, '--api-key', 'k'], {}],
        [['--url', gateway.url, '--api-key', 'nonsense'], {}],
        [[], held],
        [['--format', 'csv'], held],
      ] as const) {
        const loading = start(['ingest', 'contacts', '-', ...args], { env });
        loading.stdin?.on('error', () => undefined);
        loading.stdin?.write('{"contact_id":"x"}\n{"contact_id":"y"}\n');
        const tooLate = setTimeout(() => loading.kill('SIGKILL'), 15_000);
        const [code] = (await once(loading, 'close')) as [number | null];
        clearTimeout(tooLate);
        expect(code, args.join(' ')).to.be.oneOf([1, 2]);
      }
    });

    it('takes address and key from the environment', async () => {
      const own = { REACHLINE_URL: gateway.url, REACHLINE_API_KEY: gateway.key };
      const input = [file('gate.csv', 'contact_id,age\nge1,30\n')];
      expect(await ingest(input, { env: own })).to.include({ code: 0 });
      expect(await sent('ge1')).to.include({ age: 30 });
      const keyless = await ingest(input, { env: { REACHLINE_URL: gateway.url } });
      expect(keyless).to.include({ code: 2 });
      expect(keyless.stderr).to.contain('REACHLINE_API_KEY');
    });

    it('says why a key is not taken, or not for another organization', async () => {
      const input = [lines('{"contact_id":"x"}')];
      const other = await through(input, gateway.key, ['--organization', 'org_b']);
      expect(other).to.include({ code: 1, stderr: 'The key belongs to org_a, not to org_b.\n' });
      const reading = await through(input, await gateway.keyFor('org_a', ['contacts:read']));
      expect(reading).to.include({ code: 1 });
      expect(reading.stderr).to.match(/403 insufficient_scope.*ingest:write/s);
      expect((await through(input, 'nonsense')).stderr).to.match(/401 invalid_api_key/);
    });

    it('is named in the error about a held data folder', async () => {
      const held = { env: { REACHLINE_DATA_DIR: gateway.dataDir } };
      const { code, stderr } = await ingest([lines('{}')], held);
      expect(code).to.equal(1);
      expect(stderr).to.match(/in use.*--url/);
      expect(await run(['keys', 'create', '--organization', 'org_a'], held)).to.include({ code: 0 });
      const credits = await run(['credits', 'set', '--organization', 'org_a', '3'], held);
      expect(credits.stdout).to.equal('3\n');
      expect(await gateway.stores.records.getCredits('org_a')).to.equal(3);
    });
  });

  describe('with the files of a connector', () => {
    let data: string;
    before(() => {
      data = unpackRealData();
    });
    const csv = (table: string) => join(data, `linkedin_${table}.csv`);
    const preset = ['--preset', 'fivetran-linkedin'];
    const ofCongress = [...preset, '--organization', 'org_congress'];
    const gateway = useGateway();
    const stateOf = async (organization: string) => {
      const rows = async (table: string, replaced: string) => {
        const sql = `SELECT * ${replaced} FROM ${table} FINAL WHERE organization_id = {organization:String} AND ${table === 'creative_deliveries' ? 'campaign_id' : 'id'} != '' ORDER BY ALL`;
        const query = { name: 'test', sql: rawSql(sql), params: { organization } };
        return (await gateway.stores.analytics.query(query)).rows;
      };
      return [
        // The seeds do not state the currency; the records were made for US dollars.
        await rows('campaigns', "EXCEPT organization_id REPLACE ('' AS currency)"),
        await rows('creatives', 'EXCEPT organization_id'),
        await rows('creative_deliveries', 'EXCEPT (organization_id, version, mark)'),
      ];
    };

    it('stores the same as the records made from them', async () => {
      for (const [stream, table] of [
        ['network-a-campaigns', 'campaign_history'],
        ['network-a-creatives', 'creative_history'],
        ['network-a-deliveries', 'ad_analytics_by_creative'],
      ] as const) {
        for (const [organization, ...args] of [
          ['org_congress', join(data, `${stream}.ndjson`)],
          ['org_files', csv(table), ...preset],
        ] as const) {
          const key = await gateway.keyFor(organization);
          const through = { REACHLINE_URL: gateway.url, REACHLINE_API_KEY: key };
          const { stdout, stderr } = await run(['ingest', stream, ...args], { env: through });
          expect(stdout, stderr).to.match(/\d+ accepted, 0 rejected/);
        }
      }
      const stored = await stateOf('org_congress');
      expect(stored.map((rows) => rows.length)).to.deep.equal([12, 66, 100]);
      expect(await stateOf('org_files')).to.deep.equal(stored);
    });

    it('takes the other tables from --with, and names missing ones', async () => {
      mkdirSync(join(folder, 'elsewhere'));
      const moved = (table: string) => {
        const path = join(folder, 'elsewhere', `${table}-moved.csv`);
        copyFileSync(csv(table), path);
        return path;
      };
      const deliveries = [moved('ad_analytics_by_creative'), ...ofCongress, '--dry-run'];
      const load = (...more: string[]) => run(['ingest', 'network-a-deliveries', ...deliveries, ...more]);
      const alone = await load();
      expect(alone).to.include({ code: 0 });
      expect(alone.stderr).to.match(/no creative_history.*--with/);
      expect(alone.stdout).to.match(/"campaign_id":"unknown_/);
      const together = await load('--with', moved('campaign_history'), moved('creative_history'));
      expect(together).to.include({ code: 0 });
      expect(together.stderr).not.to.match(/No creative_history/);
    });

    it('joins the table that begins like the input, says which, and asks where several may be meant', async () => {
      const account = (name: string, currency: string) =>
        file(`joins/${name}.csv`, `id,currency,last_modified_time\n507515057,${currency},2026-01-01\n`);
      mkdirSync(join(folder, 'joins'));
      const campaigns = file(
        'joins/linkedin_ads_campaign_history.csv',
        readFileSync(csv('campaign_history')),
      );
      const load = (...more: string[]) =>
        run(['ingest', 'network-a-campaigns', campaigns, ...preset, ...ofCongress, '--dry-run', ...more]);
      const other = account('2024_account_history', 'USD');
      const single = await load();
      expect(single.stdout, single.stderr).to.contain('"currency":"USD"');
      expect(single.stderr).to.contain(
        'linkedin_ads_campaign_history.csv: joined with 2024_account_history.csv.',
      );
      account('facebook_ads_account_history', 'CHF');
      const several = await load();
      expect(several).to.include({ code: 2, stdout: '' });
      expect(several.stderr).to.match(
        /2024_account_history\.csv, facebook_ads_account_history\.csv\. Name .* --with/,
      );
      expect((await load('--with', other)).stdout).to.contain('"currency":"USD"');
      account('account_history', 'GBP');
      expect((await load()).stdout).to.contain('"currency":"GBP"');
      account('linkedin_ads_account_history', 'EUR');
      const own = await load();
      expect(own.stdout).to.contain('"currency":"EUR"');
      expect(own.stderr).to.contain('joined with linkedin_ads_account_history.csv.');
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
