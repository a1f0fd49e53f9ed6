import { expect } from 'chai';
import type { Clock } from '../../../services/shared/time.js';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { responseCheck } from '../../support/schema-check.js';

type Json = Record<string, unknown>;

const NOW = Date.parse('2026-11-21T12:00:00Z');
const clock: Clock = { now: () => NOW };
const organization = { organization_id: 'org_a' };
const range = { start_date: '2026-10-30', end_date: '2026-11-02' };

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
      'network-a-campaigns': [
        {
          id: 'cam_1',
          name: 'Brand',
          status: 'ACTIVE',
          objective_type: 'BRAND_AWARENESS',
          currency: 'EUR',
          daily_budget: '10.10',
        },
        { id: 'cam_2', name: 'Leads', status: 'PAUSED', objective_type: 'LEAD_GENERATION', currency: 'EUR' },
      ],
      'network-a-creatives': [
        { id: 'cre_1', campaign_id: 'cam_1', name: 'Red', status: 'ACTIVE', headline: 'Buy' },
        { id: 'cre_2', campaign_id: 'cam_2', name: 'Blue', status: 'PAUSED' },
      ],
      'network-a-companies': [
        { id: 'co_1', network_a_company_id: '9001', name: 'Acme', domain: 'www.Acme.example' },
        { id: 'co_2', network_a_company_id: '9002', name: 'Bolt', domain: 'bolt.example' },
      ],
      'network-a-deliveries': [
        {
          ...{ date: '2026-10-31', campaign_id: 'cam_1', creative_id: 'cre_1' },
          ...{ ad_spend: '0.10', impressions: 1000, clicks: 10, engagements: 20 },
        },
        {
          ...{ date: '2026-11-01', campaign_id: 'cam_1', creative_id: 'cre_1' },
          ...{ ad_spend: '0.20', impressions: 500, clicks: 5, engagements: 5 },
        },
        {
          ...{ date: '2026-11-01', campaign_id: 'cam_1', company_id: 'co_1' },
          ...{ impressions: 300, clicks: 3, engagements: 6 },
        },
        { date: '2026-11-02', campaign_id: 'cam_2', company_id: 'co_1', impressions: 10 },
      ],
      'currency-rates': [{ date: '2026-10-30', currency: 'USD', per_eur: '1.12345678' }],
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
        errors: [],
      });
    }
  });
  after(() => gateway.close());

  /** The body of a 200 that is exactly as documented. */
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
      job_title: 'analyst sen',
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
    for (const [name, value] of Object.entries(filters)) {
      for (const [path, scope] of [
        ['/api/contacts/search', organization],
        ['/api/audiences/contacts/search', inAudience],
      ] as const) {
        expect(ids((await ask(path, { ...scope, [name]: value })).contacts), name).to.include('con_1');
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
    for (const [name, value] of Object.entries(filters))
      expect(ids((await find({ [name]: value })).visits), name).to.include('v_2');
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

  const paged: [path: string, body: Json, items: string, prefix: string, expected: number[]][] = [
    ['/api/contacts/search', {}, 'contacts', 'con', [6, 5, 4, 3, 2, 1, 0]],
    ['/api/contacts/search', { query: 'maria' }, 'contacts', 'con', [6, 4, 0]],
    ['/api/audiences/contacts/search', { audience_id: 'aud_1' }, 'contacts', 'con', [4, 3, 2, 1, 0]],
    ['/api/website-visits/search', {}, 'visits', 'v', [4, 3, 2, 1, 0]],
    ['/api/website-visits/search', { audience_id: 'aud_1' }, 'visits', 'v', [2, 1, 0]],
  ];
  for (const [path, filters, items, prefix, expected] of paged) {
    it(`${path} pages by cursor over ${JSON.stringify(filters)}`, async () => {
      for (const limit of [1, 2, 3, 1000]) {
        const found: string[] = [];
        let cursor: unknown = null;
        do {
          const page = await ask(path, { ...organization, ...filters, limit, cursor });
          expect(page.total_count).to.equal(expected.length);
          expect(page[items]).to.have.length.within(1, limit);
          found.push(...ids(page[items]));
          cursor = page.next_cursor;
        } while (cursor !== null);
        expect(found, `limit ${limit}`).to.deep.equal(expected.map((number) => `${prefix}_${number}`));
      }
    });
  }

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
    // As a domain nobody matches it; as words every other audience does.
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
      [{ sort_by: 'last_name', sort_direction: 'desc' }, reversed],
      [{ sort_by: 'company_name', sort_direction: 'desc', city: 'zurich' }, reversed],
      [{ sort_direction: 'asc' }, contacts.map(({ contact_id }) => contact_id)],
      [{ sort_by: 'created_at', sort_direction: 'desc' }, reversed],
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
    await ask('/api/contacts/delete', named);
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
    expect(changed).to.deep.equal({ ...named, audience: expected });
    expect(await ask('/api/audiences/update', named)).to.deep.equal(changed);
    expect([await find('visitors'), await find('guests'), await find('may')]).to.deep.equal([
      [audience_id],
      [],
      [],
    ]);

    await ask('/api/audiences/contacts/add', { ...named, contact_id: 'con_6' });
    const remove = (headers = {}) => ask('/api/audiences/delete', named, headers);
    expect(await remove(once)).to.deep.equal({ ...named, deleted: true });
    expect(await remove(once)).to.deep.equal({ ...named, deleted: true });
    expect(await remove()).to.deep.equal({ ...named, deleted: false });
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
      await gateway.stores.search.setCredits('org_metered', 10);
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
      expect(await gateway.stores.search.getCredits('org_metered')).to.equal(4);

      const twin = { audience_id: 'aud_2', work_emails: ['ADA@x.example'] };
      const first = await create('', { ...twin, audience_id: 'aud_1' });
      const duplicates = [first.contact_id];
      const dry = await create('?on_duplicate=return&dry_run=true', twin);
      expect(dry).to.deep.include({ dry_run: true, duplicates, credits_consumed: 0 });
      const returned = await create('?on_duplicate=return', twin);
      expect(returned).to.include({ contact_id: first.contact_id, credits_consumed: 0, credit_balance: 3 });
      expect((returned.contact as Json).audience_ids).to.deep.equal(['aud_1', 'aud_2']);
      expect((await send('?on_duplicate=reject', twin)).status).to.equal(409);
      const second = await create('?on_duplicate=create', twin);
      expect(second.contact_id).not.to.equal(first.contact_id);
      expect(second.credit_balance).to.equal(2);
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

  it('advertising lists answer items with their metrics and series', async () => {
    const list = async (name: string, body: Json) => {
      const answer = await ask(`/api/advertising/network_a/${name}`, { ...range, ...body });
      const items = answer.items as Json[];
      return { answer, items, points: (items[0]?.timeseries ?? []) as Json[] };
    };
    const campaigns = await list('campaigns', {});
    expect(campaigns.answer).to.include({ page: 1, page_size: 50, total_count: 2, provisional: false });
    expect(ids(campaigns.items)).to.deep.equal(['cam_1', 'cam_2']);
    const figures = { ad_spend: '0.3', impressions: 1500, ctr: 0.01, cpm: 0.2, daily_budget: '10.1' };
    expect(campaigns.items[0]).to.include(figures);
    const days = campaigns.points.map(({ period }) => period);
    expect(days).to.deep.equal(['2026-10-30', '2026-10-31', '2026-11-01', '2026-11-02']);
    const converted = await list('campaigns', { currency: 'USD', metrics: ['ad_spend', 'cpm'] });
    expect(converted.answer).to.deep.include({
      converted: true,
      rates: { from: '2026-10-30', to: '2026-10-30' },
      totals: [{ currency: 'USD', ad_spend: '0.337037', cpm: 0.224691 }],
    });
    expect(converted.points.map(({ ad_spend }) => ad_spend)).to.deep.equal([
      '0',
      '0.112346',
      '0.224691',
      '0',
    ]);
    const monthly = await list('campaigns', { granularity: 'monthly', metrics: ['ctr', 'clicks'] });
    expect(monthly.items[0]).to.include.keys('clicks', 'ctr').and.not.have.any.keys('impressions', 'cpm');
    expect(monthly.points.map(({ ctr, ...point }) => point)).to.deep.equal([
      {
        ...{ period: '2026-10', start_date: '2026-10-30', end_date: '2026-10-31' },
        provisional: false,
        clicks: 10,
      },
      {
        ...{ period: '2026-11', start_date: '2026-11-01', end_date: '2026-11-02' },
        provisional: false,
        clicks: 5,
      },
    ]);
    const creatives = await list('creatives', { campaign_ids: ['cam_1', 'cam_2'], creative_ids: ['cre_1'] });
    expect(creatives.answer.total_count).to.equal(1);
    const creative = { id: 'cre_1', campaign_name: 'Brand', ad_spend: '0.3', currency: 'EUR' };
    expect(creatives.items[0]).to.include(creative);
    expect((await list('companies', {})).items[0]).to.include({
      ...{ id: 'co_1', domain: 'acme.example', impressions: 310, campaigns_reached: 2, campaigns_engaged: 1 },
      ...{ first_seen: '2026-11-01', last_seen: '2026-11-02' },
    });
    for (const filter of [
      { domains: ['WWW.bolt.example'] },
      { network_a_company_ids: ['9002'] },
      { company_ids: ['co_2'] },
    ])
      expect(ids((await list('companies', filter)).items)).to.deep.equal(['co_2']);
  });

  it('advertising/company answers one company, named in any of three ways', async () => {
    const company = (body: Json) => ask('/api/advertising/network_a/company', { ...range, ...body });
    const one = await company({ company_id: 'co_1' });
    expect(await company({ company_id: '9001' })).to.deep.equal(one);
    expect(await company({ domain: 'www.acme.example' })).to.deep.equal(one);
    expect(one).to.include({ ...range, granularity: 'daily', campaign_page: 1, campaign_page_size: 50 });
    expect(one.totals).to.include({ impressions: 310, clicks: 3, engagements: 6 });
    const first = { campaign_id: 'cam_1', name: 'Brand', impressions: 300 };
    expect((one.campaigns as Json[])[0]).to.include(first);
    const second = await company({ company_id: 'co_1', campaign_page: 2, campaign_page_size: 1 });
    expect((second.campaigns as Json[]).map(({ campaign_id }) => campaign_id)).to.deep.equal(['cam_2']);
    const quiet = await company({ company_id: 'co_2' });
    expect(quiet.totals).to.include({ impressions: 0, ctr: null });
  });
});
