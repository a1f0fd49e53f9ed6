import { expect } from 'chai';
import fc from 'fast-check';
import { explainPage } from '../../services/contacts/explain.js';
import type { Explanation } from '../../services/contacts/schema.js';
import { TIERS } from '../../services/search/ranking.js';
import { toJson } from '../../services/shared/json.js';
import { useOpened } from '../support/opened.js';
import { runs } from '../support/random.js';
import { drawn } from './record-store-order.js';
import { allPages, asked, type Filters, freshOrganization, load, type Open } from './record-store-support.js';

export function recordStoreExplain(open: Open): void {
  describe('explanations (contract 3.9)', () => {
    const opened = useOpened(() => open());

    async function explained(organization: string, filters: Filters): Promise<Explanation[]> {
      const search = asked(organization, filters);
      const page = await opened.store.searchContacts({ ...search, explain: true });
      return explainPage({ ...page, items: page.items.map(toJson) }, search.query);
    }

    it('tell the tier, the typos and where each word matched best', async () => {
      const organization = freshOrganization();
      await load(opened.store, organization, [
        { contact_id: 'whole', first_name: 'Amy', last_name: "O'Connor" },
        { contact_id: 'last', first_name: 'Zoe', last_name: 'O’Connor' },
        { contact_id: 'exact', company_name: 'OConnor' },
        { contact_id: 'beginning', last_name: 'Oconnors' },
        { contact_id: 'typo', last_name: 'Oconmor' },
      ]);
      const short = ({ contact_id, tier, typos, words }: Explanation) =>
        [contact_id, tier, typos, ...words.map((each) => Object.values(each).join(' '))].join(' | ');
      expect((await explained(organization, { query: 'oconnor' })).map(short)).to.deep.equal([
        'whole | first_or_last_name | 0 | oconnor last_name oconnor exact 0',
        'last | first_or_last_name | 0 | oconnor last_name oconnor exact 0',
        'exact | exact | 0 | oconnor company_name oconnor exact 0',
        'beginning | beginning | 0 | oconnor last_name oconnors beginning 0',
        'typo | typo | 1 | oconnor last_name oconmor typo 1',
      ]);
      expect((await explained(organization, { query: 'oconnor a' })).map(short)).to.deep.equal([
        'whole | beginning | 0 | oconnor last_name oconnor exact 0 | a first_name amy beginning 0',
      ]);
      expect((await explained(organization, { query: 'Amy "o connor"' })).map(short)).to.deep.equal([
        'whole | whole_name | 0 | amy first_name amy exact 0 | o connor last_name o connor exact 0',
      ]);
    });

    it('of equivalents come after exact words and before beginnings and typos, page by page, and name their row', async () => {
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
      // The names of the fourth match contain more of the words than the names of the third.
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

    it('agree with the order, and their words with their tiers, for random queries', async () => {
      await fc.assert(
        fc.asyncProperty(drawn, async ({ records, searches }) => {
          const organization = freshOrganization();
          await load(opened.store, organization, records);
          for (const { request } of searches) {
            const given = { ...request, limit: 1000 };
            const explanations = await explained(organization, given);
            const { required = [] } = asked(organization, given).query ?? {};
            for (const [index, { tier, typos, words }] of explanations.entries()) {
              const message = JSON.stringify([request, explanations[index]]);
              if (required.length === 0) {
                expect([tier, words.length], message).to.deep.equal([null, 0]);
                continue;
              }
              expect(words, message).to.have.length(required.length);
              expect(tierOfWords(words), message).to.equal(isNameTier(tier) ? 'exact' : tier);
              expect(sumOfTypos(words), message).to.equal(typos);
              const before = explanations[index - 1];
              if (before) expect(orderOf(before), message).to.be.at.most(orderOf({ tier, typos }));
            }
          }
        }),
        { numRuns: runs(10) },
      );
    }).timeout(600_000);
  });
}

const isNameTier = (tier: Explanation['tier']) => tier === 'whole_name' || tier === 'first_or_last_name';

const sumOfTypos = (words: Explanation['words']) => words.reduce((sum, { typos }) => sum + typos, 0);

function tierOfWords(words: Explanation['words']): Explanation['tier'] {
  if (words.some(({ match }) => match === 'typo')) return 'typo';
  if (words.some(({ match }) => match === 'beginning')) return 'beginning';
  return words.every(({ match }) => match === 'exact') ? 'exact' : 'equivalent';
}

const orderOf = ({ tier, typos }: Pick<Explanation, 'tier' | 'typos'>) =>
  TIERS.indexOf(tier as (typeof TIERS)[number]) * 100 + typos;
