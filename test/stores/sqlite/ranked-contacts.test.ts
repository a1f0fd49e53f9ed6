import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ContactSearch } from '../../../services/contacts/contact-store.js';
import type { Contact } from '../../../services/contacts/schema.js';
import { toContactSearch } from '../../../services/contacts/search.js';
import { DEMO_ORGANIZATION } from '../../../services/demo/calendar.js';
import { parseQuery } from '../../../services/search/query-parser.js';
import { sql } from '../../../services/shared/sql.js';
import { SEARCH_FILE } from '../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { searchContacts } from '../../../services/stores/sqlite/contacts/search.js';
import { query } from '../../at-scale/parity/drawn-requests.js';
import { SEED } from '../../support/random.js';
import { sampleFolder } from '../../support/sample.js';

const QUERIES = 200;
const PAGE = 3;

describe('Contacts that match several words', () => {
  let connection: Connection;
  before(async () => {
    connection = new Connection(join(await sampleFolder(), SEARCH_FILE), { cacheMb: 16, readOnly: true });
  });
  after(() => connection.close());

  it('have the order in which the index ranks them, also where they are ranked one by one', () => {
    const texts = connection
      .rows<[string]>(sql`SELECT body FROM contacts ORDER BY position LIMIT 200`)
      .map(([body]) => JSON.parse(body) as Contact)
      .map(({ first_name, last_name, job_title, company_name, city, country }) =>
        [first_name, last_name, job_title, company_name, city, country].filter((text) => text !== null),
      );
    let several = 0;
    const drawn = fc.constantFrom(...texts).chain((own) => query(own, own));
    for (const text of fc.sample(drawn, { numRuns: QUERIES, seed: SEED })) {
      const parsed = parseQuery(text);
      if ('code' in parsed) continue;
      const asked = toContactSearch(DEMO_ORGANIZATION, { organization_id: DEMO_ORGANIZATION }, parsed);
      let after: ContactSearch['after'];
      for (let page = 0; page < 3; page++) {
        const search = { ...asked, limit: PAGE, after };
        const byIndex = searchContacts(connection, search, 0);
        expect(searchContacts(connection, search), `${text}, page ${page}`).to.deep.equal(byIndex);
        if (byIndex.total > 1 && parsed.required.length > 1) several++;
        if (!byIndex.next) break;
        after = byIndex.next;
      }
    }
    expect(several).to.be.above(QUERIES / 4);
  });
});
