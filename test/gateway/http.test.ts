/** The HTTP of a gateway, which does not depend on its stores. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { endpoints } from '../../services/gateway/api.js';
import { SCOPES } from '../../services/http/scopes.js';
import { type CallOptions, startTestGateway, useGateway } from '../support/gateway.js';
import { brokenRules, expectProblem, expectRules } from '../support/problems.js';

const SEARCH = '/api/contacts/search';
const organization = { organization_id: 'org_a' };
const LENIENT = { Prefer: 'handling=lenient' };

describe('The gateway over HTTP', () => {
  const gateway = useGateway(async ({ stores, ingest }) => {
    // Opens the store now, because readiness does not wait for it long.
    await stores.analytics.ping();
    await ingest('audiences', [{ id: 'aud_1', name: 'One' }]);
    await ingest('contacts', [{ contact_id: 'con_1', first_name: 'Maria', audience_ids: ['aud_1'] }]);
  });
  const search = (headers: Record<string, string>, body: object = organization) =>
    gateway.call(SEARCH, body, { headers });
  const get = (path: string, options: CallOptions = {}) =>
    gateway.call(path, undefined, { method: 'GET', ...options });

  for (const { path, scope } of endpoints) {
    it(`${path} rejects other organizations, fields and keys without its scopes`, async () => {
      expectProblem(await gateway.call(path, { organization_id: 'org_b' }), 403, 'organization_mismatch');
      const unknown = await gateway.call(path, { ...organization, no_such_field: 1 });
      expectProblem(unknown, 422, 'validation_failed');
      expect(brokenRules(unknown)).to.include('/no_such_field unknown_field');
      for (const required_scope of scope) {
        const others = SCOPES.filter((each) => each !== required_scope);
        const answer = await gateway.call(path, organization, { key: await gateway.keyFor('org_a', others) });
        expectProblem(answer, 403, 'insufficient_scope', { required_scope });
      }
    });
  }

  it('names how a key is sent, and the method of an operation', async () => {
    const keyless = await gateway.call(SEARCH, organization, { key: null });
    expectProblem(keyless, 401, 'missing_api_key');
    expect(keyless.headers.get('WWW-Authenticate')).to.equal('ApiKey realm="reachline"');
    const got = await get(SEARCH);
    expectProblem(got, 405, 'method_not_allowed');
    expect(got.headers.get('Allow')).to.equal('POST');
  });

  it('takes bodies up to 1 MiB, and of a contact up to 256 KiB', async () => {
    for (const [path, KiB] of [
      [SEARCH, 1024],
      ['/api/contacts/create', 256],
      ['/api/contacts/update', 256],
    ] as const) {
      const sized = (bytes: number) => ({ raw: '{"filler":1}'.padEnd(bytes) });
      expectProblem(await gateway.call(path, undefined, sized(KiB * 1024)), 422, 'validation_failed');
      expectProblem(await gateway.call(path, undefined, sized(KiB * 1024 + 1)), 413, 'body_too_large');
    }
  });

  describe('a body', () => {
    const manyKeys = JSON.stringify(
      Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`${2 ** 32 + index}`, 0])),
    );
    const values = (count: number) => `{"organization_id":"org_a","x":[${Array(count).fill(1).join()}]}`;
    const nested = (open: string, close: string, depth: number) =>
      `{"organization_id":"org_a","query":${open.repeat(depth)}1${close.repeat(depth)}}`;
    const rejected: [what: string, raw: string | Uint8Array, status: number, code: string][] = [
      ['nothing', '', 400, 'invalid_json'],
      ['half an object', '{"a":', 400, 'invalid_json'],
      ['an array', '[]', 400, 'invalid_body'],
      ['a string', '"x"', 400, 'invalid_body'],
      ['null', 'null', 400, 'invalid_body'],
      ['a number', '5', 400, 'invalid_body'],
      ['malformed UTF-8', Buffer.from('7b2261223a22ff227d', 'hex'), 400, 'invalid_json'],
      ['UTF-8 cut in a character', Buffer.from('{"query":"\u{1f600}').subarray(0, -1), 400, 'invalid_json'],
      ['deep nesting', '['.repeat(20_000), 400, 'invalid_json'],
      ['brackets', `{"phones":${'['.repeat(500_000)}${']'.repeat(500_000)}}`, 422, 'too_many_values'],
      ['brackets that end early', '['.repeat(500_000), 422, 'too_many_values'],
      ['integer keys', manyKeys, 422, 'too_many_values'],
      ['empty objects in a list', `{"ids":[${Array(340_000).fill('{}').join(',')}]}`, 422, 'too_many_values'],
      ['20 000 values', values(19_996), 422, 'validation_failed'],
      ['20 001 values', values(19_997), 422, 'too_many_values'],
    ];
    for (const [what, raw, status, code] of rejected) {
      it(`of ${what} is ${status} ${code}`, async () => {
        expectProblem(await gateway.call(SEARCH, undefined, { raw }), status, code);
      });
    }

    const rules: [raw: string, rule: string][] = [
      ['{"__proto__": {"a": 1}}', '/__proto__ unknown_field'],
      ['{"\\u005f_proto__": "x"}', '/__proto__ unknown_field'],
      ['{"constructor": {"prototype": {}}}', '/constructor unknown_field'],
      ['{"": 1}', '/ unknown_field'],
      ['{"organization_id": "org_a", "first_name": {"__proto__": {"a": 1}}}', '/first_name invalid_type'],
      ['{"organization_id": "org_a", "query": "a\\u0000b"}', '/query invalid_text'],
      ['{"organization_id": "org_a", "query": "a\\ud800b"}', '/query invalid_text'],
      // JSON that is closed properly is never too deep; it only has a wrong type.
      [nested('[', ']', 19_000), '/query invalid_type'],
      [nested('{"a":', '}', 9500), '/query invalid_type'],
    ];
    it('of 9 000 levels breaks a rule with a cursor or an idempotency key too', async () => {
      const levels = `"query": ${'['.repeat(9000)}${']'.repeat(9000)}`;
      for (const [path, fields] of [
        [SEARCH, '"cursor": "abc"'],
        ['/api/audiences/create', '"name": "deep"'],
      ] as const) {
        const raw = `{"organization_id": "org_a", ${fields}, ${levels}}`;
        const answer = await gateway.call(path, undefined, { raw, headers: { 'Idempotency-Key': 'deep' } });
        expectProblem(answer, 422, 'validation_failed');
      }
    });
    for (const [raw, rule] of rules) {
      it(`of ${raw.slice(0, 80)} breaks ${rule}`, async () => {
        const answer = await gateway.call(SEARCH, undefined, { raw });
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.include(rule);
      });
    }

    const types: [type: string, status: number][] = [
      ['application/json', 200],
      ['application/json; charset=utf-8', 200],
      ['application/json;', 200],
      ['application/json; charset="UTF-8"', 200],
      ['Application/JSON', 200],
      ['application/json; charset=latin1', 415],
      ['application/json; charset=utf-16', 415],
      ['text/plain', 415],
      ['application/x-www-form-urlencoded', 415],
      ['', 415],
    ];
    for (const [type, status] of types) {
      it(`of type ${JSON.stringify(type)} is ${status}`, async () => {
        const answer = await search({ 'Content-Type': type });
        if (status === 200) expect(answer.status, answer.text).to.equal(200);
        else expectProblem(answer, 415, 'unsupported_media_type');
      });
    }

    it('that is compressed is rejected by operations', async () => {
      const compressed = {
        raw: gzipSync(JSON.stringify(organization)),
        headers: { 'Content-Encoding': 'gzip' },
      };
      expectProblem(await gateway.call(SEARCH, undefined, compressed), 415, 'unsupported_media_type');
    });

    it('may contain the replacement character, null and blank fields', async () => {
      expect((await search({}, { ...organization, query: 'x\ufffdy' })).status).to.equal(200);
      const blank = { first_name: null, last_name: '  ', limit: null, query: '' };
      expect((await search({}, { ...organization, ...blank })).body.total_count).to.equal(1);
    });
  });

  it('ignores unknown fields only under handling=lenient, and lists them', async () => {
    const body = { ...organization, frist_name: 'x', 'ünknown, one': 1, first_name: 'mar' };
    for (const Prefer of ['', 'x-handling=lenient', 'handling="lenient-ish"', 'handling=lenientish'])
      expectProblem(await search({ Prefer }, body), 422, 'validation_failed');
    for (const Prefer of ['handling=lenient', 'respond-async, handling="lenient"; foo=1']) {
      const lenient = await search({ Prefer }, body);
      expect(lenient.status, lenient.text).to.equal(200);
      expect(lenient.headers.get('X-Ignored-Fields')).to.equal('frist_name, %C3%BCnknown%2C%20one');
    }
    expectRules(await search(LENIENT, { ...body, limit: 0 }), ['/limit too_small']);
  });

  it('lists ignored fields of any name and number in one header', async () => {
    const ignoredOf = async (raw: string) => {
      const { status, headers, text } = await gateway.call(SEARCH, undefined, { raw, headers: LENIENT });
      expect(status, text).to.equal(200);
      return headers.get('X-Ignored-Fields') ?? '';
    };
    const proto = '{"organization_id": "org_a", "__proto__": {"limit": "x"}}';
    expect(await ignoredOf(proto)).to.equal('__proto__');
    expect(await ignoredOf('{"organization_id":"org_a","\\ud800":1}')).to.equal('%EF%BF%BD');
    const many = Array.from({ length: 5000 }, (_, index) => [`ü${index}${'x'.repeat(99)}`, 1]);
    const thousands = JSON.stringify({ ...organization, ...Object.fromEntries(many) });
    expect((await ignoredOf(thousands)).length).to.be.within(3500, 4200);
  });

  it('answers 406 when Accept excludes JSON', async () => {
    const headers = { Accept: 'text/html' };
    for (const answer of [
      await search(headers),
      await search({ Accept: 'application/json;q=0' }),
      await gateway.ingest('contacts', [], { headers }),
      await get('/api/key', { headers }),
    ])
      expectProblem(answer, 406, 'not_acceptable');
    for (const Accept of ['application/json', 'application/*', '*/*', 'text/html, application/json;q=0.1'])
      expect((await search({ Accept })).status, Accept).to.equal(200);
  });

  it('answers 404 for an unknown route', async () => {
    const operations = ['', '/contacts', '/contacts/search/x', '/contacts/search/'].map(
      (end) => `/api${end}`,
    );
    for (const path of [...operations, '/API/contacts/search', '/consoles', '/%2e%2e/etc/passwd'])
      expectProblem(await gateway.call(path, organization), 404, 'route_not_found');
    for (const path of ['/metrics/', '/METRICS', '/Metrics'])
      expectProblem(await get(path), 404, 'route_not_found');
  });

  it('echoes a valid request id, and generates one otherwise', async () => {
    const idOf = async (id: string) => (await search({ 'X-Request-Id': id })).headers.get('X-Request-Id');
    expect(await idOf('abc-123')).to.equal('abc-123');
    for (const bad of ['x'.repeat(129), 'a b']) expect(await idOf(bad)).to.match(/^req_[0-9a-z]{26}$/);
  });

  it('forbids caching and type sniffing of responses', async () => {
    for (const answer of [
      await search({}),
      await gateway.call(SEARCH, organization, { key: null }),
      await get('/readyz'),
    ]) {
      expect(answer.headers.get('X-Content-Type-Options')).to.equal('nosniff');
      expect(answer.headers.get('Cache-Control')).to.equal('no-store');
    }
  });

  it('reports the store time in Server-Timing', async () => {
    for (const { headers } of [
      await search({}),
      await gateway.ingest('audiences', [{ id: 't', name: 'T' }]),
    ]) {
      expect(headers.get('Server-Timing')).to.match(/^store;dur=\d+\.\d$/);
      expect(Number.parseFloat(headers.get('Server-Timing')?.slice(10) ?? '')).to.be.above(0);
    }
  });

  it('accepts requests of its own origin, and rejects those of other pages', async () => {
    const other = await search({ Origin: 'https://elsewhere.example' });
    expectProblem(other, 403, 'origin_not_allowed');
    expect(other.headers.get('Access-Control-Allow-Origin')).to.equal(null);
    expect((await search({ Origin: gateway.url })).status).to.equal(200);
  });

  it('serves operational endpoints without a key', async () => {
    for (const path of ['/livez', '/readyz', '/version', '/openapi.json', '/docs', '/metrics']) {
      const answer = await get(path, { key: null });
      expect(answer.status, path).to.equal(200);
      expect(answer.text.length, path).to.be.above(10);
    }
    const ready = {
      ready: true,
      writable: true,
      stopping: false,
      stores: { records: 'ok', analytics: 'ok' },
    };
    expect((await get('/readyz')).body).to.deep.equal(ready);
  });

  it('counts requests by operation, problems by code, and calls of stores', async () => {
    await search({});
    await gateway.call('/nowhere');
    const { text } = await get('/metrics');
    for (const sample of [
      'reachline_http_request_duration_seconds_count{operation="/api/contacts/search",status="200"} ',
      'reachline_http_problems_total{code="route_not_found"} ',
      'reachline_store_request_duration_seconds_count{store="records",operation="searchContacts",outcome="ok"} ',
    ])
      expect(Number(text.split(sample)[1]?.split('\n')[0]), sample).to.be.above(0);
  });

  it('accepts pages of configured origins', async () => {
    const Origin = 'https://app.example';
    const other = await startTestGateway({ corsOrigins: [Origin] });
    const preflight = await other.call(SEARCH, undefined, {
      method: 'OPTIONS',
      raw: '',
      headers: { Origin, 'Access-Control-Request-Method': 'POST' },
    });
    await other.close();
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('Access-Control-Allow-Origin')).to.equal(Origin);
    const allowed = preflight.headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(', ');
    expect(allowed).to.include.members(['x-api-key', 'mcp-protocol-version', 'mcp-method', 'mcp-name']);
  });
});
