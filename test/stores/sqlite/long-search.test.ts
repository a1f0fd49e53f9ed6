import { expect } from 'chai';
import { StoreTimeoutError } from '../../../services/shared/store-errors.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, creation, load, loadAudiences } from '../../contract/record-store-support.js';
import { closedWithFile } from '../../support/opened.js';
import { parsed } from '../../support/parsed-store.js';
import { tempFolder } from '../../support/temp-folder.js';

const CONTACTS = 5000;

/** Thousands of prefixes that match every contact: seconds of one statement, which SQLite cannot interrupt. */
const words = Array.from({ length: 4000 }, (_, index) => 'm'.repeat(1 + (index % 6)));

describe('A very long search in SQLite', () => {
  it('delays no reads by id, keys, writes, or searches of other organizations, and ends at its deadline', async () => {
    const options = { dataDir: tempFolder(), searchProcesses: 1, searchTimeoutMs: 2000 };
    const store = parsed(await closedWithFile(openSqliteStore(options)));
    await load(
      store,
      'org_a',
      Array.from({ length: CONTACTS }, (_, index) => ({ job_title: `mmmmmmm${index} manager` })),
    );
    await loadAudiences(store, 'org_a', 'aud');
    let isOver = false;
    const long = store
      .searchContacts({
        ...asked('org_a'),
        filters: [
          {
            kind: 'words',
            field: 'job_title',
            words: words.map((word) => ({ spellings: [word], whole: [], equivalents: [] })),
          },
        ],
      })
      .catch((error: unknown) => error)
      .finally(() => {
        isOver = true;
      });
    expect((await store.getContact('org_a', 'c1'))?.id).to.equal('c1');
    expect((await store.getAudience('org_a', 'aud'))?.name).to.equal('aud');
    expect(await store.findKey('none')).to.equal(null);
    await store.createContact(creation('org_a', 'new'));
    expect((await store.searchContacts(asked('org_b'))).total).to.equal(0);
    await store.ping();
    expect(isOver).to.equal(false);
    expect(await long).to.be.instanceOf(StoreTimeoutError);
  });
});
