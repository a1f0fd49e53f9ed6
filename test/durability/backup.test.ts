import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type Manifest, manifestText, readManifest } from '../../services/stores/backup/manifest.js';
import { verifyBackup } from '../../services/stores/backup/restore-backup.js';
import { MAIN, run } from '../cli/support.js';
import {
  prepareOrganization,
  runServer,
  type ServerProcess,
  startServer,
} from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { mountSmallDisk } from './small-disk.js';

const ORGANIZATION = 'org_backup';
const BATCH_RECORDS = 100;
/** Batches written while a backup runs; each is searched for afterwards. */
const MAX_BATCHES_PER_STREAM = 8;
const WORDS = ['garcia', 'meyer', 'engineer', 'sales', 'acme', 'globex', 'berlin', 'madrid', 'lead', 'chief'];
const COUNTRIES = ['US', 'DE', 'ES', 'FR'];
const RANGE = { start_date: '2026-01-01', end_date: '2026-03-31' };
const DAYS = 90;

const word = (index: number) => WORDS[index % WORDS.length] as string;
const dayOf = (index: number) => new Date(Date.UTC(2026, 0, 1 + (index % DAYS))).toISOString().slice(0, 10);

/** Records of a batch; each belongs to a company, page or campaign that no other batch has. */
/** Batches that are stored before all others. */
const BASES = ['base0', 'base1', 'base2'];

const BATCHES: Record<string, (name: string) => object[]> = {
  contacts: (name) =>
    numbered((index) => ({
      contact_id: `${name}.${index}`,
      first_name: word(index),
      last_name: word(index * 7 + name.length),
      job_title: `${word(index * 3)} ${word(index + 4)}`,
      company_name: name,
      country: COUNTRIES[index % COUNTRIES.length],
      work_emails: [`${word(index)}.${index}@${name}.example`],
      audience_ids: [`aud_${index % 5}`],
      created_at: `${dayOf(index)}T00:00:00Z`,
    })),
  'website-visits': (name) =>
    numbered((index) => ({
      id: `${name}.${index}`,
      createdAt: `${dayOf(index)}T10:00:00Z`,
      startUrl: `https://site.example/${name}/${word(index)}`,
      countryCode: COUNTRIES[index % COUNTRIES.length],
    })),
  'network-a-deliveries': (name) =>
    numbered((index) => ({
      date: dayOf(index),
      campaign_id: name,
      creative_id: `${name}.${index % 4}`,
      ...(index % 2 ? { company_id: `cmp_${index % 7}` } : {}),
      impressions: 1000 + index,
      ad_spend: `${index}.37`,
      reported_at: '2026-04-01T00:00:00Z',
    })),
};

const numbered = (make: (index: number) => object) =>
  Array.from({ length: BATCH_RECORDS }, (_, index) => make(index));

const ORGANIZED = { organization_id: ORGANIZATION };
/** Requests over everything that is stored. */
const REQUESTS: [path: string, body: object][] = [
  ['/api/contacts/search', { ...ORGANIZED, query: 'garcia sales', limit: 40 }],
  ['/api/contacts/search', { ...ORGANIZED, query: 'mad', country: 'DE', limit: 7 }],
  ['/api/contacts/get', { ...ORGANIZED, contact_id: 'base1.42' }],
  ['/api/audiences/contacts/search', { ...ORGANIZED, audience_id: 'aud_3', limit: 40 }],
  ['/api/website-visits/search', { ...ORGANIZED, start_url: 'engineer', limit: 40 }],
  ['/api/audiences/search', ORGANIZED],
  ['/api/advertising/network_a/campaigns', { ...RANGE, page_size: 40 }],
  ['/api/advertising/network_a/campaigns', { ...RANGE, campaign_ids: BASES, currency: 'EUR', page_size: 40 }],
  ['/api/advertising/network_a/companies', { ...RANGE, page_size: 40, company_ids: ['cmp_3'] }],
];

