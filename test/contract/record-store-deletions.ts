import { expect } from 'chai';
import type { AudienceRecord } from '../../services/audiences/schema.js';
import { MAX_DELETED_BYTES } from '../../services/contacts/contact-store.js';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import { DAY_MS } from '../../services/shared/time.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import { at } from './record-order.js';
import {
  found,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
  useClock,
  withStale,
} from './record-store-support.js';

const parsed = (json: unknown): Contact => (typeof json === 'string' ? JSON.parse(json) : (json as Contact));

const midnight = (day: string | undefined) => `${day}T00:00:00.000Z`;

export function recordStoreDeletions(open: Open): void {
  describe('deletions (contract 3.12)', () => {
    let organization: string;
    let now = T0 + DAY_MS;
    const opened = useOpened(() => open());
    useClock(opened, () => now);
    beforeEach(async () => {
      organization = freshOrganization();
      now = T0 + DAY_MS;
      await loadAudiences(opened.store, organization, 'a');
      await load(opened.store, organization, [
        { contact_id: 'ada', first_name: 'Ada', last_name: 'Zyxwvut', audience_ids: ['a'] },
        { contact_id: 'bob', first_name: 'Bob', audience_ids: ['a'] },
      ]);
    });

    const record = (updatedMs: number | null, fields: Partial<ContactRecord> = {}): ContactRecord => ({
      organization_id: organization,
      contact_id: 'ada',
      first_name: 'Ada',
      ...(updatedMs === null ? {} : { updated_at: new Date(updatedMs).toISOString() }),
      ...fields,
    });
    const write = async (given: ContactRecord, acceptedAt = T0) => {
      await withStale(opened.store.upsertContacts(accepted([given], acceptedAt)));
      await opened.store.refresh();
    };
    const isThere = async () => (await opened.store.getContact(organization, 'ada')) !== null;

    it('a deleted contact is gone from get, searches, audiences, counts and the words that typos mean', async () => {
      const result = await opened.store.deleteContacts({
        organizationId: organization,
        contactIds: ['nobody', 'ada'],
      });
      const nothing = { deleted: [], missing: [], kept: [], notDeleted: [], contacts: [] };
      expect(result).to.deep.equal({ ...nothing, deleted: ['ada'], missing: ['nobody'] });
      expect(await isThere()).to.equal(false);
      expect(await found(opened.store, organization, {})).to.deep.equal(['bob']);
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['bob']);
      expect(await found(opened.store, organization, { query: 'zyxwvut' })).to.deep.equal([]);
      expect(await found(opened.store, organization, { query: 'zyxwvvt' })).to.deep.equal([]);
      const { contacts } = await opened.store.readCounts(organization);
      expect(contacts.records).to.equal(1);
      expect(
        await opened.store.deleteContacts({ organizationId: organization, contactIds: ['ada'] }),
      ).to.deep.equal({
        ...nothing,
        missing: ['ada'],
      });
    });

    it('a deletion answers the contacts as they were when they were deleted, with the audiences that are left', async () => {
      await loadAudiences(opened.store, organization, 'gone');
      await load(opened.store, organization, [{ contact_id: 'ada', audience_ids: ['gone'], city: 'Bath' }]);
      await opened.store.deleteAudience({ organizationId: organization, audienceId: 'gone' });
      const { updated_at: _, ...ada } = (await opened.store.getContact(organization, 'ada')) as Contact;
      const { contacts, ...ids } = await opened.store.deleteContacts({
        ...{ organizationId: organization, contactIds: ['bob', 'nobody', 'ada'], returnsContacts: true },
      });
      expect(ids).to.deep.equal({ deleted: ['bob', 'ada'], missing: ['nobody'], kept: [], notDeleted: [] });
      const [bob, asItWas] = contacts.map(parsed);
      expect(bob).to.deep.include({ contact_id: 'bob', audience_ids: ['a'] });
      // The removal of former memberships continues, and sets the time.
      expect(asItWas).to.deep.include(ada);
      expect(asItWas).to.deep.include({ city: 'Bath', audience_ids: ['a'] });
    });

    it('a change beside a deletion is lost only where the deletion did not find it', async () => {
      const other = await opened.another();
      const command = { organizationId: organization, contactIds: ['ada'], returnsContacts: true };
      for (let round = 0; round < 20; round++) {
        await write(record(now + round, { city: 'Before' }));
        const [deletion, change] = await Promise.all([
          other.deleteContacts(command),
          opened.store.updateContact({
            ...{ organizationId: organization, contactId: 'ada', changes: { city: 'After' } },
          }),
        ]);
        const { contact_id, city } = parsed(deletion.contacts[0]);
        expect(contact_id).to.equal('ada');
        const wasFound = (change as { value: { kind: string } }).value.kind === 'updated';
        expect(city, `round ${round}`).to.equal(wasFound ? 'After' : 'Before');
        now += 100;
      }
    });

    it('a deletion ends early where the contacts would take more than a mebibyte, and leaves the others as they are', async () => {
      const ids = Array.from({ length: 60 }, (_, index) => `large${index}`);
      const job_title = 'ü'.repeat(1000);
      const phones = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(700)}`);
      await load(
        opened.store,
        organization,
        ids.map((contact_id) => ({ contact_id, job_title, phones })),
      );
      const remove = (contactIds: string[]) =>
        opened.store.deleteContacts({ organizationId: organization, contactIds, returnsContacts: true });
      const first = await remove([...ids, 'ada']);
      const bytes = first.contacts.reduce(
        (sum, each) => sum + Buffer.byteLength(JSON.stringify(parsed(each))),
        0,
      );
      expect(bytes).to.be.within(900_000, MAX_DELETED_BYTES);
      expect(first.contacts.map((each) => parsed(each).contact_id)).to.deep.equal(first.deleted);
      // The response still has room for a small contact.
      expect(first.deleted).to.include('ada');
      expect([...first.deleted, ...first.notDeleted]).to.have.members([...ids, 'ada']);
      for (const id of first.notDeleted.slice(0, 3))
        expect(await opened.store.getContact(organization, id)).to.include({ job_title });
      const second = await remove(first.notDeleted);
      expect(second.notDeleted.length).to.be.lessThan(first.notDeleted.length);
    });

    it('a record older than the deletion does not bring a contact back, and a newer one makes a new one', async () => {
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['ada'] });
      await write(record(now - 1), now + 5);
      await write(record(null), now - 1);
      expect(await isThere()).to.equal(false);
      await write(record(now + 1, { last_name: 'Lovelace' }));
      expect(await opened.store.getContact(organization, 'ada')).to.deep.include({
        last_name: 'Lovelace',
        audience_ids: [],
      });
      expect(await found(opened.store, organization, { query: 'lovelase' })).to.deep.equal(['ada']);
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['bob']);
    });

    it('a contact whose last record is of the future stays deleted until a later one', async () => {
      const future = accepted([record(now + DAY_MS)], T0);
      await opened.store.upsertContacts(future);
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['ada'] });
      await opened.store.upsertContacts(future);
      expect(await isThere()).to.equal(false);
      await write(record(now + DAY_MS + 1));
      expect(await isThere()).to.equal(true);
    });

    it('visits of before a moment are deleted step by step, of every organization, and no others', async () => {
      const days = ['2020-01-15', '2020-03-05', '2020-03-25', '2021-03-05'];
      const visits = days.flatMap((day) =>
        [1, 2].map((number) => ({
          id: `v${number}`,
          organizationId: number === 1 ? organization : freshOrganization(),
          createdAt: `${day}T00:00:00Z`,
        })),
      );
      const deleteAll = async () => {
        let deleted = 0;
        for (let step = 1; step > 0; deleted += step)
          step = await opened.store.deleteVisitsBefore(Date.UTC(2020, 2, 10), 3);
        return deleted;
      };
      // Delete the audiences of other suites.
      await deleteAll();
      await opened.store.insertVisits(accepted(visits, T0));
      await opened.store.refresh();
      expect(await deleteAll()).to.equal(4);
      const search = { organizationId: organization, limit: 10 };
      const left = async () =>
        (await opened.store.searchVisits(search)).items.map(({ createdAt }) => createdAt);
      expect(await left()).to.deep.equal([midnight(days[3]), midnight(days[2])]);
      const { facets } = await opened.store.searchVisits({ ...search, facets: ['day'] });
      expect(facets?.day?.map(({ count }) => count)).to.deep.equal([1, 1]);
      expect((await opened.store.readCounts(organization)).visits.records).to.equal(2);
      await opened.store.insertVisits(accepted(visits.slice(0, 1), T0));
      await opened.store.refresh();
      expect(await left()).to.deep.equal([midnight(days[3]), midnight(days[2]), midnight(days[0])]);
    });

    it('an audience that a record deletes takes no members, and comes back with those that it has', async () => {
      const audience = async (given: Partial<AudienceRecord>) => {
        const record = { organization_id: organization, id: 'a', name: 'South', ...given };
        await opened.store.upsertAudiences(accepted([record], T0));
      };
      await audience({ deleted: true, updated_at: at(5) });
      const added = await opened.store.addMembership({
        ...{ organizationId: organization, audienceId: 'a', contactId: 'ada' },
      });
      expect(added).to.deep.include({ value: { kind: 'audience_not_found' } });
      await audience({ updated_at: at(6) });
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['ada', 'bob']);
    });
  });
}
