import { expect } from 'chai';
import { explainPage } from '../../services/contacts/explain.js';
import { toJson } from '../../services/shared/json.js';
import { useOpened } from '../support/opened.js';
import {
  allPages,
  asked,
  type FoundCase,
  findsCases,
  freshOrganization,
  load,
  type Open,
} from './search-support.js';

const CASES: FoundCase[] = [
  {
    holds: { last_name: 'Polder', job_title: 'VP of Marketing' },
    finds: [
      { query: 'vice president' },
      { query: 'polder vice president marketing' },
      { query: 'vice president of marketing polder' },
      { query: 'vp polder' },
      { job_title: 'Vice President' },
      { job_title: 'vice president, marketing' },
      { job_title: 'VP' },
    ],
    not: [{ query: '"vice president"' }, { query: 'vice chair' }, { job_title: 'vice' }, { query: 'svp' }],
  },
  {
    holds: { last_name: 'Throckmorton', job_title: 'Chief Financial Officer' },
    finds: [{ query: 'cfo throckmorton' }, { job_title: 'CFO' }],
    not: [{ query: 'ceo throckmorton' }, { query: 'cfa throckmorton' }, { last_name: 'cfo' }],
  },
  {
    holds: { last_name: 'Ito', job_title: 'Sr. Software Eng', functional_area: 'Human Resources' },
    finds: [{ query: 'senior software engineer ito' }, { query: 'ito hr' }, { job_title: 'senior engineer' }],
    not: [{ query: 'ito senor' }, { functional_area: 'hr' }],
  },
  {
    holds: { last_name: 'Harrington', first_name: 'Elizabeth' },
    finds: [
      { query: 'liz harrington' },
      { query: 'Harrington, Betty' },
      { query: 'dr elizabeth harrington phd' },
    ],
    not: [{ first_name: 'liz' }, { query: 'bob harrington' }, { query: 'li harrington' }],
  },
  {
    holds: { last_name: 'Ode', first_name: 'Bob' },
    finds: [{ query: 'robert ode' }, { query: 'mr. bob ode' }],
    // Short forms stand for their names, not for each other.
    not: [{ query: 'rob ode' }],
  },
  {
    holds: { last_name: 'Jansen', company_name: 'Polder B.V.' },
    finds: [
      { query: 'polder bv jansen' },
      { query: 'jansen at polder' },
      { company_name: 'Polder BV' },
      { company_name: 'polder gmbh' },
    ],
    not: [{ company_name: 'bv polderin' }, { query: 'jansen ag' }],
  },
  {
    holds: { last_name: 'Reddy', company_name: 'Deccan Systems' },
    finds: [{ query: 'deccan systems private limited' }, { company_name: 'Deccan Systems Pvt. Ltd.' }],
    not: [{ query: 'deccan foods private limited' }],
  },
  {
    holds: { last_name: 'Vail', company_name: 'Stone & Sons Co.' },
    finds: [
      { query: 'stone and sons' },
      { company_name: 'Stone and Sons Company' },
      { query: 'stone & sons' },
    ],
    not: [{ query: 'stone and bricks' }],
  },
  {
    holds: { last_name: 'Beethoven', city: 'München', state_region: 'Bayern' },
    finds: [
      { query: 'beethoven munich' },
      { city: 'Munich' },
      { city: 'Muenchen' },
      { state_region: 'Bavaria' },
      { query: 'munich bavaria' },
      { query: 'beethoven in munich' },
      { query: 'beethoven at munich' },
    ],
    not: [{ query: 'munic' }, { query: 'munich in beethoven' }, { state_region: 'Saxony' }],
  },
  {
    holds: { last_name: 'Castellano', city: 'New York', state_region: 'CA' },
    finds: [{ query: 'castellano nyc' }, { city: 'New York City' }, { state_region: 'California' }],
    not: [{ city: 'nyc york new jersey' }],
  },
  {
    holds: { last_name: 'Kim', city: '서울' },
    finds: [{ query: 'kim seoul' }, { city: 'Seoul' }],
  },
];

export function searchStoreEquivalents(open: Open): void {
  describe('equivalents (contract 3.9)', () => {
    const opened = useOpened(() => open());
    findsCases(opened, CASES);

    it('come after exact words and before beginnings and typos, page by page, and name their row', async () => {
      const own = freshOrganization();
      await load(opened.store, own, [
        { contact_id: 'typo', first_name: 'Munihc', last_name: 'Ann' },
        { contact_id: 'beginning', last_name: 'Anna Munichson' },
        { contact_id: 'equivalent', last_name: 'Ann', city: 'München' },
        { contact_id: 'equivalent_begun', last_name: 'Anne', city: 'München' },
        { contact_id: 'exact', last_name: 'Ann', city: 'Munich' },
      ]);
      const search = asked(own, { query: 'ann munich', limit: 1 });
      const paged = await allPages(opened.store, search);
      // In names more words of the fourth match than of the third.
      expect(paged.map(({ id }) => id)).to.deep.equal([
        ...['exact', 'equivalent', 'beginning', 'equivalent_begun', 'typo'],
      ]);
      const page = await opened.store.searchContacts({ ...search, limit: 10, explain: true });
      const explained = await explainPage({ ...page, items: page.items.map(toJson) }, search.query);
      expect(explained.map(({ tier }) => tier)).to.deep.equal([
        ...['exact', 'equivalent', 'beginning', 'beginning', 'typo'],
      ]);
      expect(explained[1]?.words).to.deep.equal([
        { word: 'ann', field: 'last_name', text: 'ann', match: 'exact', typos: 0 },
        {
          word: 'munich',
          field: 'city',
          text: 'munchen',
          match: 'equivalent',
          typos: 0,
          row: 'city: munich',
        },
      ]);
    });
  });
}
