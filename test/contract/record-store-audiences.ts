import { expect } from 'chai';
import type { Audience, AudienceRecord } from '../../services/audiences/schema.js';
import { type AudienceChanges, newAudience } from '../../services/audiences/stored-audience.js';
import type { TextQuery } from '../../services/search/query.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import {
  asked,
  found,
  freshOrganization,
  load,
  type Open,
  T0,
  walk,
  withStale,
} from './record-store-support.js';

const at = (milliseconds: number) => new Date(T0 + milliseconds).toISOString();

export function recordStoreAudiences(open: Open): void {
  describe('audiences (contract 3.11, 6.2)', () => {
    const opened = useOpened(() => open());

    async function loadAll(organization: string, ...records: Omit<AudienceRecord, 'organization_id'>[]) {
      await withStale(
        opened.store.upsertAudiences(
          accepted(
            records.map((record) => ({ ...record, organization_id: organization })),
            T0,
          ),
        ),
      );
      await opened.store.refresh();
    }

    async function find(organizationId: string, query?: string, offset = 0, limit = 50) {
      const { items, total } = await opened.store.searchAudiences({
        organizationId,
        query: query === undefined ? undefined : (parseQuery(query) as TextQuery),
        offset,
        limit,
      });
      return { ids: items.map(({ id }) => id), total };
    }

    it('an audience carries every key', async () => {
      const organization = freshOrganization();
      await loadAll(organization, { id: 'a', name: 'A', description: ' ' });
      expect(await opened.store.getAudience(organization, 'a')).to.deep.equal({
        id: 'a',
        organization_id: organization,
        name: 'A',
        description: null,
        network_a: false,
        network_b: false,
        network_c: false,
        tracking_utm_value: null,
        created_at: new Date(T0).toISOString(),
        updated_at: new Date(T0).toISOString(),
      });
      expect(await opened.store.getAudience(freshOrganization(), 'a')).to.equal(null);
    });

    it('newest first, then by id, in pages of an offset or behind a sort key', async () => {
      const organization = freshOrganization();
      await loadAll(
        organization,
        { id: 'a', name: 'X', created_at: at(1) },
        { id: 'b', name: 'X', created_at: at(2) },
        { id: 'c', name: 'X', created_at: at(1) },
      );
      const all = ['b', 'c', 'a'];
      for (const query of [undefined, 'x']) {
        for (const [offset, limit] of [
          [0, 9],
          [1, 1],
          [2, 2],
          [9, 2],
        ] as const) {
          const ids = all.slice(offset, offset + limit);
          expect(await find(organization, query, offset, limit)).to.deep.equal({ ids, total: 3 });
        }
        const walked = await walk(async (after) => {
          const page = await opened.store.searchAudiences({
            ...{ organizationId: organization, limit: 2, after },
            query: query === undefined ? query : (parseQuery(query) as TextQuery),
          });
          expect(page.total).to.equal(3);
          return page;
        });
        expect(walked.map(({ id }) => id)).to.deep.equal(all);
      }
    });

    it('whole names come before other words, names before tracking values before descriptions', async () => {
      const organization = freshOrganization();
      const audience = (id: string, name: string, created: number, fields = {}) => ({
        ...{ id, name, created_at: at(created), ...fields },
      });
      await loadAll(
        organization,
        audience('senate', 'Senate', 1),
        audience('rules', 'Senate Committee on Rules', 2),
        audience('veterans', "Senate Committee on Veterans' Affairs", 3),
        audience('house', 'House of Representatives', 1),
        audience('text', 'A', 9, { description: 'Armed services of the land' }),
        audience('utm', 'B', 9, { tracking_utm_value: 'armed-services' }),
        audience('name', 'Armed Services', 4),
        audience('begun', 'Armedness services', 9),
      );
      for (const [query, ids] of Object.entries({
        senate: ['senate', 'veterans', 'rules'],
        'representatives of house': ['house'],
        "veteran's affairs": ['veterans'],
        'armed services': ['name', 'utm', 'text', 'begun'],
        'armd servcies': ['name', 'utm', 'text'],
        '"armed services" -land': ['name', 'utm'],
      })) {
        expect((await find(organization, query)).ids, query).to.deep.equal(ids);
      }
    });
  });
}

