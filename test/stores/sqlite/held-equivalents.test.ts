import { expect } from 'chai';
import { contactTerms } from '../../../services/contacts/search.js';
import type { TextQuery } from '../../../services/search/query.js';
import { parseQuery } from '../../../services/search/query-parser.js';
import { equivalentsOf } from '../../../services/search/ranking.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { findOrganization } from '../../../services/stores/sqlite/organizations.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { withHeldEquivalents } from '../../../services/stores/sqlite/text/vocabulary.js';
import { load } from '../../contract/record-store-support.js';
import { tempFolder } from '../../support/temp-folder.js';

describe('Equivalents in SQLite', () => {
  it('are looked for where the organization has their words, and where nobody can say', async () => {
    const dataDir = tempFolder();
    const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
    await load(store, 'org_a', [{ contact_id: 'a', job_title: 'Toimitusjohtaja' }]);
    await load(store, 'org_b', [{ contact_id: 'b', job_title: 'Jednatel' }]);
    const connection = new Connection(`${dataDir}/reachline.db`, { cacheMb: 8, readOnly: true });
    const held = (text: string): string[] => {
      const organization = findOrganization(connection, 'org_a')?.key as number;
      const query = contactTerms(parseQuery(text) as TextQuery);
      const { required } = withHeldEquivalents(connection, 'contact_terms', organization, query);
      return required.flatMap((term) => equivalentsOf(term).map(({ words }) => words.join(' ')));
    };
    try {
      expect(held('managing director')).to.include('toimitusjohtaja').and.not.include('jednatel');
      // Too short for the list of words that queries may misspell.
      expect(held('managing director')).to.include('md');
      expect(held('comptable')).to.deep.equal([]);
    } finally {
      connection.close();
      await store.close();
    }
  });
});
