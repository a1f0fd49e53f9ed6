import { expect } from 'chai';
import type { ContactRecord } from '../../../services/contacts/schema.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, type Filters, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { realLines } from '../../support/real-data.js';
import { tempFolder } from './temp-folder.js';

const ORGANIZATION = 'org_congress';

describe('Members of Congress in the SQLite store', () => {
  let store: ParsedStore | undefined;

  before(async () => {
    store = parsed(await openSqliteStore({ dataDir: tempFolder(), searchThreads: 1 }));
    await store.upsertContacts(
      accepted(
        realLines('contacts').map((line) => JSON.parse(line) as ContactRecord),
        T0,
      ),
    );
  });
  after(async () => {
    await store?.close();
  });

  async function names(filters: Filters): Promise<string[]> {
    const page = await store?.searchContacts(asked(ORGANIZATION, { limit: 1000, ...filters }));
    return (page?.items ?? []).map((contact) => `${contact.first_name} ${contact.last_name}`);
  }

  it('are found without their accents', async () => {
    expect(await names({ query: 'Lujan' })).to.deep.equal(['Ben Luján']);
    expect(await names({ query: 'Velasquez' })).to.include('Nydia Velázquez');
  });

  it('are found by the parts of a double name', async () => {
    expect(await names({ query: 'ocasio cortez' })).to.deep.equal(['Alexandria Ocasio-Cortez']);
  });

  for (const phone of ['202-224-3441', '(202) 224-3441', '202.224.3441', '2022243441', '+1 202 224 3441']) {
    it(`are found by the phone number ${phone}`, async () => {
      expect(await names({ query: phone })).to.deep.equal(['Maria Cantwell']);
    });
  }

  it('are found by a prefix of the first name, not by its middle', async () => {
    const found = await names({ first_name: 'mar' });
    expect(found).to.include('Maria Cantwell');
    for (const name of found) expect(name).to.match(/(^|\W)m[aá]r/i);
  });
});