async function transcriptsOf(server: ServerProcess): Promise<string[]> {
  const transcripts: string[] = [];
  for (const [path, body] of REQUESTS) {
    const { status, text } = await server.call(path, body);
    expect(status, text).to.equal(200);
    transcripts.push(`${path} ${JSON.stringify(body)} ${text}`);
  }
  return transcripts;
}

/** Impressions of the rows of a batch. */
const impressionsOf = (rows: object[]) =>
  (rows as { impressions: number; company_id?: string }[]).reduce(
    (sums, { impressions, company_id }) => ({
      all: sums.all + impressions,
      ofCompanies: sums.ofCompanies + (company_id ? impressions : 0),
    }),
    { all: 0, ofCompanies: 0 },
  );

/** The share of a batch that is stored: 0 or 1, or the batch was torn. */
async function presenceOf(server: ServerProcess, stream: string, name: string): Promise<number> {
  const ask = async (path: string, body: object) => {
    const {
      status,
      text,
      body: answer,
    } = await server.call(path, { organization_id: ORGANIZATION, ...body });
    expect(status, `${path} ${text}`).to.equal(200);
    return answer;
  };
  if (stream === 'contacts') {
    const found = await ask('/api/contacts/search', { company_name: name, limit: 1 });
    return (found.total_count as number) / BATCH_RECORDS;
  }
  if (stream === 'website-visits') {
    const found = await ask('/api/website-visits/search', { start_url: `/${name}/`, limit: 1 });
    return (found.total_count as number) / BATCH_RECORDS;
  }
  const expected = impressionsOf(BATCHES['network-a-deliveries']?.(name) ?? []);
  const sumOf = async (list: string) => {
    const { items } = await ask(`/api/advertising/network_a/${list}`, {
      ...RANGE,
      campaign_ids: [name],
      page_size: 200,
    });
    return (items as { impressions: number }[]).reduce((sum, { impressions }) => sum + impressions, 0);
  };
  const ofCampaign = (await sumOf('campaigns')) / expected.all;
  expect(await sumOf('creatives'), `creatives of ${name}`).to.equal(ofCampaign * expected.all);
  expect(await sumOf('companies'), `companies of ${name}`).to.equal(ofCampaign * expected.ofCompanies);
  return ofCampaign;
}

