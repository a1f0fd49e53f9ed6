import { expect } from 'chai';
import type { CreateContact } from '../../services/contacts/contact-store.js';
import type { Contact } from '../../services/contacts/schema.js';
import { useOpened } from '../support/opened.js';
import {
  asked,
  creation,
  found,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
  useClock,
} from './record-store-support.js';

export function recordStoreCreate(open: Open): void {
  describe('creating contacts (contract 3.2 to 3.5)', () => {
    let now = T0;
    const opened = useOpened(() => open());
    useClock(opened, () => now);

    async function organizationWith(balance?: number): Promise<string> {
      const organization = freshOrganization();
      await loadAudiences(opened.store, organization, 'aud');
      if (balance !== undefined) await opened.store.setCredits(organization, balance);
      return organization;
    }

    const command = (
      organization: string,
      id: string,
      given: Partial<Contact> = {},
      options: Partial<CreateContact> = {},
    ) => creation(organization, id, given, { requiredCredits: 1, ...options });

    async function create(...given: Parameters<typeof command>) {
      const once = await opened.store.createContact(command(...given));
      if (once.kind !== 'done') throw new Error(once.kind);
      return once.value;
    }

    it('a contact is stored, joins the audience and is found at once', async () => {
      const organization = await organizationWith();
      const outcome = await create(organization, 'c', {
        first_name: 'Ann',
        work_emails: ['Ann@X.example'],
        company_domain: 'x.example',
      });
      expect(outcome).to.include({ kind: 'created', creditsConsumed: null, creditBalance: null });
      const contact = await opened.store.getContact(organization, 'c');
      expect(outcome).to.deep.include({ contact });
      expect(contact).to.deep.include({ audience_ids: ['aud'], work_emails: ['ann@x.example'] });
      expect(contact?.company_id).to.match(/^com_/);
      expect(await found(opened.store, organization, { query: 'ann' }, 'aud')).to.deep.equal(['c']);
      expect(await create(organization, 'c')).to.deep.equal({ kind: 'contact_exists', contactId: 'c' });
    });

    it('an unknown audience is reported before a missing balance', async () => {
      const organization = await organizationWith(0);
      const outcome = await create(organization, 'c', {}, { audienceId: 'none' });
      expect(outcome).to.deep.equal({ kind: 'audience_not_found' });
    });

    it('the balance must cover the credits, which are debited with the creation', async () => {
      const organization = await organizationWith(5);
      expect(await create(organization, 'a', {}, { requiredCredits: 3 })).to.include({
        creditsConsumed: 3,
        creditBalance: 2,
      });
      expect(await create(organization, 'b', {}, { requiredCredits: 3 })).to.deep.equal({
        kind: 'insufficient_credits',
        creditBalance: 2,
      });
      expect(await opened.store.getContact(organization, 'b')).to.equal(null);
      expect(await opened.store.getCredits(organization)).to.equal(2);
      await opened.store.setCredits(organization, 0);
      expect(await create(organization, 'free', {}, { requiredCredits: 0 })).to.include({
        creditsConsumed: 0,
      });
    });

    it('64 creations at once on a balance of 10 make exactly 10 contacts', async () => {
      const organization = await organizationWith(10);
      const outcomes = await Promise.all(
        Array.from({ length: 64 }, (_, index) => create(organization, `c${index}`)),
      );
      expect(outcomes.filter(({ kind }) => kind === 'created')).to.have.lengthOf(10);
      expect(outcomes.filter(({ kind }) => kind === 'insufficient_credits')).to.have.lengthOf(54);
      expect(await opened.store.getCredits(organization)).to.equal(0);
      expect((await opened.store.searchContacts(asked(organization))).total).to.equal(10);
    });

    it('a duplicate shares the profile or a work email; the oldest is returned at no cost and joins', async () => {
      const organization = await organizationWith(10);
      const moment = (offset: number) => new Date(T0 + offset).toISOString();
      await create(organization, 'newer', { work_emails: ['a@x.example'], created_at: moment(1) });
      await create(organization, 'older', {
        network_a_url: 'https://www.n.example/in/A/',
        created_at: moment(0),
      });
      await create(organization, 'other', { personal_emails: ['a@x.example'] });
      await loadAudiences(opened.store, organization, 'two');
      const given = { work_emails: ['b@x.example', 'A@x.example'], network_a_url: 'n.example/in/a' };
      const returned = await create(organization, 'fresh', given, {
        onDuplicate: 'return',
        audienceId: 'two',
      });
      expect(returned).to.deep.include({
        kind: 'returned',
        creditsConsumed: 0,
        creditBalance: 7,
        duplicates: ['older', 'newer'],
      });
      expect((await opened.store.getContact(organization, 'older'))?.audience_ids).to.deep.equal([
        'aud',
        'two',
      ]);
      expect(await create(organization, 'fresh', given, { onDuplicate: 'reject' })).to.deep.equal({
        kind: 'contact_exists',
        contactId: 'older',
      });
      expect(await create(organization, 'fresh', given)).to.include({ kind: 'created', creditBalance: 6 });
    });

    it('the only duplicate gets the fields given, joins the audience and costs nothing', async () => {
      const organization = await organizationWith(1);
      const before = { first_name: 'Ann', city: 'Oslo', phones: ['1'], work_emails: ['a@x.example'] };
      await create(organization, 'old', before);
      await loadAudiences(opened.store, organization, 'two');
      const given = { work_emails: ['A@x.example', 'b@x.example'], last_name: 'Lee', city: 'Bergen' };
      const options = { onDuplicate: 'update', audienceId: 'two', requiredCredits: 5 } as const;
      const trial = await create(organization, 'fresh', given, { ...options, dryRun: true });
      const after = {
        contact_id: 'old',
        first_name: 'Ann',
        last_name: 'Lee',
        city: 'Bergen',
        phones: ['1'],
        work_emails: ['a@x.example', 'b@x.example'],
        audience_ids: ['aud', 'two'],
      };
      const free = { kind: 'updated', creditsConsumed: 0, creditBalance: 0, duplicates: ['old'] };
      expect(trial).to.deep.include(free);
      expect(trial).to.have.nested.property('contact.city', 'Bergen');
      expect(await opened.store.getContact(organization, 'old')).to.deep.include({
        ...before,
        audience_ids: ['aud'],
      });
      const outcome = await create(organization, 'fresh', given, options);
      expect(outcome).to.deep.include(free);
      expect('contact' in outcome && outcome.contact).to.deep.include(after);
      expect(await opened.store.getContact(organization, 'old')).to.deep.include(after);
      expect(await found(opened.store, organization, { query: 'lee bergen' }, 'two')).to.deep.equal(['old']);
      expect(await found(opened.store, organization, { query: 'oslo' })).to.deep.equal([]);
      expect(await opened.store.getContact(organization, 'fresh')).to.equal(null);
      expect(await opened.store.getCredits(organization)).to.equal(0);
    });

    it('without a duplicate an update creates, and of several duplicates none is changed', async () => {
      const organization = await organizationWith(9);
      const options = { onDuplicate: 'update' } as const;
      const made = await create(organization, 'a', { work_emails: ['a@x.example'] }, options);
      expect(made).to.include({ kind: 'created', creditsConsumed: 1 });
      await create(organization, 'b', { network_a_url: 'n.example/in/b' });
      const given = { work_emails: ['a@x.example'], network_a_url: 'n.example/in/b', city: 'Bergen' };
      const outcome = await create(organization, 'c', given, options);
      expect(outcome).to.have.property('kind', 'contact_exists');
      expect('contactIds' in outcome && outcome.contactIds).to.have.members(['a', 'b']);
      expect(await found(opened.store, organization, { query: 'bergen' })).to.deep.equal([]);
      expect(await opened.store.getCredits(organization)).to.equal(7);
    });

    it('an update under an idempotency key is written once', async () => {
      const organization = await organizationWith();
      await create(organization, 'old', { work_emails: ['a@x.example'] });
      const idempotency = { route: '/create', key: 'k', fingerprint: 'f' };
      const once = (id: string) =>
        opened.store.createContact(
          command(
            organization,
            id,
            { work_emails: ['a@x.example'], city: 'Bergen' },
            { onDuplicate: 'update', idempotency },
          ),
        );
      const first = await once('x');
      const written = await opened.store.getContact(organization, 'old');
      expect(await once('y')).to.deep.equal({ ...first, replayed: true });
      expect(await opened.store.getContact(organization, 'old')).to.deep.equal(written);
    });

    it('of 16 updates at once that give one contact different profiles, no two persons come out', async () => {
      const organization = await organizationWith();
      await create(organization, 'old', { work_emails: ['a@x.example'] });
      const profile = 'n.example/in/one';
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          create(
            organization,
            `c${index}`,
            index % 2 === 0
              ? { work_emails: ['a@x.example'], network_a_url: profile }
              : { network_a_url: profile, last_name: `L${index}` },
            { onDuplicate: 'update' },
          ),
        ),
      );
      const ids = await found(opened.store, organization, {});
      const exists = outcomes.filter(({ kind }) => kind === 'contact_exists');
      // A request that has the profile before the contact has it creates a contact of its own; the other requests then meet two contacts.
      expect(ids.length).to.be.within(1, 2);
      if (ids.length === 1) expect(exists).to.deep.equal([]);
      else expect(exists).to.have.lengthOf(8);
    });

    for (const onDuplicate of ['reject', 'return'] as const) {
      it(`of 32 creations of one person at once that ${onDuplicate} duplicates one makes the contact`, async () => {
        const organization = await organizationWith(100);
        const email = 'a@x.example';
        const profile = 'https://www.n.example/in/a';
        // The middle contact is a duplicate of both others, which have nothing in common.
        const given = [
          { work_emails: [email, 'b@x.example'] },
          { work_emails: ['A@x.example', 'c@x.example'], network_a_url: profile },
          { network_a_url: 'n.example/in/a/', work_emails: ['a@x.example'] },
        ];
        const outcomes = await Promise.all(
          Array.from({ length: 32 }, (_, index) =>
            create(organization, `c${index}`, given[index % 3], { onDuplicate }),
          ),
        );
        const [made, ...others] = outcomes.filter(({ kind }) => kind === 'created');
        expect(others).to.deep.equal([]);
        const id = made && 'contact' in made ? made.contact.contact_id : '';
        for (const outcome of outcomes.filter((each) => each !== made)) {
          if (onDuplicate === 'reject') {
            expect(outcome).to.deep.equal({ kind: 'contact_exists', contactId: id });
          } else {
            expect(outcome).to.deep.include({ kind: 'returned', creditsConsumed: 0, duplicates: [id] });
          }
        }
        expect(await found(opened.store, organization, {})).to.deep.equal([id]);
        expect(await opened.store.getCredits(organization)).to.equal(99);
      });
    }

    it('creations of different people at once do not wait for each other in vain', async () => {
      const organization = await organizationWith();
      const outcomes = await Promise.all(
        Array.from({ length: 32 }, (_, index) => {
          const emails = [index, (index + 1) % 32].map((number) => `p${number}@x.example`);
          return create(organization, `c${index}`, { work_emails: emails }, { onDuplicate: 'reject' });
        }),
      );
      const ids = await found(opened.store, organization, {});
      expect(outcomes.filter(({ kind }) => kind === 'created')).to.have.lengthOf(ids.length);
      // Every record has a neighbour on both sides: no two neighbours are created, and no record is left out unless a neighbour was
      // created.
      expect(ids.length).to.be.within(11, 16);
    });

    it('a dry run checks everything, names the duplicates and writes nothing', async () => {
      const organization = await organizationWith(3);
      await create(organization, 'c', { work_emails: ['a@x.example'] });
      const trial = await create(organization, 'd', { work_emails: ['a@x.example'] }, { dryRun: true });
      expect(trial).to.deep.include({
        kind: 'created',
        creditsConsumed: 1,
        creditBalance: 1,
        duplicates: ['c'],
      });
      expect(await create(organization, 'd', {}, { dryRun: true, requiredCredits: 9 })).to.include({
        kind: 'insufficient_credits',
      });
      expect(await opened.store.getContact(organization, 'd')).to.equal(null);
      expect(await opened.store.getCredits(organization)).to.equal(2);
      expect(await found(opened.store, organization, {})).to.deep.equal(['c']);
    });

    it('a dry run names the 100 oldest of many duplicates', async () => {
      const organization = await organizationWith(3);
      await load(
        opened.store,
        organization,
        Array.from({ length: 120 }, () => ({ work_emails: ['a@x.example'] })),
      );
      const trial = await create(organization, 'd', { work_emails: ['a@x.example'] }, { dryRun: true });
      expect(trial).to.have.deep.property(
        'duplicates',
        Array.from({ length: 100 }, (_, index) => `c${119 - index}`),
      );
    });

    /** The whole result of a creation under one idempotency key. */
    const keyed = (organization: string, id: string, fingerprint = 'f') =>
      opened.store.createContact(
        command(organization, id, {}, { idempotency: { route: '/create', key: 'k', fingerprint } }),
      );

    it('the same request under an idempotency key is answered again and debits nothing', async () => {
      const organization = await organizationWith(10);
      const first = await keyed(organization, 'a');
      expect(first).to.include({ kind: 'done', replayed: false });
      expect(await keyed(organization, 'b')).to.deep.equal({ ...first, replayed: true });
      expect(await opened.store.getCredits(organization)).to.equal(9);
      expect(await keyed(organization, 'c', 'other')).to.deep.equal({ kind: 'idempotency_key_reused' });
      const elsewhere = await organizationWith();
      expect(await keyed(elsewhere, 'a', 'other')).to.include({ kind: 'done', replayed: false });
    });

    it('of concurrent requests with one idempotency key one runs and the others are rejected', async () => {
      const organization = await organizationWith(10);
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, index) => keyed(organization, `c${index}`)),
      );
      expect(results.filter((result) => result.kind === 'done' && !result.replayed)).to.have.lengthOf(1);
      expect(await opened.store.getCredits(organization)).to.equal(9);
      for (const result of results) {
        if (result.kind !== 'done') expect(result.kind).to.equal('idempotency_in_progress');
      }
    });

    it('a rejection is not kept, and a key is free again after 24 hours', async () => {
      const organization = await organizationWith(0);
      expect(await keyed(organization, 'a')).to.nested.include({ 'value.kind': 'insufficient_credits' });
      await opened.store.setCredits(organization, 5);
      const created = { 'value.kind': 'created', replayed: false };
      expect(await keyed(organization, 'a')).to.nested.include(created);
      now += 24 * 60 * 60 * 1000 - 1;
      expect(await keyed(organization, 'a')).to.nested.include({ ...created, replayed: true });
      now += 1;
      expect(await keyed(organization, 'b', 'g')).to.nested.include(created);
    });
  });
}
