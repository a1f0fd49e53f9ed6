import { expect } from 'chai';
import type { StoredKey } from '../../services/accounts/key-store.js';
import { RUN_KEY_NAME } from '../../services/accounts/keys.js';
import type { SortKey } from '../../services/search/query.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import type { ParsedStore } from '../support/parsed-store.js';
import { freshOrganization, type Open, T0 } from './record-store-support.js';

const key = (organizationId: string, id: string, createdAt = '2026-01-01T00:00:00.000Z'): StoredKey => ({
  id: `${organizationId}_${id}`,
  secret_hash: 'ab'.repeat(32),
  organization_id: organizationId,
  name: null,
  scopes: ['contacts:read', '*'],
  created_at: createdAt,
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  ancestors: [],
});

export function recordStoreAccounts(open: Open): void {
  describe('keys and credits', () => {
    const opened = useOpened(() => open());

    it('a key is found by its id', async () => {
      const stored = {
        ...key(freshOrganization(), 'a'),
        name: 'Ops',
        expires_at: '2027-01-01T00:00:00.000Z',
      };
      await opened.store.insertKey(stored);
      expect(await opened.store.findKey(stored.id)).to.deep.equal(stored);
      expect(await opened.store.findKey('none')).to.equal(null);
    });

    /** Every key, read two per page. */
    async function keysOf(organizationId?: string, limit = 2): Promise<StoredKey[]> {
      const keys: StoredKey[] = [];
      for (let after: SortKey | undefined; ; ) {
        const page = await opened.store.listKeys({ organizationId, limit, after, now: Date.now() });
        keys.push(...page.items);
        if (page.next === null) return keys;
        after = page.next;
      }
    }

    it('keys are listed newest first, of one organization or of all', async () => {
      const organization = freshOrganization();
      const second = key(organization, 'a', '2026-01-02T00:00:00.000Z');
      const first = key(organization, 'b', '2026-01-01T00:00:00.000Z');
      const other = key(freshOrganization(), 'c');
      for (const stored of [second, first, other]) await opened.store.insertKey(stored);
      expect(await keysOf(organization)).to.deep.equal([second, first]);
      expect((await keysOf(undefined, 1000)).map(({ id }) => id)).to.include.members([
        first.id,
        second.id,
        other.id,
      ]);
    });

    it('keys of one moment are paged by id, with their number, and without past runs of the command line', async () => {
      const organization = freshOrganization();
      const ids = ['c', 'a', 'e', 'b', 'd'];
      for (const id of ids) await opened.store.insertKey(key(organization, id));
      const run = { ...key(organization, 'run'), name: RUN_KEY_NAME };
      await opened.store.insertKey({ ...run, expires_at: '2026-01-02T00:00:00.000Z' });
      await opened.store.insertKey({ ...run, id: `${organization}_over` });
      await opened.store.revokeKey(`${organization}_over`, '2026-01-01T01:00:00.000Z');
      const expected = ids.sort().reverse();
      expect((await keysOf(organization)).map(({ id }) => id.slice(-1))).to.deep.equal(expected);
      const search = { organizationId: organization, limit: 1 };
      expect(await opened.store.listKeys({ ...search, now: Date.now() })).to.include({ total: 5 });
      const before = Date.parse('2026-01-01T12:00:00.000Z');
      expect(await opened.store.listKeys({ ...search, now: before })).to.include({ total: 6 });
    });

    it('no key is stored above the number that an organization may have', async () => {
      const organization = freshOrganization();
      for (const id of ['a', 'b'])
        expect(await opened.store.insertKey(key(organization, id), { maxKeys: 2 })).to.equal('inserted');
      expect(await opened.store.insertKey(key(organization, 'c'), { maxKeys: 2 })).to.equal('too_many_keys');
      expect(await opened.store.findKey(`${organization}_c`)).to.equal(null);
    });

    it('a key is not stored where the key that made it, or one before that, has ended', async () => {
      const organization = freshOrganization();
      const [first, second] = ['a', 'b'].map((id) => key(organization, id)) as [StoredKey, StoredKey];
      second.ancestors = [first.id];
      second.expires_at = '2026-06-01T00:00:00.000Z';
      await opened.store.insertKey(first);
      const [before, after] = ['2026-05-31T00:00:00Z', '2026-06-01T00:00:00Z'].map(Date.parse) as [
        number,
        number,
      ];
      const insert = (id: string, maker: StoredKey, makerActiveAt: number) => {
        const ancestors = [maker.id, ...maker.ancestors];
        return opened.store.insertKey({ ...key(organization, id), ancestors }, { makerActiveAt });
      };
      expect(await insert('c', second, before)).to.equal('maker_ended');
      await opened.store.insertKey(second);
      expect(await insert('d', second, before)).to.equal('inserted');
      expect(await insert('e', second, after)).to.equal('maker_ended');
      await opened.store.revokeKey(first.id, '2026-02-01T00:00:00.000Z');
      expect(await insert('f', second, before)).to.equal('maker_ended');
      expect(await insert('g', first, before)).to.equal('maker_ended');
      const kept = (await keysOf(organization)).map(({ id }) => id.slice(-1));
      expect(kept.sort()).to.deep.equal(['a', 'b', 'd']);
    });

    it('a key is revoked with any of its ancestors, unless that was told to keep its descendants', async () => {
      const organization = freshOrganization();
      const id = (name: string) => `${organization}_${name}`;
      const chain = ['a', 'b', 'c', 'd'];
      for (const [index, name] of chain.entries()) {
        const ancestors = chain.slice(0, index).reverse().map(id);
        await opened.store.insertKey({ ...key(organization, name), ancestors });
      }
      const revoked = async () =>
        Promise.all(chain.map(async (name) => (await opened.store.findKey(id(name)))?.revoked_at ?? null));
      const count = (name: string) => opened.store.countDescendants(organization, id(name), Date.now());
      const [one, two, three] = [1, 2, 3].map((day) => `2026-02-0${day}T00:00:00.000Z`) as [
        string,
        string,
        string,
      ];
      expect(await Promise.all(chain.map(count))).to.deep.equal([3, 2, 1, 0]);
      await opened.store.revokeKey(id('b'), one, true);
      expect(await revoked()).to.deep.equal([null, one, null, null]);
      expect(await count('a')).to.equal(2);
      await opened.store.revokeKey(id('c'), two);
      expect(await revoked()).to.deep.equal([null, one, two, two]);
      await opened.store.revokeKey(id('a'), three);
      expect(await revoked()).to.deep.equal([three, one, two, two]);
      await opened.store.revokeKey(id('b'), three);
      expect(await revoked()).to.deep.equal([three, one, two, two]);
      expect((await keysOf(organization)).map((each) => each.revoked_at)).to.deep.equal([
        two,
        two,
        one,
        three,
      ]);
    });

    it('revoking twice keeps the first time', async () => {
      const stored = key(freshOrganization(), 'a');
      await opened.store.insertKey(stored);
      expect(await opened.store.revokeKey(stored.id, '2026-02-01T00:00:00.000Z')).to.equal(true);
      expect(await opened.store.revokeKey(stored.id, '2026-03-01T00:00:00.000Z')).to.equal(true);
      expect((await opened.store.findKey(stored.id))?.revoked_at).to.equal('2026-02-01T00:00:00.000Z');
      expect(await opened.store.revokeKey('none', '2026-02-01T00:00:00.000Z')).to.equal(false);
    });

    it('the latest use of a key is kept, also once it is revoked', async () => {
      const stored = key(freshOrganization(), 'a');
      await opened.store.insertKey(stored);
      await opened.store.recordKeyUse(stored.id, '2026-02-02T00:00:00.000Z');
      await opened.store.recordKeyUse(stored.id, '2026-02-01T00:00:00.000Z');
      await opened.store.revokeKey(stored.id, '2026-03-01T00:00:00.000Z');
      const { last_used_at, revoked_at } = (await opened.store.findKey(stored.id)) ?? {};
      expect(last_used_at).to.equal('2026-02-02T00:00:00.000Z');
      expect(revoked_at).to.equal('2026-03-01T00:00:00.000Z');
      await opened.store.recordKeyUse('none', '2026-02-01T00:00:00.000Z');
    });

    it('an organization is metered once credits are set, and not by a grant', async () => {
      const organization = freshOrganization();
      expect(await opened.store.getCredits(organization)).to.equal(null);
      expect(await opened.store.grantCredits(organization, 5)).to.equal(null);
      expect(await opened.store.getCredits(organization)).to.equal(null);
      await opened.store.setCredits(organization, 5);
      expect(await opened.store.grantCredits(organization, 7)).to.equal(12);
      await opened.store.setCredits(organization, 3);
      expect(await opened.store.getCredits(organization)).to.equal(3);
    });

    it('grants at once all count', async () => {
      const organization = freshOrganization();
      await opened.store.setCredits(organization, 0);
      await Promise.all(Array.from({ length: 20 }, () => opened.store.grantCredits(organization, 1)));
      expect(await opened.store.getCredits(organization)).to.equal(20);
    });
  });

  describe('whether another organization has data', () => {
    const emails = { work_emails: [], personal_emails: [] };
    const writes: Record<string, (store: ParsedStore, organization_id: string) => Promise<unknown>> = {
      contacts: (store, organization_id) =>
        store.upsertContacts(accepted([{ ...emails, organization_id, contact_id: 'c' }], T0)),
      audiences: (store, organization_id) =>
        store.upsertAudiences(accepted([{ organization_id, id: 'a', name: 'A' }], T0)),
      visits: (store, organizationId) =>
        store.insertVisits(
          accepted([{ organizationId, id: 'v', createdAt: new Date(T0).toISOString() }], T0),
        ),
      keys: (store, organizationId) => store.insertKey(key(organizationId, 'a')),
      credits: (store, organization) => store.setCredits(organization, 1),
    };
    for (const [kind, write] of Object.entries(writes)) {
      it(`is told by its ${kind} alone`, async () => {
        const { store, close } = await open();
        const organization = freshOrganization();
        expect(await store.hasOtherOrganization(organization)).to.equal(false);
        await write(store, organization);
        expect(await store.hasOtherOrganization(organization)).to.equal(false);
        expect(await store.hasOtherOrganization(freshOrganization())).to.equal(true);
        await close();
      });
    }
  });
}
