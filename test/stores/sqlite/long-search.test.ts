import { expect } from 'chai';
import { StoreTimeoutError } from '../../../services/shared/store-errors.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, load, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { tempFolder } from '../../support/temp-folder.js';

const CONTACTS = 5000;

/** Thousands of prefixes that match every contact: seconds of one statement, which SQLite cannot interrupt. */
const words = Array.from({ length: 4000 }, (_, index) => 'm'.repeat(1 + (index % 6)));

describe('A very long search in SQLite', () => {
  let dataDir: string;
  let store: ParsedStore;
  before(async () => {
    dataDir = tempFolder();
    store = parsed(await openSqliteStore({ dataDir, searchThreads: 1 }));
    await load(
      store,
      'org_a',
      Array.from({ length: CONTACTS }, (_, index) => ({ job_title: `mmmmmmm${index} manager` })),
    );
    await store.upsertAudiences(accepted([{ organization_id: 'org_a', id: 'aud', name: 'All' }], T0));
  });
  after(async () => {
    await store.close();
  });

  const longSearch = (of: ParsedStore) =>
    of.searchContacts({
      ...asked('org_a'),
      filters: [
        {
          kind: 'words',
          field: 'job_title',
          words: words.map((word) => ({ spellings: [word], equivalents: [] })),
        },
      ],
    });

  it('does not delay reads by id, keys, writes, or searches of other organizations', async () => {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    const long = longSearch(store).then(over, over);
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
    await long;
  });

  it('is ended at its deadline', async () => {
    const hasty = parsed(await openSqliteStore({ dataDir, searchThreads: 1, searchTimeoutMs: 100 }));
    const error = await longSearch(hasty).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(StoreTimeoutError);
    await hasty.close();
  });
});
