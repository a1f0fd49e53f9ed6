import { expect } from 'chai';
import { wordsTwoTyposFrom } from '../support/near-words.js';
import { useOpened } from '../support/opened.js';
import { found, freshOrganization, load, type Open } from './search-support.js';

export function searchStoreQuery(open: Open): void {
  describe('query (contract 3.9)', () => {
    const opened = useOpened(() => open());
    const organization = freshOrganization();
    const find = (query: string) => found(opened.store, organization, { query });

    before(async () => {
      await load(opened.store, organization, [
        {
          contact_id: 'maria',
          first_name: 'María',
          last_name: 'Velázquez',
          work_emails: ['maria.v@acme-corp.com'],
          personal_emails: ['mv@home.example'],
          phones: ['+1 (202) 224-3441', '425.303.0114'],
          job_title: 'Chief Data Officer',
          company_name: 'Acme Corporation',
          company_domain: 'acme-corp.com',
          city: 'New York',
          state_region: 'Texas',
          country: 'Mexico',
          functional_area: 'Analytics',
          network_a_url: 'https://network.example/in/mvelaz-77b/',
        },
        {
          contact_id: 'robert',
          first_name: 'Robert',
          last_name: 'Alexander',
          company_name: 'York New Ventures',
        },
        { contact_id: 'r2d2', first_name: 'R2d2abcd', last_name: 'Wu', phones: ['202 224 3442'] },
        { contact_id: 'emails', work_emails: ['first@one.example', 'second@two.example'] },
        { contact_id: 'cjk', first_name: '東京', last_name: 'Ælfgifu Straße' },
      ]);
    });

    const cases: [title: string, query: string, ids: string[]][] = [
      ['the beginning of a word matches from two letters', 've', ['maria', 'robert']],
      ['one letter begins a name', 'v acme', ['maria']],
      ['one letter begins no other word', 'y acme', []],
      ['words may match in different fields', 'maria acme texas', ['maria']],
      ['every word must match', 'maria zebra', []],
      ['four letters may carry one typo', 'marla', ['maria']],
      ['eight letters may carry two typos', 'velasques', ['maria']],
      ['a transposition is one typo', 'roebrt', ['robert']],
      ['the first letter must be right', 'nobert', []],
      ['a word with a digit may be a beginning', 'r2d2ab', ['r2d2']],
      ['quotes allow no typo', '"marla"', []],
      ['quotes allow no beginning', '"mari"', []],
      ['quoted words match exactly', '"maria"', ['maria']],
      ['a phrase keeps words adjacent', '"new york"', ['maria']],
      ['a phrase keeps the order', '"york new"', ['robert']],
      ['words without quotes keep no order', 'york new', ['maria', 'robert']],
      ['a phrase does not run across fields', '"maria velazquez"', []],
      ['a phrase does not run across values of a list', '"example second"', []],
      ['a phrase may lie in an email', '"acme corp com"', ['maria']],
      ['a word can be excluded', 'new -acme', ['robert']],
      ['exclusion is exact', 'new -acm', ['maria', 'robert']],
      ['a phrase can be excluded', 'york -"new york"', ['robert']],
      ['a query may only exclude', '-maria -robert', ['r2d2', 'emails', 'cjk']],
      ['the beginning of an email matches', 'maria.v@acme', ['maria']],
      ['an email carries no typo', 'marja.v@acme-corp.com', []],
      ['the domain of an email matches', 'two.example', ['emails']],
      ['an email can be excluded', '-first@one.example -r2d2abcd -robert -maria', ['cjk']],
      ['a phone number matches however written', '202-224-3441', ['maria']],
      ['the beginning of a phone number matches', '2022243', ['maria', 'r2d2']],
      ['a phone number carries no typo', '202-224-3443', []],
      ['profile slugs match', 'mvelaz', ['maria']],
      ['letters of any script match', '東京', ['cjk']],
      ['ligatures and strokes are letters', 'aelfgifu strasse', ['cjk']],
    ];
    for (const [title, query, ids] of cases) {
      it(title, async () => {
        expect(await find(query)).to.have.members(ids);
        expect(await find(query)).to.have.lengthOf(ids.length);
      });
    }

    it('a query and filters must both hold', async () => {
      expect(await found(opened.store, organization, { query: 'york', first_name: 'rob' })).to.deep.equal([
        'robert',
      ]);
    });

    it('a query finds a member of an audience only', async () => {
      await load(opened.store, organization, [{ contact_id: 'robert', audience_ids: ['aud_r'] }]);
      expect(await found(opened.store, organization, { query: 'york' }, 'aud_r')).to.deep.equal(['robert']);
      expect(await found(opened.store, organization, { query: 'maria' }, 'aud_r')).to.deep.equal([]);
      expect(await found(opened.store, organization, {}, 'aud_unknown')).to.deep.equal([]);
    });

    it('a word is found through each of a thousand words that are two typos away', async () => {
      const own = freshOrganization();
      const words = wordsTwoTyposFrom('nebukadnezar', 1000);
      await load(
        opened.store,
        own,
        words.map((last_name) => ({ last_name })),
      );
      expect(await found(opened.store, own, { query: 'nebukadnezar' })).to.have.length(1000);
      expect(await found(opened.store, own, { query: 'nebukadnezar', last_name: words[999] })).to.have.length(
        1,
      );
    });
  });
}
