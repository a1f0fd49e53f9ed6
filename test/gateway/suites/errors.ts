import { expect } from 'chai';
import { issueKey } from '../../../services/accounts/keys.js';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { brokenRules, expectProblem } from '../../support/problems.js';

const organization = { organization_id: 'org_a' };
const SEARCH = '/api/contacts/search';
const CREATE = '/api/contacts/create';
const VISITS = '/api/website-visits/search';
const CAMPAIGNS = '/api/advertising/network_a/campaigns';
const COMPANIES = '/api/advertising/network_a/companies';
const COMPANY = '/api/advertising/network_a/company';
const range = { start_date: '2026-10-01', end_date: '2026-10-31' };

export const errors = gatewaySuite('The errors of the contract', (start) => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await start();
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }]);
    await gateway.ingest('contacts', [
      { contact_id: 'con_1', work_emails: ['ada@example.com'], network_a_url: 'https://linkedin.com/in/ada' },
    ]);
    await gateway.ingest(
      'network-a-companies',
      Array.from({ length: 25 }, (_, index) => ({
        id: `co_${String(index).padStart(2, '0')}`,
        name: `Acme ${index}`,
        domain: 'www.ACME.example',
        network_a_company_id: String(index),
      })),
    );
  });
  after(() => gateway.close());

  const create = (body: object, query = '', headers: Record<string, string> = {}) =>
    gateway.call(`${CREATE}${query}`, { ...organization, audience_id: 'aud_1', ...body }, { headers });

  it('are the same for an expired key and an unknown one', async () => {
    const request = { organizationId: 'org_a', scopes: ['*'] };
    const expired = await issueKey(gateway.stores.search, {
      ...request,
      expiresAt: new Date(Date.now() - 1000).toISOString(),
    });
    const later = await issueKey(gateway.stores.search, {
      ...request,
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const answer = await gateway.call(SEARCH, organization, { key: expired });
    expectProblem(answer, 401, 'invalid_api_key');
    expect(answer.headers.get('WWW-Authenticate')).to.equal('ApiKey realm="reachline"');
    const unknown = await gateway.call(SEARCH, organization, { key: `rl_live_${'0'.repeat(47)}` });
    expect({ ...answer.body, request_id: '' }).to.deep.equal({ ...unknown.body, request_id: '' });
    expect((await gateway.call(SEARCH, organization, { key: later })).status).to.equal(200);
  });

  it('name the missing scope', async () => {
    const key = await gateway.keyFor('org_a', ['contacts:read']);
    expectProblem(
      await gateway.call(CREATE, { ...organization, audience_id: 'aud_1' }, { key }),
      403,
      'insufficient_scope',
      { required_scope: 'contacts:write' },
    );
  });

  it('name the scope that the contact of the response needs', async () => {
    const reads = { required_scope: 'contacts:read' };
    const key = await gateway.keyFor('org_a', ['contacts:write', 'audiences:write']);
    const membership = { audience_id: 'aud_1', contact_id: 'con_1' };
    const added = await gateway.call('/api/audiences/contacts/add', membership, { key });
    expectProblem(added, 403, 'insufficient_scope', reads);
    const contact = { ...organization, audience_id: 'aud_1' };
    const returned = await gateway.call(`${CREATE}?on_duplicate=return`, contact, { key });
    expectProblem(returned, 403, 'insufficient_scope', reads);
    expect((await gateway.call(CREATE, contact, { key })).status).to.equal(200);
  });

  it('are the same for an organization that exists and one that does not', async () => {
    await gateway.keyFor('org_b');
    const answers = await Promise.all(
      ['org_b', 'org_unheard_of'].map((id) => gateway.call(SEARCH, { organization_id: id })),
    );
    const bodies = answers.map(({ body }) => ({ ...body, request_id: '' }));
    expectProblem(answers[0] as Answer, 403, 'organization_mismatch');
    expect(bodies[0]).to.deep.equal(bodies[1]);
  });

  it('name cost and balance of a creation that exceeds the credits, and do not debit it', async () => {
    const key = await gateway.keyFor('org_poor');
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }], { key });
    await gateway.stores.search.setCredits('org_poor', 2);
    const body = { organization_id: 'org_poor', audience_id: 'aud_1' };
    for (const dry of ['', '&dry_run=true']) {
      expectProblem(
        await gateway.call(`${CREATE}?required_credits=3${dry}`, body, { key }),
        402,
        'insufficient_credits',
        { required_credits: 3, credit_balance: 2 },
      );
    }
    expect(await gateway.stores.search.getCredits('org_poor')).to.equal(2);
    const search = await gateway.call(SEARCH, { organization_id: 'org_poor' }, { key });
    expect(search.body.total_count).to.equal(0);
  });

  it('do not store a 402 under its idempotency key', async () => {
    const key = await gateway.keyFor('org_refilled');
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }], { key });
    await gateway.stores.search.setCredits('org_refilled', 0);
    const body = { organization_id: 'org_refilled', audience_id: 'aud_1' };
    const again = () => gateway.call(CREATE, body, { key, headers: { 'Idempotency-Key': 'once' } });
    expectProblem(await again(), 402, 'insufficient_credits', { required_credits: 1, credit_balance: 0 });
    await gateway.stores.search.grantCredits('org_refilled', 1);
    expect((await again()).body).to.deep.include({ credits_consumed: 1, credit_balance: 0 });
    const replayed = await again();
    expect(replayed.headers.get('Idempotency-Replayed')).to.equal('true');
    expect(replayed.body.credit_balance).to.equal(0);
  });

  describe('404', () => {
    const missing: [path: string, body: object, code: string, extras: object][] = [
      ['/api/contacts/get', { contact_id: 'no' }, 'contact_not_found', { contact_id: 'no' }],
      ['/api/audiences/get', { audience_id: 'no' }, 'audience_not_found', { audience_id: 'no' }],
      ['/api/audiences/contacts/search', { audience_id: 'no' }, 'audience_not_found', { audience_id: 'no' }],
      [
        '/api/audiences/contacts/add',
        { audience_id: 'no', contact_id: 'con_1' },
        'audience_not_found',
        { audience_id: 'no' },
      ],
      [
        '/api/audiences/contacts/add',
        { audience_id: 'aud_1', contact_id: 'no' },
        'contact_not_found',
        { contact_id: 'no' },
      ],
      [
        '/api/audiences/contacts/remove',
        { audience_id: 'no', contact_id: 'con_1' },
        'audience_not_found',
        { audience_id: 'no' },
      ],
      [CREATE, { audience_id: 'no' }, 'audience_not_found', { audience_id: 'no' }],
      [COMPANY, { ...range, company_id: 'no' }, 'company_not_found', {}],
      [COMPANY, { ...range, company_id: 'x'.repeat(128) }, 'company_not_found', {}],
      [COMPANY, { ...range, domain: 'no.example' }, 'company_not_found', {}],
      [COMPANY, { ...range, domain: 'www.' }, 'company_not_found', {}],
    ];
    for (const [path, body, code, extras] of missing) {
      it(`${code} comes from ${path} for ${JSON.stringify(body)}`, async () => {
        expectProblem(await gateway.call(path, { ...organization, ...body }), 404, code, {
          ...organization,
          ...extras,
        });
      });
    }

    it('comes for an audience that only memberships mention', async () => {
      await gateway.ingest('contacts', [{ contact_id: 'con_2', audience_ids: ['aud_unborn'] }]);
      expectProblem(
        await gateway.call('/api/audiences/get', { ...organization, audience_id: 'aud_unborn' }),
        404,
        'audience_not_found',
      );
    });
  });

  describe('409', () => {
    it('names the existing contact', async () => {
      for (const body of [
        { work_emails: ['x@example.com', 'ADA@example.com'] },
        { network_a_url: 'http://de.linkedin.com/in/Ada/?a=b' },
      ]) {
        for (const query of ['?on_duplicate=reject', '?on_duplicate=reject&dry_run=true']) {
          expectProblem(await create(body, query), 409, 'contact_exists', {
            ...organization,
            contact_id: 'con_1',
          });
        }
      }
    });

    it('lists at most 20 companies of an ambiguous domain', async () => {
      const answer = await gateway.call(COMPANY, { ...range, domain: 'https://www.acme.example/about' });
      expectProblem(answer, 409, 'ambiguous_domain', organization);
      const candidates = answer.body.candidates as object[];
      expect(candidates).to.have.length(20);
      expect(candidates[0]).to.deep.equal({ id: 'co_00', network_a_company_id: '0', name: 'Acme 0' });
      expect(answer.body.detail).to.include('25 companies');
    });

    it('rejects a request while the first with its idempotency key is running, and applies one of them', async () => {
      const rejected: Answer[] = [];
      for (let attempt = 0; attempt < 40 && rejected.length === 0; attempt++) {
        const answers = await Promise.all(
          Array.from({ length: 8 }, () =>
            create({ first_name: `Twin ${attempt}` }, '', { 'Idempotency-Key': `twin-${attempt}` }),
          ),
        );
        const done = answers.filter(({ status }) => status === 200);
        rejected.push(...answers.filter(({ status }) => status !== 200));
        expect(new Set(done.map(({ body }) => body.contact_id)).size).to.equal(1);
        const found = await gateway.call(SEARCH, { ...organization, first_name: `Twin ${attempt}` });
        expect(found.body.total_count).to.equal(1);
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
      const added = await gateway.call(
        '/api/audiences/contacts/add',
        { ...organization, audience_id: 'aud_1', contact_id: 'con_1' },
        { headers },
      );
      expect(added.status).to.equal(200);
      expect(added.headers.get('Idempotency-Replayed')).to.equal(null);
    });

    it('points to a malformed idempotency key', async () => {
      for (const bad of ['a b', '""', 'x'.repeat(256)]) {
        const answer = await create({}, '', { 'Idempotency-Key': bad });
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.deep.equal(['#Idempotency-Key invalid_idempotency_key']);
      }
    });

    it('page_window_exceeded comes where page × limit is over 10 000', async () => {
      const page = (number: number, limit: number) =>
        gateway.call('/api/audiences/search', { page: number, limit });
      expect((await page(50, 200)).status).to.equal(200);
      expect((await page(10_000, 1)).status).to.equal(200);
      for (const answer of [await page(51, 200), await page(1_000_000, 1)]) {
        expectProblem(answer, 422, 'page_window_exceeded');
        expect(brokenRules(answer)).to.deep.equal(['/page page_window_exceeded']);
      }
    });

    it('too_many_points comes where page_size × periods is over 100 000', async () => {
      const year = { start_date: '2025-01-01', end_date: '2026-05-15' };
      for (const path of ['campaigns', 'creatives', 'companies']) {
        const ask = (body: object) => gateway.call(`/api/advertising/network_a/${path}`, body);
        expect((await ask({ ...year, page_size: 200 })).status).to.equal(200);
        const answer = await ask({ ...year, end_date: '2026-05-16', page_size: 200 });
        expectProblem(answer, 422, 'too_many_points');
        expect(brokenRules(answer)).to.deep.equal(['/page_size too_many_points']);
        expect(answer.body.detail).to.include('page_size to 199 or less').and.include('monthly');
      }
    });

    const broken: [what: string, path: string, body: object, expected: string[]][] = [
      ['neither id nor domain', COMPANY, range, ['/company_id exactly_one_of']],
      [
        'both id and domain, and a range that ends too early',
        COMPANY,
        { start_date: '2026-10-02', end_date: '2026-10-01', company_id: 'a', domain: 'b' },
        ['/end_date before_start_date', '/company_id exactly_one_of'],
      ],
      [
        'dates that do not exist',
        CAMPAIGNS,
        { start_date: '2026-02-30', end_date: '2026-13-01' },
        ['/start_date invalid_date', '/end_date invalid_date'],
      ],
      [
        'dates with a time, or of another type',
        CAMPAIGNS,
        { start_date: '2026-02-01T00:00:00Z', end_date: 20260301 },
        ['/start_date invalid_date', '/end_date invalid_type'],
      ],
      [
        'a start after the end',
        CAMPAIGNS,
        { start_date: '2026-10-02', end_date: '2026-10-01' },
        ['/end_date before_start_date'],
      ],
      [
        'more than 3660 days',
        CAMPAIGNS,
        { start_date: '2016-01-01', end_date: '2026-01-09' },
        ['/end_date range_too_long'],
      ],
      ['no dates', CAMPAIGNS, {}, ['/start_date required', '/end_date required']],
      [
        'blank dates',
        CAMPAIGNS,
        { start_date: ' ', end_date: null },
        ['/start_date required', '/end_date required'],
      ],
      [
        'an unknown metric',
        CAMPAIGNS,
        { ...range, metrics: ['clicks', 'clics'] },
        ['/metrics/1 invalid_value'],
      ],
      ['money of companies', COMPANIES, { ...range, metrics: ['ad_spend'] }, ['/metrics/0 invalid_value']],
      ['no metric', CAMPAIGNS, { ...range, metrics: [] }, ['/metrics too_few_items']],
      [
        '65 metrics',
        CAMPAIGNS,
        { ...range, metrics: Array.from({ length: 65 }, () => 'clicks') },
        ['/metrics too_many_items'],
      ],
      [
        '101 ids',
        CAMPAIGNS,
        { ...range, campaign_ids: Array.from({ length: 101 }, () => 'x') },
        ['/campaign_ids too_many_items'],
      ],
      [
        'pages out of bounds',
        CAMPAIGNS,
        { ...range, page: 0, page_size: 201 },
        ['/page too_small', '/page_size too_large'],
      ],
      ['a search of 201 characters', CAMPAIGNS, { ...range, search: 'x'.repeat(201) }, ['/search too_long']],
      [
        'an order that companies have not',
        COMPANIES,
        { ...range, sort_by: 'ad_spend' },
        ['/sort_by invalid_value'],
      ],
      [
        '13 words',
        SEARCH,
        { ...organization, query: 'a b c d e f g h i j k l m' },
        ['/query too_many_words'],
      ],
      ['no facet', SEARCH, { ...organization, facets: [] }, ['/facets too_few_items']],
      [
        'facets of an unknown field',
        SEARCH,
        { ...organization, facets: ['city', 'first_name'] },
        ['/facets/1 invalid_value'],
      ],
      [
        'six facets',
        SEARCH,
        {
          ...organization,
          facets: ['city', 'country', 'job_title', 'company_name', 'company_domain', 'state_region'],
        },
        ['/facets too_many_items'],
      ],
      ['a query of 201 characters', SEARCH, { ...organization, query: 'x'.repeat(201) }, ['/query too_long']],
      [
        'a person of more than 32 KiB',
        CREATE,
        { ...organization, audience_id: 'aud_1', phones: Array(50).fill('\u0001'.repeat(128)) },
        [' record_too_large'],
      ],
      [
        'a query that grows when it is folded',
        SEARCH,
        { ...organization, query: '⒈'.repeat(101) },
        ['/query too_long'],
      ],
      [
        'a query for audiences that grows when it is folded',
        '/api/audiences/search',
        { ...organization, query: '⒈'.repeat(101) },
        ['/query too_long'],
      ],
      [
        'a start_url of 1 025 characters',
        VISITS,
        { ...organization, start_url: 'x'.repeat(1025) },
        ['/start_url too_long'],
      ],
      [
        'a filter that grows when it is folded',
        SEARCH,
        { ...organization, city: '㌖'.repeat(171) },
        ['/city too_long'],
      ],
      [
        'a person whose words grow when they are folded',
        CREATE,
        {
          ...organization,
          audience_id: 'aud_1',
          first_name: '㌖'.repeat(171),
          phones: ['\ufdfa'.repeat(57)],
        },
        ['/first_name too_long', '/phones/0 too_long'],
      ],
      [
        '33 different words of a filter',
        SEARCH,
        { ...organization, job_title: Array.from({ length: 33 }, (_, index) => `w${index}`).join(' ') },
        ['/job_title too_many_words'],
      ],
      [
        '33 different words of a filter in an audience',
        '/api/audiences/contacts/search',
        {
          ...organization,
          audience_id: 'aud_1',
          last_name: Array.from({ length: 33 }, (_, index) => `w${index}`).join(' '),
        },
        ['/last_name too_many_words'],
      ],
      ['a city without letters', VISITS, { ...organization, city: '\u0301' }, ['/city no_words']],
      ['a country without letters', VISITS, { ...organization, country: '\u0301' }, ['/country no_words']],
      ['a browser without letters', VISITS, { ...organization, browser: '\u0301' }, ['/browser no_words']],
      ['a platform without letters', VISITS, { ...organization, platform: '\u0301' }, ['/platform no_words']],
      ['a city of dashes', VISITS, { ...organization, city: '--' }, ['/city no_words']],
      ['a country of marks', VISITS, { ...organization, country: '?' }, ['/country no_words']],
      ['a browser of marks', VISITS, { ...organization, browser: '!!' }, ['/browser no_words']],
      ['a platform of marks', VISITS, { ...organization, platform: '/' }, ['/platform no_words']],
      [
        'a country of marks',
        '/api/contacts/search',
        { ...organization, country: '?' },
        ['/country no_words'],
      ],
      ['an email of marks', '/api/contacts/search', { ...organization, email: '@' }, ['/email no_words']],
      ['a scheme alone', VISITS, { ...organization, start_url: 'https://' }, ['/start_url no_words']],
      ['the end of a scheme alone', VISITS, { ...organization, start_url: '://' }, ['/start_url no_words']],
      ['slashes alone', VISITS, { ...organization, start_url: '//' }, ['/start_url no_words']],
      ['a cursor that is none', SEARCH, { ...organization, cursor: 'x' }, ['/cursor invalid_cursor']],
      [
        'an address that is none',
        '/api/website-visits/search',
        { ...organization, ip_address: '192.0.2.0/33', created_after: '2026-01-01' },
        ['/ip_address invalid_ip_range', '/created_after invalid_date_time'],
      ],
      [
        'a person that cannot be',
        CREATE,
        {
          ...organization,
          audience_id: 'a b',
          age: -1,
          work_emails: ['x'],
          phones: Array.from({ length: 51 }, () => '1'),
        },
        [
          '/audience_id invalid_format',
          '/work_emails/0 invalid_email',
          '/phones too_many_items',
          '/age too_small',
        ],
      ],
    ];
    for (const [what, path, body, expected] of broken) {
      it(`points to ${what}`, async () => {
        const answer = await gateway.call(path, body);
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.deep.equal(expected);
      });
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

    const parameters: [query: string, expected: string[]][] = [
      ['required_credits=-1', ['?required_credits too_small']],
      ['required_credits=%2B2', ['?required_credits invalid_type']],
      ['required_credits=02', ['?required_credits invalid_type']],
      ['required_credits=%202', ['?required_credits invalid_type']],
      ['required_credits=2%0A', ['?required_credits invalid_type']],
      ['required_credits=-0', ['?required_credits invalid_type']],
      ['required_credits=10001', ['?required_credits too_large']],
      ['required_credits=1.5&dry_run=yes', ['?required_credits invalid_type', '?dry_run invalid_type']],
      ['required_credits=99999999999999999999', ['?required_credits invalid_type']],
      ['on_duplicate=replace', ['?on_duplicate invalid_value']],
      ['dry_run=true&dry_run=true', ['?dry_run repeated']],
      ['dry_run', ['?dry_run invalid_type']],
      ['dry_run=', ['?dry_run invalid_type']],
      ['dry_run=%20', ['?dry_run invalid_type']],
      ['required_credits=', ['?required_credits invalid_type']],
      ['on_duplicate=', ['?on_duplicate invalid_value']],
      ['dryrun=true', ['?dryrun unknown_field']],
      [
        '__proto__=1&constructor=2&toString=3',
        ['?__proto__ unknown_field', '?constructor unknown_field', '?toString unknown_field'],
      ],
    ];
    for (const [query, expected] of parameters) {
      it(`points to the parameters of ?${query}`, async () => {
        const answer = await create({}, `?${query}`);
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.deep.equal(expected);
      });
    }

    it('lists errors of text, rules and parameters together', async () => {
      const answer = await create({ age: 'old', phones: ['1', 'a\0b'] }, '?required_credits=x');
      expectProblem(answer, 422, 'validation_failed');
      expect(brokenRules(answer)).to.deep.equal([
        '/phones/1 invalid_text',
        '/age invalid_type',
        '?required_credits invalid_type',
      ]);
    });

    it('lists rules beyond the schema together with all others', async () => {
      const large = await create({ job_title: 7, phones: Array(50).fill('x'.repeat(1024)) }, '?dry_run=1');
      expect(brokenRules(large)).to.deep.equal([
        '/job_title invalid_type',
        '?dry_run invalid_type',
        ' record_too_large',
      ]);
      const page = { organization_id: 'org_a', page: 200, limit: 100 };
      const audiences = await gateway.call('/api/audiences/search', { ...page, query: '?' });
      expectProblem(audiences, 422, 'validation_failed');
      expect(brokenRules(audiences)).to.deep.equal(['/query no_words', '/page page_window_exceeded']);
      expectProblem(await gateway.call('/api/audiences/search', page), 422, 'page_window_exceeded');
      const persons = { ...organization, contact_id: 'a', email: 'b', unknown: 1 };
      const deleted = await gateway.call('/api/contacts/delete', persons);
      expect(brokenRules(deleted)).to.deep.equal(['/unknown unknown_field', '/contact_id exactly_one_of']);
    });

    it('has a bounded number of errors', async () => {
      const answer = await create({ phones: Array.from({ length: 19_000 }, () => '\0') });
      expectProblem(answer, 422, 'validation_failed');
      expect(brokenRules(answer)).to.have.length.within(100, 200);
    });

    it('comes for an empty Idempotency-Key on every operation, and writes nothing', async () => {
      const empty = { headers: { 'Idempotency-Key': '' } };
      const count = async () => (await gateway.call(SEARCH, organization)).body.total_count;
      const before = await count();
      for (const [path, body] of [
        [CREATE, { ...organization, audience_id: 'aud_1' }],
        ['/api/audiences/contacts/add', { ...organization, audience_id: 'aud_1', contact_id: 'con_1' }],
        [SEARCH, organization],
        ['/api/ingest/contacts', [{ contact_id: 'con_keyless' }]],
      ] as const) {
        const answer = await gateway.call(path, body, empty);
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer), path).to.deep.equal(['#Idempotency-Key invalid_idempotency_key']);
      }
      expect(await count()).to.equal(before);
    });

    it('comes for any query parameter of an operation without parameters', async () => {
      for (const query of ['limit=5', 'toString=1', '__proto__=1']) {
        const answer = await gateway.call(`${SEARCH}?${query}`, organization);
        expectProblem(answer, 422, 'validation_failed');
      }
    });
  });

  describe('found by random requests', () => {
    it('a field name with half of a surrogate pair can be ignored', async () => {
      const answer = await gateway.call(SEARCH, undefined, {
        raw: '{"organization_id":"org_a","\\ud800":1}',
        headers: { Prefer: 'handling=lenient' },
      });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('X-Ignored-Fields')).to.equal('%EF%BF%BD');
    });

    it('thousands of ignored fields fit into the header', async () => {
      const fields = Object.fromEntries(
        Array.from({ length: 5000 }, (_, index) => [`ü${index}${'x'.repeat(99)}`, 1]),
      );
      const answer = await gateway.call(
        SEARCH,
        { ...organization, ...fields },
        { headers: { Prefer: 'handling=lenient' } },
      );
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('X-Ignored-Fields')?.length).to.be.within(3500, 4200);
    });

    it('nesting that is closed properly is a wrong type, however deep', async () => {
      const depth = 19_000;
      for (const raw of [
        `{"organization_id":"org_a","query":${'['.repeat(depth)}${']'.repeat(depth)}}`,
        `{"organization_id":"org_a","query":${'{"a":'.repeat(depth / 2)}1${'}'.repeat(depth / 2)}}`,
      ]) {
        const answer = await gateway.call(SEARCH, undefined, { raw });
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.deep.equal(['/query invalid_type']);
      }
    });
  });
});
