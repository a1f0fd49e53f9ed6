import { expect } from 'chai';
import { useOpened } from '../support/opened.js';
import { type Filters, findsOf, found, freshOrganization, load, type Open } from './search-support.js';

type Names = [id: string, firstName: string, lastName: string][];
const people = (names: Names) =>
  names.map(([contact_id, first_name, last_name]) => ({ contact_id, first_name, last_name }));

export function searchStoreNames(open: Open): void {
  describe('names in all scripts (contract 3.8, 3.9)', () => {
    const opened = useOpened(() => open());

    findsOf(
      opened,
      'vowel signs and voicing marks are letters',
      people([
        ['rima', 'रीमा', 'ठाकुर'],
        ['roma', 'रोमा', 'ठाकुर'],
        ['pana', 'パナ', 'ヤマダ'],
        ['bana', 'バナ', 'ヤマダ'],
        ['hana', 'ﾊﾅ', 'ヤマダ'],
      ]),
      [
        [{ query: 'रीमा' }, ['rima', 'roma']],
        [{ first_name: 'ハナ' }, ['hana']],
        [{ query: 'ハナ' }, ['hana']],
        [{ query: 'ﾊﾟﾅ' }, ['pana']],
      ],
    );

    findsOf(
      opened,
      'a name is one, however it is written',
      people([
        ['oconnor', 'Sandra', "O'Connor"],
        ['oconnor2', 'Sinead', 'OConnor'],
        ['cortez', 'Alexandria', 'Ocasio-Cortez'],
        ['hollen', 'Chris', 'Van Hollen'],
        ['hollen2', 'Kris', 'Vanhollen'],
        ['solo', 'Олена', 'Соловʼяненко'],
        ['amy', 'Amy', 'Klobuchar'],
        ['amyb', 'Amy', 'Bera'],
        ['li', '静', '李'],
        ['suzuki', '美咲', '鈴木'],
        ['mixed', 'Ann', '李'],
      ]),
      [
        ...["O'Connor", 'oconnor', 'o connor'].flatMap((text): [Filters, string[]][] => [
          [{ query: text }, ['oconnor', 'oconnor2']],
          [{ last_name: text }, ['oconnor', 'oconnor2']],
        ]),
        ...['Ocasio-Cortez', 'ocasio cortez', 'ocasiocortez'].flatMap((text): [Filters, string[]][] => [
          [{ query: text }, ['cortez']],
          [{ query: `alexandria ${text}` }, ['cortez']],
          [{ last_name: text }, ['cortez']],
        ]),
        ...['van Hollen', 'vanhollen'].flatMap((text): [Filters, string[]][] => [
          [{ query: text }, ['hollen', 'hollen2']],
          [{ last_name: text }, ['hollen', 'hollen2']],
        ]),
        [{ query: "солов'яненко" }, ['solo']],
        [{ query: 'amy k' }, ['amy']],
        [{ query: 'a ocasio' }, ['cortez']],
        [{ query: 'A. Ocasio-Cortez' }, ['cortez']],
        [{ query: '李静' }, ['li']],
        [{ query: '李' }, ['mixed', 'li']],
        [{ query: '鈴木美咲' }, ['suzuki']],
        [{ query: '美咲鈴' }, ['suzuki']],
        [{ last_name: '鈴木美咲' }, []],
      ],
      { inOrder: false },
    );

    it('a typo in a name comes before one in a city, more names before fewer', async () => {
      const organization = freshOrganization();
      await load(opened.store, organization, [
        { contact_id: 'city', first_name: 'Dave', last_name: 'Min', city: 'Costa Mesa' },
        { contact_id: 'title', first_name: 'Ann', last_name: 'Lee', job_title: 'Costa' },
        { contact_id: 'name', first_name: 'Jim', last_name: 'Costa' },
      ]);
      const find = (query: string) => found(opened.store, organization, { query });
      expect(await find('cotsa')).to.deep.equal(['name', 'title', 'city']);
      await load(opened.store, organization, [
        { contact_id: 'k2', first_name: 'Mary', last_name: 'Kay', city: 'Rome' },
        { contact_id: 'k3', first_name: 'Mary', last_name: 'Kay', company_name: 'Rome' },
        { contact_id: 'k1', first_name: 'Mary', job_title: 'Kay', city: 'Rome' },
        { contact_id: 'k0', job_title: 'Mary Kay', city: 'Rome' },
      ]);
      expect(await find('mary kay rome')).to.deep.equal(['k2', 'k3', 'k1', 'k0']);
      expect(await find('mary rome')).to.deep.equal(['k2', 'k3', 'k1', 'k0']);
      expect(await find('marry kay rome')).to.deep.equal(['k2', 'k3', 'k1', 'k0']);
    });
  });
}
