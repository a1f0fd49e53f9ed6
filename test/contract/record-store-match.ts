import { expect } from 'chai';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import { withPartial } from '../../services/contacts/search.js';
import { toJson } from '../../services/shared/json.js';
import {
  allPages,
  asked,
  type Filters,
  filtersOf,
  freshOrganization,
  load,
  type Open,
  type OpenStore,
} from './record-store-support.js';
import { searchByHand } from './search-oracle.js';

const RECORDS: (Partial<ContactRecord> & { contact_id: string })[] = [
  { contact_id: 'ada', first_name: 'Ada', last_name: 'Lovelace', job_title: 'Analyst', city: 'London' },
  { contact_id: 'grace', first_name: 'Grace', last_name: 'Hopper', job_title: 'Rear Admiral' },
  { contact_id: 'analyst', first_name: 'Alan', last_name: 'Turing', job_title: 'Analyst', city: 'Oslo' },
  { contact_id: 'lovelace', first_name: 'Hopper', last_name: 'Lovelace', country: 'NO' },
];

/** The result of a search: how many of its words match, and the words that nobody has; `-` for nothing. */
const CASES = `
every word where a contact has them | ada analyst | ada
the other words where nobody has one, ranked by them | lovelace ada zebra | ada | 3 2 | zebra
each part of the words that nobody has together, whole names first | turing admiral | analyst, grace | 2 1
as many words as somebody has: two of three before one | hopper analyst lovelace | lovelace, ada | 3 2
a contact with less than half of the words, where at most ten have one of them | ada zebra gnu | ada | 3 1 | zebra, gnu
nobody for one word that nobody has | zebra | - | - | zebra
a phrase, which is never given up | "rear admiral" analyst | grace | 2 1
nobody where nobody has a phrase | ada lovelace "rear analyst" | - | - | rear analyst
no contact with an excluded word, which is never given up | ada analyst zebra -london | analyst | 3 1 | ada, zebra
only contacts within the filters | query=ada lovelace & country=NO | lovelace | 2 1 | ada
typos of the words that match alone | lovelase zebra analist | ada | 3 2 | zebra
`;
const listed = (text = '-') => (text === '-' ? [] : text.split(', '));

export function recordStoreMatch(open: Open): void {
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

    for (const row of CASES.trim().split('\n')) {
      const [title, search = '', given, counts = '-', lacking] = row.split(' | ');
      it(`answers ${title}`, async () => {
        const [request, ids, unmatched_words] = [filtersOf(search), listed(given), listed(lacking)];
        const [words, matched] = counts.split(' ').map(Number);
        const partial = counts === '-' ? undefined : { words, matched, unmatched_words };
        const isNobody = ids.length === 0;
        expect(await answer(request)).to.deep.equal({
          ...{ ids, partial, unmatched_words: isNobody ? unmatched_words : undefined },
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
      // The last query finds nobody: `ada`, its only word that matches, is less than half of its words, and not a rare word.
      for (const query of [
        'ada lovelace analyst',
        'ada oslo',
        'lovelace analyst oslo ada',
        'ada zebra gnu',
      ]) {
        const search = asked(many, { query, match: 'best', limit: 800 });
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
      expect({ partial, total }).to.deep.equal({
        partial: { matched: 0, weight: 0, weights: [0, 0] },
        total: 0,
      });
    });
  });
}
