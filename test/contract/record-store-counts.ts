import { expect } from 'chai';
import { PartialWriteError } from '../../services/shared/store-errors.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import { until } from '../support/until.js';
import {
  creation,
  erasure,
  freshOrganization,
  loadAudiences,
  type Open,
  T0,
  withStale,
} from './record-store-support.js';

const MINUTE_MS = 60_000;

export function recordStoreCounts(open: Open): void {
  describe('figures of an organization', () => {
    const opened = useOpened(() => open());

    it('are zero and null before the first record', async () => {
      expect(await opened.store.readCounts(freshOrganization())).to.deep.equal({
        contacts: { records: 0, lastAcceptedAt: null },
        audiences: { records: 0, lastAcceptedAt: null },
        visits: { records: 0, lastAcceptedAt: null, lastCreatedAt: null },
      });
    });

    it('count each record once, and name the newest acceptance and visit', async () => {
      const { store } = opened;
      const [organization_id, other] = [freshOrganization(), freshOrganization()];
      const contact = (contact_id: string, of = organization_id) => ({ organization_id: of, contact_id });
      await store.upsertAudiences(accepted([{ organization_id, id: 'a', name: 'One' }], T0 + 1));
      await store.upsertContacts(accepted([contact('c1'), contact('c2')], T0 + MINUTE_MS));
      // Older than the stored record, so that it changes nothing, and of another organization.
      await withStale(
        store.upsertContacts(
          accepted([{ ...contact('c1'), updated_at: '2001-01-01T00:00:00Z' }], T0 + 2 * MINUTE_MS),
        ),
      );
      await store.upsertContacts(accepted([contact('c1', other)], T0 + 9 * MINUTE_MS));
      const visit = (id: string, at: number) => ({
        id,
        organizationId: organization_id,
        createdAt: new Date(at).toISOString(),
      });
      const newest = T0 - MINUTE_MS;
      await store.insertVisits(accepted([visit('v1', newest), visit('v2', newest - 1)], T0 + 3));
      await store.insertVisits(accepted([visit('v1', newest)], T0 + 2));
      await store.refresh();
      expect(await store.readCounts(organization_id)).to.deep.equal({
        contacts: { records: 2, lastAcceptedAt: T0 + 2 * MINUTE_MS },
        audiences: { records: 1, lastAcceptedAt: T0 + 1 },
        visits: { records: 2, lastAcceptedAt: T0 + 3, lastCreatedAt: newest },
      });
    });

    it('count contacts that requests created, which are no records of the stream', async () => {
      const { store } = opened;
      const organization_id = freshOrganization();
      await loadAudiences(store, organization_id, 'aud');
      await store.createContact(creation(organization_id, 'c1'));
      await store.refresh();
      const { contacts } = await store.readCounts(organization_id);
      expect(contacts).to.deep.equal({ records: 1, lastAcceptedAt: null });
    });

    it('do not name the acceptance of a record that is rejected, as its person was erased', async () => {
      const { store } = opened;
      const organization_id = freshOrganization();
      const write = (contact_id: string, acceptedAt: number) =>
        store.upsertContacts(accepted([{ organization_id, contact_id }], acceptedAt));
      await write('c1', T0);
      await store.eraseContacts(erasure(organization_id, `proof_${organization_id}`, ['c1']));
      const error = await write('c1', T0 + MINUTE_MS).catch((error: unknown) => error);
      expect(error).to.be.instanceOf(PartialWriteError);
      await store.refresh();
      const { contacts } = await store.readCounts(organization_id);
      expect(contacts).to.deep.equal({ records: 0, lastAcceptedAt: T0 });
    });

    it('are the same in every process', async () => {
      const organization_id = freshOrganization();
      await opened.store.upsertAudiences(accepted([{ organization_id, id: 'a', name: 'One' }], T0 + 5));
      await opened.store.refresh();
      const another = await opened.another();
      try {
        const counts = async () => (await another.readCounts(organization_id)).audiences;
        await until(async () => (await counts()).lastAcceptedAt === T0 + 5, 'another process reads the time');
        expect((await counts()).records).to.equal(1);
      } finally {
        await another.close();
      }
    });
  });
}
