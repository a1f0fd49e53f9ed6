import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, found, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { parsed } from '../../support/parsed-store.js';
import { tempFolder } from './temp-folder.js';

const fixture = fileURLToPath(new URL('./durability.fixture.js', import.meta.url));
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

describe('The SQLite store', () => {
  it('keeps every acknowledged write after kill -9', async () => {
    const dataDir = tempFolder();
    const child = spawn(process.execPath, [fixture, dataDir, 'forever'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const created: string[] = [];
    let loaded = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const event = JSON.parse(line) as { created?: string; loaded?: number };
      if (event.created) created.push(event.created);
      loaded = event.loaded ?? loaded;
      if (created.length >= 40 && loaded > 0 && !child.killed) child.kill('SIGKILL');
    }
    const store = await openSqliteStore({ dataDir, searchThreads: 1 });
    const anns = await found(parsed(store), 'org', { query: 'ann manager' }, 'aud');
    expect(anns).to.include.members(created);
    const bobs = await store.searchContacts(asked('org', { first_name: 'bob', limit: 1 }));
    expect(bobs.total).to.be.at.least(loaded);
    const all = await store.searchContacts(asked('org', { limit: 1 }));
    expect(all.total).to.equal(anns.length + bobs.total);
    await store.close();
  }).timeout(120_000);

  it('reads while the disk is full, and writes again once space is free', async function () {
    if (!hasPrlimit) {
      console.log('      skipped: needs prlimit to limit the size of files');
      this.skip();
    }
    const limited = `trap '' XFSZ; ulimit -S -f 4000; exec "$@"`;
    const child = spawn('sh', ['-c', limited, 'sh', process.execPath, fixture, tempFolder(), 'full'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const result = JSON.parse(line) as { acknowledged: number };
    expect(result.acknowledged).to.be.above(0);
    expect(result).to.deep.equal({
      acknowledged: result.acknowledged,
      isUnavailable: true,
      during: result.acknowledged,
      after: result.acknowledged + 1,
    });
  }).timeout(120_000);

  it('replays an idempotency key after a restart', async () => {
    const dataDir = tempFolder();
    const create = async (id: string) => {
      const store = await openSqliteStore({ dataDir, searchThreads: 1, clock: { now: () => T0 } });
      await store.upsertAudiences(accepted([{ organization_id: 'org', id: 'aud', name: 'A' }], T0));
      const outcome = await store.createContact({
        contact: newContact('org', id),
        audienceId: 'aud',
        requiredCredits: 1,
        onDuplicate: 'create',
        dryRun: false,
        idempotency: { route: '/create', key: 'k', fingerprint: 'f' },
      });
      await store.close();
      return outcome;
    };
    const first = await create('a');
    expect(await create('b')).to.deep.equal({ ...first, replayed: true });
  });
});

describe('A bulk load into the SQLite store', () => {
  it('lets reads and other writes finish before it', async () => {
    const store = await openSqliteStore({ dataDir: tempFolder(), searchThreads: 1 });
    await store.upsertAudiences(accepted([{ organization_id: 'org', id: 'aud', name: 'A' }], T0));
    // Starts the search process, which takes longer than a search.
    await store.searchContacts(asked('org', { limit: 1 }));
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const records = Array.from({ length: 20_000 }, (_, index) => ({
      organization_id: 'org',
      contact_id: `c${index}`,
      first_name: 'Bob',
      last_name: `Name${index}`,
    }));
    const bulk = store.upsertContacts(accepted(records, T0)).then(note('bulk'));
    const create = store
      .createContact({
        contact: newContact('org', 'ann', { first_name: 'Ann' }),
        audienceId: 'aud',
        requiredCredits: 1,
        onDuplicate: 'create',
        dryRun: false,
      })
      .then(note('create'));
    const read = store.searchContacts(asked('org', { query: 'bob' })).then(note('read'));
    await Promise.all([bulk, create, read]);
    expect(order.at(-1)).to.equal('bulk');
    expect((await store.searchContacts(asked('org', { query: 'bob', limit: 1 }))).total).to.equal(20_000);
    expect(await found(parsed(store), 'org', { query: '"ann"' })).to.deep.equal(['ann']);
    await store.close();
  }).timeout(120_000);
});

describe('A search with very many similar words', () => {
  it('finds the 1000 nearest words, also when the query repeats its word', async () => {
    const store = await openSqliteStore({
      dataDir: tempFolder(),
      searchThreads: 1,
      searchTimeoutMs: 120_000,
    });
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    const records = Array.from({ length: 26 * 26 * 4 }, (_, index) => {
      const name = Array.from('mississippian');
      name[2 + (Math.floor(index / 676) % 4)] = letters[index % 26] as string;
      name[7] = letters[Math.floor(index / 26) % 26] as string;
      return { organization_id: 'org', contact_id: `c${index}`, first_name: name.join('') };
    });
    await store.upsertContacts(accepted(records, T0));
    const page = await store.searchContacts(asked('org', { query: 'mississippian', limit: 5 }));
    expect(page.total).to.be.within(1000, records.length);
    const twelve = Array(12).fill('mississippian').join(' ');
    expect((await store.searchContacts(asked('org', { query: twelve }))).total).to.equal(page.total);
    await store.close();
  }).timeout(120_000);
});
