import { expect } from 'chai';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, freshOrganization, load } from '../../contract/record-store-support.js';
import { wordsTwoTyposFrom } from '../../support/near-words.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('Similar words of a query in SQLite', () => {
  const word = 'nebukadnezar';
  let store: RecordStore;
  before(async () => {
    store = await openSqliteStore({ dataDir: tempFolder(), searchProcesses: 1 });
  });
  after(async () => {
    await store.close();
  });

  it('are the 1000 nearest, however many an organization has', async () => {
    const organization = freshOrganization();
    const far = wordsTwoTyposFrom(word, 3000);
    const near = Array.from({ length: 25 }, (_, index) => `nebukadneza${LETTERS[index]}`);
    await load(store, organization, [
      ...far.map((last_name) => ({ last_name })),
      ...near.map((last_name) => ({ last_name, job_title: 'near' })),
    ]);
    const { total } = await store.searchContacts(asked(organization, { query: word, limit: 1 }));
    expect(total).to.equal(1000);
    const nearest = await store.searchContacts(asked(organization, { query: `${word} near` }));
    expect(nearest.total).to.equal(near.length);
  });
});

const LETTERS = 'abcdefghijklmnopqstuvwxyz';
