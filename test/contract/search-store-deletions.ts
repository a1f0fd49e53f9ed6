import { expect } from 'chai';
import type { AudienceRecord } from '../../services/audiences/schema.js';
import type { ContactRecord } from '../../services/contacts/schema.js';
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
} from './search-support.js';

const midnight = (day: string | undefined) => `${day}T00:00:00.000Z`;

export function searchStoreDeletions(open: Open): void {
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
      const result = await opened.store.deleteContacts(organization, ['nobody', 'ada']);
      expect(result).to.deep.equal({ deleted: ['ada'], missing: ['nobody'] });
      expect(await isThere()).to.equal(false);
      expect(await found(opened.store, organization, {})).to.deep.equal(['bob']);
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['bob']);
      expect(await found(opened.store, organization, { query: 'zyxwvut' })).to.deep.equal([]);
      expect(await found(opened.store, organization, { query: 'zyxwvvt' })).to.deep.equal([]);
      const { contacts } = await opened.store.readFigures(organization);
      expect(contacts.records).to.equal(1);
      expect(await opened.store.deleteContacts(organization, ['ada'])).to.deep.equal({
        deleted: [],
        missing: ['ada'],
      });
    });

    it('a record older than the deletion does not bring a contact back, and a newer one makes a new one', async () => {
      await opened.store.deleteContacts(organization, ['ada']);
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
      await opened.store.deleteContacts(organization, ['ada']);
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
      expect((await opened.store.readFigures(organization)).visits.records).to.equal(2);
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
