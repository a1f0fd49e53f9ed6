import { expect } from 'chai';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { expectProblem, expectRules } from '../../support/problems.js';
import { responseCheck } from '../../support/schema-check.js';

type Json = Record<string, unknown>;

const ADD = '/api/audiences/contacts/add-many';
const REMOVE = '/api/audiences/contacts/remove-many';
/** More contacts than one request changes. */
const MANY = 10_300;

/** Filters of searches, each with the contacts it must find. */
const people = Array.from({ length: 24 }, (_, index) => ({
  contact_id: `con_${String(index).padStart(2, '0')}`,
  first_name: ['Maria', 'José', 'Robert'][index % 3],
  last_name: `Lee${index}`,
  city: ['Zürich', 'Munich', 'Paris', null][index % 4],
  country: index % 2 ? 'Switzerland' : 'DE',
  company_domain: 'acme.example',
  work_emails: [`person${index}@acme.example`],
  audience_ids: index % 5 === 0 ? ['aud_some'] : [],
  created_at: `2026-11-0${1 + (index % 9)}T00:00:00Z`,
}));
const filters: Json[] = [
  {},
  { city: 'zurich' },
  { city: 'münchen', country: 'DEU' },
  { query: 'maria' },
  { query: 'marai', country: 'CH' },
  { query: 'bob -lee2' },
  // No contact has this address, so its parts are searched for.
  { query: 'person.lee3@acme.example' },
  { query: 'acme.example', audience_id: 'aud_some' },
  { audience_id: 'aud_some' },
  { email: 'person7@acme.example' },
  { updated_after: '2026-01-01T00:00:00Z' },
  { company_domains: ['other.example', 'https://www.ACME.example/about'], audience_id: 'aud_some' },
  { company_domains: ['other.example'] },
  {
    any_of: [{ city: 'zurich' }, { audience_id: 'aud_some' }],
    none_of: [{ first_name: 'maria' }],
    has: ['work_emails'],
  },
  {
    any_of: [{ city: ' zurich ', country: null }, { city: 'Paris' }],
    query: 'lee',
    created_after: '2026-11-03T00:00:00Z',
  },
  { query: 'nobody at all' },
];

