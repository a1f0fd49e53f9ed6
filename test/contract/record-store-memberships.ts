import { expect } from 'chai';
import { useOpened } from '../support/opened.js';
import {
  asked,
  type Filters,
  found,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  walk,
} from './record-store-support.js';

export function recordStoreMemberships(open: Open): void {
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

    it('many join and leave at once: changed, unchanged, unknown, and those that cannot join are told apart', async () => {
      const at = new Date(Date.now() - 1000).toISOString();
      const audience_ids = Array.from({ length: 10_000 }, (_, index) => `aud_${index}`);
      await load(opened.store, organization, [
        { contact_id: 'full', audience_ids },
        { contact_id: 'b', audience_ids: ['b'] },
        { contact_id: 'gone', audience_ids: ['a'], updated_at: at },
      ]);
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['gone'] });
      const contactIds = ['c', 'none', 'full', 'b', 'gone'];
      const change = async (way: 'join' | 'leave', audienceId: string, ids = contactIds) => {
        const change = { organizationId: organization, audienceId, contactIds: ids, change: way };
        const outcome = await opened.store.changeMemberships(change);
        await opened.store.refresh();
        return outcome;
      };
      const of = (changed: string[], unchanged: number, full: string[]) => ({
        ...{ kind: 'changed', changed, unchanged, notFound: ['none', 'gone'], full },
      });
      expect(await change('join', 'a')).to.deep.equal(of(['c', 'b'], 0, ['full']));
      expect(await change('join', 'a')).to.deep.equal(of([], 2, ['full']));
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['c', 'b']);
      expect((await opened.store.getContact(organization, 'b'))?.audience_ids).to.deep.equal(['a', 'b']);
      expect(await change('leave', 'b')).to.deep.equal(of(['b'], 2, []));
      expect(await found(opened.store, organization, {}, 'b')).to.deep.equal([]);
      expect(await change('leave', 'b')).to.deep.equal(of([], 3, []));
      for (const way of ['join', 'leave'] as const)
        expect(await change(way, 'none')).to.deep.equal({ kind: 'audience_not_found' });
      expect(await change('join', 'a', [])).to.deep.equal({ ...of([], 0, []), notFound: [] });
    });

    it('many join, leave and are recorded at once, and nothing is lost', async () => {
      const other = await opened.another();
      const ids = Array.from({ length: 60 }, (_, index) => `m${index}`);
      await load(
        opened.store,
        organization,
        ids.map((contact_id) => ({ contact_id, audience_ids: ['a'] })),
      );
      const all = (way: 'join' | 'leave', audienceId: string, contactIds = ids) => ({
        ...{ organizationId: organization, audienceId, contactIds, change: way },
      });
      await Promise.all([
        opened.store.changeMemberships(all('join', 'b')),
        other.changeMemberships(all('leave', 'a')),
        other.changeMemberships(all('join', 'c', [...ids].reverse())),
        load(
          opened.store,
          organization,
          ids.map((contact_id) => ({ contact_id, city: 'Rome' })),
        ),
        ...ids.slice(0, 5).map((id) => add('d', id)),
      ]);
      await opened.store.refresh();
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal([]);
      for (const audience of ['b', 'c'])
        expect(await found(opened.store, organization, { city: 'rome' }, audience)).to.have.members(ids);
      expect(await found(opened.store, organization, {}, 'd')).to.have.members(ids.slice(0, 5));
    });

    it('keys of a search are where its contacts stand, page by page', async () => {
      await load(
        opened.store,
        organization,
        ['Maria', 'Mario', 'Marie', 'Maria', 'José', 'Maria'].map((first_name, index) => ({
          ...{ contact_id: `k${index}`, first_name, audience_ids: index % 2 ? ['a'] : [] },
        })),
      );
      const searches: [Filters, string?][] = [
        [{}],
        [{ query: 'maria' }],
        [{ query: 'nobody' }],
        [{ first_name: 'mari' }, 'a'],
        [{}, 'a'],
        [{}, 'none'],
      ];
      for (const [filters, audienceId] of searches) {
        const whole = await opened.store.searchContacts(asked(organization, filters, { audienceId }));
        const keys = await walk(async (after) => {
          const search = asked(organization, { ...filters, limit: 2 }, { audienceId, after });
          const page = await opened.store.searchContactKeys({ ...search, skipsTotal: true });
          expect(page.total).to.equal(after ? 0 : whole.total);
          expect(page.items).to.have.length.at.most(2);
          return page;
        });
        expect(keys.map(({ id }) => id)).to.deep.equal(whole.items.map(({ contact_id }) => contact_id));
      }
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
