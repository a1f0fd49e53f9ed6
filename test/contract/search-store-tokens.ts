import { expect } from 'chai';
import { searchContacts } from '../../services/contacts/search.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { useOpened } from '../support/opened.js';
import { asked, type FoundCase, findsCases, freshOrganization, load, type Open } from './search-support.js';

const CASES: FoundCase[] = [
  {
    holds: { first_name: 'T. J.', last_name: 'Marlow' },
    finds: [{ query: 'tj marlow' }, { query: 'T.J. Marlow' }, { query: 't j marlow' }, { first_name: 'TJ' }],
    not: [{ query: 'jt marlow' }],
  },
  {
    holds: { first_name: 'PJ', last_name: 'Quist' },
    finds: [{ query: 'p.j. quist' }, { query: 'P. J. Quist' }],
  },
  {
    holds: { last_name: 'Haan', company_name: 'Molen B.V.' },
    finds: [{ query: 'molen bv' }, { query: 'molen b.v.' }, { company_name: 'molen bv' }],
  },
  {
    holds: { first_name: 'Ragnhild', last_name: "O'Dwyer" },
    finds: [
      { query: 'ragnhildodwyer' },
      { query: 'odwyerragnhild' },
      { query: 'ragnhildodw' },
      { query: 'ODwyerRagnhild', limit: 5 },
    ],
    not: [{ query: 'ragnhildodwyex' }],
  },
  {
    holds: { first_name: 'Айгуль', last_name: 'Сатпаева' },
    finds: [{ query: 'сатпаеваайгуль' }, { query: 'айгульсатпаева' }],
  },
  {
    holds: { first_name: 'สมศักดิ์', last_name: 'แสงทอง' },
    finds: [{ query: 'สมศักดิ์แสงทอง' }, { query: 'คุณสมศักดิ์' }, { query: 'คุณสมศักดิ์แสงทอง' }],
  },
  {
    holds: { phones: ['+49 40 7770 4821'] },
    finds: [
      { query: '040 7770 4821' },
      { query: '04077704821' },
      { query: '(040) 7770-4821' },
      { query: '77704821' },
    ],
    not: [{ query: '041 7770 4821' }],
  },
  {
    holds: { first_name: 'يُوسُف', last_name: 'الحَدّاد' },
    finds: [{ query: 'يوسف الحداد' }, { first_name: 'يوسف' }, { query: 'يُوسُف' }, { query: 'يوســف' }],
  },
  { holds: { first_name: 'דָּוִד', last_name: 'אֲבְרָהָם' }, finds: [{ query: 'דוד אברהם' }] },
  {
    holds: { company_name: '南京星河科技有限公司' },
    finds: [
      { query: '星河科技' },
      { query: '星河' },
      { query: '南京星河' },
      { company_name: '河科' },
      { query: '星河科技有限公司' },
    ],
    not: [{ query: '星科' }],
  },
  {
    holds: { company_name: '株式会社ミドリ商会' },
    finds: [{ query: 'ミドリ商会' }, { query: 'みどり商会' }],
  },
  {
    holds: { first_name: '志明', last_name: '劉' },
    finds: [{ query: '刘志明' }, { query: '劉志明' }, { last_name: '刘' }],
  },
  { holds: { last_name: '渡邊', city: '臺北' }, finds: [{ query: '渡辺' }, { city: '台北' }] },
  { holds: { last_name: 'ｻﾄｳ' }, finds: [{ query: 'サトウ' }, { query: 'さとう' }] },
];

/** What a query for an address finds as it is, or by its parts. */
const ADDRESSES: [query: string, ids: string[]][] = [
  ['ines.cardoso', ['mail']],
  ['cardoso.ines', ['ines', 'mail']],
  ['ines.cardoso@lisboa.example', ['mail']],
  ['ines.cardosso@lisboa.exampel', ['ines', 'mail']],
  ['cardoso@lisboa', ['ines', 'mail']],
  ['-ines.cardoso@lisboa.example lisboa', ['ines']],
  ['ines.pereira', []],
];

export function searchStoreTokens(open: Open): void {
  describe('words as people write them (contract 3.9)', () => {
    const opened = useOpened(() => open());
    findsCases(opened, CASES);

    const addresses = freshOrganization();
    before(() =>
      load(opened.store, addresses, [
        { contact_id: 'ines', first_name: 'Ines', last_name: 'Cardoso', company_domain: 'lisboa.example' },
        { contact_id: 'mail', last_name: 'Cardoso', work_emails: ['ines.cardoso@lisboa.example'] },
      ]),
    );
    for (const [query, ids] of ADDRESSES) {
      it(`an email or domain is one word, or its parts where nobody has it: ${query}`, async () => {
        const { otherwise } = parseQuery(query) as { otherwise?: never };
        const search = asked(addresses, { query });
        const { page } = await searchContacts((part) => opened.store.searchContacts(part), {
          ...search,
          query: search.query && { ...search.query, otherwise },
        });
        expect(page.items.map(({ contact_id }) => contact_id).sort()).to.deep.equal(ids);
      });
    }
  });
}
