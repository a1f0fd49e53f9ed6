import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { compressZstd } from '../support/compress.js';
import { type CallOptions, useGateway } from '../support/gateway.js';
import { expectProblem, expectRules } from '../support/problems.js';

const CONTACTS = '/api/ingest/contacts';
const NDJSON = { 'Content-Type': 'application/x-ndjson' };
const MIB = 1024 * 1024;

describe('The ingest endpoint', () => {
  const gateway = useGateway();
  const send = (raw: CallOptions['raw'], headers: Record<string, string> = {}, query = '') =>
    gateway.call(`${CONTACTS}${query}`, undefined, { raw, headers });
  const post = (query: string, ...records: object[]) => gateway.call(`${CONTACTS}${query}`, records);
  const isStored = async (contact_id: string) =>
    (await gateway.call('/api/contacts/get', { organization_id: 'org_a', contact_id })).status === 200;

  it('reports each rejected record and writes the others', async () => {
    const answer = await gateway.ingest('contacts', [
      { contact_id: 'good', first_name: 'Good' },
      { contact_id: 'old', age: 'old' },
      { contact_id: 'foreign', organization_id: 'org_b' },
      { contact_id: 'own', organization_id: 'org_a' },
    ]);
    expect(answer.body, answer.text).to.include({ stream: 'contacts', accepted: 2, rejected: 2 });
    const errors = answer.body.errors as { line: number; code: string }[];
    expect(errors.map(({ line, code }) => `${line} ${code}`)).to.deep.equal([
      ...['2 invalid_type', '3 organization_mismatch'],
    ]);
    expect([await isStored('good'), await isStored('old')]).to.deep.equal([true, false]);
  });

  it('writes nothing in a dry run, and reports the changes', async () => {
    const records = [{ contact_id: 'dry' }, { contact_id: 'bad', age: 'old' }];
    const { dry_run, records: shown, ...answer } = (await post('?dry_run=true', ...records)).body;
    expect(dry_run).to.equal(true);
    expect(shown).to.deep.equal([{ line: 1, record: { organization_id: 'org_a', contact_id: 'dry' } }]);
    expect(answer).to.include({ stream: 'contacts', accepted: 1, rejected: 1 });
    expect(await isStored('dry')).to.equal(false);
    expect((await post('?dry_run=false', ...records)).body).to.deep.equal(answer);
    expect(await isStored('dry')).to.equal(true);
  });

  it('names in a dry run of CSV what each of its columns becomes', async () => {
    const csv = 'Record ID,Email,first name,Last Name,Notes\n1,ada@acme.example,Ada,Lovelace,hello\n';
    const type = { 'Content-Type': 'text/csv' };
    const { body } = await send(csv, type, '?map=auto&dry_run=true');
    expect(body.columns).to.deep.equal([
      { column: 'Record ID', fields: ['contact_id'] },
      { column: 'Email', fields: ['work_emails'] },
      { column: 'first name', fields: ['first_name'] },
      { column: 'Last Name', fields: ['last_name'] },
      { column: 'Notes', fields: [] },
    ]);
    const own = await send('contact_id,City\n1,Bern\n', type, '?dry_run=true');
    expect(own.body.columns).to.deep.equal([
      { column: 'contact_id', fields: ['contact_id'] },
      { column: 'City', fields: ['city'] },
    ]);
    expect((await send(csv, type, '?map=auto')).body).not.to.have.property('columns');
  });

  it('names in a dry run the line of each record, also where a list holds several', async () => {
    const company = (id: string) => ({ id, attributes: { name: id } });
    const pages = [['a', 'b'], ['c']].map((names) => ({
      data: names.map((name) => ({ relationships: { company: company(name) } })),
    }));
    const path = '/api/ingest/network-a-companies?dry_run=true&map=leadfeeder/web-visit-companies';
    const { body } = await gateway.call(path, pages);
    const shown = body.records as { line: number; record: { id: string } }[];
    expect(shown.map(({ line, record }) => [line, record.id])).to.deep.equal([
      [1, 'a'],
      [1, 'b'],
      [2, 'c'],
    ]);
  });

  it('rejects unknown and empty parameters before it writes', async () => {
    for (const [query, rule] of [
      ['?dry_run', '?dry_run invalid_type'],
      ['?dry_run=', '?dry_run invalid_type'],
      ['?dryrun=true', '?dryrun unknown_field'],
      ['?on_reject=stop', '?on_reject invalid_value'],
      ['?on_rejects=fail', '?on_rejects unknown_field'],
    ] as const)
      expectRules(await post(query, { contact_id: 'none' }), [rule]);
    expect(await isStored('none')).to.equal(false);
  });

  it('accepts a JSON array, one object, lines, CSV, gzip and zstd', async () => {
    const records = JSON.stringify([{ contact_id: 'a' }, { contact_id: 'b' }]);
    const lines = await compressZstd(Buffer.from('{"contact_id":"a"}\n{"contact_id":"b"}'));
    const typed = (type: string, encoding = 'identity') => ({
      'Content-Type': type,
      'Content-Encoding': encoding,
    });
    for (const [raw, headers, accepted] of [
      [records, typed('application/json'), 2],
      ['{"contact_id":"c"}', typed('application/json'), 1],
      [gzipSync(records), typed('application/json', 'gzip'), 2],
      [lines, typed('application/x-ndjson', 'zstd'), 2],
      [lines, typed('application/ndjson', 'zstd'), 2],
      [lines, typed('application/jsonl; charset=utf-8', 'zstd'), 2],
    ] as const)
      expect((await send(raw, headers)).body, headers['Content-Type']).to.include({ accepted, rejected: 0 });
    const { body } = await send('contact_id,age,phones\r\nd,41,1;2\r\ne,old,\r\n', typed('text/csv'));
    expect(body).to.nested.include({ accepted: 1, 'errors[0].line': 3, 'errors[0].pointer': '/age' });
  });

  it('maps the records of another tool by the name of a mapping', async () => {
    const map = (name: string, raw: string, type = 'application/json') =>
      gateway.call(`/api/ingest/network-a-creatives?map=${name}`, undefined, {
        raw,
        headers: { 'Content-Type': type },
      });
    const HISTORY = 'fivetran-linkedin/creative_history';
    const created_time = '2026-01-01 00:00:00';
    const row = { id: 'mapped', campaign_id: 12, created_time, last_modified_at: '2026-01-02 03:04:05.6' };
    const json = await map(HISTORY, JSON.stringify(row));
    expect(json.body, json.text).to.include({ accepted: 1, rejected: 0, skipped: 0 });
    const csv = 'id,campaign_id,created_time,other\nmapped_2,12,2026-01-02,x\n,12,2026-01-02,x\n';
    const { body } = await map(HISTORY, csv, 'text/csv');
    expect(body).to.nested.include({ accepted: 1, 'errors[0].line': 3, 'errors[0].pointer': '/id' });
    const other = await map(HISTORY, 'id,campaign_id,state\n1,12,ACTIVE\n', 'text/csv');
    expectProblem(other, 422, 'validation_failed');
    expect(other.text).to.contain(
      'it lacks \\"created_time\\". Let the preset be recognized with ?map=auto.',
    );
    for (const name of ['fivetran-linkedin/campaign_history', '__proto__', '', HISTORY.slice(0, -1)]) {
      const answer = await map(name, '[]');
      expectProblem(answer, 422, 'validation_failed');
      expect(answer.body).to.nested.include({ 'errors[0].pointer': '?map' });
      if (name.endsWith('histor')) expect(answer.text).to.contain(`Did you mean ${HISTORY}?`);
    }
  });

  it('rejects a deeply nested record, also one that a mapping reads, and takes those around it', async () => {
    const nested = `{"data":[{"id":"deep","attributes":${'{"x":'.repeat(6000)}1${'}'.repeat(6000)}}]}`;
    const attributes = { started_at: '2026-01-02T03:04:05Z', visit_length: 9, page_depth: 2 };
    const good = (id: string) => JSON.stringify({ data: [{ id, type: 'visits', attributes }] });
    const answer = await gateway.call('/api/ingest/website-visits?map=leadfeeder/visits', undefined, {
      raw: [good('deep1'), nested, good('deep2')].join('\n'),
      headers: NDJSON,
    });
    expect(answer.body, answer.text).to.include({ accepted: 2, rejected: 1 });
    expect((answer.body.errors as object[])[0]).to.include({ line: 2, code: 'too_deep' });
    const plain = await send(
      `{"contact_id":"d1"}\n{"contact_id":"d2","phones":${'['.repeat(6000)}${']'.repeat(6000)}}`,
      NDJSON,
    );
    expect(plain.body, plain.text).to.include({ accepted: 1, rejected: 1 });
  });

  it('refuses a table that can be read in two ways, with both readings, and takes it once the request says which', async () => {
    const send = (query: string, raw: string) =>
      gateway.call(`/api/ingest/network-a-deliveries?${query}`, undefined, {
        raw,
        headers: { 'Content-Type': 'text/csv' },
      });
    const report = (day: string, spent: string) =>
      `Start Date (in UTC)\tCampaign ID\tTotal Spent\tImpressions\n${day}\tc_locale\t${spent}\t999\n`;
    const map = 'map=linkedin-campaign-manager/campaign-performance';
    const dates = await send(map, report('05/10/2025', '1.5'));
    expectProblem(dates, 422, 'validation_failed');
    expect(dates.body).to.nested.include({ 'errors[0].code': 'ambiguous_date' });
    for (const text of ['05/10/2025', '2025-10-05', '2025-05-10', '?date_order=']) {
      expect(dates.text).to.contain(text);
    }
    const numbers = await send(map, report('2025-10-05', '1.234'));
    expect(numbers.body).to.nested.include({ 'errors[0].code': 'ambiguous_number' });
    for (const text of ['1.234', '1234', '?decimal=']) expect(numbers.text).to.contain(text);
    const told = await send(`${map}&date_order=dmy&decimal=,&dry_run=true`, report('05/10/2025', '1.234'));
    expect(told.body, told.text).to.include({ accepted: 1, rejected: 0 });
    expect(told.body).to.nested.include({
      'records[0].record.date': '2025-10-05',
      'records[0].record.ad_spend': '1234',
    });
  });

  it('leaves out what a spreadsheet made of a value, and counts the records', async () => {
    const answer = await gateway.call('/api/ingest/contacts?map=hubspot/contacts', undefined, {
      raw: readFileSync('test/data/foreign/10-excel-cells.csv'),
      headers: { 'Content-Type': 'text/csv' },
    });
    expect(answer.body, answer.text).to.include({ accepted: 2, rejected: 0, invalid_values: 2 });
    const person = { organization_id: 'org_a', contact_id: '901' };
    const { contact } = (await gateway.call('/api/contacts/get', person)).body;
    expect(contact).to.include({ city: null, postal_code: '01067' });
    expect(JSON.stringify(contact)).to.not.contain('4.93');
  });

  it('stores domains in their normal form, and counts texts that are none', async () => {
    const answer = await post('', { contact_id: 'site', company_domain: 'https://www.Acme.example/en' });
    expect(answer.body).to.include({ accepted: 1, invalid_domains: 0 });
    const none = await post('', { contact_id: 'site', company_domain: 'n/a' });
    expect(none.body).to.include({ accepted: 1, invalid_domains: 1 });
    const { body } = await gateway.call('/api/contacts/get', {
      organization_id: 'org_a',
      contact_id: 'site',
    });
    expect(body).to.nested.include({ 'contact.company_domain': 'acme.example' });
  });

  it('recognizes the preset of records, and says which mappings there are', async () => {
    const call = (query: string, raw: string) =>
      gateway.call(`/api/ingest/contacts?dry_run=true&${query}`, undefined, {
        raw,
        headers: { 'Content-Type': 'text/csv' },
      });
    const hubspot = 'Record ID,First Name,Last Name,Email\n1,Ann,Lee,a@x.example\n';
    expect((await call('map=auto', hubspot)).body).to.include({ accepted: 1, preset: 'hubspot/contacts' });
    const unknown = await call('map=auto', 'A,B\n1,2\n');
    expectRules(unknown, ['?map unknown_mapping']);
    expect(unknown.text).to.contain('No preset fits.');
    const elsewhere = await call('map=auto', 'idVisit,visitorId,firstActionTimestamp\n1,2,3\n');
    expect(elsewhere.text).to.contain('(?map=matomo/visits)');
    expect((await call('preset=hubspot', hubspot)).text).to.contain('Did you mean map?');
    expect((await call('map=crm', hubspot)).text).to.contain('hubspot/contacts');
    for (const name of ['hubspot', 'hubspto', 'hubspot/contcats'])
      expect((await call(`map=${name}`, hubspot)).text).to.contain('Did you mean hubspot/contacts?');
  });

  it('accepts nothing with on_reject=fail when a record is rejected, and names it', async () => {
    const failed = await post('?on_reject=fail', { contact_id: 'fail' }, { contact_id: 'bad', age: 'old' });
    expectProblem(failed, 422, 'records_rejected');
    const first = { rejected: 1, 'errors[0].line': 2, 'errors[0].pointer': '/age' };
    expect(failed.body).to.nested.include(first);
    const good = { contact_id: 'fail' };
    expect((await post('?on_reject=fail&dry_run=true', good)).body).to.include({
      accepted: 1,
      dry_run: true,
    });
    expect(await isStored('fail')).to.equal(false);
    expect((await post('?on_reject=fail', good)).body).to.include({ accepted: 1, rejected: 0 });
    expect(await isStored('fail')).to.equal(true);
  });

  it('rejects a row of CSV that is too long, and accepts those before and after it', async () => {
    const long = `"long\n${'x'.repeat(1100 * 1024)}"`;
    const rows = Array.from({ length: 40 }, (_, index) => (index === 20 ? long : `row${index}`));
    const answer = await send(`contact_id\n${rows.join('\n')}\n`, { 'Content-Type': 'text/csv' });
    expect(answer.body, answer.text).to.include({ accepted: 39, rejected: 1 });
    expect(answer.body.errors).to.have.length(1);
    expect((answer.body.errors as object[])[0]).to.include({ line: 22, code: 'line_too_long' });
    expect([await isStored('row19'), await isStored('row39')]).to.deep.equal([true, true]);
  });

  it('keeps and tells what was rejected also where the body ends in an error', async () => {
    const rows = Array.from({ length: 12_000 }, (_, index) =>
      index % 1000 === 0 ? `ended${index},old` : `ended${index},30`,
    );
    const csv = `contact_id,age\n${rows.join('\n')}\n"never closed`;
    const answer = await send(csv, { 'Content-Type': 'text/csv' });
    expectProblem(answer, 400, 'invalid_body');
    const { accepted, rejected, errors } = answer.body as {
      accepted: number;
      rejected: number;
      errors: object[];
    };
    expect(accepted + rejected).to.be.at.least(10_000);
    expect(errors[0]).to.include({ line: 2, code: 'invalid_number' });
    expect(await isStored('ended1')).to.equal(true);
    const kept = await gateway.call('/api/rejections/list', { organization_id: 'org_a', limit: 100 });
    const ids = (kept.body.rejections as { record_id: string }[]).map(({ record_id }) => record_id);
    expect(ids.filter((id) => id?.startsWith('ended'))).to.have.length(rejected);
  });

  it('ends after 10 000 rejected records, and says what is durable', async () => {
    const reject = (count: number, query: string) => {
      const lines = ['{"contact_id":"first"}', ...Array(count).fill('{}'), '{"contact_id":"last"}'];
      return send(gzipSync(lines.join('\n')), { ...NDJSON, 'Content-Encoding': 'gzip' }, query);
    };
    const ended = await reject(10_000, '');
    expectProblem(ended, 422, 'records_rejected');
    expect(ended.body).to.include({ accepted: 1, rejected: 10_000 });
    expect([await isStored('first'), await isStored('last')]).to.deep.equal([true, false]);
    const failed = await reject(10_000, '?on_reject=fail');
    expectProblem(failed, 422, 'records_rejected');
    expect(failed.body).to.include({ accepted: 0, rejected: 10_000 });
  });

  it('takes any number of records, and more bytes than are held', async () => {
    const line = `{"contact_id":"many","last_name":"${'x'.repeat(100)}"}`;
    const list = Array(300_000).fill(line);
    const answer = await send(list.join('\n'), NDJSON, '?dry_run=true');
    expect(answer.body, answer.text).to.include({ accepted: 300_000, rejected: 0 });
    const checked = await send(
      `contact_id,last_name\n${'1,x\n'.repeat(150_000)}`,
      { 'Content-Type': 'text/csv' },
      '?dry_run=true&on_reject=fail',
    );
    expect(checked.body, checked.text).to.include({ accepted: 150_000 });
  });

  it('keeps no name of an unknown field, which is text of its sender', async () => {
    const { body } = await post('', { contact_id: 'named', 'eve@private.example': 1 });
    expect(body).to.nested.include({ 'errors[0].pointer': '/eve@private.example' });
    const kept = await gateway.call('/api/rejections/list', { organization_id: 'org_a', limit: 1 });
    expect(kept.body).to.nested.include({
      'rejections[0].code': 'unknown_field',
      'rejections[0].pointer': '',
    });
    expect(kept.text).not.to.contain('private.example');
  });

  it('ignores unknown fields where the request says so, and counts the records', async () => {
    const records = [{ contact_id: 'more', shoe_size: 41 }, { contact_id: 'plain' }, { contact_id: '' }];
    const rejecting = await post('?dry_run=true', ...records);
    expect(rejecting.body).to.include({ accepted: 1, rejected: 2 }).and.not.have.property('ignored');
    const ignoring = await post('?unknown_fields=ignore&on_reject=drop', ...records);
    expect(ignoring.body).to.include({ accepted: 2, rejected: 1, ignored: 1 });
    expect((await post('?unknown_fields=ignore')).body).to.include({ accepted: 0, ignored: 0 });
  });

  // Empty gzip members and skippable zstd frames; sent chunked, because a length would reveal them.
  const skippable = Buffer.alloc(8 + 65_536);
  skippable.set([0x50, 0x2a, 0x4d, 0x18, 0, 0, 1, 0]);
  const chunked = (bytes: Buffer) => () => new Blob([Buffer.alloc(17 * MIB, bytes)]).stream();
  const csv = { 'Content-Type': 'text/csv' };
  const unreadable: [
    what: string,
    raw: string | Uint8Array | (() => ReadableStream),
    headers: Record<string, string>,
    expected: [status: number, code: string],
  ][] = [
    ['half an array', '[{"contact_id": "x"', {}, [400, 'invalid_json']],
    ['a string', '"x"', {}, [400, 'invalid_body']],
    ['no gzip', 'not gzip', { 'Content-Encoding': 'gzip' }, [400, 'invalid_body']],
    ['no zstd', 'not zstd', { 'Content-Encoding': 'zstd' }, [400, 'invalid_body']],
    ['another encoding', '[]', { 'Content-Encoding': 'br' }, [415, 'unsupported_media_type']],
    ['CSV with an open quote', 'contact_id,age\nq1,1\n"q2,2\n', csv, [400, 'invalid_body']],
    ['CSV of too many columns', ','.repeat(500_000), csv, [422, 'validation_failed']],
    ['more than 16 MiB of an array', 'x'.repeat(16 * MIB + 1), {}, [413, 'body_too_large']],
    [
      'more once unzipped',
      gzipSync(Buffer.alloc(17 * MIB, 10)),
      { 'Content-Encoding': 'gzip' },
      [413, 'body_too_large'],
    ],
    ['empty members of gzip', chunked(gzipSync('')), { 'Content-Encoding': 'gzip' }, [413, 'body_too_large']],
    ['skippable frames of zstd', chunked(skippable), { 'Content-Encoding': 'zstd' }, [413, 'body_too_large']],
  ];
  for (const [what, raw, headers, [status, code]] of unreadable) {
    it(`rejects a body of ${what} as ${code}`, async () => {
      expectProblem(await send(typeof raw === 'function' ? raw() : raw, headers), status, code);
    });
  }

  it('names columns of CSV that it does not know', async () => {
    const columns = await send('contact_id,aeg,\nq1,1,2\n', csv);
    expectProblem(columns, 422, 'validation_failed');
    expect(columns.text).to.contain('Did you mean age?').and.to.contain('Column 3 has no name.');
  });

  it('rejects an unknown stream, and a key without the scope ingest:write', async () => {
    expectProblem(await gateway.call('/api/ingest/contact', [{}]), 404, 'stream_not_found');
    const key = await gateway.keyFor('org_a', ['contacts:write']);
    expectProblem(await gateway.ingest('contacts', [], { key }), 403, 'insufficient_scope');
  });
});
