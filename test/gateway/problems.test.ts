/** The problems of the contract that no store decides (1.2), as requests and what they answer. */
import { expect } from 'chai';
import { issueKey, parseKey } from '../../services/accounts/keys.js';
import { type Answer, startTestGateway, useGateway } from '../support/gateway.js';
import { brokenRules, expectProblem, expectRules } from '../support/problems.js';

const organization = { organization_id: 'org_a' };
const SEARCH = '/api/contacts/search';
const CREATE = '/api/contacts/create';
const UPDATE = '/api/contacts/update';
const AUDIENCES = '/api/audiences/search';
const CREATE_AUDIENCE = '/api/audiences/create';
const UPDATE_AUDIENCE = '/api/audiences/update';
const DELETE_AUDIENCE = '/api/audiences/delete';
const MEMBERS = '/api/audiences/contacts/search';
const ADD = '/api/audiences/contacts/add';
const REMOVE = '/api/audiences/contacts/remove';
const VISITS = '/api/website-visits/search';
const CAMPAIGNS = '/api/advertising/network_a/campaigns';
const COMPANIES = '/api/advertising/network_a/companies';
const COMPANY = '/api/advertising/network_a/company';
const range = { start_date: '2026-10-01', end_date: '2026-10-31' };
const member = { audience_id: 'aud_1', contact_id: 'con_1' };
const wordsOf = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`).join(' ');

describe('The problems of the contract', () => {
  const gateway = useGateway(async ({ ingest }) => {
    await ingest('audiences', [{ id: 'aud_1', name: 'One' }]);
    await ingest('contacts', [
      { contact_id: 'con_1', work_emails: ['ada@example.com'], network_a_url: 'https://linkedin.com/in/ada' },
      { contact_id: 'con_2', audience_ids: ['aud_unborn'] },
    ]);
    const companies = Array.from({ length: 25 }, (_, index) => ({
      id: `co_${String(index).padStart(2, '0')}`,
      name: `Acme ${index}`,
      domain: 'www.ACME.example',
      network_a_company_id: String(index),
    }));
    await ingest('network-a-companies', companies);
  });

  const call = (path: string, body: object = {}, headers: Record<string, string> = {}, key?: string) =>
    gateway.call(path, { ...organization, ...body }, { headers, key });
  const create = (body: object, query = '', headers: Record<string, string> = {}) =>
    call(`${CREATE}${query}`, { audience_id: 'aud_1', ...body }, headers);
  const anonymous = ({ body }: Answer) => ({ ...body, request_id: '' });

  describe('401 and 403', () => {
    it('are the same for unknown, malformed, expired and revoked keys', async () => {
      const { search } = gateway.stores;
      const issue = (expiresAt?: string) =>
        issueKey(search, { organizationId: 'org_a', scopes: ['*'], expiresAt });
      const expired = await issue(new Date(Date.now() - 1000).toISOString());
      const later = await issue(new Date(Date.now() + 3_600_000).toISOString());
      const revoked = await issue();
      await search.revokeKey(parseKey(revoked)?.id as string, new Date().toISOString());
      const unknown = `${later.slice(0, 8)}${'0'.repeat(8)}${later.slice(16)}`;
      const keys = [expired, revoked, unknown, 'nonsense', `${later}x`, `rl_live_${'0'.repeat(47)}`];
      const answers = await Promise.all(keys.map((key) => call(SEARCH, {}, {}, key)));
      for (const answer of answers) {
        expectProblem(answer, 401, 'invalid_api_key');
        expect(answer.headers.get('WWW-Authenticate')).to.equal('ApiKey realm="reachline"');
        expect(anonymous(answer)).to.deep.equal(anonymous(answers[0] as Answer));
      }
      expect((await call(SEARCH, {}, {}, later)).status).to.equal(200);
      const inQuery = await gateway.call(`${SEARCH}?api_key=${later}`, organization, { key: null });
      expectProblem(inQuery, 401, 'missing_api_key');
    });

    it('name the missing scope, also one that the contact of the response needs', async () => {
      const key = await gateway.keyFor('org_a', ['contacts:write', 'audiences:write']);
      const reads = { required_scope: 'contacts:read' };
      expectProblem(await call(ADD, member, {}, key), 403, 'insufficient_scope', reads);
      const contact = { audience_id: 'aud_1' };
      const returned = await call(`${CREATE}?on_duplicate=return`, contact, {}, key);
      expectProblem(returned, 403, 'insufficient_scope', reads);
      expect((await call(CREATE, contact, {}, key)).status).to.equal(200);
      const reading = await gateway.keyFor('org_a', ['contacts:read']);
      const writes = { required_scope: 'contacts:write' };
      expectProblem(await call(CREATE, contact, {}, reading), 403, 'insufficient_scope', writes);
    });

    it('come from every change of audiences without its scope', async () => {
      const key = await gateway.keyFor('org_a', ['audiences:read', 'contacts:read', 'contacts:write']);
      const writes = { required_scope: 'audiences:write' };
      for (const path of [CREATE_AUDIENCE, UPDATE_AUDIENCE, DELETE_AUDIENCE])
        expectProblem(await call(path, { audience_id: 'aud_1' }, {}, key), 403, 'insufficient_scope', writes);
    });

    it('come from an update with a key that cannot read contacts, or not write them', async () => {
      for (const [held, lacked] of [
        ['contacts:write', 'contacts:read'],
        ['contacts:read', 'contacts:write'],
      ] as const) {
        const key = await gateway.keyFor('org_a', [held]);
        const answer = await call(UPDATE, { contact_id: 'con_1' }, {}, key);
        expectProblem(answer, 403, 'insufficient_scope', { required_scope: lacked });
      }
    });

    it('are the same for an organization that exists and one that does not', async () => {
      await gateway.keyFor('org_b');
      const other = await gateway.call(SEARCH, { organization_id: 'org_b' });
      expectProblem(other, 403, 'organization_mismatch');
      const none = await gateway.call(SEARCH, { organization_id: 'org_unheard_of' });
      expect(anonymous(none)).to.deep.equal(anonymous(other));
    });
  });

  it('402 names cost and balance, debits nothing, and is not kept under its idempotency key', async () => {
    const poor = { organization_id: 'org_poor', audience_id: 'aud_1' };
    const key = await gateway.keyFor('org_poor');
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }], { key });
    await gateway.stores.search.setCredits('org_poor', 2);
    const headers = { 'Idempotency-Key': 'once' };
    const again = (query = '') =>
      gateway.call(`${CREATE}?required_credits=3${query}`, poor, { key, headers });
    const costs = { required_credits: 3, credit_balance: 2 };
    for (const query of ['', '&dry_run=true'])
      expectProblem(await again(query), 402, 'insufficient_credits', costs);
    expect(await gateway.stores.search.getCredits('org_poor')).to.equal(2);
    await gateway.stores.search.grantCredits('org_poor', 1);
    expect((await again()).body).to.include({ credits_consumed: 3, credit_balance: 0 });
    const replayed = await again();
    expect(replayed.headers.get('Idempotency-Replayed')).to.equal('true');
    expect(replayed.body.credit_balance).to.equal(0);
  });

  describe('404', () => {
    const missing: [path: string, body: Record<string, string>, code: string, named?: string[]][] = [
      ['/api/contacts/get', { contact_id: 'no' }, 'contact_not_found', ['contact_id']],
      [UPDATE, { contact_id: 'no', city: 'Rome' }, 'contact_not_found', ['contact_id']],
      ['/api/audiences/get', { audience_id: 'no' }, 'audience_not_found', ['audience_id']],
      // Only memberships mention it.
      ['/api/audiences/get', { audience_id: 'aud_unborn' }, 'audience_not_found', ['audience_id']],
      [UPDATE_AUDIENCE, { audience_id: 'no', name: 'X' }, 'audience_not_found', ['audience_id']],
      [UPDATE_AUDIENCE, { audience_id: 'aud_unborn' }, 'audience_not_found', ['audience_id']],
      [MEMBERS, { audience_id: 'no' }, 'audience_not_found', ['audience_id']],
      [ADD, { ...member, audience_id: 'no' }, 'audience_not_found', ['audience_id']],
      [ADD, { ...member, contact_id: 'no' }, 'contact_not_found', ['contact_id']],
      [REMOVE, { ...member, audience_id: 'no' }, 'audience_not_found', ['audience_id']],
      [CREATE, { audience_id: 'no' }, 'audience_not_found', ['audience_id']],
      [COMPANY, { ...range, company_id: 'no' }, 'company_not_found'],
      [COMPANY, { ...range, company_id: 'x'.repeat(128) }, 'company_not_found'],
      [COMPANY, { ...range, domain: 'no.example' }, 'company_not_found'],
      [COMPANY, { ...range, domain: 'www.' }, 'company_not_found'],
    ];
    for (const [path, body, code, named = []] of missing) {
      it(`${code} comes from ${path} for ${JSON.stringify(body)}`, async () => {
        const extras = Object.fromEntries(named.map((name) => [name, body[name]]));
        expectProblem(await call(path, body), 404, code, { ...organization, ...extras });
      });
    }
  });

  describe('404 of a route', () => {
    for (const [path, detail] of [
      ['/api/contact/search', 'Did you mean /api/contacts/search?'],
      ['/api/website_visits/search', 'Did you mean /api/website-visits/search?'],
      ['/api/advertising/network_a/campaign', 'Did you mean /api/advertising/network_a/campaigns?'],
      ['/api/nowhere', 'See /openapi.json.'],
    ] as const) {
      it(`names what is close to ${path}`, async () => {
        const answer = await call(path, {});
        expectProblem(answer, 404, 'route_not_found');
        expect(answer.body.detail).to.equal(`No route for POST ${path}. ${detail}`);
      });
    }
  });

  describe('409', () => {
    it('names the existing contact', async () => {
      const exists = { ...organization, contact_id: 'con_1' };
      for (const body of [
        { work_emails: ['x@example.com', 'ADA@example.com'] },
        { network_a_url: 'http://de.linkedin.com/in/Ada/?a=b' },
      ]) {
        for (const query of ['?on_duplicate=reject', '?on_duplicate=reject&dry_run=true'])
          expectProblem(await create(body, query), 409, 'contact_exists', exists);
      }
    });

    it('names the contact that has changed meanwhile, or has the address already, and changes nothing', async () => {
      await gateway.ingest('contacts', [{ contact_id: 'con_2', city: 'Rome' }]);
      const named = { ...organization, contact_id: 'con_2' };
      const read = async () =>
        (await call('/api/contacts/get', named)).body.contact as { updated_at: string };
      const before = await read();
      const guarded = { ...named, city: 'Oslo', if_updated_at: '2020-01-01T00:00:00Z' };
      expectProblem(await call(UPDATE, guarded), 409, 'changed_meanwhile', named);
      const taken = { ...named, city: 'Oslo', work_emails: ['ADA@example.com'] };
      expectProblem(await call(UPDATE, taken), 409, 'contact_exists', {
        ...organization,
        contact_id: 'con_1',
      });
      expect(await read()).to.deep.equal(before);
    });

    it('names the existing audience, also of an idempotent request', async () => {
      for (const headers of [undefined, { 'Idempotency-Key': 'twice' }, { 'Idempotency-Key': 'twice' }]) {
        const answer = await call(CREATE_AUDIENCE, { id: 'aud_1', name: 'Two' }, headers);
        expectProblem(answer, 409, 'audience_exists', { ...organization, audience_id: 'aud_1' });
      }
      const { body } = await call('/api/audiences/get', { audience_id: 'aud_1' });
      expect(body.audience).to.include({ name: 'One' });
    });

    it('lists at most 20 companies of an ambiguous domain', async () => {
      const answer = await call(COMPANY, { ...range, domain: 'https://www.acme.example/about' });
      expectProblem(answer, 409, 'ambiguous_domain', organization);
      const candidates = answer.body.candidates as object[];
      expect(candidates).to.have.length(20);
      expect(candidates[0]).to.deep.equal({ id: 'co_00', network_a_company_id: '0', name: 'Acme 0' });
      expect(answer.body.detail).to.include('25 companies');
    });

    it('rejects a request while the first with its idempotency key is running, and applies one of them', async () => {
      const rejected: Answer[] = [];
      for (let attempt = 0; attempt < 40 && rejected.length === 0; attempt++) {
        const first_name = `Twin ${attempt}`;
        const headers = { 'Idempotency-Key': `twin-${attempt}` };
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => create({ first_name }, '', headers)),
        );
        const done = answers.filter(({ status }) => status === 200);
        rejected.push(...answers.filter(({ status }) => status !== 200));
        expect(new Set(done.map(({ body }) => body.contact_id)).size).to.equal(1);
        expect((await call(SEARCH, { first_name })).body.total_count).to.equal(1);
      }
      expect(rejected).not.to.have.length(0);
      for (const answer of rejected) {
        expectProblem(answer, 409, 'idempotency_in_progress');
        expect(answer.headers.get('Retry-After')).to.equal('1');
      }
    });
  });

  describe('422', () => {
    it('idempotency_key_reused comes for a different body or parameters, per route', async () => {
      const headers = { 'Idempotency-Key': 'reused' };
      const body = { first_name: 'Once', last_name: 'Only' };
      expect((await create(body, '', headers)).status).to.equal(200);
      expectProblem(await create({ ...body, age: 5 }, '', headers), 422, 'idempotency_key_reused');
      expectProblem(await create(body, '?required_credits=2', headers), 422, 'idempotency_key_reused');
      const reordered = await create({ last_name: ' Only ', first_name: 'Once', age: null }, '', headers);
      expect(reordered.headers.get('Idempotency-Replayed')).to.equal('true');
      const added = await call(ADD, member, headers);
      expect(added.status).to.equal(200);
      expect(added.headers.get('Idempotency-Replayed')).to.equal(null);
    });

    it('points to a malformed idempotency key, an empty one on every operation, and writes nothing', async () => {
      const rule = ['#Idempotency-Key invalid_idempotency_key'];
      const count = async () => (await call(SEARCH)).body.total_count;
      const before = await count();
      for (const bad of ['a b', '""', 'x'.repeat(256)])
        expectRules(await create({}, '', { 'Idempotency-Key': bad }), rule);
      const headers = { 'Idempotency-Key': '' };
      expectRules(await create({}, '', headers), rule);
      expectRules(await call(ADD, member, headers), rule);
      expectRules(await call(SEARCH, {}, headers), rule);
      expectRules(await gateway.ingest('contacts', [{ contact_id: 'con_keyless' }], { headers }), rule);
      expect(await count()).to.equal(before);
    });

    it('page_window_exceeded comes where page × limit is over 10 000', async () => {
      const page = (number: number, limit: number) => call(AUDIENCES, { page: number, limit });
      expect((await page(50, 200)).status).to.equal(200);
      expect((await page(10_000, 1)).status).to.equal(200);
      for (const answer of [await page(51, 200), await page(1_000_000, 1)]) {
        expectProblem(answer, 422, 'page_window_exceeded');
        expect(brokenRules(answer)).to.deep.equal(['/page page_window_exceeded']);
      }
    });

    it('too_many_points comes where page_size × periods is over 100 000', async () => {
      const year = { start_date: '2025-01-01', end_date: '2026-05-15', page_size: 200 };
      for (const path of ['campaigns', 'creatives', 'companies']) {
        const ask = (body: object) =>
          gateway.call(`/api/advertising/network_a/${path}`, { ...year, ...body });
        expect((await ask({})).status).to.equal(200);
        const answer = await ask({ end_date: '2026-05-16' });
        expectProblem(answer, 422, 'too_many_points');
        expect(brokenRules(answer)).to.deep.equal(['/page_size too_many_points']);
        expect(answer.body.detail).to.include('page_size to 199 or less').and.include('monthly');
      }
    });

    const broken: [what: string, path: string, body: object, ...rules: string[]][] = [
      ['neither id nor domain', COMPANY, range, '/company_id exactly_one_of'],
      [
        'both id and domain, and a range that ends too early',
        COMPANY,
        { start_date: '2026-10-02', end_date: '2026-10-01', company_id: 'a', domain: 'b' },
        ...['/end_date before_start_date', '/company_id exactly_one_of'],
      ],
      [
        'dates that do not exist',
        CAMPAIGNS,
        { start_date: '2026-02-30', end_date: '2026-13-01' },
        ...['/start_date invalid_date', '/end_date invalid_date'],
      ],
      [
        'dates with a time, or of another type',
        CAMPAIGNS,
        { start_date: '2026-02-01T00:00:00Z', end_date: 20260301 },
        ...['/start_date invalid_date', '/end_date invalid_type'],
      ],
      [
        'more than 3660 days',
        CAMPAIGNS,
        { start_date: '2016-01-01', end_date: '2026-01-09' },
        '/end_date range_too_long',
      ],
      ['no dates', CAMPAIGNS, {}, '/start_date required', '/end_date required'],
      [
        'blank dates',
        CAMPAIGNS,
        { start_date: ' ', end_date: null },
        ...['/start_date required', '/end_date required'],
      ],
      ['an unknown metric', CAMPAIGNS, { ...range, metrics: ['clicks', 'x'] }, '/metrics/1 invalid_value'],
      ['money of companies', COMPANIES, { ...range, metrics: ['ad_spend'] }, '/metrics/0 invalid_value'],
      ['no metric', CAMPAIGNS, { ...range, metrics: [] }, '/metrics too_few_items'],
      ['65 metrics', CAMPAIGNS, { ...range, metrics: Array(65).fill('clicks') }, '/metrics too_many_items'],
      [
        '101 ids',
        CAMPAIGNS,
        { ...range, campaign_ids: Array(101).fill('x') },
        '/campaign_ids too_many_items',
      ],
      [
        'pages out of bounds',
        CAMPAIGNS,
        { ...range, page: 0, page_size: 201 },
        ...['/page too_small', '/page_size too_large'],
      ],
      ['a search of 201 characters', CAMPAIGNS, { ...range, search: 'x'.repeat(201) }, '/search too_long'],
      [
        'an order of companies by money',
        COMPANIES,
        { ...range, sort_by: 'ad_spend' },
        '/sort_by invalid_value',
      ],
      ['an audience without a name', CREATE_AUDIENCE, { id: 'a b' }, '/name required', '/id invalid_format'],
      ['an audience with a blank name', CREATE_AUDIENCE, { name: ' ' }, '/name required'],
      [
        'a long description',
        CREATE_AUDIENCE,
        { name: 'A', description: 'x'.repeat(8193) },
        '/description too_long',
      ],
      ['a name that is cleared', UPDATE_AUDIENCE, { audience_id: 'aud_1', name: null }, '/name invalid_type'],
      ['a name that is blanked', UPDATE_AUDIENCE, { audience_id: 'aud_1', name: ' ' }, '/name too_short'],
      [
        'a change of other fields',
        UPDATE_AUDIENCE,
        { audience_id: 'aud_1', nam: 'X', id: 'aud_2', network_a: 'yes' },
        ...['/nam unknown_field', '/id unknown_field', '/network_a invalid_type'],
      ],
      ['no audience to delete', DELETE_AUDIENCE, {}, '/audience_id required'],
      [
        'a contact with fields that break their rules',
        UPDATE,
        { contact_id: 'con_1', age: 151, dob: '2026-02-30', work_emails: ['no'], audience_ids: [] },
        ...[
          '/audience_ids unknown_field',
          '/work_emails/0 invalid_email',
          '/age too_large',
          '/dob invalid_date',
        ],
      ],
      [
        'an update without its contact',
        UPDATE,
        { if_updated_at: 'now' },
        '/contact_id required',
        '/if_updated_at invalid_date_time',
      ],
      [
        'an update to more than 32 KiB',
        UPDATE,
        { contact_id: 'con_1', phones: Array(50).fill('\u0001'.repeat(128)) },
        ' record_too_large',
      ],
      [
        'an order besides that of a query',
        SEARCH,
        { query: 'ada', sort_by: 'last_name', sort_direction: 'asc' },
        ...['/sort_by not_with_query', '/sort_direction not_with_query'],
      ],
      [
        'an order that there is not',
        MEMBERS,
        { audience_id: 'aud_1', sort_by: 'first_name', sort_direction: 'down', cursor: 'W10' },
        ...['/sort_by invalid_value', '/sort_direction invalid_value', '/cursor invalid_cursor'],
      ],
      ['13 words', SEARCH, { query: wordsOf(13) }, '/query too_many_words'],
      ['no facet', SEARCH, { facets: [] }, '/facets too_few_items'],
      ['facets of other fields', SEARCH, { facets: ['city', 'first_name'] }, '/facets/1 invalid_value'],
      ['six facets', SEARCH, { facets: Array(6).fill('city') }, '/facets too_many_items'],
      ['a query of 201 characters', SEARCH, { query: 'x'.repeat(201) }, '/query too_long'],
      [
        'a person of more than 32 KiB',
        CREATE,
        { audience_id: 'aud_1', phones: Array(50).fill('\u0001'.repeat(128)) },
        ' record_too_large',
      ],
      ['a query that grows when it is folded', SEARCH, { query: '⒈'.repeat(101) }, '/query too_long'],
      ['such a query for audiences', AUDIENCES, { query: '⒈'.repeat(101) }, '/query too_long'],
      ['a filter that grows when it is folded', SEARCH, { city: '㌖'.repeat(171) }, '/city too_long'],
      ['a start_url of 1 025 characters', VISITS, { start_url: 'x'.repeat(1025) }, '/start_url too_long'],
      [
        'a person whose words grow when they are folded',
        CREATE,
        { audience_id: 'aud_1', first_name: '㌖'.repeat(171), phones: ['\ufdfa'.repeat(57)] },
        ...['/first_name too_long', '/phones/0 too_long'],
      ],
      ['33 different words', SEARCH, { job_title: wordsOf(33) }, '/job_title too_many_words'],
      [
        '33 different words in an audience',
        MEMBERS,
        { audience_id: 'aud_1', last_name: wordsOf(33) },
        '/last_name too_many_words',
      ],
      ...['city', 'country', 'browser', 'platform'].flatMap((field) =>
        ['\u0301', '--', '?', '!!', '/'].map((mark): [string, string, object, string] => [
          `a ${field} without letters: ${JSON.stringify(mark)}`,
          VISITS,
          { [field]: mark },
          `/${field} no_words`,
        ]),
      ),
      ['a country of marks', SEARCH, { country: '?' }, '/country no_words'],
      ['an email of marks', SEARCH, { email: '@' }, '/email no_words'],
      ['a scheme alone', VISITS, { start_url: 'https://' }, '/start_url no_words'],
      ['the end of a scheme alone', VISITS, { start_url: '://' }, '/start_url no_words'],
      ['slashes alone', VISITS, { start_url: '//' }, '/start_url no_words'],
      ['a cursor that is none', SEARCH, { cursor: 'x' }, '/cursor invalid_cursor'],
      [
        'an address that is none',
        VISITS,
        { ip_address: '192.0.2.0/33', created_after: '2026-01-01' },
        ...['/ip_address invalid_ip_range', '/created_after invalid_date_time'],
      ],
      [
        'a person that cannot be',
        CREATE,
        { audience_id: 'a b', age: -1, work_emails: ['x'], phones: Array(51).fill('1') },
        ...['/audience_id invalid_format', '/work_emails/0 invalid_email', '/phones too_many_items'],
        '/age too_small',
      ],
      [
        'persons named twice',
        '/api/contacts/delete',
        { contact_id: 'a', email: 'b', unknown: 1 },
        ...['/unknown unknown_field', '/contact_id exactly_one_of'],
      ],
      [
        'a page beyond the window, of a query without words',
        AUDIENCES,
        { page: 200, limit: 100, query: '?' },
        ...['/query no_words', '/page page_window_exceeded'],
      ],
      [
        'text, rules and parameters together',
        `${CREATE}?required_credits=x`,
        { audience_id: 'aud_1', age: 'old', phones: ['1', 'a\0b'] },
        ...['/phones/1 invalid_text', '/age invalid_type', '?required_credits invalid_type'],
      ],
      [
        'rules beyond the schema together with all others',
        `${CREATE}?dry_run=1`,
        { audience_id: 'aud_1', job_title: 7, phones: Array(50).fill('x'.repeat(1024)) },
        ...['/job_title invalid_type', '?dry_run invalid_type', ' record_too_large'],
      ],
      ['any parameter of an operation without', `${SEARCH}?limit=5`, {}, '?limit unknown_field'],
    ];
    for (const [what, path, body, ...rules] of broken) {
      it(`points to ${what}`, async () => expectRules(await call(path, body), rules));
    }

    it('does not come for values at the limits', async () => {
      for (const body of [
        { start_date: '2016-01-01', end_date: '2026-01-08', granularity: 'monthly' },
        { start_date: '2026-01-01', end_date: '2026-01-01', campaign_ids: [], search: null },
        { ...range, campaign_ids: ['x'.repeat(128)] },
        { start_date: '0000-01-01', end_date: '0000-01-02' },
        { start_date: '9999-12-31', end_date: '9999-12-31', page: 1_000_000, page_size: 200 },
      ]) {
        const answer = await gateway.call(CAMPAIGNS, body);
        expect(answer.status, answer.text).to.equal(200);
      }
    });

    const parameters: [query: string, ...rules: string[]][] = [
      ['required_credits=-1', '?required_credits too_small'],
      ['required_credits=%2B2', '?required_credits invalid_type'],
      ['required_credits=02', '?required_credits invalid_type'],
      ['required_credits=%202', '?required_credits invalid_type'],
      ['required_credits=2%0A', '?required_credits invalid_type'],
      ['required_credits=-0', '?required_credits invalid_type'],
      ['required_credits=10001', '?required_credits too_large'],
      ['required_credits=1.5&dry_run=yes', '?required_credits invalid_type', '?dry_run invalid_type'],
      ['required_credits=99999999999999999999', '?required_credits invalid_type'],
      ['on_duplicate=replace', '?on_duplicate invalid_value'],
      ['dry_run=true&dry_run=true', '?dry_run repeated'],
      ['dry_run', '?dry_run invalid_type'],
      ['dry_run=', '?dry_run invalid_type'],
      ['dry_run=%20', '?dry_run invalid_type'],
      ['required_credits=', '?required_credits invalid_type'],
      ['on_duplicate=', '?on_duplicate invalid_value'],
      ['dryrun=true', '?dryrun unknown_field'],
      [
        '__proto__=1&constructor=2&toString=3',
        ...['?__proto__ unknown_field', '?constructor unknown_field', '?toString unknown_field'],
      ],
    ];
    for (const [query, ...rules] of parameters) {
      it(`points to the parameters of ?${query}`, async () =>
        expectRules(await create({}, `?${query}`), rules));
    }

    it('says how a parameter is written, not which type its text has', async () => {
      const { text } = await create({}, '?required_credits=%2B2&dry_run=yes');
      expect(text).to.contain('required_credits must be an integer in plain digits, such as 5.');
      expect(text).to.contain('dry_run must be true or false.');
    });

    it('has a bounded number of errors', async () => {
      const answer = await create({ phones: Array(19_000).fill('\0') });
      expectProblem(answer, 422, 'validation_failed');
      expect(brokenRules(answer)).to.have.length.within(100, 200);
    });
  });

  it('429 limits a key and no other', async () => {
    const limited = await startTestGateway({ rateLimit: 3 });
    for (let request = 0; request < 3; request++) {
      const answer = await limited.call(SEARCH, organization);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('RateLimit-Policy')).to.equal('"default";q=3;w=60');
    }
    const rejected = await limited.call(SEARCH, organization);
    expectProblem(rejected, 429, 'rate_limited');
    expect(Number(rejected.headers.get('Retry-After'))).to.be.within(1, 60);
    const other = await limited.call(SEARCH, organization, { key: await limited.keyFor('org_a') });
    expect(other.status).to.equal(200);
    await limited.close();
  });
});
