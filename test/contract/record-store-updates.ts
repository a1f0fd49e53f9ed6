import { expect } from 'chai';
import type { UpdateContact } from '../../services/contacts/contact-store.js';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import type { ContactChanges } from '../../services/contacts/stored-contact.js';
import { DAY_MS } from '../../services/shared/time.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import type { ParsedStore } from '../support/parsed-store.js';
import {
  creation,
  erasure,
  found,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
  useClock,
  withStale,
} from './record-store-support.js';

export function recordStoreUpdates(open: Open): void {
  describe('updates of contacts (contract 3.15)', () => {
    let organization: string;
    let now = T0;
    const opened = useOpened(() => open());
    useClock(opened, () => now);
    beforeEach(async () => {
      organization = freshOrganization();
      now = T0 + DAY_MS;
      await loadAudiences(opened.store, organization, 'a', 'b');
      await load(opened.store, organization, [
        {
          contact_id: 'ann',
          first_name: 'Ann',
          last_name: 'Quill',
          job_title: 'Analyst',
          age: 40,
          work_emails: ['ann@x.example'],
          company_domain: 'x.example',
          audience_ids: ['a'],
        },
        { contact_id: 'bob', work_emails: ['bob@x.example'], network_a_url: 'https://www.n.example/in/Bob/' },
      ]);
    });

    const get = async (id = 'ann') => (await opened.store.getContact(organization, id)) as Contact;
    async function update(
      changes: ContactChanges,
      { store = opened.store, ...options }: Partial<UpdateContact> & { store?: ParsedStore } = {},
    ) {
      const command = { organizationId: organization, contactId: 'ann', changes, ...options };
      const result = await store.updateContact(command);
      if (result.kind !== 'done') throw new Error(result.kind);
      return result.value;
    }
    const write = async (id: string, fields: Partial<ContactRecord>, acceptedAt = T0) => {
      const record = { organization_id: organization, contact_id: id, ...fields };
      await withStale(opened.store.upsertContacts(accepted([record], acceptedAt)));
      await opened.store.refresh();
    };

    it('given fields overwrite, null clears, the others stay, and searches find it at once', async () => {
      const before = await get();
      const changes = {
        last_name: 'Feather',
        job_title: null,
        age: null,
        work_emails: ['Ann@Y.example', 'ann@y.example'],
        phones: null,
        city: ' ',
        company_domain: 'https://www.Y.example/about',
      };
      const outcome = await update(changes);
      const after = await get();
      expect(outcome).to.deep.equal({ kind: 'updated', contact: after });
      expect(after).to.deep.equal({
        ...before,
        ...{ last_name: 'Feather', job_title: null, age: null, work_emails: ['ann@y.example'] },
        ...{ company_domain: 'y.example', company_id: after.company_id },
        updated_at: new Date(now).toISOString(),
      });
      expect(after.company_id).to.match(/^com_/).and.not.equal(before.company_id);
      for (const [query, ids] of Object.entries({
        feather: ['ann'],
        fether: ['ann'],
        quill: [],
        quil: [],
        analyst: [],
        'ann@y.example': ['ann'],
      })) {
        expect(await found(opened.store, organization, { query, match: 'all' }), query).to.deep.equal(ids);
      }
      expect(await found(opened.store, organization, { last_name: 'feather' }, 'a')).to.deep.equal(['ann']);
    });

    it('an unknown, a deleted and another organization’s contact are not found', async () => {
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['bob'] });
      const other = freshOrganization();
      await load(opened.store, other, [{ contact_id: 'zoe' }]);
      for (const contactId of ['bob', 'zoe', 'nobody']) {
        expect(await update({ city: 'Rome' }, { contactId })).to.deep.equal({ kind: 'contact_not_found' });
        expect(await opened.store.getContact(organization, contactId)).to.equal(null);
      }
      expect(await update({}, { organizationId: freshOrganization() })).to.include({
        kind: 'contact_not_found',
      });
    });

    it('a contact that has changed since the given moment stays as it is', async () => {
      const ifUpdatedMs = Date.parse((await get()).updated_at);
      expect(await update({ city: 'Rome' }, { ifUpdatedMs })).to.include({ kind: 'updated' });
      // Update twice in the same millisecond, and once with a clock that was set back.
      for (const step of [0, 0, -DAY_MS]) {
        now += step;
        const known = Date.parse((await get()).updated_at);
        expect(await update({ age: 41 }, { ifUpdatedMs: known })).to.include({ kind: 'updated' });
        const latest = await get();
        expect(Date.parse(latest.updated_at)).to.be.greaterThan(known);
        expect(await update({ city: 'Oslo' }, { ifUpdatedMs: known })).to.deep.equal({
          kind: 'changed_meanwhile',
        });
        expect(await get()).to.deep.equal(latest);
      }
    });

    it('a contact that a record older than a request has changed since stays as it is', async () => {
      const writeAt = (daysAgo: number, city: string) =>
        write('cal', { city, updated_at: new Date(now - daysAgo * DAY_MS).toISOString() });
      await writeAt(3, 'Bonn');
      const joined = { organizationId: organization, audienceId: 'a', contactId: 'cal' };
      expect(await opened.store.addMembership(joined)).to.nested.include({ 'value.kind': 'added' });
      const known = await get('cal');
      await writeAt(2, 'Bonn');
      expect(await get('cal')).to.deep.equal(known);
      await writeAt(1, 'Kiel');
      const guarded = { contactId: 'cal', ifUpdatedMs: Date.parse(known.updated_at) };
      expect(await update({ city: 'Oslo' }, guarded)).to.deep.equal({ kind: 'changed_meanwhile' });
      const latest = await get('cal');
      expect(latest).to.include({ city: 'Kiel' });
      expect(latest.updated_at > known.updated_at).to.equal(true);
    });

    it('of updates at once that know the same state one is written', async () => {
      const ifUpdatedMs = Date.parse((await get()).updated_at);
      const other = await opened.another();
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          update({ age: index }, { ifUpdatedMs, store: index % 2 ? opened.store : other }),
        ),
      );
      const [written, ...others] = outcomes.filter(({ kind }) => kind === 'updated');
      expect(others).to.deep.equal([]);
      expect(written).to.deep.include({ contact: await get() });
      await other.close();
    });

    it('updates, memberships and records at once lose nothing', async () => {
      await Promise.all([
        update({ city: 'Rome' }),
        opened.store.addMembership({ organizationId: organization, audienceId: 'b', contactId: 'ann' }),
        update({ job_title: 'Director' }),
        opened.store.removeMembership({ organizationId: organization, audienceId: 'a', contactId: 'ann' }),
        write('ann', { age: 50 }, now + 1),
        update({ phones: ['+1 555 0100'] }),
      ]);
      expect(await get()).to.deep.include({
        ...{ city: 'Rome', job_title: 'Director', phones: ['+1 555 0100'], age: 50 },
        audience_ids: ['b'],
      });
    });

    it('an address of another contact is rejected, however it is written, and one that it had before stays', async () => {
      const before = await get();
      for (const changes of [
        { work_emails: ['ann@x.example', 'BOB@X.example'] },
        { network_a_url: 'n.example/in/bob', city: 'Rome' },
      ]) {
        expect(await update(changes)).to.deep.equal({ kind: 'contact_exists', contactId: 'bob' });
      }
      expect(await get()).to.deep.equal(before);
      expect(await update({ personal_emails: ['bob@x.example'] })).to.include({ kind: 'updated' });
      await write('twin', { work_emails: ['ann@x.example'] });
      const own = { work_emails: ['ann@x.example', 'ann@z.example'], network_a_url: 'n.example/in/ann' };
      expect(await update(own)).to.include({ kind: 'updated' });
      expect(await update({ ...own, city: 'Rome' })).to.include({ kind: 'updated' });
    });

    it('of contacts that take an address at once, and creations of it, one has it', async () => {
      const other = await opened.another();
      const people = Array.from({ length: 6 }, (_, index) => ({ contact_id: `p${index}` }));
      await load(opened.store, organization, people);
      const work_emails = ['shared@x.example'];
      await Promise.all([
        ...people.map(({ contact_id: contactId }, index) =>
          update({ work_emails }, { contactId, store: index % 2 ? opened.store : other }),
        ),
        ...[1, 2].map((number) =>
          opened.store.createContact(
            creation(
              organization,
              `new${number}`,
              { work_emails },
              { audienceId: 'a', onDuplicate: 'reject' },
            ),
          ),
        ),
      ]);
      expect(await found(opened.store, organization, { email: 'shared@x.example' })).to.have.lengthOf(1);
      await other.close();
    });

    it('an address of an erased person is rejected', async () => {
      const email = `gone.${organization}@person.example`;
      await load(opened.store, organization, [{ contact_id: 'gone', personal_emails: [email] }]);
      await opened.store.eraseContacts(erasure(organization, `${organization}_p`, ['gone']));
      const before = await get();
      for (const field of ['work_emails', 'personal_emails']) {
        const changes = { city: 'Rome', [field]: [email.toUpperCase()] };
        expect(await update(changes)).to.deep.equal({ kind: 'contact_suppressed' });
      }
      expect(await get()).to.deep.equal(before);
    });

    it('whether an erasure or an update of its address comes first, nobody has a suppressed address', async () => {
      for (let round = 0; round < 5; round++) {
        const email = `race${round}.${organization}@person.example`;
        const [erased, taker] = [`erased${round}`, `taker${round}`];
        await load(opened.store, organization, [
          { contact_id: erased, personal_emails: [email] },
          { contact_id: taker },
        ]);
        await Promise.all([
          opened.store.eraseContacts(erasure(organization, `${organization}_r${round}`, [erased])),
          update({ personal_emails: [email] }, { contactId: taker }),
        ]);
        const holders = await found(opened.store, organization, { email });
        const again = await update({ personal_emails: [email] });
        if (again.kind === 'contact_suppressed') expect(holders).to.deep.equal([]);
        else expect(holders).to.deep.equal([taker]);
        await update({ personal_emails: null });
      }
    });

    it('an update applies after any record, and a record changes it only where it is later', async () => {
      await write('ann', { city: 'Rome', updated_at: new Date(now + DAY_MS / 2).toISOString() }, now);
      await update({ city: 'Oslo' });
      expect(await get()).to.include({ city: 'Oslo' });
      await write('bob', { city: 'Rome' }, now);
      await update({ city: 'Oslo' }, { contactId: 'bob' });
      expect(await get('bob')).to.include({ city: 'Oslo' });
      await write('bob', { city: 'Bern', updated_at: new Date(now - 1).toISOString() }, now + 5);
      expect(await get('bob')).to.include({ city: 'Oslo' });
      await write('bob', { city: 'Kiel', updated_at: new Date(now + 1).toISOString() }, now);
      expect(await get('bob')).to.include({ city: 'Kiel' });
    });

    it('a contact that would take more than 32 KiB stays as it is', async () => {
      const list = (letter: string) => Array.from({ length: 19 }, () => letter.repeat(1000));
      expect(await update({ phones: list('1') })).to.include({ kind: 'updated' });
      const before = await get();
      const emails = Array.from(
        { length: 50 },
        (_, index) => `${index}${'e'.repeat(60)}@${'d'.repeat(60)}.x.example`,
      );
      expect(await update({ work_emails: emails, personal_emails: emails })).to.have.nested.property(
        'error.code',
        'record_too_large',
      );
      expect(await get()).to.deep.equal(before);
    });

    it('is written once under an idempotency key', async () => {
      const ifUpdatedMs = Date.parse((await get()).updated_at);
      const idempotency = { route: '/update', key: 'k', fingerprint: 'f' };
      const command = { organizationId: organization, contactId: 'ann', ifUpdatedMs, idempotency };
      const first = await opened.store.updateContact({ ...command, changes: { city: 'Rome' } });
      expect(first).to.nested.include({ kind: 'done', replayed: false, 'value.kind': 'updated' });
      await update({ city: 'Oslo' });
      const second = await opened.store.updateContact({ ...command, changes: { city: 'Rome' } });
      expect(second).to.deep.equal({ ...first, replayed: true });
      expect(await get()).to.include({ city: 'Oslo' });
      const refused = { ...command, idempotency: { ...idempotency, key: 'other' } };
      for (const _ of [1, 2]) {
        expect(await opened.store.updateContact({ ...refused, changes: { city: 'Bern' } })).to.deep.equal({
          kind: 'done',
          value: { kind: 'changed_meanwhile' },
          replayed: false,
        });
      }
    });
  });
}
