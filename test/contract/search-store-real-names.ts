import { expect } from 'chai';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import { distanceWithin, words } from '../../services/shared/text.js';
import { realLines } from '../support/real-data.js';
import { asked, freshOrganization, load, type Open, type OpenStore } from './search-support.js';

const NAMES = 20;

export function searchStoreRealNames(open: Open): void {
  describe('names of 537 real people (contract 3.9)', () => {
    let opened: OpenStore;
    const organization = freshOrganization();
    const people = realLines('contacts').map((line) => JSON.parse(line) as ContactRecord);
    const nameOf = ({ first_name, last_name }: Pick<Contact, 'first_name' | 'last_name'>) =>
      `${first_name} ${last_name}`;
    const first = async (query: string, limit: number) =>
      (await opened.store.searchContacts(asked(organization, { query, limit }))).items;

    before(async () => {
      opened = await open();
      await load(
        opened.store,
        organization,
        people.map(({ organization_id: _, audience_ids: __, ...person }) => person),
      );
    });
    after(() => opened.close());

    it('typed letter by letter, 20 names are never without a result, and soon among the first three', async function () {
      this.timeout(300_000);
      const typed = people.filter((_, index) => index % 24 === 3).slice(0, NAMES);
      expect(typed).to.have.length(NAMES);
      for (const person of typed) {
        const name = nameOf(person as Contact);
        const letters = [...name];
        const decided = letters.length - [...(person.last_name ?? '')].length + 3;
        await Promise.all(
          letters.map(async (_, index) => {
            const query = letters.slice(0, index + 1).join('');
            const items = await first(query, 3);
            expect(items, query).to.have.length.above(0);
            if (index < 2 || items.some(({ contact_id }) => contact_id === person.contact_id)) return;
            // The first name alone may be that of many: then three of them come first.
            expect(index + 1, `${name} at ${query}`).to.be.below(decided);
            for (const item of items) {
              const held = words(nameOf(item));
              for (const term of asked(organization, { query }).query?.required ?? []) {
                if (term.kind !== 'word') throw new Error(`${query} has a phrase`);
                const isBegun = held.some((other) => other.startsWith(term.word));
                const isShort = term.equivalents?.some(({ words: [other = ''] }) => held.includes(other));
                expect(isBegun || isShort, `${nameOf(item)} at ${query}`).to.equal(true);
              }
            }
          }),
        );
      }
    });

    it('one typo from a surname, a person whose name is as near comes first', async function () {
      this.timeout(300_000);
      // Shorter words carry no typo once they lack a letter.
      const surnames = [...new Set(people.flatMap(({ last_name }) => words(last_name ?? '')))].filter(
        ({ length }) => length > 4,
      );
      const misses: string[] = [];
      for (const [index, surname] of surnames.entries()) {
        if (index % 3 !== 0) continue;
        const query = withTypo(surname, index);
        const [item] = await first(query, 1);
        const isNear = words(item ? nameOf(item) : '').some(
          (held) => held.startsWith(query) || distanceWithin(held, query, 1) !== null,
        );
        if (!isNear) misses.push(`${query} for ${surname} finds ${item && nameOf(item)}`);
      }
      expect(misses.length, misses.join(', ')).to.be.at.most(surnames.length / 300);
    });
  });
}

/** The first letter stays right. */
function withTypo(word: string, variant: number): string {
  const letters = [...word];
  const at = 1 + (variant % (letters.length - 1));
  const [letter = '', next = ''] = letters.slice(at);
  switch (variant % 4) {
    case 0:
      letters.splice(at, 1);
      break;
    case 1:
      letters.splice(at, 2, next, letter);
      break;
    case 2:
      letters.splice(at, 1, letter === 'r' ? 't' : 'r');
      break;
    default:
      letters.splice(at, 0, letter);
  }
  return letters.join('');
}
