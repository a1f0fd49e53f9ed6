import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { followChanges } from '../../../services/cli/changes/follow-changes.js';
import { newRun, StateFile } from '../../../services/cli/changes/state-file.js';
import { parseSecrets, webhookSink } from '../../../services/cli/changes/webhook.js';
import { createClient } from '../../../services/client/client.js';
import { createLogger } from '../../../services/shared/logger.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { useOpened } from '../../support/opened.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { run, start } from '../support.js';
import { type Receiver, SECRET, startReceiver } from './receiver.js';

/** Kills the process with SIGKILL at the n-th write of the state file: before it, before the rename, or after it. */
const KILLER = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const [step, count] = process.env.KILL_AT.split(':');
const { writeFileSync, renameSync } = fs;
let left = Number(count);
const die = (at) => at === step && left === 0 && process.kill(process.pid, 'SIGKILL');
fs.writeFileSync = (path, ...rest) => {
  if (String(path).endsWith('.part')) left--;
  die('before');
  writeFileSync(path, ...rest);
  die('written');
};
fs.renameSync = (...paths) => {
  renameSync(...paths);
  die('renamed');
};
syncBuiltinESMExports();
`;

describe('reachline changes --post', function () {
  this.timeout(120_000);
  const gateway = useOpened(startTestGateway);
  let receiver: Receiver;
  let folder: string;
  let organization: string;
  let organizations = 0;
  let key: string;
  beforeEach(async () => {
    receiver = await startReceiver();
    folder = tempFolder();
    organization = `org_${++organizations}`;
    key = await gateway.keyFor(organization);
    writeFileSync(join(folder, 'secret'), `${SECRET}\n`);
  });
  afterEach(() => receiver.close());

  const state = () => join(folder, 'state.json');
  const args = (...more: string[]) => [
    ...[
      'changes',
      '--organization',
      organization,
      '--state',
      state(),
      '--secret-file',
      join(folder, 'secret'),
    ],
    ...['--post', receiver.url, '--allow-private', ...more],
  ];
  const environment = ({ url }: Pick<TestGateway, 'url'> = gateway) => ({
    REACHLINE_URL: url,
    REACHLINE_API_KEY: key,
    REACHLINE_LOG_LEVEL: 'warn',
  });
  const save = (records: readonly object[], to: TestGateway = gateway) =>
    to.ingest('contacts', records, { key, headers: {} });
  const contact = (contact_id: string, last_name: string) => ({ contact_id, last_name });

  /** What a receiver that obeys the guide has, checked against the export of the gateway. */
  function stored(): [string, string][] {
    const contacts = new Map<string, { run: string; name: string }>();
    for (const { content } of receiver.received) {
      const { contact_id, contact } = content.data as { contact_id: string; contact?: { last_name: string } };
      if (content.type === 'contact.present')
        contacts.set(contact_id, { run: content.run, name: contact?.last_name ?? '' });
      else if (content.type === 'contact.absent') contacts.delete(contact_id);
      else for (const [id, { run }] of contacts) if (run !== content.run) contacts.delete(id);
    }
    return [...contacts].map(([id, { name }]): [string, string] => [id, name]).sort();
  }
  async function exported(from: TestGateway = gateway): Promise<[string, string][]> {
    const { body } = await from.call('/api/contacts/search', { organization_id: organization }, { key });
    const contacts = body.contacts as { contact_id: string; last_name: string }[];
    return contacts.map(({ contact_id, last_name }): [string, string] => [contact_id, last_name]).sort();
  }

  it('has every contact delivered, wherever it is killed while it saves its state', async () => {
    let version = 0;
    let killed = 0;
    // Two changes take five writes: the first, one before each message, one after the last, and one for the cursor.
    for (let count = 1; count <= 5; count++) {
      for (const step of ['before', 'written', 'renamed']) {
        version++;
        await save(['a', 'b'].map((id) => contact(id, `v${version}`)));
        await gateway.call(
          '/api/contacts/delete',
          { organization_id: organization, contact_ids: [version % 2 === 0 ? 'a' : 'b'] },
          { key },
        );
        const env = {
          ...environment(),
          KILL_AT: `${step}:${count}`,
          NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(KILLER)}`,
        };
        const [, signal] = await once(start(args('--once'), { env }), 'close');
        if (signal === 'SIGKILL') killed++;
      }
    }
    expect(killed).to.equal(15);
    expect(await run(args('--once'), { env: environment() })).to.include({ code: 0, stderr: '' });
    expect(stored()).to.deep.equal(await exported());
    expectOneContentPerId();
  });

  it('has every contact delivered, if it is killed before and after an answer', async () => {
    await save(['a', 'b', 'c'].map((id) => contact(id, 'v1')));
    for (const isAnswered of [false, true, false, true, false, true]) {
      const child = start(args('--once'), { env: environment() });
      receiver.answer = (response) => {
        if (isAnswered) response.writeHead(204).end(() => child.kill('SIGKILL'));
        else child.kill('SIGKILL');
      };
      await once(child, 'close');
    }
    receiver.answer = (response) => void response.writeHead(204).end();
    expect(await run(args('--once'), { env: environment() })).to.include({ code: 0, stderr: '' });
    expect(stored()).to.deep.equal(await exported());
    expectOneContentPerId();
  });

  function expectOneContentPerId(): void {
    const contents = new Map<string, string>();
    for (const { id, body } of receiver.received) {
      expect(contents.get(id) ?? body).to.equal(body);
      contents.set(id, body);
    }
  }

  it('finishes the message that is under way when it is asked to stop', async () => {
    await save(['a', 'b', 'c'].map((id) => contact(id, 'v1')));
    const child = start(args(), { env: environment() });
    receiver.answer = (response) => {
      child.kill('SIGTERM');
      setTimeout(() => response.writeHead(204).end(), 200);
    };
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    expect(receiver.received).to.have.length(1);
    receiver.answer = (response) => void response.writeHead(204).end();
    await run(args('--once'), { env: environment() });
    expect(
      receiver.received.map(({ content }) => (content.data as { contact_id?: string }).contact_id),
    ).to.deep.equal(['a', 'b', 'c', undefined]);
  });

  it('begins anew if the store is another, and has the receiver drop what that store lacks', async () => {
    await save(['a', 'b'].map((id) => contact(id, 'v1')));
    await run(args('--once'), { env: environment() });
    expect(stored()).to.deep.equal([
      ['a', 'v1'],
      ['b', 'v1'],
    ]);
    const other = await startTestGateway();
    try {
      const otherKey = await other.keyFor(organization);
      await other.ingest('contacts', [contact('b', 'v2'), contact('c', 'v1')], { key: otherKey });
      const env = { ...environment(other), REACHLINE_API_KEY: otherKey };
      expect(await run(args('--once'), { env })).to.include({ code: 0 });
    } finally {
      await other.close();
    }
    expect(stored()).to.deep.equal([
      ['b', 'v2'],
      ['c', 'v1'],
    ]);
    expect(new Set(receiver.received.map(({ content }) => content.run)).size).to.equal(2);
    const [first, last] = [receiver.received[0], receiver.received.at(-1)];
    expect(last?.content).to.deep.include({ type: 'changes.complete', data: {} });
    expect(last?.content.run).to.not.equal(first?.content.run);
  });

  it('says who entered and who left an audience, and begins anew with another filter', async () => {
    const call = (path: string, body: object) =>
      gateway.call(path, { organization_id: organization, ...body }, { key });
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }], { key });
    await save(['a', 'b', 'c'].map((id) => contact(id, 'v1')));
    await call('/api/audiences/contacts/add', { audience_id: 'aud_1', contact_id: 'a' });
    const filter = join(folder, 'filter.json');
    writeFileSync(filter, '{"audience_id": "aud_1"}');
    const follow = () => run(args('--once', '--filter', filter), { env: environment() });
    await follow();
    expect(stored().map(([id]) => id)).to.deep.equal(['a']);
    await call('/api/audiences/contacts/add', { audience_id: 'aud_1', contact_id: 'b' });
    await call('/api/audiences/contacts/remove', { audience_id: 'aud_1', contact_id: 'a' });
    await follow();
    expect(stored().map(([id]) => id)).to.deep.equal(['b']);
    writeFileSync(filter, '{}');
    await follow();
    expect(stored().map(([id]) => id)).to.deep.equal(['a', 'b', 'c']);
  });

  it('delivers each state at least once and in order to a receiver that fails, hangs and is away for ten minutes', async () => {
    const waits: number[] = [];
    const client = createClient({ url: gateway.url, apiKey: key, organizationId: organization });
    const sink = webhookSink({
      url: receiver.url,
      secrets: parseSecrets(SECRET),
      allowPrivate: true,
      timeoutMs: 200,
    });
    const stop = new AbortController();
    let requests = 0;
    let awayMs = 0;
    const following = followChanges({
      organizationId: organization,
      read: (request, signal) => client.call('/api/contacts/changes', request, { signal }),
      sink,
      file: new StateFile(state()),
      logger: createLogger('silent'),
      pollMs: 1,
      once: false,
      signal: stop.signal,
      // The clock of the test: a second takes no time.
      async sleep(ms) {
        if (ms > 1) waits.push(ms);
        awayMs -= ms;
        await new Promise((resolve) => setTimeout(resolve, 1));
      },
    });
    receiver.answer = (response) => {
      if (awayMs > 0) response.writeHead(500).end();
      else if (++requests % 4 === 1) response.writeHead(503).end();
      else if (requests % 4 !== 3) response.writeHead(204).end();
      // Otherwise, the request hangs.
    };
    for (const version of ['v1', 'v2', 'v3', 'v4']) {
      if (version === 'v3') awayMs = 600_000;
      await save(['a', 'b', 'c'].map((id) => contact(id, version)));
      await until(
        () => stored().every(([, name]) => name === version) && stored().length === 3,
        `all have ${version}`,
      );
    }
    stop.abort();
    await following;
    sink.close();
    for (const id of ['a', 'b', 'c']) {
      const names = receiver.received
        .map(({ content }) => content.data as { contact_id: string; contact: { last_name: string } })
        .filter(({ contact_id }) => contact_id === id)
        .map(({ contact }) => contact.last_name);
      expect(names.filter((name, at) => name !== names[at - 1])).to.deep.equal(['v1', 'v2', 'v3', 'v4']);
    }
    expect(Math.min(...waits)).to.be.at.least(1000);
    expect(Math.max(...waits)).to.be.within(150_000, 300_000);
    expectOneContentPerId();
  });

  it('logs why a message was not acknowledged, without contents', async () => {
    await save([contact('a', 'Lovelace')]);
    let answers = 0;
    receiver.answer = (response) => void response.writeHead(answers++ === 0 ? 500 : 204).end('secret');
    const child = start(args('--once'), { env: environment() });
    let log = '';
    child.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    const line = JSON.parse(log) as Record<string, unknown>;
    expect(line).to.include({ reason: 'status 500', attempt: 1, msg: 'a message was not acknowledged' });
    expect(line.webhook_id).to.equal(receiver.received[0]?.id).and.equal(receiver.received[1]?.id);
    expect(log).to.not.match(/Lovelace|secret|whsec/);
  });

  const hasSavedAll = () =>
    existsSync(state()) && /"complete":true,"cursor":"/.test(readFileSync(state(), 'utf8'));

  it('refuses a state file that another process uses, until that process ends or is killed', async () => {
    await save([contact('a', 'v1')]);
    const first = start(args('--every', '1'), { env: environment() });
    await until(hasSavedAll, 'the first has delivered');
    const before = readFileSync(state(), 'utf8');
    symlinkSync(folder, join(folder, 'link'));
    const out = ['changes', '--organization', organization, '--out', '-', '--once', '--state'];
    for (const words of [
      args('--once'),
      [...out, state()],
      [...out, join(folder, 'link', 'state.json')],
      [...out, relative(process.cwd(), state())],
    ]) {
      const { code, stdout, stderr } = await run(words, { env: environment() });
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(/^Another process uses .*state\.json\. Run one process per state file\.\n$/);
    }
    expect(await run([...out, join(folder, 'other')], { env: environment() })).to.include({ code: 0 });
    expect(readFileSync(state(), 'utf8')).to.equal(before);
    await save([contact('a', 'v2')]);
    await until(() => receiver.received.length === 3, 'the first goes on');
    first.kill('SIGKILL');
    await once(first, 'close');
    expect(await run(args('--once'), { env: environment() })).to.include({ code: 0, stderr: '' });
    expect(stored()).to.deep.equal(await exported());
  });

  it('ends before it sends if a process elsewhere has replaced its state file', async () => {
    await save([contact('a', 'v1')]);
    const child = start(args('--every', '1'), { env: environment() });
    let errors = '';
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    await until(hasSavedAll, 'it has delivered');
    writeFileSync(state(), readFileSync(state(), 'utf8').replace(/"saved_by":"[^"]*"/, '"saved_by":"x"'));
    await save([contact('a', 'v2')]);
    const [code] = await once(child, 'close');
    expect(code).to.equal(1);
    expect(errors).to.contain('Run one process per state file.');
    expect(receiver.received).to.have.length(2);
  });

  it('writes no state file, and replaces none, before the gateway has accepted a request', async () => {
    const foreign = (...more: string[]) => [
      ...['changes', '--organization', 'org_foreign', '--state', state(), '--out', '-', '--once', ...more],
    ];
    const { code, stderr } = await run(foreign(), { env: environment() });
    expect({ code, stderr }).to.deep.include({ code: 1 });
    expect(stderr).to.match(/403/);
    expect(existsSync(state())).to.equal(false);
    await save([contact('a', 'v1')]);
    await run(args('--once'), { env: environment() });
    const before = readFileSync(state(), 'utf8');
    writeFileSync(join(folder, 'filter.json'), '{"countri": "US"}');
    const mistyped = await run(args('--once', '--filter', join(folder, 'filter.json')), {
      env: environment(),
    });
    expect(mistyped.code).to.equal(2);
    expect(readFileSync(state(), 'utf8')).to.equal(before);
  });

  it('refuses what it cannot do, in a sentence', async () => {
    const refused = async (...words: string[]) => {
      const { code, stderr } = await run(['changes', '--organization', organization, ...words], {
        env: environment(),
      });
      return `${code} ${stderr}`;
    };
    const to = ['--post', receiver.url, '--allow-private'];
    expect(await refused('--state', state())).to.match(/^2 Say where the changes go/);
    expect(await refused('--state', state(), ...to, '--out', '-')).to.match(/^2 Say where the changes go/);
    expect(await refused('--state', state(), ...to)).to.match(/^2 --post needs --secret-file/);
    expect(
      await refused('--state', state(), '--post', receiver.url, '--secret-file', join(folder, 'secret')),
    ).to.match(/^2 --post: 127\.0\.0\.1 is a private address/);
    for (const text of ['', 'null', '{"version": 2}', '{"version": 1, "organization_id": "org_other"}']) {
      writeFileSync(state(), text);
      expect(await refused('--state', state(), '--out', '-'), text).to.match(/^1 .* is no state file/);
    }
    expect(await refused('--state', folder, '--out', '-')).to.match(
      /^1 The state file cannot be read: EISDIR/,
    );
    expect(await refused('--state', join(folder, 'none', 'state'), '--out', '-')).to.match(
      /^1 There is no folder for the state file/,
    );
    writeFileSync(state(), JSON.stringify(newRun('org_other', '')));
    expect(await refused('--state', state(), '--out', '-')).to.match(
      /^1 The state file belongs to .* org_other/,
    );
    writeFileSync(join(folder, 'filter.json'), '[]');
    expect(
      await refused('--state', join(folder, 'new'), '--out', '-', '--filter', join(folder, 'filter.json')),
    ).to.match(/^2 .* has no JSON object/);
    writeFileSync(join(folder, 'filter.json'), '{"countri": "US"}');
    expect(
      await refused('--state', join(folder, 'new'), '--out', '-', '--filter', join(folder, 'filter.json')),
    ).to.match(/^2 The gateway responded with 422/);
    expect(receiver.received).to.deep.equal([]);
  });

  it('prints a line per message with --out -', async () => {
    await save([contact('a', 'x\u2028"\n<b>'), contact('b', 'v1')]);
    const printed = async () => {
      const out = ['changes', '--organization', organization, '--state', state(), '--out', '-', '--once'];
      const { code, stdout } = await run(out, { env: environment() });
      expect(code).to.equal(0);
      return stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { type: string; data: object });
    };
    expect((await printed()).map(({ type }) => type)).to.deep.equal([
      'contact.present',
      'contact.present',
      'changes.complete',
    ]);
    expect(await printed()).to.deep.equal([]);
    await gateway.call(
      '/api/contacts/delete',
      { organization_id: organization, contact_ids: ['a'] },
      { key },
    );
    const [absent, ...rest] = await printed();
    expect(absent).to.deep.include({ type: 'contact.absent', data: { contact_id: 'a', state: 'absent' } });
    expect(rest).to.deep.equal([]);
  });
});
