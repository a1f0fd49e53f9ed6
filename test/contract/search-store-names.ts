import { expect } from 'chai';
import { type Filters, found, freshOrganization, load, type Open, type OpenStore } from './search-support.js';

type Names = [id: string, firstName: string, lastName: string][];

export function searchStoreNames(open: Open): void {
  describe('names in all scripts (contract 3.8, 3.9)', () => {
    let opened: OpenStore;
    before(async () => {
      opened = await open();
    });
    after(() => opened.close());

    async function loadNames(names: Names): Promise<(filters: Filters) => Promise<string[]>> {
      const organization = freshOrganization();
      await load(
        opened.store,
        organization,
        names.map(([contact_id, first_name, last_name]) => ({ contact_id, first_name, last_name })),
      );
      return (filters) => found(opened.store, organization, filters);
    }

    describe('vowel signs and voicing marks are letters', () => {
      let find: (filters: Filters) => Promise<string[]>;
      before(async () => {
        find = await loadNames([
          ['rima', 'रीमा', 'ठाकुर'],
          ['roma', 'रोमा', 'ठाकुर'],
          ['ram', 'राम', 'ठाकुर'],
          ['sida', 'สีดา', 'ไทยทดสอบ'],
          ['suda', 'สุดา', 'ไทยทดสอบ'],
          ['pana', 'パナ', 'ヤマダ'],
          ['bana', 'バナ', 'ヤマダ'],
          ['hana', 'ﾊﾅ', 'ヤマダ'],
          ['kali', 'কালী', 'দাস'],
          ['koli', 'কলি', 'দাস'],
        ]);
      });
      const cases: [filters: Filters, ids: string[]][] = [
        [{ first_name: 'राम', last_name: 'ठाकुर' }, ['ram']],
        [{ query: 'राम' }, ['ram']],
        [{ query: 'रीमा' }, ['rima', 'roma']],
        [{ first_name: 'สุดา' }, ['suda']],
        [{ query: 'สีดา' }, ['sida', 'suda']],
        [{ first_name: 'ハナ' }, ['hana']],
        [{ query: 'ハナ' }, ['hana']],
        [{ query: 'ﾊﾟﾅ' }, ['pana']],
        [{ query: 'কালী' }, ['kali']],
      ];
      for (const [filters, ids] of cases) {
        it(`${Object.values(filters).join(' ')} finds ${ids.join(', ')} in this order`, async () => {
          expect(await find(filters)).to.deep.equal(ids);
        });
      }
    });
  });
}
