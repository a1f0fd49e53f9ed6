import { expect } from 'chai';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, found, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { parsed } from '../../support/parsed-store.js';
import { tempFolder } from '../../support/temp-folder.js';

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
