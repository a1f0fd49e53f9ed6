import { expect } from 'chai';
import type { Clock } from '../../../services/shared/time.js';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { responseCheck } from '../../support/schema-check.js';

type Json = Record<string, unknown>;

const NOW = Date.parse('2026-11-21T12:00:00Z');
const clock: Clock = { now: () => NOW };
const organization = { organization_id: 'org_a' };
const range = { start_date: '2026-10-30', end_date: '2026-11-02' };

/** The keys of the specification, and after `+` those the contract adds. */
const KEYS = {
  contact:
    'id organization_id data_import_id contact_id company_id first_name last_name work_emails personal_emails phones network_a_url job_title functional_area company_name company_network_a_url company_domain company_country company_industry city state_region country postal_code age dob year_of_birth gender person_image_url company_image_url + audience_ids created_at updated_at',
  audience: 'id organization_id name description network_a network_b network_c tracking_utm_value created_at',
  visit:
    'id type audienceId organizationId startUrl country countryCode city ipAddress browser browserVersion platform hasRecording intentScore createdAt',
  counts:
    'impressions clicks landing_page_clicks engagements reactions comments shares follows video_views video_completions leads lead_form_opens conversions',
  money: 'ad_spend conversion_value',
  companyRates: 'ctr engagement_rate conversion_rate',
  moneyRates: 'cpc cpm cost_per_engagement cost_per_lead cost_per_conversion return_on_ad_spend',
  campaign:
    'id network_a_campaign_id name account_id campaign_group_id campaign_group_name status objective_type format cost_type currency daily_budget total_budget start_date end_date creatives_count',
  creative:
    'id network_a_creative_id campaign_id campaign_name name status review_status format headline landing_page_url image_url currency',
  company: 'id network_a_company_id name domain network_a_url industry employee_range country logo_url',
  point: 'period start_date end_date provisional',
};
const metrics = `${KEYS.counts} ${KEYS.money} ${KEYS.companyRates} ${KEYS.moneyRates}`;
const companyMetrics = `${KEYS.counts} ${KEYS.companyRates}`;