export function recordStoreAudienceRequests(open: Open): void {
  describe('audiences of requests (contract 3.14)', () => {
    const opened = useOpened(() => open());
    let organization: string;
    beforeEach(() => {
      organization = freshOrganization();
    });

    const fields = { description: 'Words of old', network_b: true, tracking_utm_value: 'utm-old' };
    const create = (id: string, given: { organization?: string; name?: string; key?: string } = {}) =>
      opened.store.createAudience({
        audience: newAudience(given.organization ?? organization, id, {
          name: given.name ?? 'North',
          ...fields,
        }),
        ...(given.key && { idempotency: keyed('create', given.key, `${id} ${given.name}`) }),
      });
    const update = (changes: AudienceChanges, audienceId = 'a', key?: string) =>
      opened.store.updateAudience({
        organizationId: organization,
        audienceId,
        changes,
        ...(key && { idempotency: keyed('update', key, JSON.stringify(changes)) }),
      });
    const remove = (audienceId = 'a', key?: string) =>
      opened.store.deleteAudience({
        organizationId: organization,
        audienceId,
        ...(key && { idempotency: keyed('delete', key, audienceId) }),
      });
    const keyed = (route: string, key: string, fingerprint: string) => ({ route, key, fingerprint });
    const get = (id = 'a', of = organization) => opened.store.getAudience(of, id);
    const record = (given: Partial<AudienceRecord> & { id: string }, acceptedAt = Date.now()) =>
      withStale(
        opened.store.upsertAudiences(
          accepted([{ organization_id: organization, name: 'Recorded', ...given }], acceptedAt),
        ),
      );
    const findIds = async (query?: string) => {
      const search = {
        organizationId: organization,
        limit: 10,
        query: query ? (parseQuery(query) as TextQuery) : undefined,
      };
      const { items, total } = await opened.store.searchAudiences(search);
      expect(total).to.equal(items.length);
      return items.map(({ id }) => id);
    };
    const value = (result: unknown) => (result as { value: { audience?: Audience } }).value;

    it('creates an audience that get and searches find at once, and no second one with its id', async () => {
      const created = await create('a');
      const audience = {
        ...{ id: 'a', organization_id: organization, name: 'North', ...fields },
        ...{ network_a: false, network_c: false },
      };
      expect(value(created)).to.deep.nested.include({ kind: 'created' });
      expect(value(created).audience).to.deep.include(audience);
      expect(await get()).to.deep.equal(value(created).audience);
      expect(await findIds()).to.deep.equal(['a']);
      expect(await findIds('north utm-old')).to.deep.equal(['a']);
      expect(value(await create('a', { name: 'Other' }))).to.deep.equal({ kind: 'audience_exists' });
      expect(await get()).to.include({ name: 'North' });
      const other = freshOrganization();
      expect(value(await create('a', { organization: other }))).to.include({ kind: 'created' });
      expect(value(await create('b'))).to.include({ kind: 'created' });
      expect(await findIds('north')).to.deep.equal(['b', 'a']);
    });

    it('changes the fields given, clears those that are null and leaves the others, its time and its members', async () => {
      await create('a');
      await load(opened.store, organization, [{ contact_id: 'c', audience_ids: ['a'] }]);
      const { created_at } = (await get()) as Audience;
      const updated = await update({ name: 'South', description: null, network_b: null, network_c: true });
      const expected = {
        ...{ id: 'a', organization_id: organization, name: 'South', description: null, created_at },
        updated_at: value(updated).audience?.updated_at,
        ...{ network_a: false, network_b: false, network_c: true, tracking_utm_value: 'utm-old' },
      };
      expect(value(updated)).to.deep.equal({ kind: 'updated', audience: expected });
      expect(await get()).to.deep.equal(expected);
      expect(await findIds('south')).to.deep.equal(['a']);
      for (const query of ['north', 'words']) expect(await findIds(query), query).to.deep.equal([]);
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['c']);
      expect(value(await update({ name: 'X' }, 'b'))).to.deep.equal({ kind: 'audience_not_found' });
    });

    it('each change has a later time, by which a change and a deletion refuse what has changed meanwhile', async () => {
      const times = [value(await create('a')).audience?.updated_at];
      const changeAt = (updated_at: string | undefined, audienceId = 'a') =>
        opened.store.updateAudience({
          ...{ organizationId: organization, audienceId, changes: { description: 'mine' } },
          ifUpdatedMs: Date.parse(updated_at as string),
        });
      for (const name of ['B', 'B', 'C']) times.push(value(await update({ name })).audience?.updated_at);
      await record({ id: 'a', name: 'Recorded', updated_at: at(1) }, Date.now() + 5000);
      await record({ id: 'a', name: 'Recorded' }, Date.now() + 6000);
      times.push((await get())?.updated_at);
      expect(new Set(times).size).to.equal(5);
      expect([...times].sort()).to.deep.equal(times);
      const changed = { kind: 'changed_meanwhile' };
      for (const time of times.slice(0, -1)) {
        expect(value(await changeAt(time))).to.deep.equal(changed);
        const deletion = {
          organizationId: organization,
          audienceId: 'a',
          ifUpdatedMs: Date.parse(time as string),
        };
        expect(value(await opened.store.deleteAudience(deletion))).to.deep.equal(changed);
      }
      expect(await get()).to.include({ name: 'Recorded', description: null });
      expect(value(await changeAt(times.at(-1), 'none'))).to.deep.equal({ kind: 'audience_not_found' });
      expect(value(await changeAt(times.at(-1))).audience).to.include({ description: 'mine' });
      expect(value(await changeAt(times.at(-1)))).to.deep.equal(changed);
      const ifUpdatedMs = Date.parse((await get())?.updated_at as string);
      const deletion = { organizationId: organization, audienceId: 'a', ifUpdatedMs };
      expect(value(await opened.store.deleteAudience(deletion))).to.deep.include({ deleted: true });
      expect(value(await opened.store.deleteAudience(deletion))).to.deep.include({ deleted: false });
    });

    it('of several changes that know the same state, one is made', async () => {
      const other = await opened.another();
      const { audience } = value(await create('a'));
      const ifUpdatedMs = Date.parse(audience?.updated_at as string);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 ? other : opened.store).updateAudience({
            ...{ organizationId: organization, audienceId: 'a', ifUpdatedMs },
            changes: { name: `N${index}` },
          }),
        ),
      );
      const kinds = outcomes.map((outcome) => (value(outcome) as { kind?: string }).kind).sort();
      expect(kinds).to.deep.equal([...Array(7).fill('changed_meanwhile'), 'updated']);
    });

    it('keeps every one of concurrent changes to different fields, by two writers and with memberships between', async () => {
      const other = await opened.another();
      await create('a');
      const names = ['network_a', 'network_b', 'network_c'] as const;
      for (let round = 0; round < 4; round++) {
        const isOn = round % 2 === 0;
        const command = (changes: AudienceChanges) => ({
          organizationId: organization,
          audienceId: 'a',
          changes,
        });
        await Promise.all([
          ...names.map((name, index) =>
            (index === 0 ? other : opened.store).updateAudience(command({ [name]: isOn })),
          ),
          other.updateAudience(command({ description: `round ${round}` })),
        ]);
        expect(await get()).to.include({
          ...{ network_a: isOn, network_b: isOn, network_c: isOn },
          ...{ description: `round ${round}`, name: 'North', tracking_utm_value: 'utm-old' },
        });
      }
      await other.close();
    });

    it('counts as a record of its moment: older records change nothing, a later one replaces the whole audience', async () => {
      const later = () => record({ id: 'a' }, Date.now() + 1000);
      await create('a');
      await record({ id: 'a', updated_at: at(1) }, T0);
      expect(await get()).to.include({ name: 'North' });
      await later();
      expect(await get()).to.include({ name: 'Recorded', description: null });
      await record({ id: 'b', updated_at: at(5) }, T0);
      await update({ name: 'Changed' }, 'b');
      await record({ id: 'b', updated_at: at(6) }, T0);
      expect(await get('b')).to.include({ name: 'Changed' });
      await record({ id: 'b' }, Date.now() + 1000);
      expect(await get('b')).to.include({ name: 'Recorded' });
      // The update comes from a clock that is ahead; it does not hold up later requests.
      await update({ name: 'Changed again' }, 'b');
      expect(await get('b')).to.include({ name: 'Changed again' });
    });

    it('deletes an audience with its memberships, in steps; its contacts stay', async () => {
      await create('a');
      await create('b');
      const members = Array.from({ length: 1201 }, (_, index) => ({
        contact_id: `c${index}`,
        audience_ids: index % 2 === 0 ? ['a', 'b'] : ['a'],
      }));
      await load(opened.store, organization, members);
      const other = freshOrganization();
      await create('a', { organization: other });
      await load(opened.store, other, [{ contact_id: 'c0', audience_ids: ['a'] }]);

      const before = await get();
      expect(value(await remove())).to.deep.equal({ kind: 'deleted', deleted: true, audience: before });
      expect(await get()).to.equal(null);
      expect(await findIds()).to.deep.equal(['b']);
      const none = await opened.store.searchContacts(asked(organization, {}, { audienceId: 'a' }));
      expect(none).to.deep.include({ items: [], total: 0 });
      const add = await opened.store.addMembership({
        organizationId: organization,
        audienceId: 'a',
        contactId: 'c0',
      });
      expect(add).to.deep.include({ value: { kind: 'audience_not_found' } });
      const { items, total } = await opened.store.searchContacts(asked(organization, { limit: 1000 }));
      expect(total).to.equal(1201);
      for (const { audience_ids } of items) expect(audience_ids).not.to.include('a');
      expect(await found(opened.store, organization, {}, 'b')).to.have.lengthOf(601);
      expect(value(await remove())).to.deep.equal({ kind: 'deleted', deleted: false, audience: null });
      expect(value(await remove('never'))).to.deep.equal({ kind: 'deleted', deleted: false, audience: null });
      expect(await found(opened.store, other, {}, 'a')).to.deep.equal(['c0']);
      expect(await get('a', other)).to.include({ id: 'a' });
    });

    it('stays deleted for older records, comes back with a newer one, and starts without members when created again', async () => {
      await record({ id: 'a', updated_at: at(5) }, T0);
      await load(opened.store, organization, [{ contact_id: 'c', audience_ids: ['a'] }]);
      const before = Date.now();
      await remove();
      await record({ id: 'a', updated_at: at(6) }, T0);
      await record({ id: 'a' }, before - 1000);
      expect(await get()).to.equal(null);
      expect(value(await create('a'))).to.include({ kind: 'created' });
      await record({ id: 'a', updated_at: at(7) }, T0);
      expect(await get()).to.include({ name: 'North' });
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal([]);
      await remove();
      await record({ id: 'a' }, Date.now() + 1000);
      expect(await get()).to.include({ name: 'Recorded' });
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal([]);
      const contact = await opened.store.getContact(organization, 'c');
      expect(contact).to.deep.include({ audience_ids: [] });
    });

    it('counts members of each audience, of the organization alone, as they join, leave and are deleted', async () => {
      await create('a');
      await create('b');
      const both = { audience_ids: ['a', 'b'] };
      await load(opened.store, organization, [both, both, { audience_ids: ['a'] }, {}]);
      const other = freshOrganization();
      await load(opened.store, other, [both]);
      const count = (ids = ['b', 'none', 'a'], of = organization) => opened.store.countMembers(of, ids);
      expect(await count()).to.deep.equal([2, 0, 3]);
      expect(await count(['a'], other)).to.deep.equal([1]);
      expect(await count(['a'], 'org_of_nobody')).to.deep.equal([0]);
      const member = { organizationId: organization, audienceId: 'b' };
      await opened.store.addMembership({ ...member, contactId: 'c2' });
      await opened.store.addMembership({ ...member, contactId: 'c2' });
      await opened.store.removeMembership({ ...member, contactId: 'c0' });
      await opened.store.removeMembership({ ...member, contactId: 'c3' });
      expect(await count()).to.deep.equal([2, 0, 3]);
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['c1'] });
      expect(await count()).to.deep.equal([1, 0, 2]);
      await remove();
      expect(await count()).to.deep.equal([1, 0, 0]);
    });

    it('goes on with memberships that a deletion has left, when it is repeated or the id is created again', async () => {
      const leave = async () => {
        await create('a');
        await record({ id: 'a', deleted: true }, Date.now() + 1000);
        await load(opened.store, organization, [
          { contact_id: 'c', audience_ids: ['a'], updated_at: at(++version) },
        ]);
        expect(await opened.store.getContact(organization, 'c')).to.deep.include({ audience_ids: ['a'] });
      };
      let version = 0;
      await leave();
      expect(value(await remove())).to.deep.equal({ kind: 'deleted', deleted: false, audience: null });
      expect(await opened.store.getContact(organization, 'c')).to.deep.include({ audience_ids: [] });
      await leave();
      await create('a');
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal([]);
    });

    it('keeps members that were there before the audience was created', async () => {
      await load(opened.store, organization, [{ contact_id: 'c', audience_ids: ['a'] }]);
      expect(value(await remove())).to.deep.equal({ kind: 'deleted', deleted: false, audience: null });
      await create('a');
      expect(await found(opened.store, organization, {}, 'a')).to.deep.equal(['c']);
    });

    it('runs once per idempotency key', async () => {
      const first = await create('a', { key: 'k' });
      expect(await create('a', { key: 'k' })).to.deep.equal({ ...first, replayed: true });
      expect(await create('b', { key: 'k' })).to.deep.equal({ kind: 'idempotency_key_reused' });
      const renamed = await update({ name: 'South' }, 'a', 'k');
      await update({ name: 'West' });
      expect(await update({ name: 'South' }, 'a', 'k')).to.deep.equal({ ...renamed, replayed: true });
      expect(await get()).to.include({ name: 'West' });
      const gone = await remove('a', 'k');
      expect(await remove('a', 'k')).to.deep.equal({ ...gone, replayed: true });
      await create('a', { name: 'Again' });
      expect(await remove('a', 'k')).to.deep.equal({ ...gone, replayed: true });
      expect(await get()).to.include({ name: 'Again' });
      expect(value(await update({ name: 'X' }, 'none', 'other'))).to.deep.equal({
        kind: 'audience_not_found',
      });
      await create('none');
      expect(value(await update({ name: 'X' }, 'none', 'other'))).to.include({ kind: 'updated' });
    });

    it('never adds a member to an audience that is deleted at the same time', async () => {
      const other = await opened.another();
      await load(opened.store, organization, [{ contact_id: 'c' }, { contact_id: 'd' }]);
      for (let round = 0; round < 5; round++) {
        const audienceId = `a${round}`;
        await create(audienceId);
        const add = (store: typeof other, contactId: string) =>
          store.addMembership({ organizationId: organization, audienceId, contactId });
        const all = {
          organizationId: organization,
          audienceId,
          contactIds: ['c', 'd'],
          change: 'join',
        } as const;
        await Promise.all([
          add(other, 'c'),
          other.changeMemberships(all),
          remove(audienceId),
          add(opened.store, 'd'),
          opened.store.changeMemberships(all),
        ]);
        for (const id of ['c', 'd']) {
          expect(await opened.store.getContact(organization, id)).to.deep.include({ audience_ids: [] });
        }
      }
      await other.close();
    });
  });
}
