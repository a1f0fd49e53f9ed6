/** The problems of the contract that no store decides (1.2), as requests and their responses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { issueKey, parseKey } from '../../services/accounts/keys.js';
import { packageRoot } from '../../services/shared/fs.js';
import { type Answer, startTestGateway, useGateway } from '../support/gateway.js';
import { brokenRules, expectProblem, expectRules } from '../support/problems.js';

const organization = { organization_id: 'org_a' };
const SEARCH = '/api/contacts/search';
const CREATE = '/api/contacts/create';
const UPDATE = '/api/contacts/update';
const AUDIENCES = '/api/audiences/search';
const CREATE_AUDIENCE = '/api/audiences/create';
const UPDATE_AUDIENCE = '/api/audiences/update';
const MEMBERS = '/api/audiences/contacts/search';
const ADD = '/api/audiences/contacts/add';
const REMOVE = '/api/audiences/contacts/remove';
const CAMPAIGNS = '/api/advertising/network_a/campaigns';
const COMPANY = '/api/advertising/network_a/company';
const range = { start_date: '2026-10-01', end_date: '2026-10-31' };
const member = { audience_id: 'aud_1', contact_id: 'con_1' };

const BROKEN_REQUESTS = readFileSync(join(packageRoot, 'test/data/http/broken-requests.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .filter((line) => !line.startsWith('# '))
  .map((line) => line.split('\t'));
/** The values that the table abbreviates. */
function expanded(_: string, value: string | { times?: number; of: unknown }): unknown {
  if (typeof value === 'object') return value?.times ? Array(value.times).fill(value.of) : value;
  const [part = '', times] = typeof value === 'string' ? value.split('×') : [];
  return times === undefined ? value : part.repeat(Number(times));
}

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
  const create = (body: object, query = '', headers: Record<string, string> = {}, key?: string) =>
    call(`${CREATE}${query}`, { audience_id: 'aud_1', ...body }, headers, key);
  const anonymous = ({ body }: Answer) => ({ ...body, request_id: '' });

  describe('401 and 403', () => {
    it('are the same for unknown, malformed, expired and revoked keys', async () => {
      const { records } = gateway.stores;
      const issue = (expiresAt?: string) =>
        issueKey(records, { organizationId: 'org_a', scopes: ['*'], expiresAt });
      const expired = await issue(new Date(Date.now() - 1000).toISOString());
      const later = await issue(new Date(Date.now() + 3_600_000).toISOString());
      const revoked = await issue();
      await records.revokeKey(parseKey(revoked)?.id as string, new Date().toISOString());
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

    it('name the scope that the contact of the response needs', async () => {
      const key = await gateway.keyFor('org_a', ['contacts:write']);
      const reads = { required_scope: 'contacts:read' };
      for (const mode of ['return', 'update'])
        expectProblem(await create({}, `?on_duplicate=${mode}`, {}, key), 403, 'insufficient_scope', reads);
      expect((await create({}, '', {}, key)).status).to.equal(200);
    });

    it('are the same for an organization that exists and one that does not', async () => {
      await gateway.keyFor('org_b');
      // Checked before anything else.
      const other = await gateway.call(SEARCH, { organization_id: 'org_b', limit: 0 });
      expectProblem(other, 403, 'organization_mismatch');
      const none = await gateway.call(SEARCH, { organization_id: 'org_unheard_of', limit: 0 });
      expect(anonymous(none)).to.deep.equal(anonymous(other));
    });
  });

  it('402 names cost and balance, debits nothing, and is not kept under its idempotency key', async () => {
    const poor = { organization_id: 'org_poor', audience_id: 'aud_1' };
    const key = await gateway.keyFor('org_poor');
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }], { key });
    await gateway.stores.records.setCredits('org_poor', 2);
    const headers = { 'Idempotency-Key': 'once' };
    const again = (query = '') =>
      gateway.call(`${CREATE}?required_credits=3${query}`, poor, { key, headers });
    const costs = { required_credits: 3, credit_balance: 2 };
    for (const query of ['', '&dry_run=true'])
      expectProblem(await again(query), 402, 'insufficient_credits', costs);
    expect(await gateway.stores.records.getCredits('org_poor')).to.equal(2);
    await gateway.stores.records.grantCredits('org_poor', 1);
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
      // Only memberships mention this audience.
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

    it('too_many_points comes where the items of the page × periods are over 100 000', async () => {
      const campaigns = Array.from({ length: 28 }, (_, index) => ({ id: `many_${index}` }));
      await gateway.ingest('network-a-campaigns', campaigns);
      const longest = { start_date: '2016-01-02', end_date: '2026-01-08', search: null };
      const ask = (page_size: number) => gateway.call(CAMPAIGNS, { ...longest, page_size });
      expect((await ask(27)).status).to.equal(200);
      const answer = await ask(200);
      expectProblem(answer, 422, 'too_many_points');
      expect(brokenRules(answer)).to.deep.equal(['/page_size too_many_points']);
      expect(answer.body.detail).to.include('page_size to 27 or less').and.include('monthly');
    });

    for (const [path = '', text = '', rules = ''] of BROKEN_REQUESTS) {
      it(`points to what breaks a rule in ${path} ${text.slice(0, 120)}`, async () => {
        const body = { ...(path.startsWith('advertising') && range), ...JSON.parse(text, expanded) };
        const answer = path.startsWith('contacts/create')
          ? await create(body, path.slice('contacts/create'.length))
          : await call(`/api/${path}`, body);
        expectRules(answer, rules.split(', '));
      });
    }

    it('does not come for values at the limits', async () => {
      for (const body of [
        { start_date: '2016-01-02', end_date: '2026-01-08', granularity: 'monthly' },
        { start_date: '2026-01-01', end_date: '2026-01-01', campaign_ids: [], search: null },
        { ...range, campaign_ids: ['x'.repeat(128)] },
        { start_date: '0000-01-01', end_date: '0000-01-02' },
        { start_date: '9999-12-31', end_date: '9999-12-31', page: 1_000_000, page_size: 200 },
      ]) {
        const answer = await gateway.call(CAMPAIGNS, body);
        expect(answer.status, answer.text).to.equal(200);
      }
    });

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
