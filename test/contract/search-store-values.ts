import { expect } from 'chai';
import type { ContactRecord } from '../../services/contacts/schema.js';
import { type Filters, found, freshOrganization, load, type Open, type OpenStore } from './search-support.js';

type Case = [filters: Filters, ids: string[]];

export function searchStoreValues(open: Open): void {
  describe('values that are written in several ways (contract 3.8, 3.9)', () => {
    let opened: OpenStore;
    before(async () => {
      opened = await open();
    });
    after(() => opened.close());

    function holds(
      what: string,
      records: (Omit<ContactRecord, 'organization_id' | 'contact_id'> & { contact_id: string })[],
      cases: Case[],
    ): void {
      describe(what, () => {
        const organization = freshOrganization();
        before(() => load(opened.store, organization, records));
        for (const [filters, ids] of cases) {
          it(`${JSON.stringify(filters)} finds ${ids.join(', ') || 'nothing'}`, async () => {
            expect(await found(opened.store, organization, filters)).to.deep.equal(ids);
          });
        }
      });
    }

    holds(
      'a country by code and name',
      [
        ['cd', 'CD'],
        ['cg', 'CG'],
        ['congo', 'Congo'],
        ['republic', 'Republic of the Congo'],
        ['vn', 'VN'],
        ['viet', 'Viet Nam'],
        ['vietnam', 'Vietnam'],
        ['cape', 'Cape Verde'],
        ['us', 'US'],
        ['states', 'United States of America'],
        ['uk', 'United Kingdom'],
        ['ci', 'Côte d’Ivoire'],
        ['other', 'Atlantis'],
      ].map(([contact_id = '', country]) => ({ contact_id, country, job_title: 'Designer' })),
      [
        [{ country: 'Congo' }, ['cg', 'congo', 'republic']],
        [{ country: 'COD' }, ['cd']],
        [{ country: 'congo, the democratic republic of the' }, ['cd']],
        [{ country: 'VNM' }, ['vn', 'viet', 'vietnam']],
        [{ country: 'Viet Nam' }, ['vn', 'viet', 'vietnam']],
        [{ country: 'Cabo Verde' }, ['cape']],
        [{ country: "cote d'ivoire" }, ['ci']],
        [{ country: 'The United States' }, ['us', 'states']],
        [{ country: 'atlantis' }, ['other']],
        [{ query: 'UK designer' }, ['uk']],
        [{ query: 'gbr' }, ['uk']],
        [{ query: 'usa designer' }, ['us', 'states']],
        [{ query: '"united states"' }, ['us', 'states']],
        [{ query: 'vietnam designer' }, ['vn', 'viet', 'vietnam']],
        [{ query: 'viet nam' }, ['vn', 'viet', 'vietnam']],
        [{ query: 'zaire' }, ['cd']],
        [{ query: 'cabo verde' }, ['cape']],
        [{ query: '"ivory coast"' }, ['ci']],
        [{ query: 'designer -usa -uk -vnm -congo' }, ['cape', 'ci', 'other']],
      ],
    );

    holds(
      'a postal code in the query',
      [
        { contact_id: 'everett', postal_code: '98201-1234' },
        { contact_id: 'london', postal_code: 'SW1A 1AA' },
        { contact_id: 'tokyo', postal_code: '１００−０００１' },
      ],
      [
        [{ query: '98201' }, ['everett']],
        [{ query: '9820' }, ['everett']],
        [{ query: '98201-1234' }, ['everett']],
        [{ query: 'sw1a 1aa' }, ['london']],
        [{ query: 'SW1A1AA' }, ['london']],
        [{ query: '"1aa"' }, ['london']],
        [{ query: '100-0001' }, ['tokyo']],
        [{ query: '98202' }, []],
      ],
    );
  });
}
