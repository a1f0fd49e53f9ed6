import { expect } from 'chai';
import type { StoredKey } from '../../services/accounts/key-store.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import type { ParsedStore } from '../support/parsed-store.js';
import { freshOrganization, type Open, T0 } from './search-support.js';

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
});

export function searchStoreAccounts(open: Open): void {
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

    it('keys are listed oldest first, of one organization or of all', async () => {
      const organization = freshOrganization();
      const second = key(organization, 'a', '2026-01-02T00:00:00.000Z');
      const first = key(organization, 'b', '2026-01-01T00:00:00.000Z');
      const other = key(freshOrganization(), 'c');
      for (const stored of [second, first, other]) await opened.store.insertKey(stored);
      expect(await opened.store.listKeys(organization)).to.deep.equal([first, second]);
      expect((await opened.store.listKeys()).map(({ id }) => id)).to.include.members([
        first.id,
        second.id,
        other.id,
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
