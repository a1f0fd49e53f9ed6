import { expect } from 'chai';
import { type Rejection, rejectionId } from '../../services/rejections/rejection-store.js';
import { fromJson } from '../../services/shared/json.js';
import { PartialWriteError } from '../../services/shared/store-errors.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import {
  creation,
  erasure,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
  useClock,
  walk,
} from './search-support.js';

export function searchStoreErasures(open: Open): void {
  describe('erasures', () => {
    let now = T0;
    const opened = useOpened(() => open());
    useClock(opened, () => now);

    const erase = (organizationId: string, proofId: string, contactId: string) =>
      opened.store.eraseContacts(erasure(organizationId, proofId, [contactId]));

    it('of two contacts of one person at once suppress the address that both have', async () => {
      const organizationId = freshOrganization();
      const email = `one.${organizationId}@person.example`;
      await load(opened.store, organizationId, [{ work_emails: [email] }, { work_emails: [email] }]);
      const results = await Promise.all([
        erase(organizationId, `${organizationId}_a`, 'c0'),
        erase(organizationId, `${organizationId}_b`, 'c1'),
      ]);
      expect(results.flatMap(({ erased }) => erased)).to.have.members(['c0', 'c1']);
      const again = { organization_id: organizationId, contact_id: 'c3', personal_emails: [email] };
      const rejection = await opened.store
        .upsertContacts(accepted([again], T0))
        .catch((error: unknown) => error);
      expect(rejection).to.be.instanceOf(PartialWriteError);
      expect(await opened.store.getContact(organizationId, 'c3')).to.equal(null);
    });

    it('delete rejected records that name the person, count them, and leave those of others', async () => {
      const organizationId = freshOrganization();
      await load(opened.store, organizationId, [{}]);
      const rejection = (line: number, record_id: string): Rejection => ({
        ...{ id: rejectionId(Date.now(), line), organization_id: organizationId, stream: 'contacts', line },
        ...{ code: 'invalid_type', pointer: '/age', rejected_at: new Date().toISOString() },
        ...{ sequence: line, record_id },
      });
      await opened.store.keepRejections(organizationId, [
        rejection(1, 'c0'),
        rejection(2, 'other'),
        rejection(3, 'c0'),
      ]);
      const { proof } = await erase(organizationId, `${organizationId}_named`, 'c0');
      expect(proof.removed).to.include({ contacts: 1, rejections: 2 });
      const { items } = await opened.store.listRejections({ organizationId, limit: 10 });
      expect(items.map((item) => fromJson(item).record_id)).to.deep.equal(['other']);
    });

    it('keep a person out whose address comes back in another spelling', async () => {
      const organizationId = freshOrganization();
      const profile = 'https://www.network-a.example/in/eve-erased';
      const person = { work_emails: ['eve.erased@x.example'], network_a_url: profile };
      await load(opened.store, organizationId, [person]);
      await erase(organizationId, `${organizationId}_eve`, 'c0');
      const records = [
        { work_emails: ['ｅve.erased@x.example'] },
        { personal_emails: ['EVE．erased@X.example'] },
        { network_a_url: 'https://m.network-a.example:443/./in//eve-erased/details/experience/' },
        { work_emails: ['eve.erased+news@x.example'] },
      ].map((fields, index) => ({
        organization_id: organizationId,
        contact_id: `spelling_${index}`,
        ...fields,
      }));
      const error = await opened.store
        .upsertContacts(accepted(records, T0))
        .catch((error: unknown) => error as PartialWriteError);
      expect(error).to.be.instanceOf(PartialWriteError);
      // All but the last, an address of its own.
      expect([...(error as PartialWriteError).rejected.keys()]).to.deep.equal([
        ...records.slice(0, -1).keys(),
      ]);
      await loadAudiences(opened.store, organizationId, 'aud');
      const created = await opened.store.createContact(
        creation(organizationId, 'c9', person, { onDuplicate: 'return' }),
      );
      expect(created).to.deep.include({ value: { kind: 'contact_suppressed' } });
    });

    it('pages proofs by the time of the request, those of one millisecond by id', async () => {
      const organizationId = freshOrganization();
      for (const [proofId, ms] of Object.entries({ era_c: 1, era_b: 0, era_a: 1, era_d: 2 })) {
        now = T0 + ms;
        const named = [{ kind: 'id' as const, value: proofId }];
        await opened.store.eraseContacts(erasure(organizationId, proofId, [], named));
      }
      const listed = await walk(async (after) => {
        const page = await opened.store.listErasures({ organizationId, limit: 1, after });
        expect(page).to.include({ total: 4 }).and.to.have.property('items').with.length(1);
        return page;
      });
      expect(listed.map(({ proof_id }) => proof_id)).to.deep.equal(['era_b', 'era_a', 'era_c', 'era_d']);
      expect(
        await opened.store.listErasures({ organizationId: freshOrganization(), limit: 1 }),
      ).to.deep.equal({
        items: [],
        total: 0,
        next: null,
      });
    });
  });
}