export const bulkMemberships = gatewaySuite('Adding and removing many contacts', (start) => {
  let gateway: TestGateway;
  let key: string;
  const organization = { organization_id: 'org_bulk' };
  before(async function () {
    this.timeout(60_000);
    gateway = await start();
    key = await gateway.keyFor('org_bulk');
    const audiences = ['aud_some', 'aud_new', 'aud_many', 'aud_other'].map((id) => ({ id, name: id }));
    for (const owner of [key, await gateway.keyFor('org_neighbour')]) {
      await gateway.ingest('audiences', audiences, { key: owner });
      await gateway.ingest('contacts', people, { key: owner });
    }
  });
  after(() => gateway.close());

  const call = (path: string, body: Json, as = key) =>
    gateway.call(path, { ...organization, ...body }, { key: as });
  const checked = (path: string, answer: Answer) => {
    expect(answer.status, answer.text).to.equal(200);
    expect(responseCheck.get(path)?.(answer.body)).to.deep.equal([]);
    return answer.body;
  };
  const ask = async (path: string, body: Json) => checked(path, await call(path, body));
  const idsOf = (items: unknown) => (items as { contact_id: string }[]).map(({ contact_id }) => contact_id);
  const members = async (audience_id: string) =>
    idsOf((await ask('/api/audiences/contacts/search', { audience_id, limit: 1000 })).contacts);
  /** The contacts that a search with the filter finds. */
  const matching = async (filter: Json) => {
    const { contacts } = await ask('/api/contacts/search', { ...filter, match: 'all', limit: 1000 });
    return idsOf(contacts);
  };
  const exported = async (filter: Json) => {
    const body = { ...organization, ...filter, match: 'all' };
    const headers = { Accept: 'application/x-ndjson' };
    const { text } = await gateway.call('/api/contacts/search', body, { key, headers });
    return idsOf(
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Json),
    );
  };
  const memberships = async () => {
    const { contacts } = await ask('/api/contacts/search', { limit: 1000 });
    return (contacts as Json[]).map(({ contact_id, audience_ids }) => [contact_id, audience_ids]);
  };
  const counts = (changed: number, unchanged: number, rest: Json = {}) => ({
    ...{ changed, unchanged, not_found: [], next_cursor: null, ...rest },
  });

  it('changes the contacts named, each once, and names those that it did not find', async () => {
    const audience = { audience_id: 'aud_new' };
    const named = { ...audience, contact_ids: ['con_01', 'none', 'con_02', 'con_01', 'con_00'] };
    const answer = { ...organization, ...audience };
    const added = { ...answer, ...counts(3, 0, { not_found: ['none'] }), too_many_audiences: [] };
    expect(await ask(ADD, named)).to.deep.equal(added);
    expect(await ask(ADD, named)).to.deep.equal({ ...added, changed: 0, unchanged: 3 });
    expect((await members('aud_new')).sort()).to.deep.equal(['con_00', 'con_01', 'con_02']);
    const { contact } = await ask('/api/contacts/get', { contact_id: 'con_00' });
    expect(contact).to.deep.include({ audience_ids: ['aud_new', 'aud_some'] });
    const less = { ...audience, contact_ids: ['con_05', 'con_01', 'none'] };
    expect(await ask(REMOVE, less)).to.deep.equal({ ...answer, ...counts(1, 1, { not_found: ['none'] }) });
    expect((await members('aud_new')).sort()).to.deep.equal(['con_00', 'con_02']);
    expect(await ask(REMOVE, { ...audience, filter: {} })).to.deep.include(counts(2, people.length - 2));
    expect(await members('aud_new')).to.deep.equal([]);
  });

  it('names the contacts that it changed, where that is asked for: removing these undoes exactly that', async () => {
    const audience_id = 'aud_new';
    const named = { contact_ids: ['con_01', 'con_02', 'con_02', 'none', 'con_00'], return_changed: true };
    await ask(ADD, { audience_id, contact_ids: ['con_02'] });
    const added = await ask(ADD, { audience_id, ...named });
    expect(added).to.deep.include({ changed: 2, changed_contact_ids: ['con_01', 'con_00'] });
    expect(await ask(ADD, { audience_id, ...named })).to.deep.include({ changed_contact_ids: [] });
    const all = await ask(ADD, { audience_id, filter: {}, return_changed: true });
    expect(all).to.deep.include({ changed: people.length - 3, unchanged: 3 });
    for (const { changed_contact_ids } of [added, all])
      await ask(REMOVE, { audience_id, contact_ids: changed_contact_ids });
    expect(await members(audience_id)).to.deep.equal(['con_02']);
    const removed = await ask(REMOVE, { audience_id, filter: {}, return_changed: true });
    expect(removed).to.deep.include({ changed_contact_ids: ['con_02'] });
    expect(await ask(ADD, { audience_id, filter: { query: 'nobody' } })).not.to.have.property(
      'changed_contact_ids',
    );
  });

  for (const filter of filters) {
    it(`exports and adds what a search finds, and removing it gives what was: ${JSON.stringify(filter)}`, async () => {
      const before = await memberships();
      const found = await matching(filter);
      expect(await exported(filter)).to.deep.equal(found);
      const audience_id = 'aud_new';
      expect(await ask(ADD, { audience_id, filter })).to.deep.include(counts(found.length, 0));
      expect((await members(audience_id)).sort()).to.deep.equal(found.sort());
      expect(await ask(ADD, { audience_id, filter })).to.deep.include(counts(0, found.length));
      expect(await ask(REMOVE, { audience_id, filter })).to.deep.include(counts(found.length, 0));
      expect(await memberships()).to.deep.equal(before);
    });
  }

  it('changes nothing of another organization, and finds none of its contacts', async () => {
    const neighbour = await gateway.keyFor('org_neighbour');
    const own = { organization_id: 'org_neighbour' };
    const there = async () => {
      const { body } = await gateway.call(
        '/api/contacts/search',
        { ...own, limit: 1000 },
        { key: neighbour },
      );
      return body;
    };
    const before = await there();
    await ask(ADD, { audience_id: 'aud_other', filter: {} });
    await ask(REMOVE, { audience_id: 'aud_some', contact_ids: ['con_00'] });
    await ask(ADD, { audience_id: 'aud_some', contact_ids: ['con_00'] });
    expect(await there()).to.deep.equal(before);
    const { body } = await gateway.call(
      ADD,
      { ...own, audience_id: 'aud_other', filter: {} },
      { key: neighbour },
    );
    expect(body).to.include({ changed: people.length, unchanged: 0 });
    await ask(REMOVE, { audience_id: 'aud_other', filter: {} });
  });

  it('goes on behind its cursor, after an interruption too, until every match is done', async function () {
    this.timeout(120_000);
    const many = { organization_id: 'org_many' };
    const owner = await gateway.keyFor('org_many');
    const ofMany = async (path: string, body: Json) =>
      checked(path, await gateway.call(path, { ...many, ...body }, { key: owner }));
    await gateway.ingest('audiences', [{ id: 'aud', name: 'All' }], { key: owner });
    for (let start = 0; start < MANY; start += 5150) {
      const contacts = Array.from({ length: 5150 }, (_, index) => ({
        contact_id: `c${start + index}`,
        first_name: 'Ann',
      }));
      await gateway.ingest('contacts', contacts, { key: owner });
    }
    const memberCount = async () => {
      const { audience } = await ofMany('/api/audiences/get', { audience_id: 'aud', include_counts: true });
      return (audience as Json).member_count;
    };
    /** Changed and unchanged contacts of all requests. */
    const untilDone = async (change: (cursor?: unknown) => Promise<Json>) => {
      let changed = 0;
      let unchanged = 0;
      let cursor: unknown;
      do {
        const answer = await change(cursor);
        changed += Number(answer.changed);
        unchanged += Number(answer.unchanged);
        cursor = answer.next_cursor ?? undefined;
      } while (cursor);
      return [changed, unchanged];
    };
    const filter = { query: 'ann' };
    const join = (cursor?: unknown) => ofMany(ADD, { audience_id: 'aud', filter, cursor });
    const first = await join();
    expect(first.changed).to.be.within(1, 10_000);
    expect(first.unchanged).to.equal(0);
    expect(first.next_cursor).to.be.a('string');
    // The response was lost. A slow request ends before 10 000 contacts.
    const joined = Number(first.changed);
    expect(await untilDone(join)).to.deep.equal([MANY - joined, joined]);
    expect(await memberCount()).to.equal(MANY);
    // Each step of this walk over members leaves fewer members.
    const leave = (cursor?: unknown) =>
      ofMany(REMOVE, { audience_id: 'aud', filter: { audience_id: 'aud' }, cursor });
    expect(await untilDone(leave)).to.deep.equal([MANY, 0]);
    expect(await memberCount()).to.equal(0);
    const mixed = { audience_id: 'aud', filter: { ...filter, city: 'x' }, cursor: first.next_cursor };
    const answer = await gateway.call(ADD, { ...many, ...mixed }, { key: owner });
    expectRules(answer, ['/cursor cursor_mismatch']);
  });

  it('deletes an audience that many contacts are in, and none stays in it', async () => {
    await ask('/api/audiences/create', { id: 'aud_gone', name: 'Gone' });
    await ask(ADD, { audience_id: 'aud_gone', filter: {} });
    const before = await memberships();
    expect(before[0]?.[1]).to.include('aud_gone');
    expect(await ask('/api/audiences/delete', { audience_id: 'aud_gone' })).to.include({ deleted: true });
    const without = before.map(([id, audiences]) => [
      id,
      (audiences as string[]).filter((each) => each !== 'aud_gone'),
    ]);
    expect(await memberships()).to.deep.equal(without);
    for (const path of [ADD, REMOVE]) {
      const gone = await call(path, { audience_id: 'aud_gone', filter: {} });
      expectProblem(gone, 404, 'audience_not_found', { audience_id: 'aud_gone' });
    }
  });

  it('rejects what it cannot do, and changes nothing', async () => {
    const before = await memberships();
    for (const path of [ADD, REMOVE]) {
      const hint = await call(path, { audience_id: 'aud_new', filter: { citi: 'x' } });
      expect(hint.body.detail).to.include('Did you mean city?');
      for (const audience_id of ['none', 'aud_new']) {
        for (const filter of [
          { audience_id: 'none', city: ' ', country: null },
          { any_of: [{ audience_id: 'none' }, { city: 'Paris' }] },
          { none_of: [{ audience_id: 'none' }] },
        ]) {
          expectProblem(await call(path, { audience_id, filter }), 404, 'audience_not_found', {
            audience_id: 'none',
          });
        }
      }
      expectRules(await call(path, { audience_id: 'aud_new', filter: { none_of: [{}] } }), [
        '/filter/none_of/0 empty_filter',
      ]);
    }
    expect(await memberships()).to.deep.equal(before);
  });
});