describe('A backup', function () {
  this.timeout(240_000);
  let folder: string;
  let dataDir: string;
  let environment: Record<string, string>;
  let key: string;
  let server: ServerProcess | undefined;
  const start = async () => {
    server = await startServer({ dataDir, key });
    return server;
  };
  const command = (...args: string[]) => run(args, { env: environment });
  const path = (name: string) => join(folder, name);

  before(async () => {
    folder = tempFolder();
    dataDir = path('data');
    environment = { REACHLINE_DATA_DIR: dataDir, PORT: '0' };
    key = await prepareOrganization(dataDir, ORGANIZATION);
    await start();
    const audiences = Array.from({ length: 5 }, (_, index) => ({
      id: `aud_${index}`,
      name: `Audience ${index}`,
      created_at: '2026-01-01T00:00:00Z',
    }));
    expect((await server?.ingest('audiences', audiences))?.body.accepted).to.equal(5);
    const campaigns = BASES.map((id) => ({ id, currency: 'USD' }));
    const rates = numbered((index) => ({
      date: dayOf(index),
      currency: 'USD',
      per_eur: `1.${1000 + index}`,
    }));
    expect((await server?.ingest('network-a-campaigns', campaigns))?.body.accepted).to.equal(3);
    expect((await server?.ingest('currency-rates', rates))?.body.accepted).to.equal(BATCH_RECORDS);
    for (const base of BASES) {
      for (const [stream, records] of Object.entries(BATCHES)) {
        const answer = await server?.ingest(stream, records(base));
        expect(answer?.body.accepted, answer?.text).to.equal(BATCH_RECORDS);
      }
    }
  });
  after(async () => {
    await server?.kill();
  });

  it('gives the same answers after the folder is lost and restored', async () => {
    const before = await transcriptsOf(server as ServerProcess);
    const { code, stdout, stderr } = await command('backup', path('quiet'));
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('300 contacts, 5 audiences, 300 visits');
    expect((await command('doctor')).stdout).to.include(`The last backup, ${path('quiet')}, was taken at 20`);
    await server?.kill();
    rmSync(dataDir, { recursive: true });
    const restored = await command('restore', path('quiet'));
    expect(restored.code, restored.stderr).to.equal(0);
    await start();
    const after = await transcriptsOf(server as ServerProcess);
    for (const [index, transcript] of after.entries()) expect(transcript).to.equal(before[index]);
    const { stdout: healthy } = await command('doctor', '--deep');
    expect(healthy)
      .to.include('The records store is intact')
      .and.include('No backup of the data folder was taken yet');
  });

  it('is readable by its user only', () => {
    const all = readdirSync(path('quiet'), { recursive: true, withFileTypes: true });
    for (const entry of all) {
      const mode = (statSync(join(entry.parentPath, entry.name)).mode & 0o777).toString(8);
      expect(mode, entry.name).to.equal(entry.isDirectory() ? '700' : '600');
    }
    expect(all.filter((entry) => entry.isSymbolicLink())).to.deep.equal([]);
  });

  it('under load holds every record acknowledged before it began, and no part of a batch', async () => {
    const acknowledged: [stream: string, name: string][] = [];
    const sent: [stream: string, name: string][] = [];
    let isWriting = true;
    const writers = Object.entries(BATCHES).map(async ([stream, records]) => {
      for (let index = 0; isWriting && index < MAX_BATCHES_PER_STREAM; index++) {
        const name = `load${String(index).padStart(4, '0')}`;
        sent.push([stream, name]);
        const { status, text, body } = await (server as ServerProcess).ingest(stream, records(name));
        expect(status, text).to.equal(200);
        expect(body.accepted, text).to.equal(BATCH_RECORDS);
        acknowledged.push([stream, name]);
      }
    });
    while (acknowledged.length < 9) await pause(50);
    const before = [...acknowledged];
    const { code, stderr } = await command('backup', path('loaded'));
    const during = acknowledged.length - before.length;
    isWriting = false;
    await Promise.all(writers);
    expect(code, stderr).to.equal(0);
    expect(during, 'batches written while the backup ran').to.be.greaterThan(0);
    expect(
      existsSync(join(dataDir, 'clickhouse/shadow'))
        ? readdirSync(join(dataDir, 'clickhouse/shadow')).filter((name) => name !== 'increment.txt')
        : [],
    ).to.deep.equal([]);
    await server?.kill();
    rmSync(dataDir, { recursive: true });
    const restored = await command('restore', path('loaded'), '--data', dataDir);
    expect(restored.code, restored.stderr).to.equal(0);
    await start();
    const missing: string[] = [];
    const must = new Set(before.map(String));
    for (const [stream, name] of sent) {
      const presence = await presenceOf(server as ServerProcess, stream, name);
      expect(presence, `${stream} ${name}`).to.be.oneOf([0, 1]);
      if (must.has(String([stream, name])) && presence === 0) missing.push(`${stream} ${name}`);
    }
    expect(missing).to.deep.equal([]);
    console.log(`      ${before.length} batches before the backup, ${during} while it ran`);
  });

  /** Each manifest has a correct checksum, which needs no key. */
  function hostileManifests(fields: Omit<Manifest, 'format'>): Omit<Manifest, 'format'>[] {
    const database = fields.entries.filter(({ path: name }) => name === 'reachline.db');
    const [{ bytes }] = database as unknown as [{ bytes: number }];
    const store = '../../store/abc/00000000-0000-0000-0000-000000000000';
    const deep = 'clickhouse/data/default/t';
    const changed: object[] = [
      { entries: [] },
      { entries: {} },
      { entries: [{ path: 'clickhouse', kind: 'folder' }] },
      { bytes: -1 },
      { bytes: fields.bytes + 1 },
      { counts: { contacts: 'many' } },
      { counts: { ...fields.counts, '\u001b[31mx': 1 } },
      { reachline: '\u001b[2J9.9' },
      { migrations: [...fields.migrations, '\u001b]0;x\u0007'] },
      {
        bytes,
        entries: [
          ...database,
          ...Array.from({ length: 50_001 }, (_, index) => ({ path: `f${index}`, kind: 'folder' })),
        ],
      },
      ...[
        { path: '../escaped', kind: 'folder' },
        { path: '/escaped', kind: 'folder' },
        { path: 'a/../../escaped', kind: 'folder' },
        { path: 'a\0b', kind: 'folder' },
        { path: 'a\nb', kind: 'folder' },
        { path: 'a\u001b[2Jb', kind: 'folder' },
        { path: 'a\u202eb', kind: 'folder' },
        { path: 7, kind: 'folder' },
        { path: 'a', kind: '__proto__' },
        { path: 'a', kind: 'file', bytes: -1, sha256: '0'.repeat(64) },
        { path: 'x', kind: 'link', target: 'clickhouse' },
        { path: deep, kind: 'link', target: '../../../../../escaped' },
        { path: deep, kind: 'link', target: '/escaped' },
        { path: 'reachline.db', kind: 'folder' },
      ].map((entry) => ({ bytes, entries: [...database, entry] })),
      {
        bytes,
        entries: [
          ...database,
          { path: deep, kind: 'link', target: store },
          { path: `${deep}/below`, kind: 'folder' },
        ],
      },
    ];
    return changed.map((change) => ({ ...fields, ...change }));
  }

  it('that was cut short or changed is rejected, and the message names the file', async () => {
    const backup = path('quiet');
    const problemOf = async () =>
      verifyBackup({ backup, onProgress: () => undefined }).then(
        () => '',
        (error: Error) => `${error.name} ${error.message}`,
      );
    expect(await problemOf()).to.equal('');
    const { entries } = readManifest(backup);
    const files = entries.flatMap((entry) => (entry.kind === 'file' && entry.bytes > 0 ? [entry] : []));
    expect(files.length).to.be.greaterThan(40);
    const [database, ...others] = files;
    for (const { path: name, bytes } of [
      database,
      ...others.filter((_, index) => index % 9 === 0),
    ] as typeof files) {
      const file = join(backup, 'data', name);
      const content = readFileSync(file);
      truncateSync(file, bytes - 1);
      expect(await problemOf(), name).to.include(`data/${name} has ${bytes - 1} bytes instead of ${bytes}`);
      renameSync(file, `${file}.away`);
      expect(await problemOf(), name).to.include(`data/${name} is missing`);
      rmSync(`${file}.away`);
      writeFileSync(file, content, { mode: 0o600 });
    }
    for (const { path: name, bytes } of [files[0], files.at(-1)] as typeof files) {
      const file = join(backup, 'data', name);
      const content = readFileSync(file);
      const changed = Buffer.from(content);
      changed[bytes >> 1] = (changed[bytes >> 1] as number) ^ 1;
      writeFileSync(file, changed);
      expect(await problemOf(), name).to.include(`data/${name} has changed since the backup`);
      writeFileSync(file, content);
    }
    const manifest = join(backup, 'backup.json');
    const text = readFileSync(manifest, 'utf8');
    const { format: _, ...fields } = readManifest(backup);
    const broken: [text: string, problem: string][] = [
      [text.slice(0, -20), 'is damaged'],
      [text.replace('"contacts": 300', '"contacts": 301'), 'is damaged'],
      [
        manifestText({
          ...fields,
          reachline: '9.0.0',
          migrations: [...fields.migrations, 'sqlite/9999_x.sql'],
        }),
        'is of a newer Reachline (9.0.0, with sqlite/9999_x.sql)',
      ],
      [
        manifestText({
          ...fields,
          migrations: ['sqlite/0034_erase_by_jobs.sql', ...fields.migrations.slice(1)],
        }),
        'is from an unreleased version of Reachline',
      ],
      ...hostileManifests(fields).map((hostile): [string, string] => [manifestText(hostile), 'is damaged']),
    ];
    for (const [content, problem] of broken) {
      writeFileSync(manifest, content);
      expect(await problemOf())
        .to.match(/^BackupError/)
        .and.to.include(problem);
    }
    rmSync(manifest);
    expect(await problemOf()).to.include('is a backup that was cut short: its backup.json');
    writeFileSync(manifest, text);
    expect(await problemOf()).to.equal('');
    expect((await command('restore', dataDir)).stderr).to.include('is not a backup');
  });

  it('with a link, a named pipe or a folder in the place of a file is refused, and is not waited for', async () => {
    const backup = path('irregular');
    cpSync(path('quiet'), backup, { recursive: true, verbatimSymlinks: true });
    const { entries } = readManifest(backup);
    const { path: name } = entries.find(
      ({ path: each, kind }) => kind === 'file' && each.startsWith('clickhouse/store/'),
    ) as { path: string };
    const file = join(backup, 'data', name);
    const away = path('away');
    renameSync(file, away);
    const shapes: [problem: string, make: () => void][] = [
      ['is a symbolic link, not a regular file', () => symlinkSync(away, file)],
      ['is a symbolic link, not a regular file', () => symlinkSync('/dev/zero', file)],
      ['is a named pipe, not a regular file', () => execFileSync('mkfifo', [file])],
      ['is a folder, not a regular file', () => mkdirSync(file)],
    ];
    for (const [problem, make] of shapes) {
      make();
      const { code, stderr } = await command('restore', backup, '--dry-run');
      expect([code, stderr], problem).to.deep.include(1);
      expect(stderr).to.include(`data/${name} ${problem}`);
      rmSync(file, { recursive: true });
    }
    renameSync(away, file);
    const folder = join(backup, 'data', 'clickhouse', 'store');
    renameSync(folder, away);
    symlinkSync(away, folder);
    expect((await command('restore', backup, '--dry-run')).stderr).to.include('store is a link or a file');
    rmSync(folder);
    renameSync(away, folder);
    expect((await command('restore', backup, '--dry-run')).stdout).to.include('is intact');
    rmSync(join(backup, 'backup.json'));
    execFileSync('mkfifo', [join(backup, 'backup.json')]);
    expect((await command('restore', backup, '--dry-run')).stderr).to.include('is damaged');
  });

  it('that does not fit on its disk is refused beforehand, and leaves nothing', async function () {
    const disk = mountSmallDisk(8);
    if (!disk) return this.skip();
    try {
      const { code, stderr } = await command('backup', join(disk.path, 'small'));
      expect(code).to.equal(1);
      expect(stderr).to.match(/needs up to \d+ MiB, and \d MiB are free/);
      expect(readdirSync(disk.path)).to.deep.equal([]);
    } finally {
      disk.remove();
    }
  });

  it('killed half-way leaves nothing that can be restored, and the next one succeeds', async () => {
    const target = path('killed');
    await killOnceThereIs(join(`${target}.partial`, 'data'), ['backup', target], environment);
    expect(existsSync(target)).to.equal(false);
    const { stderr } = await command('restore', `${target}.partial`, '--dry-run');
    expect(stderr).to.include('was cut short');
    const again = await command('backup', target);
    expect(again.code, again.stderr).to.equal(0);
    expect(existsSync(`${target}.partial`)).to.equal(false);
    expect((await command('restore', target, '--dry-run')).stdout).to.include('is intact');
  });

  it('replaces neither another backup nor a data folder', async () => {
    const again = await command('backup', path('quiet'));
    expect(again.code).to.equal(1);
    expect(again.stderr).to.include('is not empty, and a backup never replaces another');
    expect((await command('backup', join(dataDir, 'backup'))).stderr).to.include('lies in the data folder');
    expect((await command('restore', path('quiet'))).stderr).to.include(
      'is in use by another Reachline process',
    );
  });

  it('of a folder that no process has is taken without opening the stores', async () => {
    const before = await transcriptsOf(server as ServerProcess);
    await server?.kill();
    const { code, stdout, stderr } = await command('backup', path('stopped'));
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include(' contacts, 5 audiences, ');
    const over = await command('restore', path('stopped'));
    expect(over.code).to.equal(1);
    expect(over.stderr).to.include('is not empty').and.to.include('a restore replaces nothing');
    rmSync(dataDir, { recursive: true });
    expect((await command('restore', path('stopped'))).code).to.equal(0);
    expect(await transcriptsOf(await start())).to.deep.equal(before);
  });

  it('from before an erasure is restored without the person, and keeps them out, also where a restore was killed half-way', async () => {
    const email = 'garcia.0@base0.example';
    const find = async (at: ServerProcess) => {
      const { body } = await at.call('/api/contacts/search', { organization_id: ORGANIZATION, query: email });
      return (body.contacts as { work_emails: string[] }[]).filter(({ work_emails }) =>
        work_emails.includes(email),
      ).length;
    };
    const living = server as ServerProcess;
    expect(await find(living)).to.equal(1);
    const erased = await living.call('/api/contacts/erase', { organization_id: ORGANIZATION, email });
    expect(erased.status, erased.text).to.equal(200);
    expect((await command('backup', path('newer'))).code).to.equal(0);
    const other = path('erased');
    const restore = ['restore', path('quiet'), '--data', other, '--suppressions-from', path('newer')];
    await killOnceThereIs(join(other, 'restore.partial'), restore, environment);
    const refused = await runServer({ dataDir: other });
    expect(refused.code).to.equal(1);
    expect(refused.errors).to.match(/was cut short\. Run it again: \S*reachline restore/);
    // As if the command had been killed between moving two of its files at the end.
    writeFileSync(join(other, 'reachline.db'), '');
    const { code, stderr } = await command(...restore);
    expect(code, stderr).to.equal(0);
    expect(stderr).to.include('1 erasures were applied again. They removed 1 contacts');
    expect(readFileSync(join(other, 'reachline.db')).includes(email)).to.equal(false);
    expect(readFileSync(join(path('quiet'), 'data/reachline.db')).includes(email)).to.equal(true);
    expect((await command('restore', path('newer'), '--dry-run')).stdout).to.include('is intact');
    const served = await startServer({ dataDir: other, key });
    expect(await find(served)).to.equal(0);
    const { body } = await served.call('/api/contacts/search', { organization_id: ORGANIZATION });
    expect(body.total_count).to.equal(299);
    await served.ingest('contacts', BATCHES.contacts?.('base0') ?? []);
    expect(await find(served)).to.equal(0);
    await served.kill();
  });
});

/** Runs a command and kills it as soon as the path exists; repeats it if the command was faster. */
async function killOnceThereIs(
  path: string,
  args: string[],
  environment: Record<string, string>,
): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!existsSync(path) && !isOver) await pause(1);
    child.kill('SIGKILL');
    await ended;
    if (existsSync(path)) return;
    for (const written of args.slice(1).filter((arg) => !arg.startsWith('--'))) {
      if (!path.startsWith(written)) continue;
      rmSync(written, { recursive: true, force: true });
    }
  }
  throw new Error(`${args.join(' ')} was always faster than its kill`);
}
