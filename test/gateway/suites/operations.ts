import { expect } from 'chai';
import type { Clock } from '../../../services/shared/time.js';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { responseCheck } from '../../support/schema-check.js';

type Json = Record<string, unknown>;

const NOW = Date.parse('2026-11-21T12:00:00Z');
const clock: Clock = { now: () => NOW };
const organization = { organization_id: 'org_a' };

const contacts = Array.from({ length: 7 }, (_, index) => ({
  contact_id: `con_${index}`,
  first_name: ['Maria', 'José', 'Ada', 'Zoë', 'Maria', 'Ivan', 'Maria'][index],
  last_name: `Number${index}`,
  job_title: 'Senior Analyst',
  functional_area: 'Research',
  company_name: 'Acme',
  company_domain: 'www.acme.example',
  city: 'Zürich',
  state_region: 'ZH',
  country: 'Switzerland',
  postal_code: '80 01',
  network_a_url: `https://www.linkedin.com/in/number-${index}`,
  work_emails: [`N${index}@ACME.example`],
  phones: ['+41 44 555 01 0'.concat(String(index))],
  audience_ids: index < 5 ? ['aud_1'] : [],
  created_at: `2026-11-0${index + 1}T00:00:00Z`,
  updated_at: '2026-11-10T00:00:00Z',
}));

