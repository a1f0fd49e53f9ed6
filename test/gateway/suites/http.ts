import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { endpoints } from '../../../services/gateway/api.js';
import { compressZstd } from '../../support/compress.js';
import { type CallOptions, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { brokenRules, expectProblem } from '../../support/problems.js';

const SEARCH = '/api/contacts/search';
const organization = { organization_id: 'org_a' };

export const http = gatewaySuite('The gateway over HTTP', (start) => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await start();
    // Opens the store, for which readiness does not wait long.
    await gateway.stores.analytics.ping();
    await gateway.ingest('audiences', [{ id: 'aud_1', name: 'One' }]);
    await gateway.ingest('contacts', [{ contact_id: 'con_1', first_name: 'Maria', audience_ids: ['aud_1'] }]);
  });
  after(() => gateway.close());

  for (const { path, scope } of endpoints) {
    describe(path, () => {
      it('answers 401 without a key', async () => {
        const answer = await gateway.call(path, {}, { key: null });
        expectProblem(answer, 401, 'missing_api_key');
        expect(answer.headers.get('WWW-Authenticate')).to.equal('ApiKey realm="reachline"');
      });

      it('answers 403 when the body names another organization', async () => {
        expectProblem(await gateway.call(path, { organization_id: 'org_b' }), 403, 'organization_mismatch');
      });

      it('answers 422 with a pointer to each invalid field', async () => {
        const answer = await gateway.call(path, { ...organization, no_such_field: 1 });
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.include('/no_such_field unknown_field');
      });

      if (scope.length > 0) {
        it('answers 403 to a key without its scope', async () => {
          const key = await gateway.keyFor('org_a', ['ingest:write']);
          expectProblem(await gateway.call(path, organization, { key }), 403, 'insufficient_scope');
        });
      }

      it('answers 405 with Allow to a GET', async () => {
        const answer = await gateway.call(path, undefined, { method: 'GET' });
        expectProblem(answer, 405, 'method_not_allowed');
        expect(answer.headers.get('Allow')).to.equal('POST');
      });
    });
  }

  describe('bodies', () => {
    const manyKeys = JSON.stringify(
      Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`${2 ** 32 + index}`, 0])),
    );
    const bodies: [string, string | Uint8Array, number, string][] = [
      ['nothing', '', 400, 'invalid_json'],
      ['half an object', '{"a":', 400, 'invalid_json'],
      ['an array', '[]', 400, 'invalid_body'],
      ['a string', '"x"', 400, 'invalid_body'],
      ['null', 'null', 400, 'invalid_body'],
      ['a number', '5', 400, 'invalid_body'],
      [
        'malformed UTF-8',
        Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
        400,
        'invalid_json',
      ],
      ['UTF-8 cut in a character', Buffer.from('{"query":"\u{1f600}').subarray(0, -1), 400, 'invalid_json'],
      ['more than 1 MiB', JSON.stringify({ query: 'x'.repeat(1024 * 1024) }), 413, 'body_too_large'],
      ['deep nesting', '['.repeat(20_000), 400, 'invalid_json'],
      ['brackets', `{"phones":${'['.repeat(500_000)}${']'.repeat(500_000)}}`, 422, 'too_many_values'],
      ['brackets that end early', '['.repeat(500_000), 422, 'too_many_values'],
      ['integer keys', manyKeys, 422, 'too_many_values'],
      ['empty objects in a list', `{"ids":[${Array(340_000).fill('{}').join(',')}]}`, 422, 'too_many_values'],
    ];
    for (const [what, raw, status, code] of bodies) {
      it(`of ${what} are ${status} ${code}`, async () => {
        expectProblem(await gateway.call(SEARCH, undefined, { raw }), status, code);
      });
    }

    const unknownFields: [string, string][] = [
      ['{"__proto__": {"a": 1}}', '/__proto__'],
      ['{"\\u005f_proto__": "x"}', '/__proto__'],
      ['{"constructor": {"prototype": {}}}', '/constructor'],
      ['{"": 1}', '/'],
    ];
    for (const [raw, pointer] of unknownFields) {
      it(`of ${raw} name ${pointer} as an unknown field`, async () => {
        const answer = await gateway.call(SEARCH, undefined, { raw });
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.include(`${pointer} unknown_field`);
      });
    }

    it('with __proto__ inside a value name the field that holds it', async () => {
      const raw = '{"organization_id": "org_a", "first_name": {"__proto__": {"a": 1}}}';
      const answer = await gateway.call(SEARCH, undefined, { raw });
      expectProblem(answer, 422, 'validation_failed');
      expect(brokenRules(answer)).to.deep.equal(['/first_name invalid_type']);
    });

    it('with __proto__ are accepted without it under handling=lenient', async () => {
      const raw = '{"organization_id": "org_a", "__proto__": {"limit": "x"}}';
      const answer = await gateway.call(SEARCH, undefined, {
        raw,
        headers: { Prefer: 'handling=lenient' },
      });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('X-Ignored-Fields')).to.equal('__proto__');
    });

    it('may contain the replacement character', async () => {
      const answer = await gateway.call(SEARCH, { ...organization, query: 'x\ufffdy' });
      expect(answer.status).to.equal(200);
    });

    it('may have 1 MiB, or what the operation declares', async () => {
      for (const { path, bodyLimit = 1024 * 1024 } of endpoints) {
        const bodyOf = (bytes: number) => JSON.stringify({ ...organization, filler: 'x' }).padEnd(bytes);
        const largest = await gateway.call(path, undefined, { raw: bodyOf(bodyLimit) });
        expectProblem(largest, 422, 'validation_failed');
        const larger = await gateway.call(path, undefined, { raw: bodyOf(bodyLimit + 1) });
        expectProblem(larger, 413, 'body_too_large');
      }
    });

    it('of a creation may have 256 KiB', async () => {
      const create = endpoints.find(({ path }) => path === '/api/contacts/create');
      expect(create?.bodyLimit).to.equal(256 * 1024);
    });

    it('may have 20 000 values', async () => {
      const bodyOf = (items: number) =>
        `{"organization_id":"org_a","unknown":[${Array(items).fill(1).join()}]}`;
      const most = await gateway.call(SEARCH, undefined, { raw: bodyOf(19_996) });
      expectProblem(most, 422, 'validation_failed');
      const more = await gateway.call(SEARCH, undefined, { raw: bodyOf(19_997) });
      expectProblem(more, 422, 'too_many_values');
    });

    const types: [string, number][] = [
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
      it(`of type ${JSON.stringify(type)} are ${status}`, async () => {
        const answer = await gateway.call(SEARCH, organization, { headers: { 'Content-Type': type } });
        if (status === 200) expect(answer.status, answer.text).to.equal(200);
        else expectProblem(answer, 415, 'unsupported_media_type');
      });
    }

    it('that are compressed are rejected by operations', async () => {
      const raw = gzipSync(JSON.stringify(organization));
      expectProblem(
        await gateway.call(SEARCH, undefined, { raw, headers: { 'Content-Encoding': 'gzip' } }),
        415,
        'unsupported_media_type',
      );
    });

    it('with text that no store can hold are 422', async () => {
      for (const query of ['a\0b', 'a\ud800b']) {
        const answer = await gateway.call(SEARCH, { ...organization, query });
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer)).to.deep.equal(['/query invalid_text']);
      }
    });

    it('may contain null and blank fields', async () => {
      const answer = await gateway.call(SEARCH, {
        ...organization,
        first_name: null,
        last_name: '  ',
        limit: null,
        query: '',
      });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.total_count).to.equal(1);
    });

    it('with a filter without words are 422', async () => {
      const answer = await gateway.call(SEARCH, {
        ...organization,
        first_name: '?!',
        company_domain: 'https://',
        query: '--',
      });
      expectProblem(answer, 422, 'validation_failed');
    });
  });

  it('ignores unknown fields only under handling=lenient, and lists them', async () => {
    const body = { ...organization, frist_name: 'x', 'ünknown, one': 1, first_name: 'mar' };
    expectProblem(await gateway.call(SEARCH, body), 422, 'validation_failed');
    const lenient = await gateway.call(SEARCH, body, { headers: { Prefer: 'handling=lenient' } });
    expect(lenient.status).to.equal(200);
    expect(lenient.headers.get('X-Ignored-Fields')).to.equal('frist_name, %C3%BCnknown%2C%20one');
    for (const Prefer of ['x-handling=lenient', 'handling="lenient-ish"', 'handling=lenientish']) {
      expectProblem(await gateway.call(SEARCH, body, { headers: { Prefer } }), 422, 'validation_failed');
    }
    const Prefer = 'respond-async, handling="lenient"; foo=1';
    expect((await gateway.call(SEARCH, body, { headers: { Prefer } })).status).to.equal(200);
    const broken = await gateway.call(
      SEARCH,
      { ...body, limit: 0 },
      { headers: { Prefer: 'handling=lenient' } },
    );
    expectProblem(broken, 422, 'validation_failed');
    expect(brokenRules(broken)).to.deep.equal(['/limit too_small']);
  });

  it('answers 406 when Accept excludes JSON', async () => {
    expectProblem(
      await gateway.call(SEARCH, organization, { headers: { Accept: 'text/html' } }),
      406,
      'not_acceptable',
    );
    expectProblem(
      await gateway.call(SEARCH, organization, { headers: { Accept: 'application/json;q=0' } }),
      406,
      'not_acceptable',
    );
    const headers = { Accept: 'text/html' };
    expectProblem(await gateway.ingest('contacts', [], { headers }), 406, 'not_acceptable');
    expectProblem(
      await gateway.call('/api/key', undefined, { method: 'GET', headers }),
      406,
      'not_acceptable',
    );
    for (const Accept of ['application/json', 'application/*', '*/*', 'text/html, application/json;q=0.1']) {
      expect((await gateway.call(SEARCH, organization, { headers: { Accept } })).status, Accept).to.equal(
        200,
      );
    }
  });

  it('answers 404 for an unknown route', async () => {
    for (const path of [
      '/api',
      '/api/contacts',
      '/api/contacts/search/x',
      '/api/contacts/search/',
      '/API/contacts/search',
      '/consoles',
      '/%2e%2e/etc/passwd',
    ]) {
      expectProblem(await gateway.call(path, organization), 404, 'route_not_found');
    }
    for (const path of ['/metrics/', '/METRICS', '/Metrics']) {
      const answer = await gateway.call(path, undefined, { method: 'GET' });
      expectProblem(answer, 404, 'route_not_found');
    }
  });

  it('echoes a valid request id, and generates one otherwise', async () => {
    const given = await gateway.call(SEARCH, organization, { headers: { 'X-Request-Id': 'abc-123' } });
    expect(given.headers.get('X-Request-Id')).to.equal('abc-123');
    for (const bad of ['x'.repeat(129), 'a b']) {
      const made = await gateway.call(SEARCH, organization, { headers: { 'X-Request-Id': bad } });
      expect(made.headers.get('X-Request-Id')).to.match(/^req_[0-9a-z]{26}$/);
    }
  });

  it('forbids caching and type sniffing of responses', async () => {
    for (const answer of [
      await gateway.call(SEARCH, organization),
      await gateway.call(SEARCH, organization, { key: null }),
      await gateway.call('/readyz', undefined, { method: 'GET' }),
    ]) {
      expect(answer.headers.get('X-Content-Type-Options')).to.equal('nosniff');
      expect(answer.headers.get('Cache-Control')).to.equal('no-store');
    }
  });

  it('reports the store time in Server-Timing', async () => {
    const answer = await gateway.call(SEARCH, organization);
    expect(answer.headers.get('Server-Timing')).to.match(/^store;dur=\d+\.\d$/);
    expect(Number.parseFloat(answer.headers.get('Server-Timing')?.slice(10) ?? '')).to.be.above(0);
    const ingested = await gateway.ingest('audiences', [{ id: 'timed', name: 'Timed' }]);
    expect(Number.parseFloat(ingested.headers.get('Server-Timing')?.slice(10) ?? '')).to.be.above(0);
  });

  it('answers unknown, malformed, expired and revoked keys alike', async () => {
    const expired = await gateway.keyFor('org_a');
    const revoked = await gateway.keyFor('org_a');
    const idOf = (key: string) => key.slice('rl_live_'.length, 'rl_live_'.length + 8);
    await gateway.stores.search.revokeKey(idOf(revoked), new Date().toISOString());
    const stored = await gateway.stores.search.findKey(idOf(expired));
    expect(stored?.secret_hash).to.match(/^[0-9a-f]{64}$/);
    const unknown = `${expired.slice(0, 8)}${'0'.repeat(8)}${expired.slice(16)}`;
    const bodies = [];
    for (const key of [unknown, 'nonsense', revoked, `${gateway.key}x`]) {
      const answer = await gateway.call(SEARCH, organization, { key });
      expectProblem(answer, 401, 'invalid_api_key');
      bodies.push({ ...answer.body, request_id: '' });
    }
    for (const body of bodies) expect(body).to.deep.equal(bodies[0]);
  });

  it('accepts no key in the query string', async () => {
    const answer = await gateway.call(`${SEARCH}?api_key=${gateway.key}`, organization, { key: null });
    expectProblem(answer, 401, 'missing_api_key');
  });

  describe('from pages of other origins', () => {
    it('rejects requests', async () => {
      const answer = await gateway.call(SEARCH, organization, {
        headers: { Origin: 'https://elsewhere.example' },
      });
      expectProblem(answer, 403, 'origin_not_allowed');
      expect(answer.headers.get('Access-Control-Allow-Origin')).to.equal(null);
    });

    it('accepts requests of its own origin', async () => {
      const answer = await gateway.call(SEARCH, organization, { headers: { Origin: gateway.url } });
      expect(answer.status).to.equal(200);
    });
  });

  describe('operational endpoints', () => {
    it('answer without a key', async () => {
      for (const path of ['/livez', '/readyz', '/version', '/openapi.json', '/docs', '/metrics']) {
        const answer = await gateway.call(path, undefined, { method: 'GET', key: null });
        expect(answer.status, path).to.equal(200);
        expect(answer.text.length, path).to.be.above(10);
      }
    });

    it('report that both stores answer', async () => {
      const answer = await gateway.call('/readyz', undefined, { method: 'GET' });
      expect(answer.body).to.deep.equal({
        ready: true,
        stopping: false,
        stores: { search: 'ok', analytics: 'ok' },
      });
    });

    it('count requests by operation and problems by code', async () => {
      const { text } = await gateway.call('/metrics', undefined, { method: 'GET' });
      expect(text).to.match(
        /reachline_http_request_duration_seconds_count\{operation="\/api\/contacts\/search",status="200"\} [1-9]/,
      );
      expect(text).to.match(/reachline_http_problems_total\{code="route_not_found"\} [1-9]/);
      expect(text).to.match(
        /reachline_store_request_duration_seconds_count\{store="search",operation="searchContacts",outcome="ok"\} [1-9]/,
      );
    });
  });

  describe('the ingest endpoint', () => {
    it('reports each rejected record and writes the others', async () => {
      const answer = await gateway.ingest('contacts', [
        { contact_id: 'in_1', first_name: 'Good' },
        { contact_id: 'in_2', age: 'old' },
        { contact_id: 'in_3', organization_id: 'org_b' },
        { contact_id: 'in_4', organization_id: 'org_a' },
      ]);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body).to.include({ stream: 'contacts', accepted: 2, rejected: 2 });
      expect(
        (answer.body.errors as { line: number; code: string }[]).map(({ line, code }) => `${line} ${code}`),
      ).to.deep.equal(['2 invalid_type', '3 organization_mismatch']);
      expect(
        (await gateway.call('/api/contacts/get', { ...organization, contact_id: 'in_1' })).status,
      ).to.equal(200);
    });

    it('writes nothing in a dry run, and reports the changes', async () => {
      const records = [{ contact_id: 'in_dry' }, { contact_id: 'in_bad', age: 'old' }];
      const send = (query: string) => gateway.call(`/api/ingest/contacts${query}`, records);
      const dry = await send('?dry_run=true');
      expect(dry.status, dry.text).to.equal(200);
      const { dry_run, records: shown, ...answer } = dry.body;
      expect(dry_run).to.equal(true);
      expect(shown).to.deep.equal([{ line: 1, record: { organization_id: 'org_a', contact_id: 'in_dry' } }]);
      expect(answer).to.include({ stream: 'contacts', accepted: 1, rejected: 1 });
      const found = () => gateway.call('/api/contacts/get', { ...organization, contact_id: 'in_dry' });
      expect((await found()).status).to.equal(404);
      expect((await send('?dry_run=false')).body).to.deep.equal(answer);
      expect((await found()).status).to.equal(200);
    });

    it('rejects unknown and empty parameters before it writes', async () => {
      for (const [query, rule] of [
        ['?dry_run', '?dry_run invalid_type'],
        ['?dry_run=', '?dry_run invalid_type'],
        ['?dryrun=true', '?dryrun unknown_field'],
        ['?on_reject=stop', '?on_reject invalid_value'],
        ['?on_rejects=fail', '?on_rejects unknown_field'],
      ] as const) {
        const answer = await gateway.call(`/api/ingest/contacts${query}`, [{ contact_id: 'in_none' }]);
        expectProblem(answer, 422, 'validation_failed');
        expect(brokenRules(answer), query).to.deep.equal([rule]);
      }
      const none = await gateway.call('/api/contacts/get', { ...organization, contact_id: 'in_none' });
      expect(none.status).to.equal(404);
    });

    it('accepts a JSON array, one object, lines, CSV, gzip and zstd', async () => {
      const records = [{ contact_id: 'in_5' }, { contact_id: 'in_6' }];
      const array = await gateway.call('/api/ingest/contacts', records);
      expect(array.body).to.include({ accepted: 2, rejected: 0 });
      const one = await gateway.call('/api/ingest/contacts', { contact_id: 'in_7' });
      expect(one.body).to.include({ accepted: 1, rejected: 0 });
      const text = records.map((record) => JSON.stringify(record)).join('\n');
      for (const type of ['application/x-ndjson', 'application/ndjson', 'application/jsonl; charset=utf-8']) {
        const headers = { 'Content-Type': type, 'Content-Encoding': 'zstd' };
        const lines = await gateway.call('/api/ingest/contacts', undefined, {
          raw: await compressZstd(Buffer.from(text)),
          headers,
        });
        expect(lines.body, lines.text).to.include({ accepted: 2, rejected: 0 });
      }
      const csv = await gateway.call('/api/ingest/contacts', undefined, {
        raw: 'contact_id,age,phones\r\nin_8,41,1;2\r\nin_9,old,\r\n',
        headers: { 'Content-Type': 'text/csv' },
      });
      expect(csv.body).to.include({ accepted: 1, rejected: 1 });
      expect(csv.body).to.nested.include({ 'errors[0].line': 3, 'errors[0].pointer': '/age' });
      const zipped = await gateway.call('/api/ingest/contacts', undefined, {
        raw: gzipSync(JSON.stringify(records)),
        headers: { 'Content-Encoding': 'gzip' },
      });
      expect(zipped.body).to.include({ accepted: 2, rejected: 0 });
    });

    it('maps the records of another tool by the name of a mapping', async () => {
      const send = (map: string, raw: string, type = 'application/json') =>
        gateway.call(`/api/ingest/network-a-creatives?map=${map}`, undefined, {
          raw,
          headers: { 'Content-Type': type },
        });
      const row = { id: 'in_map', campaign_id: 12, last_modified_at: '2026-01-02 03:04:05.6', other: 1 };
      const json = await send('fivetran-linkedin/creative_history', JSON.stringify(row));
      expect(json.body, json.text).to.include({ accepted: 1, rejected: 0, skipped: 0 });
      const csv = 'id,campaign_id,created_time,other\nin_map_2,12,2026-01-02,x\n,12,2026-01-02,x\n';
      const rows = await send('fivetran-linkedin/creative_history', csv, 'text/csv');
      expect(rows.body, rows.text).to.include({ accepted: 1, rejected: 1 });
      expect(rows.body).to.nested.include({ 'errors[0].line': 3, 'errors[0].pointer': '/id' });
      for (const map of [
        'fivetran-linkedin/creative_histor',
        'fivetran-linkedin/campaign_history',
        '__proto__',
        '',
      ]) {
        const answer = await send(map, '[]');
        expectProblem(answer, 422, 'validation_failed');
        expect(answer.body).to.nested.include({ 'errors[0].pointer': '?map' });
        if (map.endsWith('histor'))
          expect(answer.text).to.contain('Did you mean fivetran-linkedin/creative_history?');
      }
    });

    it('accepts nothing with on_reject=fail when a record is rejected, and names it', async () => {
      const send = (records: object[], query = '') =>
        gateway.call(`/api/ingest/contacts?on_reject=fail${query}`, records);
      const failed = await send([{ contact_id: 'in_fail' }, { contact_id: 'in_bad', age: 'old' }]);
      expectProblem(failed, 422, 'records_rejected');
      expect(failed.body).to.include({ rejected: 1 });
      expect(failed.body).to.nested.include({ 'errors[0].line': 2, 'errors[0].pointer': '/age' });
      const found = () => gateway.call('/api/contacts/get', { ...organization, contact_id: 'in_fail' });
      expect((await found()).status).to.equal(404);
      const good = [{ contact_id: 'in_fail' }];
      expect((await send(good, '&dry_run=true')).body).to.include({ accepted: 1, dry_run: true });
      expect((await found()).status).to.equal(404);
      expect((await send(good)).body).to.include({ accepted: 1, rejected: 0 });
      expect((await found()).status).to.equal(200);
    });

    it('ends after 10 000 rejected records, and says what is durable', async () => {
      const send = (rejected: number, query = '') => {
        const lines = [
          '{"contact_id":"in_first"}',
          ...Array(rejected).fill('{}'),
          '{"contact_id":"in_last"}',
        ];
        const headers = { 'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'gzip' };
        return gateway.call(`/api/ingest/contacts?${query}`, undefined, {
          raw: gzipSync(lines.join('\n')),
          headers,
        });
      };
      expect((await send(9_999, 'dry_run=true')).body).to.include({ accepted: 2, rejected: 9_999 });
      const ended = await send(10_000);
      expectProblem(ended, 422, 'records_rejected');
      expect(ended.body).to.include({ accepted: 1, rejected: 10_000 });
      const statusOf = async (contact_id: string) =>
        (await gateway.call('/api/contacts/get', { ...organization, contact_id })).status;
      expect([await statusOf('in_first'), await statusOf('in_last')]).to.deep.equal([200, 404]);
      const failed = await send(10_000, 'on_reject=fail');
      expectProblem(failed, 422, 'records_rejected');
      expect(failed.body).to.include({ accepted: 0, rejected: 10_000 });
    });

    for (const [type, open, separator, close] of [
      ['application/x-ndjson', '', '\n', ''],
      ['application/json', '[', ',', ']'],
    ] as const) {
      it(`takes 100 000 records as ${type}`, async () => {
        const send = (records: number) => {
          const list = Array(records).fill('{"contact_id":"in_many"}').join(separator);
          return gateway.call('/api/ingest/contacts?dry_run=true', undefined, {
            raw: `${open}${list}${close}`,
            headers: { 'Content-Type': type },
          });
        };
        expect((await send(100_000)).body).to.include({ accepted: 100_000 });
        const answer = await send(100_001);
        expectProblem(answer, 413, 'too_many_records');
        expect(answer.body).to.include({ accepted: 100_000, rejected: 0 });
      });
    }

    it('ignores unknown fields where the request says so, and counts the records', async () => {
      const records = [
        { contact_id: 'in_more', shoe_size: 41 },
        { contact_id: 'in_plain' },
        { contact_id: '' },
      ];
      const rejecting = await gateway.call('/api/ingest/contacts?dry_run=true', records);
      expect(rejecting.body).to.include({ accepted: 1, rejected: 2 }).and.not.have.property('ignored');
      const ignoring = await gateway.call(
        '/api/ingest/contacts?unknown_fields=ignore&on_reject=drop',
        records,
      );
      expect(ignoring.body).to.include({ accepted: 2, rejected: 1, ignored: 1 });
      const none = await gateway.call('/api/ingest/contacts?unknown_fields=ignore', []);
      expect(none.body).to.include({ accepted: 0, ignored: 0 });
    });

    it('rejects a body that it cannot read', async () => {
      const send = (raw: CallOptions['raw'], headers: Record<string, string> = {}) =>
        gateway.call('/api/ingest/contacts', undefined, { raw, headers });
      expectProblem(await send('[{"contact_id": "x"'), 400, 'invalid_json');
      expectProblem(await send('"x"'), 400, 'invalid_body');
      expectProblem(await send('not gzip', { 'Content-Encoding': 'gzip' }), 400, 'invalid_body');
      expectProblem(await send('not zstd', { 'Content-Encoding': 'zstd' }), 400, 'invalid_body');
      expectProblem(await send('[]', { 'Content-Encoding': 'br' }), 415, 'unsupported_media_type');
      const csv = { 'Content-Type': 'text/csv' };
      expectProblem(await send('contact_id,age\nq1,1\n"q2,2\n', csv), 400, 'invalid_body');
      const columns = await send('contact_id,aeg,\nq1,1,2\n', csv);
      expectProblem(columns, 422, 'validation_failed');
      expectProblem(await send(','.repeat(500_000), csv), 422, 'validation_failed');
      expect(columns.text).to.contain('Did you mean age?').and.to.contain('Column 3 has no name.');
      expectProblem(await send('x'.repeat(16 * 1024 * 1024 + 1)), 413, 'body_too_large');
      expectProblem(
        await send(gzipSync(Buffer.alloc(17 * 1024 * 1024, 10)), {
          'Content-Encoding': 'gzip',
          'Content-Type': 'application/x-ndjson',
        }),
        413,
        'body_too_large',
      );
      // Empty members of gzip and skippable frames of zstd; chunked, as the length would tell.
      const skippable = Buffer.alloc(8 + 65_536);
      skippable.set([0x50, 0x2a, 0x4d, 0x18, 0, 0, 1, 0]);
      for (const [encoding, empty] of Object.entries({ gzip: gzipSync(''), zstd: skippable })) {
        const raw = new Blob([Buffer.alloc(17 * 1024 * 1024, empty)]).stream();
        const headers = { 'Content-Encoding': encoding, 'Content-Type': 'application/x-ndjson' };
        expectProblem(await send(raw, headers), 413, 'body_too_large');
      }
      expectProblem(await gateway.call('/api/ingest/contact', [{}]), 404, 'stream_not_found');
    });

    it('requires the scope ingest:write', async () => {
      const key = await gateway.keyFor('org_a', ['contacts:write']);
      expectProblem(await gateway.ingest('contacts', [], { key }), 403, 'insufficient_scope');
    });
  });
});

export const limits = gatewaySuite('A gateway with limits', (start) => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await start({ rateLimit: 3, corsOrigins: ['https://app.example'] });
  });
  after(() => gateway.close());

  it('rate-limits a key and no other', async () => {
    for (let request = 0; request < 3; request++) {
      const answer = await gateway.call(SEARCH, organization);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('RateLimit-Policy')).to.equal('"default";q=3;w=60');
    }
    const rejected = await gateway.call(SEARCH, organization);
    expectProblem(rejected, 429, 'rate_limited');
    expect(Number(rejected.headers.get('Retry-After'))).to.be.within(1, 60);
    const other = await gateway.call(SEARCH, organization, { key: await gateway.keyFor('org_a') });
    expect(other.status).to.equal(200);
  });

  it('answers requests of an allowed origin', async () => {
    const preflight = await gateway.call(SEARCH, undefined, {
      method: 'OPTIONS',
      raw: '',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('Access-Control-Allow-Origin')).to.equal('https://app.example');
    expect(preflight.headers.get('Access-Control-Allow-Headers')).to.include('X-Api-Key');
  });
});
