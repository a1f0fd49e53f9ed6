import { expect } from 'chai';
import { newId } from '../../services/shared/ids.js';
import {
  DEAD_LETTER_LIMITS,
  type StoredDeadLetter,
  storedDeadLetters,
} from '../../services/stores/common/dead-letters.js';
import { freshOrganization, type Open, type OpenStore } from './search-support.js';

export function searchStoreDeadLetters(open: Open): void {
  describe('dead letters', () => {
    let opened: OpenStore;
    before(async () => {
      opened = await open();
    });
    after(() => opened.close());

    const now = Date.now();
    const letters = (organizationId: string, count: number, more: Partial<StoredDeadLetter> = {}) =>
      Array.from(
        { length: count },
        (_, index): StoredDeadLetter => ({
          id: newId('rej', now),
          organizationId,
          stream: 'contacts',
          code: 'invalid_type',
          pointer: '/age',
          detail: 'age must be an integer.',
          line: index + 1,
          attempts: 1,
          acceptedAt: now,
          sequence: index + 1,
          value: '{"contact_id":"ü","age":"old"}',
          encoding: 'utf8',
          truncatedFrom: null,
          ...more,
        }),
      );
    async function all(organizationId?: string): Promise<StoredDeadLetter[]> {
      const found: StoredDeadLetter[] = [];
      for await (const page of storedDeadLetters(opened.store, organizationId)) found.push(...page);
      return found;
    }

    it('are listed oldest first, of one organization or of all, until they are deleted', async () => {
      const [organization, other] = [freshOrganization(), freshOrganization()];
      const later = letters(organization, 60);
      const [earlier] = letters(organization, 1, { acceptedAt: now - 1000 }) as [StoredDeadLetter];
      const ofOther = letters(other, 1);
      await opened.store.keepDeadLetters([...later, ...ofOther]);
      await opened.store.keepDeadLetters([earlier]);
      expect(await all(organization)).to.deep.equal([earlier, ...later]);
      expect((await all()).map(({ id }) => id)).to.include.members([
        earlier.id,
        ...ofOther.map(({ id }) => id),
      ]);
      await opened.store.deleteDeadLetters([earlier.id, ...later.slice(1).map(({ id }) => id)]);
      expect(await all(organization)).to.deep.equal(later.slice(0, 1));
      expect(await all(other)).to.deep.equal(ofOther);
    });

    it('of an organization are bounded in bytes and age, and the oldest go first', async () => {
      const organization = freshOrganization();
      const old = letters(organization, 1, { acceptedAt: now - DEAD_LETTER_LIMITS.ageMs - 60_000 });
      const large = letters(organization, 18, { value: 'x'.repeat(1024 * 1024) });
      await opened.store.keepDeadLetters([...old, ...large.slice(0, 10)]);
      // Bounds may lag behind by what is not searchable yet.
      expect(await all(organization)).to.have.length.within(10, 11);
      await opened.store.keepDeadLetters(large.slice(10));
      await all(organization);
      const [last] = letters(organization, 1, { acceptedAt: now + 1 }) as [StoredDeadLetter];
      await opened.store.keepDeadLetters([last]);
      const left = await all(organization);
      expect(left).to.have.length.within(14, 16);
      expect(left.at(-1)).to.deep.equal(last);
      expect(left.slice(0, -1)).to.deep.equal(large.slice(large.length - left.length + 1));
    });
  });
}
