import { expect } from 'chai';
import {
  asked,
  type Filters,
  found,
  freshOrganization,
  load,
  type Open,
  type OpenStore,
} from './search-support.js';

export function searchStoreFilters(open: Open): void {
  describe('filters (contract 3.8)', () => {
    let opened: OpenStore;
    const organization = freshOrganization();
    const find = (filters: Filters) => found(opened.store, organization, filters);

    before(async () => {
      opened = await open();
      await load(opened.store, organization, [
        {
          contact_id: 'maria',
          first_name: 'María José',
          last_name: "O'Neill-Luján",
          job_title: 'Vice President, Data Engineering',
          functional_area: 'Engineering',
          company_name: 'Zürich Versicherung AG',
          company_domain: 'https://WWW.Zurich.com:443/about?x=1',
          city: 'São Paulo',
          state_region: 'Île-de-France',
          country: 'United States',
          postal_code: 'SW1A 2AA',
          network_a_url: 'https://www.network.example/in/Maria-Lujan/?trk=1#top',
        },
        { contact_id: 'omar', first_name: 'Omar', country: 'USA', company_domain: 'mail.zurich.com' },
        {
          contact_id: 'de',
          country: 'de',
          postal_code: 'sw1a2ab',
          network_a_url: 'fr.network.example/in/omar',
        },
        { contact_id: 'empty' },
      ]);
    });
    after(() => opened.close());

    const cases: [title: string, filters: Filters, ids: string[]][] = [
      ['a word matches whatever its case and accents', { first_name: 'MARIA' }, ['maria']],
      ['the beginning of a word matches', { first_name: 'mar' }, ['maria']],
      ['one letter is a beginning', { first_name: 'j' }, ['maria']],
      ['words may come in any order', { first_name: 'jose mar' }, ['maria']],
      ['every word must match', { first_name: 'maria omar' }, []],
      ['a word that begins another changes nothing', { first_name: 'm mar Mar maria j' }, ['maria']],
      ['a word with a typo does not match', { first_name: 'marja' }, []],
      ['the middle of a word does not match', { first_name: 'aria' }, []],
      ['apostrophes and hyphens part words', { last_name: 'lujan o neill' }, ['maria']],
      ['a word of another field does not match', { last_name: 'maria' }, []],
      ['job titles match by words', { job_title: 'vice-pres eng' }, ['maria']],
      ['functional areas match by words', { functional_area: 'engineering' }, ['maria']],
      ['company names match by words', { company_name: 'zurich' }, ['maria']],
      ['cities match by words', { city: 'sao PAULO' }, ['maria']],
      ['states match by words', { state_region: 'ile france' }, ['maria']],
      ['filters are joined by and', { first_name: 'maria', city: 'lyon' }, []],
      ['a country has many names', { country: 'us' }, ['maria', 'omar']],
      ['a country is found by its name', { country: 'Germany' }, ['de']],
      ['a country is compared whole', { country: 'united' }, []],
      ['postal codes ignore case and spaces', { postal_code: 'sw1a2aa' }, ['maria']],
      ['postal codes are compared whole', { postal_code: 'SW1A' }, []],
      ['domains are compared in normal form', { company_domain: 'zurich.com' }, ['maria']],
      ['a sub-domain is another domain', { company_domain: 'www.mail.zurich.com.' }, ['omar']],
      [
        'profile addresses are normalized',
        { network_a_url: 'http://network.example/in/maria-lujan' },
        ['maria'],
      ],
      ['a bare slug is the last segment', { network_a_url: 'OMAR' }, ['de']],
      ['a slug is compared whole', { network_a_url: 'maria' }, []],
      ['no filter finds all', {}, ['maria', 'omar', 'de', 'empty']],
      ['null is not given', { first_name: null, country: null }, ['maria', 'omar', 'de', 'empty']],
      ['special characters are harmless', { company_domain: `"'*) OR x:(` }, []],
    ];
    for (const [title, filters, ids] of cases) {
      it(title, async () => {
        expect(await find(filters)).to.deep.equal(ids);
      });
    }

    it('an organization without contacts has none', async () => {
      const page = await opened.store.searchContacts(asked(freshOrganization()));
      expect(page).to.deep.equal({ items: [], total: 0, next: null });
    });

    it('two organizations with the same ids do not see each other', async () => {
      const left = freshOrganization();
      const right = freshOrganization();
      await load(opened.store, left, [{ contact_id: 'same', first_name: 'Leftie', audience_ids: ['aud'] }]);
      await load(opened.store, right, [{ contact_id: 'same', first_name: 'Rightie', audience_ids: ['aud'] }]);
      expect(await found(opened.store, left, { query: 'leftie' })).to.deep.equal(['same']);
      expect(await found(opened.store, left, { query: 'rightie' })).to.deep.equal([]);
      expect(await found(opened.store, left, { first_name: 'righ' })).to.deep.equal([]);
      expect(await found(opened.store, left, {}, 'aud')).to.deep.equal(['same']);
      expect((await opened.store.getContact(right, 'same'))?.first_name).to.equal('Rightie');
      expect(
        (await opened.store.searchContacts(asked(left))).items.map((item) => item.first_name),
      ).to.deep.equal(['Leftie']);
    });
  });
}