function expectKeys(value: unknown, keys: string) {
  expect(Object.keys(value as Json).sort()).to.deep.equal(keys.replace('+ ', '').split(' ').sort());
}

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
          date: '2026-10-31',
          campaign_id: 'cam_1',
          creative_id: 'cre_1',
          ad_spend: '0.10',
          impressions: 1000,
          clicks: 10,
          engagements: 20,
        },
        {
          date: '2026-11-01',
          campaign_id: 'cam_1',
          creative_id: 'cre_1',
          ad_spend: '0.20',
          impressions: 500,
          clicks: 5,
          engagements: 5,
        },
        {
          date: '2026-11-01',
          campaign_id: 'cam_1',
          company_id: 'co_1',
          impressions: 300,
          clicks: 3,
          engagements: 6,
        },
        { date: '2026-11-02', campaign_id: 'cam_2', company_id: 'co_1', impressions: 10 },
      ],
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
  const get = (contactId: string) => ask('/api/contacts/get', { ...organization, contact_id: contactId });
  const ids = (items: unknown) => (items as { id: string }[]).map(({ id }) => id);

  it('contacts/get answers the whole contact', async () => {
    const body = await get('con_1');
    expectKeys(body, 'organization_id contact');
    expectKeys(body.contact, KEYS.contact);
    expect(body.organization_id).to.equal('org_a');
    expect(body.contact).to.deep.include({
      id: 'con_1',
      contact_id: 'con_1',
      organization_id: 'org_a',
      first_name: 'José',
      work_emails: ['n1@acme.example'],
      personal_emails: [],
      company_domain: 'www.acme.example',
      data_import_id: null,
      age: null,
      audience_ids: ['aud_1'],
      created_at: '2026-11-02T00:00:00.000Z',
    });
    expect((body.contact as Json).company_id).to.match(/^com_/);
  });

  it('contacts/get-many answers each contact once, in the order asked, and names the missing', async () => {
    const contact_ids = ['con_3', 'con_none', 'con_1', 'con_3'];
    const body = await ask('/api/contacts/get-many', { ...organization, contact_ids });
    expectKeys(body, 'organization_id contacts missing not_returned');
    expect(ids(body.contacts)).to.deep.equal(['con_3', 'con_1']);
    expect((body.contacts as Json[])[1]).to.deep.equal((await get('con_1')).contact);
    expect(body).to.deep.include({ organization_id: 'org_a', missing: ['con_none'], not_returned: [] });
  });

  it('contacts/search finds by every filter of the specification', async () => {
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
      query: 'Jose "senior analyst" n1@acme.example +41 44 555 01 01',
    };
    const all = await ask('/api/contacts/search', { ...organization, ...filters });
    expectKeys(all, 'organization_id contacts + next_cursor total_count');
    expect(ids(all.contacts)).to.deep.equal(['con_1']);
    expectKeys((all.contacts as Json[])[0], KEYS.contact);
    expect(all).to.include({ organization_id: 'org_a', next_cursor: null, total_count: 1 });
    const { query: _, ...withoutQuery } = filters;
    const inAudience = { ...organization, audience_id: 'aud_1' };
    for (const [name, value] of Object.entries(filters)) {
      const one = await ask('/api/contacts/search', { ...organization, [name]: value });
      expect(ids(one.contacts), name).to.include('con_1');
      if (name === 'query') continue;
      const narrow = await ask('/api/audiences/contacts/search', { ...inAudience, [name]: value });
      expect(ids(narrow.contacts), name).to.include('con_1');
      const none = await ask('/api/contacts/search', { ...organization, [name]: 'zzz9.example' });
      expect(none, name).to.deep.include({ contacts: [], total_count: 0 });
    }
    const narrow = await ask('/api/audiences/contacts/search', { ...inAudience, ...withoutQuery });
    expectKeys(narrow, 'organization_id audience_id contacts + next_cursor total_count');
    expect(ids(narrow.contacts)).to.deep.equal(['con_1']);
    expect(narrow.audience_id).to.equal('aud_1');
  });

  it('contacts/search counts values over all matches, also where a page behind its cursor does not', async () => {
    const facets = ['city', 'job_title', 'city'];
    const first = await ask('/api/contacts/search', { ...organization, query: 'maria', limit: 1, facets });
    expectKeys(first, 'organization_id contacts next_cursor total_count facets');
    expect(first.facets).to.deep.equal({
      city: [{ value: 'Zürich', count: 3 }],
      job_title: [{ value: 'Senior Analyst', count: 3 }],
    });
    const cursor = first.next_cursor;
    const next = await ask('/api/contacts/search', { ...organization, query: 'maria', limit: 1, cursor });
    expectKeys(next, 'organization_id contacts next_cursor total_count');
    const members = { ...organization, audience_id: 'aud_1', limit: 1, facets: ['country'] };
    const narrow = await ask('/api/audiences/contacts/search', members);
    expect(narrow.facets).to.deep.equal({ country: [{ value: 'Switzerland', count: 5 }] });
  });

  it('contacts/search explains each contact of a page where asked to', async () => {
    const body = { ...organization, query: 'marai', limit: 1 };
    const plain = await ask('/api/contacts/search', body);
    expectKeys(plain, 'organization_id contacts next_cursor total_count');
    const first = await ask('/api/contacts/search', { ...body, explain: true });
    expectKeys(first, 'organization_id contacts next_cursor total_count explanations');
    expect(first.contacts).to.deep.equal(plain.contacts);
    expect(first.explanations).to.deep.equal([
      {
        contact_id: ids(first.contacts)[0],
        tier: 'typo',
        typos: 1,
        words: [{ word: 'marai', field: 'first_name', text: 'maria', match: 'typo', typos: 1 }],
      },
    ]);
    const cursor = plain.next_cursor;
    const next = await ask('/api/contacts/search', { ...body, cursor, explain: true });
    expect(next.explanations).to.have.length(1);
    const newest = await ask('/api/contacts/search', { ...organization, limit: 1, explain: true });
    expect(newest.explanations).to.deep.equal([
      { contact_id: ids(newest.contacts)[0], tier: null, typos: 0, words: [] },
    ]);
  });

  it('website-visits/search counts visits a day', async () => {
    const filters = { ...organization, audience_id: 'aud_1', limit: 1, facets: ['day'] };
    const page = await ask('/api/website-visits/search', filters);
    expectKeys(page, 'organization_id visits next_cursor total_count facets');
    const day = ['2026-11-01', '2026-11-02', '2026-11-03'].map((value) => ({ value, count: 1 }));
    expect(page.facets).to.deep.equal({ day });
  });

  const paged: [path: string, body: Json, items: string, expected: string[]][] = [
    ['/api/contacts/search', {}, 'contacts', ['con_6', 'con_5', 'con_4', 'con_3', 'con_2', 'con_1', 'con_0']],
    ['/api/contacts/search', { query: 'maria' }, 'contacts', ['con_6', 'con_4', 'con_0']],
    [
      '/api/audiences/contacts/search',
      { audience_id: 'aud_1' },
      'contacts',
      ['con_4', 'con_3', 'con_2', 'con_1', 'con_0'],
    ],
    ['/api/website-visits/search', {}, 'visits', ['v_4', 'v_3', 'v_2', 'v_1', 'v_0']],
    ['/api/website-visits/search', { audience_id: 'aud_1' }, 'visits', ['v_2', 'v_1', 'v_0']],
  ];
  for (const [path, filters, items, expected] of paged) {
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
        expect(found, `limit ${limit}`).to.deep.equal(expected);
      }
    });
  }

  it('audiences/get and audiences/search answer audiences and their pages', async () => {
    const one = await ask('/api/audiences/get', { ...organization, audience_id: 'aud_1' });
    expectKeys(one, 'organization_id audience_id audience');
    expectKeys(one.audience, KEYS.audience);
    expect(one.audience).to.deep.include({
      ...{ id: 'aud_1', organization_id: 'org_a', name: 'Buyers 1', description: 'People who bought' },
      ...{ network_a: false, network_b: true, network_c: false, tracking_utm_value: 'utm-1' },
    });
    const first = await ask('/api/audiences/search', { limit: 3 });
    expectKeys(first, 'organization_id audiences + page limit total_count');
    expect(first).to.deep.include({ organization_id: 'org_a', page: 1, limit: 3, total_count: 7 });
    expect(ids(first.audiences)).to.deep.equal(['aud_6', 'aud_5', 'aud_4']);
    const last = await ask('/api/audiences/search', { ...organization, page: 3, limit: 3 });
    expect(ids(last.audiences)).to.deep.equal(['aud_0']);
    const past = await ask('/api/audiences/search', { page: 9, limit: 3 });
    expect(past).to.deep.include({ audiences: [], total_count: 7 });
    const found = await ask('/api/audiences/search', { query: 'bought utm-3' });
    expect(ids(found.audiences)).to.deep.equal(['aud_3']);
    expect(await ask('/api/audiences/search', {})).to.deep.include({ page: 1, limit: 50 });
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
    const all = await ask('/api/website-visits/search', { ...organization, ...filters });
    expectKeys(all, 'organization_id visits + next_cursor total_count');
    expect(ids(all.visits)).to.deep.equal(['v_2']);
    const [visit] = all.visits as [Json];
    expectKeys(visit, KEYS.visit);
    expect(visit).to.include({
      type: 'audience',
      organizationId: 'org_a',
      createdAt: '2026-11-03T07:00:00.000Z',
    });
    for (const [name, value] of Object.entries(filters)) {
      const one = await ask('/api/website-visits/search', { ...organization, [name]: value });
      expect(ids(one.visits), name).to.include('v_2');
    }
    const other = await ask('/api/website-visits/search', { ...organization, has_recording: false });
    expect(ids(other.visits)).to.deep.equal(['v_3', 'v_1']);
  });

  describe('contacts/create', () => {
    const body = { ...organization, audience_id: 'aud_2', first_name: ' Grace ', age: 85, city: '' };

    it('returns the contact, which get and every search then return', async () => {
      const made = await ask('/api/contacts/create', {
        ...body,
        last_name: 'Hopper',
        job_title: 'Rear Admiral',
        company_domain: 'navy.example',
        work_emails: ['Grace@Navy.example'],
        phones: ['+1 (202) 555-0100'],
      });
      expectKeys(made, 'organization_id contact_id contact credits_consumed credit_balance');
      const contact = made.contact as Json;
      expectKeys(contact, KEYS.contact);
      expect(made).to.include({ organization_id: 'org_a', credits_consumed: null, credit_balance: null });
      expect(contact.id)
        .to.equal(made.contact_id)
        .and.match(/^con_[0-9a-z]{26}$/);
      expect(contact).to.deep.include({
        ...{ contact_id: contact.id, first_name: 'Grace', age: 85, city: null, data_import_id: null },
        ...{ work_emails: ['grace@navy.example'], audience_ids: ['aud_2'] },
        ...{ created_at: '2026-11-21T12:00:00.000Z', updated_at: '2026-11-21T12:00:00.000Z' },
      });
      expect((await get(contact.id as string)).contact).to.deep.equal(contact);
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

    it('debits its cost once', async () => {
      const key = await gateway.keyFor('org_metered');
      const call = (query: string, headers: Record<string, string> = {}) =>
        gateway.call(
          `/api/contacts/create${query}`,
          { organization_id: 'org_metered', audience_id: 'aud_1', first_name: 'Paid' },
          { key, headers },
        );
      await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }], { key });
      await gateway.stores.search.setCredits('org_metered', 10);
      const credits = async (answer: Promise<Answer>) => {
        const { credits_consumed, credit_balance } = checked('/api/contacts/create', await answer);
        return [credits_consumed, credit_balance];
      };
      expect(await credits(call('?required_credits=3'))).to.deep.equal([3, 7]);
      expect(await credits(call(''))).to.deep.equal([1, 6]);
      expect(await credits(call('?required_credits=0'))).to.deep.equal([0, 6]);
      expect(await credits(call('?required_credits=2&dry_run=true'))).to.deep.equal([2, 4]);
      const headers = { 'Idempotency-Key': 'pay-once' };
      const first = await call('?required_credits=2', headers);
      const again = await call('?required_credits=2', headers);
      expect(first.headers.get('Idempotency-Replayed')).to.equal(null);
      expect(again.headers.get('Idempotency-Replayed')).to.equal('true');
      expect(again.text).to.equal(first.text);
      expect(await gateway.stores.search.getCredits('org_metered')).to.equal(4);
      const { body } = await gateway.call(
        '/api/contacts/search',
        { organization_id: 'org_metered' },
        { key },
      );
      expect(body.total_count).to.equal(4);
    });

    it('returns, rejects or creates a duplicate by its parameters', async () => {
      const key = await gateway.keyFor('org_twins');
      const call = (query: string, audience: string) =>
        gateway.call(
          `/api/contacts/create${query}`,
          { organization_id: 'org_twins', audience_id: audience, work_emails: ['ADA@x.example'] },
          { key },
        );
      const made = ['aud_1', 'aud_2'].map((id) => ({ id, name: id }));
      await gateway.ingest('audiences', made, { key });
      await gateway.stores.search.setCredits('org_twins', 5);
      const first = checked('/api/contacts/create', await call('', 'aud_1'));
      const dry = checked('/api/contacts/create', await call('?on_duplicate=return&dry_run=true', 'aud_2'));
      expectKeys(
        dry,
        'organization_id contact_id contact credits_consumed credit_balance + dry_run duplicates',
      );
      expect(dry).to.deep.include({ dry_run: true, duplicates: [first.contact_id], credits_consumed: 0 });
      const returned = checked('/api/contacts/create', await call('?on_duplicate=return', 'aud_2'));
      expect(returned).to.include({ contact_id: first.contact_id, credits_consumed: 0, credit_balance: 4 });
      expect((returned.contact as Json).audience_ids).to.deep.equal(['aud_1', 'aud_2']);
      expect((await call('?on_duplicate=reject', 'aud_2')).status).to.equal(409);
      const second = checked('/api/contacts/create', await call('?on_duplicate=create', 'aud_2'));
      expect(second.contact_id).not.to.equal(first.contact_id);
      expect(second.credit_balance).to.equal(3);
    });
  });

  it('audiences/contacts/add is idempotent, and remove undoes it', async () => {
    const body = { ...organization, audience_id: 'aud_3', contact_id: 'con_5' };
    const members = async () =>
      ids((await ask('/api/audiences/contacts/search', { ...organization, audience_id: 'aud_3' })).contacts);
    const remove = (change: Json = {}, headers = {}) =>
      ask('/api/audiences/contacts/remove', { ...body, ...change }, headers);
    expect(await members()).to.deep.equal([]);
    const added = await ask('/api/audiences/contacts/add', body);
    expectKeys(added, 'organization_id audience_id contact');
    expectKeys(added.contact, KEYS.contact);
    expect((added.contact as Json).audience_ids).to.deep.equal(['aud_3']);
    expect(await members()).to.deep.equal(['con_5']);
    const { organization_id: _, ...withoutOrganization } = body;
    expect(await ask('/api/audiences/contacts/add', withoutOrganization)).to.deep.equal(added);
    expect((await get('con_5')).contact).to.deep.equal(added.contact);
    const removed = await remove({}, { 'Idempotency-Key': 'remove-once' });
    expectKeys(removed, 'organization_id audience_id removed');
    expect(removed).to.deep.equal({ organization_id: 'org_a', audience_id: 'aud_3', removed: true });
    expect(await members()).to.deep.equal([]);
    expect(((await get('con_5')).contact as Json).audience_ids).to.deep.equal([]);
    expect(await remove()).to.include({ removed: false });
    expect(await remove({ contact_id: 'nobody' })).to.include({ removed: false });
    expect(await remove({}, { 'Idempotency-Key': 'remove-once' })).to.include({ removed: true });
  });

  describe('advertising', () => {
    const NETWORK = '/api/advertising/network_a';

    it('campaigns answers campaigns with figures and series', async () => {
      const body = await ask(`${NETWORK}/campaigns`, range);
      expectKeys(body, 'items page page_size total_count provisional warnings');
      expect(body).to.include({ page: 1, page_size: 50, total_count: 2, provisional: false });
      expect(ids(body.items)).to.deep.equal(['cam_1', 'cam_2']);
      const [item] = body.items as [Json];
      expectKeys(item, `${KEYS.campaign} ${metrics} provisional timeseries`);
      expect(item).to.include({
        ad_spend: '0.3',
        impressions: 1500,
        ctr: 0.01,
        cpm: 0.2,
        daily_budget: '10.1',
      });
      const points = item.timeseries as Json[];
      expect(points.map(({ period }) => period)).to.deep.equal([
        '2026-10-30',
        '2026-10-31',
        '2026-11-01',
        '2026-11-02',
      ]);
      expectKeys(points[0], `${KEYS.point} ${metrics}`);
    });

    it('campaigns answers only the metrics asked for', async () => {
      const body = await ask(`${NETWORK}/campaigns`, {
        ...range,
        granularity: 'monthly',
        metrics: ['ctr', 'clicks'],
      });
      const [item] = body.items as [Json];
      expectKeys(item, `${KEYS.campaign} clicks ctr provisional timeseries`);
      const points = item.timeseries as Json[];
      expectKeys(points[0], `${KEYS.point} clicks ctr`);
      expect(
        points.map(({ period, start_date, end_date, clicks }) => [period, start_date, end_date, clicks]),
      ).to.deep.equal([
        ['2026-10', '2026-10-30', '2026-10-31', 10],
        ['2026-11', '2026-11-01', '2026-11-02', 5],
      ]);
    });

    it('creatives answers creatives with their campaign', async () => {
      const body = await ask(`${NETWORK}/creatives`, {
        ...range,
        campaign_ids: ['cam_1', 'cam_2'],
        creative_ids: ['cre_1'],
      });
      expectKeys(body, 'items page page_size total_count provisional warnings');
      const [item] = body.items as [Json];
      expectKeys(item, `${KEYS.creative} ${metrics} provisional timeseries`);
      expect(item).to.include({ id: 'cre_1', campaign_name: 'Brand', ad_spend: '0.3', currency: 'EUR' });
      expect(body.total_count).to.equal(1);
    });

    it('companies answers companies, without money and without provisional', async () => {
      const body = await ask(`${NETWORK}/companies`, range);
      expectKeys(body, 'items page page_size total_count warnings');
      const [item] = body.items as [Json];
      expectKeys(
        item,
        `${KEYS.company} ${companyMetrics} campaigns_reached campaigns_engaged first_seen last_seen timeseries`,
      );
      expect(item).to.include({
        ...{
          id: 'co_1',
          domain: 'acme.example',
          impressions: 310,
          campaigns_reached: 2,
          campaigns_engaged: 1,
        },
        ...{ first_seen: '2026-11-01', last_seen: '2026-11-02' },
      });
      expectKeys((item.timeseries as Json[])[0], `${KEYS.point} ${companyMetrics}`);
      for (const filter of [
        { domains: ['WWW.bolt.example'] },
        { network_a_company_ids: ['9002'] },
        { company_ids: ['co_2'] },
      ]) {
        const named = await ask(`${NETWORK}/companies`, { ...range, ...filter });
        expect(ids(named.items)).to.deep.equal(['co_2']);
      }
    });

    it('company answers one company, named in any of three ways', async () => {
      const answers = [];
      for (const name of [{ company_id: 'co_1' }, { company_id: '9001' }, { domain: 'www.acme.example' }]) {
        answers.push(await ask(`${NETWORK}/company`, { ...range, ...name }));
      }
      const [body] = answers as [Json];
      for (const answer of answers) expect(answer).to.deep.equal(body);
      expectKeys(
        body,
        'company start_date end_date granularity totals timeseries campaigns campaign_page campaign_page_size campaign_total_count provisional warnings',
      );
      expectKeys(body.company, KEYS.company);
      expectKeys(body.totals, companyMetrics);
      expect(body.totals).to.include({ impressions: 310, clicks: 3, engagements: 6 });
      expect(body).to.include({
        ...range,
        granularity: 'daily',
        campaign_page: 1,
        campaign_page_size: 50,
        campaign_total_count: 2,
      });
      const [campaign] = body.campaigns as [Json];
      expectKeys(campaign, `campaign_id name status objective_type ${companyMetrics} first_seen last_seen`);
      expect(campaign).to.include({ campaign_id: 'cam_1', name: 'Brand', impressions: 300 });
      const second = await ask(`${NETWORK}/company`, {
        ...range,
        company_id: 'co_1',
        campaign_page: 2,
        campaign_page_size: 1,
      });
      expect((second.campaigns as Json[]).map(({ campaign_id }) => campaign_id)).to.deep.equal(['cam_2']);
      const quiet = await ask(`${NETWORK}/company`, { ...range, company_id: 'co_2' });
      expect(quiet.totals).to.include({ impressions: 0, ctr: null });
    });
  });
});
