import { expect } from 'chai';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import { withPartial } from '../../services/contacts/search.js';
import { toJson } from '../../services/shared/json.js';
import { searchByHand } from './search-oracle.js';
import {
  allPages,
  asked,
  type Filters,
  freshOrganization,
  load,
  type Open,
  type OpenStore,
} from './search-support.js';

const RECORDS: (Partial<ContactRecord> & { contact_id: string })[] = [
  { contact_id: 'ada', first_name: 'Ada', last_name: 'Lovelace', job_title: 'Analyst', city: 'London' },
  { contact_id: 'grace', first_name: 'Grace', last_name: 'Hopper', job_title: 'Rear Admiral' },
  { contact_id: 'analyst', first_name: 'Alan', last_name: 'Turing', job_title: 'Analyst', city: 'Oslo' },
  { contact_id: 'lovelace', first_name: 'Hopper', last_name: 'Lovelace', country: 'NO' },
];

interface Case {
  title: string;
  asked: Filters;
  ids: string[];
  partial?: [words: number, matched: number, unmatched: string[]];
  unmatched?: string[];
}

const CASES: Case[] = [
  { title: 'answers every word where a contact has them', asked: { query: 'ada analyst' }, ids: ['ada'] },
  {
    title: 'leaves out a word that nobody has, and ranks by the rest',
    asked: { query: 'lovelace ada zebra' },
    ids: ['ada'],
    partial: [3, 2, ['zebra']],
  },
  {
    title: 'answers each part of the words that nobody has together, whole names first',
    asked: { query: 'turing admiral' },
    ids: ['analyst', 'grace'],
    partial: [2, 1, []],
  },
  {
    title: 'answers as many words as somebody has: two of three come before one',
    asked: { query: 'hopper analyst lovelace' },
    ids: ['lovelace', 'ada'],
    partial: [3, 2, []],
  },
  {
    title: 'answers nobody with less than half of the words, rounded up',
    asked: { query: 'ada zebra gnu' },
    ids: [],
    unmatched: ['zebra', 'gnu'],
  },
  {
    title: 'answers nobody for one word that nobody has',
    asked: { query: 'zebra' },
    ids: [],
    unmatched: ['zebra'],
  },
  {
    title: 'never gives up a phrase',
    asked: { query: '"rear admiral" analyst' },
    ids: ['grace'],
    partial: [2, 1, []],
  },
  {
    title: 'answers nobody where nobody has a phrase',
    asked: { query: 'ada lovelace "rear analyst"' },
    ids: [],
    unmatched: ['rear analyst'],
  },
  {
    title: 'never gives up an excluded word',
    asked: { query: 'ada analyst zebra -london' },
    ids: [],
    unmatched: ['ada', 'zebra'],
  },
  {
    title: 'counts only contacts within the filters',
    asked: { query: 'ada lovelace', country: 'NO' },
    ids: ['lovelace'],
    partial: [2, 1, ['ada']],
  },
  {
    title: 'counts typos of the words that match alone',
    asked: { query: 'lovelase zebra analist' },
    ids: ['ada'],
    partial: [3, 2, ['zebra']],
  },
];

export function searchStoreMatch(open: Open): void {
  describe('match (contract 3.9)', () => {
    let opened: OpenStore;
    const organization = freshOrganization();
    before(async () => {
      opened = await open();
      await load(opened.store, organization, RECORDS);
    });
    after(() => opened.close());

    const answer = async (request: Filters) => {
      const search = asked(organization, { match: 'best', ...request });
      const page = await opened.store.searchContacts(search);
      const { items, total, partial, unmatched_words } = withPartial(
        { ...page, items: page.items.map(toJson) },
        search.query,
      ) as ReturnType<typeof withPartial> & { partial?: object; unmatched_words?: string[] };
      expect(total).to.equal(items.length);
      return { ids: page.items.map(({ contact_id }) => contact_id), partial, unmatched_words };
    };

    for (const { title, asked: request, ids, partial, unmatched } of CASES) {
      it(title, async () => {
        const [words, matched, unmatched_words] = partial ?? [];
        expect(await answer(request)).to.deep.equal({
          ids,
          partial: partial && { words, matched, unmatched_words },
          unmatched_words: unmatched,
        });
        if (!partial) return;
        const every = await answer({ ...request, match: 'all' });
        expect(every, 'all').to.deep.equal({ ids: [], partial: undefined, unmatched_words });
        const paged = await allPages(
          opened.store,
          asked(organization, { ...request, match: 'best', limit: 1 }),
        );
        expect(
          paged.map(({ contact_id }) => contact_id),
          'pages',
        ).to.deep.equal(ids);
      });
    }

    it('counts facets over the contacts that are answered', async () => {
      const search = asked(organization, { query: 'hopper analyst lovelace', match: 'best' });
      const { facets } = await opened.store.searchContacts({ ...search, facets: ['job_title', 'country'] });
      expect(facets).to.deep.equal({
        job_title: [{ value: 'Analyst', count: 1 }],
        country: [{ value: 'NO', count: 1 }],
      });
    });

    it('answers thousands of contacts with some of the words as it answers few', async () => {
      const many = freshOrganization();
      const fields = (index: number) =>
        [
          { first_name: 'Ada', last_name: 'Lovelace' },
          { last_name: index % 2 ? 'Adam' : 'Loveland', job_title: index % 3 ? 'Analyst' : 'Analysts' },
          { first_name: 'Grace', last_name: 'Lovelase', job_title: 'Analyst' },
          { last_name: 'Lovelace', city: 'Oslo' },
        ][index % 4] as Partial<ContactRecord>;
      const records = Array.from({ length: 1600 }, (_, index) => ({
        contact_id: `c${index}`,
        ...fields(index),
      }));
      await load(opened.store, many, records);
      const contacts: Contact[] = [];
      for (let from = 0; from < records.length; from += 800) {
        const ids = records.slice(from, from + 800).map(({ contact_id }) => contact_id);
        contacts.push(...(await opened.store.getContacts(many, ids)).contacts);
      }
      for (const query of [
        'ada lovelace analyst',
        'ada oslo',
        'lovelace analyst oslo ada',
        'grace oslo ada',
      ]) {
        const search = asked(many, { query, match: 'best', limit: 300 });
        const expected = searchByHand(contacts, search).map(({ contact }) => contact.contact_id);
        const first = await opened.store.searchContacts(search);
        expect(first.total, query).to.equal(expected.length);
        const ids = (await allPages(opened.store, search)).map(({ contact_id }) => contact_id);
        expect(ids, query).to.deep.equal(expected);
      }
    }).timeout(60_000);

    it('says that an organization without contacts has no word', async () => {
      const search = asked(freshOrganization(), { query: 'ada lovelace', match: 'best' });
      const { partial, total } = await opened.store.searchContacts(search);
      expect({ partial, total }).to.deep.equal({ partial: { matched: 0, unmatched: [0, 1] }, total: 0 });
    });
  });
}
