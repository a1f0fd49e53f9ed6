import { expect } from 'chai';
import { useOpened } from '../support/opened.js';
import { found, freshOrganization, load, loadAudiences, type Open } from './search-support.js';

export function searchStoreMemberships(open: Open): void {
  describe('memberships (contract 3.6)', () => {
    let organization: string;
    const opened = useOpened(() => open());
    beforeEach(async () => {
      organization = freshOrganization();
      await loadAudiences(opened.store, organization, 'a', 'b', 'c', 'd');
      await load(opened.store, organization, [{ contact_id: 'c', first_name: 'Ann' }]);
    });

    const add = (audienceId: string, contactId = 'c') =>
      opened.store.addMembership({ organizationId: organization, audienceId, contactId });
    const remove = (audienceId: string, contactId = 'c') =>
      opened.store.removeMembership({ organizationId: organization, audienceId, contactId });

    it('adding twice is the same as once', async () => {
      const first = await add('a');
      const second = await add('a');
      expect(first).to.deep.equal(second);
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['c']);
      expect(first).to.have.deep.nested.property('value.contact.audience_ids', ['a']);
    });

    it('a missing audience or contact is reported', async () => {
      expect(await add('none')).to.deep.include({ value: { kind: 'audience_not_found' } });
      expect(await add('a', 'none')).to.deep.include({ value: { kind: 'contact_not_found' } });
      expect(await remove('none')).to.deep.include({ value: { kind: 'audience_not_found' } });
      expect(await remove('a', 'none')).to.deep.include({ value: { kind: 'removed', removed: false } });
      expect(await remove('a')).to.deep.include({ value: { kind: 'removed', removed: false } });
    });

    it('a removed contact stays a contact and is not a member', async () => {
      await add('a');
      await add('b');
      expect(await remove('a')).to.deep.include({ value: { kind: 'removed', removed: true } });
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal([]);
      expect(await found(opened.store, organization, { query: 'ann' }, 'b')).to.deep.equal(['c']);
      expect((await opened.store.getContact(organization, 'c'))?.audience_ids).to.deep.equal(['b']);
    });

    it('adds and removes at once lose nothing', async () => {
      await add('a');
      await Promise.all([
        add('b'),
        remove('a'),
        add('c'),
        add('d'),
        load(opened.store, organization, [{ contact_id: 'c', city: 'Rome' }]),
      ]);
      const contact = await opened.store.getContact(organization, 'c');
      expect(contact?.audience_ids).to.deep.equal(['b', 'c', 'd']);
      for (const audience of ['b', 'c', 'd']) {
        expect(await found(opened.store, organization, { city: 'rome' }, audience)).to.deep.equal(['c']);
      }
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal([]);
    });

    it('an idempotency key replays an add and a remove', async () => {
      const idempotency = { route: '/remove', key: 'k', fingerprint: 'f' };
      const request = { organizationId: organization, audienceId: 'a', contactId: 'c', idempotency };
      await add('a');
      const first = await opened.store.removeMembership(request);
      await add('a');
      const second = await opened.store.removeMembership(request);
      expect(second).to.deep.equal({ ...first, replayed: true });
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['c']);
      const added = await opened.store.addMembership({
        ...request,
        idempotency: { ...idempotency, route: '/add' },
      });
      expect(added).to.deep.include({ replayed: false });
    });
  });
}
