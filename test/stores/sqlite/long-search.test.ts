import { expect } from 'chai';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, load, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { removeTempFolders, tempFolder } from './temp-folder.js';

const DISCONNECTED = new Error('the client disconnected');
const CONTACTS = 5000;

/** Thousands of prefixes that match every contact: seconds of one statement, which SQLite cannot interrupt. */
const words = Array.from({ length: 4000 }, (_, index) => 'm'.repeat(1 + (index % 6)));

describe('A very long search in SQLite', () => {
  let store: ParsedStore;
  before(async () => {
    store = parsed(await openSqliteStore({ dataDir: tempFolder(), searchThreads: 1 }));
    await load(
      store,
      'org_a',
      Array.from({ length: CONTACTS }, (_, index) => ({ job_title: `mmmmmmm${index} manager` })),
    );
    await store.upsertAudiences(accepted([{ organization_id: 'org_a', id: 'aud', name: 'All' }], T0));
  });
  after(async () => {
    await store.close();
    removeTempFolders();
  });

  const search = (signal: AbortSignal) =>
    store
      .searchContacts(
        {
          ...asked('org_a'),
          filters: [{ kind: 'words', field: 'job_title', words: words.map((word) => [word]) }],
        },
        { signal },
      )
      .catch((error: unknown) => error);

  it('does not delay reads by id, keys, writes, or searches of other organizations', async () => {
    const controller = new AbortController();
    let isOver = false;
    const long = search(controller.signal).finally(() => {
      isOver = true;
    });
    expect((await store.getContact('org_a', 'c1'))?.id).to.equal('c1');
    expect((await store.getAudience('org_a', 'aud'))?.name).to.equal('All');
    expect(await store.findKey('none')).to.equal(null);
    await store.createContact({
      contact: newContact('org_a', 'new', { created_at: new Date(0).toISOString() }),
      audienceId: 'aud',
      requiredCredits: 0,
      onDuplicate: 'create',
      dryRun: false,
    });
    expect((await store.searchContacts(asked('org_b'))).total).to.equal(0);
    await store.ping();
    expect(isOver).to.equal(false);
    controller.abort(DISCONNECTED);
    expect(await long).to.equal(DISCONNECTED);
  });

  it('is cancelled when its client disconnects, so that the next search of its organization runs', async () => {
    const controller = new AbortController();
    const long = search(controller.signal);
    const next = store.searchContacts(asked('org_a', { limit: 1 }));
    controller.abort(DISCONNECTED);
    expect(await long).to.equal(DISCONNECTED);
    expect((await next).total).to.equal(CONTACTS + 1);
  });
});
