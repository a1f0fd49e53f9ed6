import { expect } from 'chai';
import { companyId } from '../../services/shared/ids.js';
import { isStale } from '../../services/shared/record-order.js';
import { PartialWriteError } from '../../services/shared/store-errors.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import {
  creation,
  found,
  freshOrganization,
  loadAudiences,
  newContact,
  type Open,
  T0,
  withStale,
} from './record-store-support.js';

export function recordStoreRecords(open: Open): void {
  describe('contact records (contract 6.2)', () => {
    const opened = useOpened(() => open());

    const at = (milliseconds: number) => new Date(T0 + milliseconds).toISOString();

    async function upsert(organization: string, ...records: Record<string, unknown>[]) {
      await withStale(
        opened.store.upsertContacts(
          accepted(
            records.map((record) => ({ contact_id: 'c', ...record, organization_id: organization })),
            T0,
          ),
        ),
      );
      await opened.store.refresh();
      return opened.store.getContact(organization, 'c');
    }

    it('a first record makes a whole contact', async () => {
      const organization = freshOrganization();
      const contact = await upsert(organization, { first_name: 'Ann' });
      expect(contact).to.deep.equal(newContact(organization, 'c', { first_name: 'Ann' }));
    });

    it('given fields overwrite, absent ones stay, null and blank clear', async () => {
      const organization = freshOrganization();
      await upsert(organization, {
        first_name: 'Ann',
        last_name: 'Lee',
        city: 'Rome',
        age: 30,
        phones: ['1'],
      });
      const contact = await upsert(organization, {
        first_name: 'Anna',
        last_name: null,
        city: ' ',
        phones: null,
      });
      expect(contact).to.include({ first_name: 'Anna', last_name: null, city: null, age: 30 });
      expect(contact?.phones).to.deep.equal([]);
      expect(await found(opened.store, organization, { query: 'lee' })).to.deep.equal([]);
      expect(await found(opened.store, organization, { query: 'anna' })).to.deep.equal(['c']);
      expect(await found(opened.store, organization, { query: '"ann"' })).to.deep.equal([]);
    });

    it('a record is stale when a newer one is there, in the store or in its call; repeated, it is not', async () => {
      const organization_id = freshOrganization();
      const own = accepted(
        [10, 9, 10].map((order) => ({ organization_id, contact_id: 'c', updated_at: at(order) })),
        T0,
      );
      const staleOf = async (write: Promise<void>) => {
        const error = await write.catch((reason: unknown) => reason);
        return error instanceof PartialWriteError
          ? [...error.rejected].map(([index, reason]) => [index, isStale(reason)])
          : error;
      };
      expect(await staleOf(opened.store.upsertContacts(own))).to.deep.equal([[1, true]]);
      expect(await staleOf(opened.store.upsertContacts(own.slice(2)))).to.equal(undefined);
      expect(await staleOf(opened.store.upsertContacts(own.slice(0, 2)))).to.deep.equal([
        [0, true],
        [1, true],
      ]);
    });

    it('changes through the API do not count in the order of records', async () => {
      const organization = freshOrganization();
      await loadAudiences(opened.store, organization, 'a');
      await upsert(organization, { first_name: 'One', updated_at: at(-1000) });
      const added = await opened.store.addMembership({
        organizationId: organization,
        audienceId: 'a',
        contactId: 'c',
      });
      expect(added).to.nested.include({ 'value.kind': 'added' });
      const before = await opened.store.getContact(organization, 'c');
      const contact = await upsert(organization, { first_name: 'Two', updated_at: at(-500) });
      expect(contact).to.deep.include({ first_name: 'Two', audience_ids: ['a'] });
      // The time still grows, so that it distinguishes all states.
      expect(Date.parse(contact?.updated_at ?? '')).to.equal(Date.parse(before?.updated_at ?? '') + 1);
    });

    it('audiences of records are added to, never taken away, and may come before the audience', async () => {
      const organization = freshOrganization();
      await upsert(organization, { audience_ids: ['b', 'a'] });
      const contact = await upsert(organization, { audience_ids: ['c', 'a'] });
      expect(contact?.audience_ids).to.deep.equal(['a', 'b', 'c']);
      expect(await opened.store.getAudience(organization, 'a')).to.equal(null);
      await loadAudiences(opened.store, organization, 'a');
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['c']);
    });

    it('the time of creation is kept unless given, and moves the contact when it changes', async () => {
      const organization = freshOrganization();
      await upsert(organization, { first_name: 'Ann', audience_ids: ['a'], created_at: at(5) });
      await opened.store.upsertContacts(
        accepted(
          [
            {
              organization_id: organization,
              contact_id: 'd',
              first_name: 'Ann',
              audience_ids: ['a'],
              created_at: at(9),
            },
          ],
          T0,
        ),
      );
      await opened.store.refresh();
      expect(await found(opened.store, organization, { query: 'ann' })).to.deep.equal(['d', 'c']);
      expect((await upsert(organization, { city: 'Lyon' }))?.created_at).to.equal(at(5));
      expect((await upsert(organization, { created_at: at(100_000) }))?.created_at).to.equal(at(100_000));
      for (const request of [{}, { query: 'ann' }, { first_name: 'ann' }]) {
        expect(await found(opened.store, organization, request)).to.deep.equal(['c', 'd']);
        expect(await found(opened.store, organization, request, 'a')).to.deep.equal(['c', 'd']);
      }
    });

    it('emails are kept in lower case and once each, blanks dropped, times in UTC', async () => {
      const contact = await upsert(freshOrganization(), {
        work_emails: ['Ann@X.example', 'ann@x.example', 'jörg@MÜLLER.example', 'JÖRG@xn--mller-kva.example'],
        personal_emails: ['ANN@home.example'],
        phones: ['12', ' '],
        created_at: '2026-01-02T03:04:05+02:00',
      });
      expect(contact?.work_emails).to.deep.equal(['ann@x.example', 'jörg@müller.example']);
      expect(contact?.personal_emails).to.deep.equal(['ann@home.example']);
      expect(contact?.phones).to.deep.equal(['12']);
      expect(contact?.created_at).to.equal('2026-01-02T01:04:05.000Z');
    });

    it('a company id follows the domain unless one was given', async () => {
      const organization = freshOrganization();
      const first = await upsert(organization, { company_domain: 'https://www.X.example/a' });
      expect(first?.company_id).to.equal(companyId(organization, 'x.example'));
      expect(first?.company_domain).to.equal('x.example');
      expect((await upsert(organization, { company_domain: 'n/a' }))?.company_domain).to.equal('x.example');
      const moved = await upsert(organization, { company_domain: 'y.example' });
      expect(moved?.company_id).to.equal(companyId(organization, 'y.example'));
      expect((await upsert(organization, { company_id: 'mine' }))?.company_id).to.equal('mine');
      expect((await upsert(organization, { company_domain: 'z.example' }))?.company_id).to.equal('mine');
      expect((await upsert(organization, { company_id: null }))?.company_id).to.equal(
        companyId(organization, 'z.example'),
      );
      expect((await upsert(organization, { company_domain: null }))?.company_id).to.equal(null);
    });

    it('a contact is in at most 10 000 audiences: records that ask for more are rejected, and only they', async () => {
      const organization = freshOrganization();
      const joining = (from: number, to: number) => ({
        organization_id: organization,
        contact_id: 'c',
        audience_ids: Array.from({ length: to - from }, (_, index) => `aud_${from + index}`),
      });
      const records = [
        ...Array.from({ length: 10 }, (_, index) => joining(1000 * index, 1000 * (index + 1))),
        joining(9500, 10_001),
        joining(0, 1000),
        { organization_id: organization, contact_id: 'other', audience_ids: ['aud_10000'] },
        joining(20_000, 20_001),
      ];
      const error = await opened.store
        .upsertContacts(accepted(records, T0))
        .catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(PartialWriteError);
      const { rejected } = error as PartialWriteError;
      expect([...rejected].map(([index, { code, pointer }]) => [index, code, pointer])).to.deep.equal([
        [10, 'too_many_audiences', '/audience_ids'],
        [13, 'too_many_audiences', '/audience_ids'],
      ]);
      await opened.store.refresh();
      const contact = await opened.store.getContact(organization, 'c');
      expect(contact?.audience_ids).to.have.length(10_000).and.not.include('aud_10000');
      expect(await found(opened.store, organization, {}, 'aud_9999')).to.deep.equal(['c']);
      expect(await found(opened.store, organization, {}, 'aud_10000')).to.deep.equal(['other']);
      await loadAudiences(opened.store, organization, 'aud');
      const membership = { organizationId: organization, audienceId: 'aud', contactId: 'c' };
      const tooMany = { value: { kind: 'too_many_audiences' } };
      expect(await opened.store.addMembership(membership)).to.deep.include(tooMany);
      const profile = { network_a_url: 'https://network.example/in/many' };
      await upsert(organization, profile);
      const returned = await opened.store.createContact(
        creation(organization, 'new', profile, { onDuplicate: 'return' }),
      );
      expect(returned).to.deep.include(tooMany);
      await loadAudiences(opened.store, organization, 'aud_7');
      await opened.store.removeMembership({ ...membership, audienceId: 'aud_7' });
      expect(await opened.store.addMembership(membership)).to.have.nested.property('value.kind', 'added');
    });
  });
}