export const operations = gatewaySuite('Every operation, end to end', (start) => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await start({}, clock);
    const streams: Record<string, object[]> = {
      audiences: Array.from({ length: 7 }, (_, index) => ({
        id: `aud_${index}`,
        name: `Buyers ${index}`,
        description: index % 2 ? 'People who bought' : null,
        network_b: true,
        tracking_utm_value: `utm-${index}`,
        created_at: `2026-11-0${index + 1}T00:00:00Z`,
      })),
      contacts,
      'website-visits': Array.from({ length: 5 }, (_, index) => ({
        id: `v_${index}`,
        createdAt: `2026-11-0${index + 1}T08:00:00+01:00`,
        audienceId: index < 3 ? 'aud_1' : 'aud_2',
        startUrl: `https://acme.example/Pricing/${index}`,
        country: 'Germany',
        countryCode: 'DE',
        city: 'Köln',
        ipAddress: `192.0.2.${index}`,
        browser: 'Chrome Mobile',
        browserVersion: '130.0',
        platform: 'Android',
        hasRecording: index % 2 === 0,
        intentScore: index * 10,
      })),
      'network-a-companies': [
        { id: 'co_1', network_a_company_id: '9001', name: 'Acme', domain: 'www.Acme.example' },
        { id: 'co_2', network_a_company_id: '9002', name: 'Bolt', domain: 'bolt.example' },
      ],
      'network-a-deliveries': ['co_1', 'co_2'].map((company_id, index) => ({
        ...{ date: '2026-11-01', campaign_id: 'cam_1', company_id, impressions: 300 + index },
      })),
    };
    for (const [stream, records] of Object.entries(streams)) {
      const answer = await gateway.ingest(stream, records);
      expect(answer.body, answer.text).to.deep.equal({
        stream,
        accepted: records.length,
        rejected: 0,
        skipped: 0,
        rounded: 0,
        suppressed: 0,
        stale: 0,
        invalid_domains: 0,
        invalid_values: 0,
        errors: [],
      });
    }
  });
  after(() => gateway.close());

  /** The body of a 200 that matches its documentation exactly. */
  async function ask(path: string, body: object, headers: Record<string, string> = {}): Promise<Json> {
    return checked(path, await gateway.call(path, body, { headers }));
  }
  function checked(path: string, answer: Answer): Json {
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get('Content-Type')).to.equal('application/json; charset=utf-8');
    expect(responseCheck.get(path.split('?')[0] as string)?.(answer.body)).to.deep.equal([]);
    return answer.body;
  }
  const ids = (items: unknown) => (items as { id: string }[]).map(({ id }) => id);
  const get = async (contactId: string) =>
    (await ask('/api/contacts/get', { ...organization, contact_id: contactId })).contact as Json;

  it('contacts/get and contacts/get-many answer whole contacts', async () => {
    const contact = await get('con_1');
    expect(contact).to.deep.include({
      ...{ id: 'con_1', contact_id: 'con_1', organization_id: 'org_a', first_name: 'José' },
      ...{ work_emails: ['n1@acme.example'], personal_emails: [], company_domain: 'acme.example' },
      ...{ data_import_id: null, age: null, audience_ids: ['aud_1'], created_at: '2026-11-02T00:00:00.000Z' },
    });
    expect(contact.company_id).to.match(/^com_/);
    const contact_ids = ['con_3', 'con_none', 'con_1', 'con_3'];
    const many = await ask('/api/contacts/get-many', { ...organization, contact_ids });
    expect(many).to.deep.equal({
      organization_id: 'org_a',
      contacts: [await get('con_3'), contact],
      missing: ['con_none'],
      not_returned: [],
    });
  });

  it('contacts/search finds by every filter of the specification, also in an audience', async () => {
    const filters: Json = {
      first_name: 'jose',
      last_name: 'number',
      job_title: 'analyst seni',
      functional_area: 'RESEARCH',
      company_name: 'acm',
      company_domain: 'https://ACME.example/about',
      city: 'zurich',
      state_region: 'zh',
      country: 'CHE',
      postal_code: '8001',
      network_a_url: 'number-1',
    };
    const query = 'Jose "senior analyst" n1@acme.example +41 44 555 01 01';
    const all = await ask('/api/contacts/search', { ...organization, ...filters, query });
    expect(all).to.deep.include({ contacts: [await get('con_1')], next_cursor: null, total_count: 1 });
    const inAudience = { ...organization, audience_id: 'aud_1' };
    const narrow = await ask('/api/audiences/contacts/search', { ...inAudience, ...filters });
    expect(narrow).to.deep.equal({ ...all, audience_id: 'aud_1' });
    for (const name of Object.keys(filters)) {
      for (const [path, scope] of [
        ['/api/contacts/search', organization],
        ['/api/audiences/contacts/search', inAudience],
      ] as const) {
        const none = await ask(path, { ...scope, [name]: 'zzz9.example' });
        expect(none, name).to.deep.include({ contacts: [], total_count: 0 });
      }
    }
  });

  it('website-visits/search finds by every filter', async () => {
    const filters: Json = {
      audience_id: 'aud_1',
      country: 'DEU',
      city: 'koln',
      ip_address: '192.0.2.2/31',
      browser: 'chrome',
      platform: 'ANDROID',
      has_recording: true,
      start_url: 'http://ACME.example/pricing',
      created_after: '2026-11-03T07:00:00Z',
      created_before: '2026-11-03T07:00:00.001Z',
      min_intent_score: 20,
    };
    const find = (given: Json) => ask('/api/website-visits/search', { ...organization, ...given });
    const all = await find(filters);
    expect(ids(all.visits)).to.deep.equal(['v_2']);
    const visit = { type: 'audience', organizationId: 'org_a', createdAt: '2026-11-03T07:00:00.000Z' };
    expect((all.visits as Json[])[0]).to.include(visit);
    const others: Json = {
      ...{
        audience_id: 'aud_3',
        country: 'FRA',
        city: 'bonn',
        ip_address: '192.0.3.0/24',
        browser: 'firefox',
      },
      ...{ platform: 'ios', start_url: 'acme.example/blog', min_intent_score: 41 },
      ...{ created_after: '2026-11-06T00:00:00Z', created_before: '2026-11-01T00:00:00Z' },
    };
    for (const [name, value] of Object.entries(others))
      expect((await find({ [name]: value })).visits, name).to.deep.equal([]);
    expect(ids((await find({ has_recording: false })).visits)).to.deep.equal(['v_3', 'v_1']);
  });

  it('searches count values over all matches, and explain each contact of a page, where asked to', async () => {
    const search = (path: string, body: Json) => ask(path, { ...organization, limit: 1, ...body });
    const maria = { query: 'maria', facets: ['city', 'job_title', 'city'] };
    const first = await search('/api/contacts/search', maria);
    expect(first.facets).to.deep.equal({
      city: [{ value: 'Zürich', count: 3 }],
      job_title: [{ value: 'Senior Analyst', count: 3 }],
    });
    const cursor = first.next_cursor;
    const next = await search('/api/contacts/search', { query: 'maria', cursor });
    expect(next).not.to.have.any.keys('facets', 'explanations');
    const members = { audience_id: 'aud_1', facets: ['country'] };
    expect((await search('/api/audiences/contacts/search', members)).facets).to.deep.equal({
      country: [{ value: 'Switzerland', count: 5 }],
    });
    const visits = await search('/api/website-visits/search', { audience_id: 'aud_1', facets: ['day'] });
    const day = ['2026-11-01', '2026-11-02', '2026-11-03'].map((value) => ({ value, count: 1 }));
    expect(visits.facets).to.deep.equal({ day });
    const typo = await search('/api/contacts/search', { query: 'marai', explain: true });
    const word = { word: 'marai', field: 'first_name', text: 'maria', match: 'typo', typos: 1 };
    expect(typo.explanations).to.deep.equal([
      { contact_id: ids(typo.contacts)[0], tier: 'typo', typos: 1, words: [word] },
    ]);
    const newest = await search('/api/contacts/search', { explain: true });
    expect(newest.explanations).to.deep.equal([
      { contact_id: ids(newest.contacts)[0], tier: null, typos: 0, words: [] },
    ]);
  });

  it('audiences/get and audiences/search answer audiences and their pages', async () => {
    const { audience } = await ask('/api/audiences/get', { ...organization, audience_id: 'aud_1' });
    expect(audience).to.deep.include({
      ...{ id: 'aud_1', organization_id: 'org_a', name: 'Buyers 1', description: 'People who bought' },
      ...{ network_a: false, network_b: true, network_c: false, tracking_utm_value: 'utm-1' },
    });
    const search = (body: Json) => ask('/api/audiences/search', body);
    const first = await search({ limit: 3 });
    expect(first).to.deep.include({ organization_id: 'org_a', page: 1, limit: 3, total_count: 7 });
    expect(ids(first.audiences)).to.deep.equal(['aud_6', 'aud_5', 'aud_4']);
    expect(ids((await search({ page: 3, limit: 3 })).audiences)).to.deep.equal(['aud_0']);
    expect(await search({ page: 9, limit: 3 })).to.deep.include({ audiences: [], total_count: 7 });
    expect(ids((await search({ query: 'bought utm-3' })).audiences)).to.deep.equal(['aud_3']);
    // No audience matches the text as a domain; every second audience matches its words.
    const words = { query: 'bought.buyers', limit: 2 };
    expect(ids((await search(words)).audiences)).to.deep.equal(['aud_5', 'aud_3']);
    expect(ids((await search({ ...words, page: 2 })).audiences)).to.deep.equal(['aud_1']);
    expect(await search({})).to.deep.include({ page: 1, limit: 50 });
    const counted = await search({ include_counts: true });
    const byId = (counted.audiences as Json[]).map(({ id, member_count }) => [id, member_count]);
    expect(byId.slice(-2)).to.deep.equal([
      ['aud_1', 5],
      ['aud_0', 0],
    ]);
    const one = { ...organization, audience_id: 'aud_1', include_counts: true };
    expect((await ask('/api/audiences/get', one)).audience).to.deep.equal({
      ...(audience as Json),
      member_count: 5,
    });
  });

  it('contacts/search sorts by sort_by, whose cursor belongs to it', async () => {
    const search = (body: object) => ask('/api/contacts/search', { ...organization, ...body });
    const reversed = contacts.map(({ contact_id }) => contact_id).reverse();
    for (const [body, expected] of [
      [{ sort_by: 'last_name' }, contacts.map(({ contact_id }) => contact_id)],
      [{ sort_by: 'company_name', sort_direction: 'desc', city: 'zurich' }, reversed],
      [{ sort_direction: 'asc' }, contacts.map(({ contact_id }) => contact_id)],
    ] as const) {
      const given = { ...body, last_name: 'number' };
      const first = await search({ ...given, limit: 3 });
      const rest = await search({ ...given, limit: 100, cursor: first.next_cursor });
      expect([...ids(first.contacts), ...ids(rest.contacts)], JSON.stringify(body)).to.deep.equal(expected);
      expect(rest).to.include({ next_cursor: null, total_count: 7 });
      const other = { ...organization, ...given, sort_by: 'updated_at', cursor: first.next_cursor };
      const { body: problem } = await gateway.call('/api/contacts/search', other);
      expect(problem.errors).to.have.nested.property('[0].pointer', '/cursor');
    }
    const sorted = { ...organization, sort_by: 'last_name', limit: 1 };
    const { next_cursor: cursor } = (await search(sorted)) as { next_cursor: string };
    const forged = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    forged[4] = { sorted: 5 };
    const answer = await gateway.call('/api/contacts/search', {
      ...{ ...sorted, cursor: Buffer.from(JSON.stringify(forged)).toString('base64url') },
    });
    expect(answer.body.errors).to.have.nested.property('[0].code', 'invalid_cursor');
  });

  it('contacts/update changes what get and searches answer, once per idempotency key', async () => {
    const { contact: made } = await ask('/api/contacts/create', {
      ...{ ...organization, audience_id: 'aud_1', first_name: 'Una', city: 'Rome', age: 40 },
      work_emails: ['una@una.example'],
    });
    const before = made as Json & { updated_at: string };
    const named = { ...organization, contact_id: before.id };
    const body = {
      ...named,
      city: ' Oslo ',
      age: null,
      phones: ['+1 555 0100'],
      if_updated_at: before.updated_at,
    };
    const once = { 'Idempotency-Key': 'once' };
    const changed = await ask('/api/contacts/update', body, once);
    const contact = changed.contact as Json & { updated_at: string };
    const expected = { ...before, city: 'Oslo', age: null, phones: ['+1 555 0100'] };
    expect(contact).to.deep.equal({ ...expected, updated_at: contact.updated_at });
    expect(contact.updated_at > before.updated_at).to.equal(true);
    expect(await get(before.id as string)).to.deep.equal(contact);
    const find = async (query: string) =>
      ids((await ask('/api/contacts/search', { ...organization, query, match: 'all' })).contacts);
    expect([await find('una oslo'), await find('una rome')]).to.deep.equal([[before.id], []]);
    expect(await ask('/api/contacts/update', body, once)).to.deep.equal(changed);
    const again = await gateway.call('/api/contacts/update', body);
    expect(again.body.code).to.equal('changed_meanwhile');
    const deletion = await ask('/api/contacts/delete', { ...named, return_deleted: true });
    expect(deletion).to.deep.include({ deleted: true, deleted_contacts: [contact], not_deleted: [] });
    const { organization_id: _, ...stays } = await ask('/api/contacts/delete', named);
    expect(stays).to.deep.equal({
      deleted: false,
      deleted_count: 0,
      contact_ids: [],
      missing: [named.contact_id],
    });
  });

  it('audiences/create, update and delete change what get and searches answer, once per idempotency key', async () => {
    const once = { 'Idempotency-Key': 'once' };
    const described = { description: 'Came in May', tracking_utm_value: 'may' };
    const body = { ...organization, name: ' Guests ', network_a: true, network_b: null, ...described };
    const created = await ask('/api/audiences/create', body, once);
    const { audience, audience_id } = created as { audience: Json; audience_id: string };
    expect(audience_id).to.match(/^aud_[0-9a-z]{26}$/);
    expect(audience).to.deep.equal({
      ...{ id: audience_id, ...organization, name: 'Guests', ...described },
      ...{ network_a: true, network_b: false, network_c: false, created_at: '2026-11-21T12:00:00.000Z' },
      updated_at: '2026-11-21T12:00:00.000Z',
    });
    expect(await ask('/api/audiences/create', body, once)).to.deep.equal(created);
    const named = { ...organization, audience_id };
    expect((await ask('/api/audiences/get', named)).audience).to.deep.equal(audience);
    const find = async (query: string) => ids((await ask('/api/audiences/search', { query })).audiences);
    expect(await find('guests')).to.deep.equal([audience_id]);

    const changes = { name: 'Visitors', description: null, tracking_utm_value: ' ', network_c: true };
    const changed = await ask('/api/audiences/update', { ...named, ...changes });
    const cleared = { description: null, tracking_utm_value: null };
    const expected = { ...audience, ...cleared, name: 'Visitors', network_c: true };
    const { updated_at } = changed.audience as Json & { updated_at: string };
    expect(changed).to.deep.equal({ ...named, audience: { ...expected, updated_at } });
    const stale = { ...named, if_updated_at: audience.updated_at };
    for (const path of ['/api/audiences/update', '/api/audiences/delete'])
      expect((await gateway.call(path, stale)).body).to.include({ code: 'changed_meanwhile', audience_id });
    const unchanged = await ask('/api/audiences/update', { ...named, if_updated_at: updated_at });
    expect(unchanged.audience).to.deep.include({ ...cleared, name: 'Visitors', network_c: true });
    expect([await find('visitors'), await find('guests'), await find('may')]).to.deep.equal([
      [audience_id],
      [],
      [],
    ]);

    await ask('/api/audiences/contacts/add', { ...named, contact_id: 'con_6' });
    const remove = (headers = {}) =>
      ask('/api/audiences/delete', { ...named, return_deleted: true }, headers);
    const { audience: deleted_audience } = unchanged;
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await remove(once)).to.deep.equal({ ...named, deleted: true, deleted_audience });
    expect(await remove()).to.deep.equal({ ...named, deleted: false, deleted_audience: null });
    expect(await ask('/api/audiences/delete', named)).to.deep.equal({ ...named, deleted: false });
    expect((await get('con_6')).audience_ids).to.deep.equal([]);
    expect(await find('visitors')).to.deep.equal([]);
    const gone = await gateway.call('/api/audiences/contacts/add', { ...named, contact_id: 'con_6' });
    expect(gone.body.code).to.equal('audience_not_found');
    const given = { ...organization, id: 'chosen', name: 'Chosen' };
    expect(await ask('/api/audiences/create', given)).to.include({ audience_id: 'chosen' });
    await ask('/api/audiences/delete', { ...organization, audience_id: 'chosen' });
  });

  describe('contacts/create', () => {
    it('returns the contact, which get and every search then return', async () => {
      const made = await ask('/api/contacts/create', {
        ...{ ...organization, audience_id: 'aud_2', first_name: ' Grace ', last_name: 'Hopper', age: 85 },
        ...{ city: '', job_title: 'Rear Admiral', company_domain: 'navy.example' },
        ...{ work_emails: ['Grace@Navy.example'], phones: ['+1 (202) 555-0100'] },
      });
      const contact = made.contact as Json;
      expect(made).to.include({ organization_id: 'org_a', credits_consumed: null, credit_balance: null });
      expect(made.contact_id).to.match(/^con_[0-9a-z]{26}$/);
      expect(contact).to.deep.include({
        ...{ id: made.contact_id, contact_id: made.contact_id, first_name: 'Grace', age: 85, city: null },
        ...{ data_import_id: null, work_emails: ['grace@navy.example'], audience_ids: ['aud_2'] },
        ...{ created_at: '2026-11-21T12:00:00.000Z', updated_at: '2026-11-21T12:00:00.000Z' },
      });
      expect(await get(contact.id as string)).to.deep.equal(contact);
      const searches: [string, Json][] = [
        ['/api/contacts/search', { query: 'grace hopper' }],
        ['/api/contacts/search', { query: '2025550100' }],
        ['/api/contacts/search', { first_name: 'grace', company_domain: 'navy.example' }],
        ['/api/contacts/search', { limit: 1 }],
        ['/api/audiences/contacts/search', { audience_id: 'aud_2', job_title: 'admiral' }],
        ['/api/audiences/contacts/search', { audience_id: 'aud_2' }],
      ];
      for (const [path, filters] of searches) {
        const found = await ask(path, { ...organization, ...filters });
        expect((found.contacts as Json[])[0], JSON.stringify(filters)).to.deep.equal(contact);
      }
    });

    it('debits its cost once, and returns, rejects or creates a duplicate by its parameters', async () => {
      const key = await gateway.keyFor('org_metered');
      const made = ['aud_1', 'aud_2'].map((id) => ({ id, name: id }));
      await gateway.ingest('audiences', made, { key });
      await gateway.stores.records.setCredits('org_metered', 10);
      const send = (query: string, body: Json, headers: Record<string, string> = {}) =>
        gateway.call(
          `/api/contacts/create${query}`,
          { organization_id: 'org_metered', audience_id: 'aud_1', ...body },
          { key, headers },
        );
      const create = async (...args: Parameters<typeof send>) =>
        checked('/api/contacts/create', await send(...args));
      for (const [query, credits_consumed, credit_balance] of [
        ['?required_credits=3', 3, 7],
        ['', 1, 6],
        ['?required_credits=0', 0, 6],
        ['?required_credits=2&dry_run=true', 2, 4],
      ] as const)
        expect(await create(query, {}), query).to.include({ credits_consumed, credit_balance });
      const once = () => send('?required_credits=2', {}, { 'Idempotency-Key': 'pay-once' });
      const [paid, again] = [await once(), await once()];
      expect(paid.headers.get('Idempotency-Replayed')).to.equal(null);
      expect(again.headers.get('Idempotency-Replayed')).to.equal('true');
      expect(again.text).to.equal(paid.text);
      expect(await gateway.stores.records.getCredits('org_metered')).to.equal(4);

      const twin = { audience_id: 'aud_2', work_emails: ['ADA@x.example'] };
      const first = await create('', { ...twin, audience_id: 'aud_1' });
      const duplicates = [first.contact_id];
      const dry = await create('?on_duplicate=return&dry_run=true', twin);
      expect(dry).to.deep.include({ dry_run: true, duplicates, credits_consumed: 0 });
      const returned = await create('?on_duplicate=return', twin);
      expect(returned).to.include({ contact_id: first.contact_id, credits_consumed: 0, credit_balance: 3 });
      expect((returned.contact as Json).audience_ids).to.deep.equal(['aud_1', 'aud_2']);
      const updated = await create('?on_duplicate=update', { ...twin, city: 'Oslo', company_domain: 'n/a' });
      expect(updated).to.include({ contact_id: first.contact_id, credits_consumed: 0, credit_balance: 3 });
      expect(updated.contact).to.deep.include({ city: 'Oslo', company_domain: null });
      expect(updated.warnings).to.deep.equal([
        'invalid_domain: company_domain is not a domain, such as example.com, and was left out.',
      ]);
      expect((await send('?on_duplicate=reject', twin)).status).to.equal(409);
      const second = await create('?on_duplicate=create', twin);
      expect(second.contact_id).not.to.equal(first.contact_id);
      expect(second.credit_balance).to.equal(2);
      const several = await send('?on_duplicate=update', twin);
      expect([several.status, several.body.code]).to.deep.equal([409, 'contact_exists']);
      expect(several.body.contact_ids).to.have.members([first.contact_id, second.contact_id]);
    });
  });

  it('audiences/contacts/add is idempotent, and remove undoes it', async () => {
    const body = { ...organization, audience_id: 'aud_3', contact_id: 'con_5' };
    const members = async () =>
      ids((await ask('/api/audiences/contacts/search', { ...organization, audience_id: 'aud_3' })).contacts);
    const remove = (change: Json = {}, headers = {}) =>
      ask('/api/audiences/contacts/remove', { ...body, ...change }, headers);
    const added = await ask('/api/audiences/contacts/add', body);
    expect((added.contact as Json).audience_ids).to.deep.equal(['aud_3']);
    expect(await members()).to.deep.equal(['con_5']);
    const { organization_id: _, ...withoutOrganization } = body;
    expect(await ask('/api/audiences/contacts/add', withoutOrganization)).to.deep.equal(added);
    expect(await get('con_5')).to.deep.equal(added.contact);
    const once = { 'Idempotency-Key': 'remove-once' };
    const removed = { organization_id: 'org_a', audience_id: 'aud_3', removed: true };
    expect(await remove({}, once)).to.deep.equal(removed);
    expect(await members()).to.deep.equal([]);
    expect((await get('con_5')).audience_ids).to.deep.equal([]);
    expect(await remove()).to.include({ removed: false });
    expect(await remove({ contact_id: 'nobody' })).to.include({ removed: false });
    expect(await remove({}, once)).to.include({ removed: true });
  });

  it('advertising names a company by its id, its id at the network, or its domain', async () => {
    const range = { start_date: '2026-11-01', end_date: '2026-11-02' };
    const answered = (name: string, body: Json) =>
      ask(`/api/advertising/network_a/${name}`, { ...range, ...body });
    for (const filter of [
      { company_ids: ['co_2'] },
      { network_a_company_ids: ['9002'] },
      { domains: ['WWW.bolt.example'] },
    ])
      expect(ids((await answered('companies', filter)).items), JSON.stringify(filter)).to.deep.equal([
        'co_2',
      ]);
    const one = await answered('company', { company_id: 'co_1' });
    expect(one.totals).to.include({ impressions: 300, ctr: 0 });
    expect(await answered('company', { company_id: '9001' })).to.deep.equal(one);
    expect(await answered('company', { domain: 'www.acme.example' })).to.deep.equal(one);
  });
});
