import { expect } from 'chai';
import { useOpened } from '../support/opened.js';
import { freshOrganization, load, type Open } from './record-store-support.js';

export function recordStoreGetMany(open: Open): void {
  describe('many contacts by id (contract 3.12)', () => {
    const opened = useOpened(() => open());

    it('come in the order asked, whole, and the missing are named', async () => {
      const organization = freshOrganization();
      const elsewhere = freshOrganization();
      await load(opened.store, organization, [
        { contact_id: 'ada', first_name: 'Ada', work_emails: ['ada@x.example'], audience_ids: ['b', 'a'] },
        { contact_id: 'bob' },
        { contact_id: 'cyd' },
      ]);
      await load(opened.store, elsewhere, [{ contact_id: 'dan' }]);
      const batch = await opened.store.getContacts(organization, ['cyd', 'nobody', 'ada', 'dan', 'bob']);
      expect(batch.contacts.map(({ contact_id }) => contact_id)).to.deep.equal(['cyd', 'ada', 'bob']);
      expect(batch.contacts[1]).to.deep.equal(await opened.store.getContact(organization, 'ada'));
      expect(batch.missing).to.deep.equal(['nobody', 'dan']);
      expect(batch.notReturned).to.deep.equal([]);
      expect(await opened.store.getContacts(freshOrganization(), ['ada', 'bob'])).to.deep.equal({
        contacts: [],
        missing: ['ada', 'bob'],
        notReturned: [],
      });
    });

    it('a thousand come at once, also where most are missing', async () => {
      const organization = freshOrganization();
      const ids = Array.from({ length: 1000 }, (_, index) => `c${index}`);
      await load(
        opened.store,
        organization,
        ids.map((contact_id) => ({ contact_id })),
      );
      const all = await opened.store.getContacts(organization, [...ids].reverse());
      expect(all.contacts.map(({ id }) => id)).to.deep.equal([...ids].reverse());
      const unknown = Array.from({ length: 999 }, (_, index) => `unknown${index}`);
      const one = await opened.store.getContacts(organization, [...unknown, 'c7']);
      expect(one.contacts.map(({ id }) => id)).to.deep.equal(['c7']);
      expect(one.missing).to.deep.equal(unknown);
    });

    it('end before they take more than 4 MiB, and asking for the rest gives the rest', async () => {
      const organization = freshOrganization();
      const phones = Array.from({ length: 25 }, () => '1'.repeat(1000));
      const ids = Array.from({ length: 200 }, (_, index) => `c${index}`);
      await load(
        opened.store,
        organization,
        ids.map((contact_id) => ({ contact_id, phones })),
      );
      const asked = ids.flatMap((id, index) => (index % 2 ? [id] : [id, `unknown${index}`]));
      const found: string[] = [];
      const missing: string[] = [];
      let rest = asked;
      let requests = 0;
      for (; rest.length > 0; requests++) {
        const batch = await opened.store.getContacts(organization, rest);
        const { length } = JSON.stringify(batch);
        expect(length).to.be.below(4 * 1024 * 1024);
        if (batch.notReturned.length > 0) expect(length).to.be.above(3.5 * 1024 * 1024);
        found.push(...batch.contacts.map(({ contact_id }) => contact_id));
        missing.push(...batch.missing);
        rest = batch.notReturned;
      }
      expect(found).to.deep.equal(ids);
      expect(missing).to.deep.equal(asked.filter((id) => id.startsWith('unknown')));
      expect(requests).to.equal(2);
    });
  });
}
