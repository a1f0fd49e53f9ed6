import { expect } from 'chai';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import type { ParsedStore } from '../support/parsed-store.js';
import { Random, runs, SEED } from '../support/random.js';
import { until } from '../support/until.js';
import {
  asked,
  deferred,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
} from './record-store-support.js';

/** More than one step removes in any store. */
const MEMBERS = 700;

/** The ways in which an audience is restored. */
const REVIVERS = ['record', 'request'] as const;

export function recordStoreDeletedAudiences(open: Open): void {
  describe('deleted audiences that come back (contract 3.14)', () => {
    const opened = useOpened(() => open());

    it('a deletion is answered before its memberships are removed, also where other deletions wait for that', async () => {
      const organization = freshOrganization();
      const released = deferred();
      const process = await opened.another({ beforeJobStep: () => released.promise });
      const audienceIds = ['a', 'b', 'c'];
      await loadAudiences(opened.store, organization, ...audienceIds);
      const ids = ['c0', 'c1'];
      await load(
        opened.store,
        organization,
        ids.map((contact_id) => ({ contact_id, audience_ids: audienceIds })),
      );
      for (const audienceId of audienceIds) {
        const result = await process.deleteAudience({ organizationId: organization, audienceId });
        expect(result).to.have.deep.nested.include({ 'value.kind': 'deleted', 'value.deleted': true });
      }
      for (const store of [process, opened.store]) {
        expect(await store.countMembers(organization, audienceIds)).to.deep.equal([0, 0, 0]);
        expect((await store.getContact(organization, 'c0'))?.audience_ids).to.deep.equal([]);
      }
      released.resolve();
      await process.close();
    });

    it('a deletion waits while fifty audiences of its organization, and no fewer, are still being removed', async () => {
      const organization = freshOrganization();
      const released = deferred();
      const process = await opened.another({ beforeJobStep: () => released.promise });
      const audienceIds = Array.from({ length: 51 }, (_, index) => `a${index}`);
      await loadAudiences(opened.store, organization, ...audienceIds);
      await load(opened.store, organization, [{ contact_id: 'c0', audience_ids: audienceIds }]);
      const happened: string[] = [];
      const remove = (audienceId: string) =>
        process.deleteAudience({ organizationId: organization, audienceId });
      for (const audienceId of audienceIds.slice(0, 50)) await remove(audienceId);
      const last = remove('a50').then(() => happened.push('answered'));
      await until(
        async () => (await opened.store.getAudience(organization, 'a50')) === null,
        'the audience is deleted',
      );
      const other = freshOrganization();
      await loadAudiences(opened.store, other, 'a');
      await process.deleteAudience({ organizationId: other, audienceId: 'a' });
      happened.push('released');
      released.resolve();
      await last;
      expect(happened).to.deep.equal(['released', 'answered']);
      await process.close();
    });

    it('an audience that comes back between two steps of its deletion, or after a crash there, has no former members', async () => {
      const random = new Random(SEED);
      for (let draw = 0; draw < runs(5); draw++) {
        const schedule = {
          stopBefore: draw % 4,
          reviver: random.pick(REVIVERS),
          isCrash: random.chance(0.6),
          comesBackAfterRestart: random.chance(0.3),
        };
        await play(schedule, `draw ${draw} of seed ${SEED}: ${JSON.stringify(schedule)}`);
      }
    });

    async function play(
      {
        stopBefore,
        reviver,
        isCrash,
        comesBackAfterRestart,
      }: {
        stopBefore: number;
        reviver: (typeof REVIVERS)[number];
        isCrash: boolean;
        comesBackAfterRestart: boolean;
      },
      message: string,
    ): Promise<void> {
      const organization = freshOrganization();
      const ids = Array.from({ length: MEMBERS }, (_, index) => `c${index}`);
      await loadAudiences(opened.store, organization, 'a', 'b');
      await load(
        opened.store,
        organization,
        ids.map((contact_id) => ({ contact_id, audience_ids: ['a', 'b'] })),
      );

      let steps = 0;
      const stopped = deferred();
      const released = deferred();
      const process = await opened.another({
        async beforeJobStep() {
          if (steps++ !== stopBefore) return;
          stopped.resolve();
          await released.promise;
        },
      });
      const deletion = process.deleteAudience({ organizationId: organization, audienceId: 'a' });
      const outcome = deletion.catch((error: unknown) => error);
      await Promise.race([stopped.promise, outcome]);
      const other = opened.store;
      expect(await other.getAudience(organization, 'a'), message).to.equal(null);
      await expectMembers(other, organization, [], message);
      if (!comesBackAfterRestart) await comeBack(other, organization, reviver, message);
      if (isCrash) released.reject(new Error('the process ends here'));
      else released.resolve();
      await outcome;
      await process.close();

      const restarted = await opened.another({ goesOn: true });
      if (comesBackAfterRestart) await comeBack(restarted, organization, reviver, message);
      await expectMembers(restarted, organization, ['c0', 'c1', 'c2'], message);
      const changed = async () => {
        await restarted.refresh();
        const since = new Date(T0 + 1).toISOString();
        return (await restarted.searchContacts(asked(organization, { updated_after: since, limit: 1 })))
          .total;
      };
      await until(
        async () => (await changed()) === MEMBERS,
        `the job has rewritten every member, ${message}`,
      );
      expect(await restarted.countMembers(organization, ['b']), message).to.deep.equal([MEMBERS]);
      await restarted.close();
    }

    /** Restores the audience, and lets three contacts join it in every way that exists. */
    async function comeBack(
      store: ParsedStore,
      organization: string,
      reviver: (typeof REVIVERS)[number],
      message: string,
    ): Promise<void> {
      const audience = { organization_id: organization, id: 'a', name: 'again' };
      const later = Date.now() + 1000;
      if (reviver === 'record') await store.upsertAudiences(accepted([audience], later));
      else {
        const fields = { description: null, tracking_utm_value: null };
        const networks = { network_a: false, network_b: false, network_c: false };
        await store.createAudience({ audience: { ...audience, ...fields, ...networks } });
      }
      expect(await store.getAudience(organization, 'a'), message).to.deep.include({ name: 'again' });
      await expectMembers(store, organization, [], message);
      const membership = { organizationId: organization, audienceId: 'a' };
      await store.addMembership({ ...membership, contactId: 'c0' });
      await store.changeMemberships({ ...membership, contactIds: ['c1'], change: 'join' });
      const record = { organization_id: organization, contact_id: 'c2', audience_ids: ['a'] };
      await store.upsertContacts(accepted([record], later));
      await expectMembers(store, organization, ['c0', 'c1', 'c2'], message);
    }

    async function expectMembers(
      store: ParsedStore,
      organization: string,
      members: string[],
      message: string,
    ): Promise<void> {
      await store.refresh();
      const page = await store.searchContacts(asked(organization, {}, { audienceId: 'a' }));
      expect(page.items.map(({ contact_id }) => contact_id).sort(), message).to.deep.equal(members);
      expect(page.total, message).to.equal(members.length);
      expect(await store.countMembers(organization, ['a']), message).to.deep.equal([members.length]);
      for (const contactId of ['c0', 'c1', 'c2', 'c3', `c${MEMBERS - 1}`]) {
        const contact = await store.getContact(organization, contactId);
        const names = members.includes(contactId) ? ['a', 'b'] : ['b'];
        expect(contact?.audience_ids, `${message}, ${contactId}`).to.deep.equal(names);
      }
    }
  });
}
