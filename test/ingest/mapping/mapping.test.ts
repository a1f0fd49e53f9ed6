import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { compileMapping } from '../../../ingest/mapping/compile.js';
import { mapSource } from '../../../ingest/mapping/map-source.js';
import type { Mapping, SourceRecord } from '../../../ingest/mapping/mapping.js';
import { MAPPING_SCHEMA, type MappingFile, parseMappingFile } from '../../../ingest/mapping/mapping-file.js';
import { STREAMS, type StreamName } from '../../../ingest/streams/index.js';

const compile = (stream: StreamName, file: MappingFile): Mapping =>
  compileMapping(parseMappingFile(JSON.stringify(file)), STREAMS[stream]);

/** The record that a source record becomes, or the code of its rejection. */
function mapped(mapping: Mapping, source: unknown): unknown {
  const outcome = mapping.apply(JSON.parse(JSON.stringify(source)));
  if (outcome === 'skipped') return outcome;
  return 'record' in outcome ? outcome.record : outcome.code;
}

const contact = (fields: MappingFile['fields'], rest: Partial<MappingFile> = {}) =>
  compile('contacts', { ignore: 'rest', ...rest, fields });
const delivery = (fields: MappingFile['fields'], rest: Partial<MappingFile> = {}) =>
  compile('network-a-deliveries', { ignore: 'rest', ...rest, fields });

describe('A mapping', () => {
  it('takes values from columns, nested paths and lists', () => {
    const mapping = contact({
      contact_id: 'id',
      first_name: 'properties.name.first',
      city: 'Country/Region. City',
      phones: 'phones[1]',
      work_emails: { all: ['emails', 'E-Mail 2'] },
      age: 'age',
    });
    const source = {
      id: 17,
      properties: { name: { first: ' Ann ' } },
      'Country/Region. City': 'Ulm',
      phones: ['1', '2'],
      emails: ['a@x.de', null, 'b@x.de'],
      'E-Mail 2': 'b@x.de; c@x.de',
      age: '41',
    };
    expect(mapped(mapping, source)).to.deep.equal({
      contact_id: '17',
      first_name: 'Ann',
      city: 'Ulm',
      phones: ['2'],
      work_emails: ['a@x.de', 'b@x.de', 'c@x.de'],
      age: 41,
    });
  });

  it('takes the first alternative that gives a value, and leaves the field out where none does', () => {
    const mapping = contact({
      contact_id: ['crm_id', { path: 'urn', prefix: 'urn:li:person:' }, 'Email'],
      job_title: ['title', 'role'],
    });
    const id = (source: object) => (mapped(mapping, source) as { contact_id?: string }).contact_id;
    expect(id({ crm_id: ' ', urn: 'urn:li:person:9' })).to.equal('9');
    expect(id({ urn: 'urn:li:company:9', Email: ' ann@example.com ' })).to.equal('ann@example.com');
    expect(mapped(mapping, { title: null, role: '' })).to.deep.equal({});
  });

  it('opens envelopes, and reads what the record lacks from the message', () => {
    const mapping = delivery(
      {
        date: 'day',
        campaign_id: 'campaign',
        reported_at: { path: 'emitted_at', format: ['unix_ms', 'iso'] },
      },
      { envelope: ['record.data', 'data'], where: { stream: ['reports', ''], type: 'RECORD' } },
    );
    const record = { day: '2026-01-02', campaign: 7, type: 'TEXT_AD' };
    const expected = { date: '2026-01-02', campaign_id: '7' };
    expect(mapped(mapping, { type: 'RECORD', data: record, emitted_at: 1e12 })).to.deep.equal({
      ...expected,
      reported_at: '2001-09-09T01:46:40.000Z',
    });
    const nested = {
      type: 'RECORD',
      stream: 'reports',
      record: { data: record },
      emitted_at: '2026-01-03T00:00:00Z',
    };
    expect(mapped(mapping, nested)).to.deep.equal({ ...expected, reported_at: '2026-01-03T00:00:00Z' });
    expect(mapped(mapping, { ...record, type: 'RECORD', data: [] })).to.deep.equal(expected);
    expect(mapped(mapping, { type: 'STATE', data: record })).to.equal('skipped');
    expect(mapped(mapping, { type: 'RECORD', stream: 'others', data: record })).to.equal('skipped');
  });

  it('takes the entry of a list that has a name', () => {
    const mapping = contact({ contact_id: 'params[key=id].value.text' });
    const params = [{ key: 'x', value: { text: '1' } }, null, { key: 'id', value: { text: '2' } }];
    expect(mapped(mapping, { params })).to.deep.equal({ contact_id: '2' });
    for (const none of [[], {}, 'id', [['key', 'id']], params.slice(0, 2)]) {
      expect(mapped(mapping, { params: none })).to.deep.equal({});
    }
  });

  it('reads paths into cells that hold JSON', () => {
    const mapping = contact({ contact_id: 'a.b[1].c' });
    expect(mapped(mapping, { a: ' {"b": [0, {"c": 7}]}' })).to.deep.equal({ contact_id: '7' });
    expect(mapped(mapping, { a: { b: '[0, {"c": 7}]' } })).to.deep.equal({ contact_id: '7' });
    for (const none of ['{"b": [', 'b', '', '"b"', `{"b": [0, {"c": 7}]}${' '.repeat(65_536)}`]) {
      expect(mapped(mapping, { a: none })).to.deep.equal({});
    }
  });

  it('fills templates and constants', () => {
    const mapping = contact({
      contact_id: { template: 'unknown_{id}' },
      job_title: { template: '{first} {middle} {last}, {{{age}}}' },
      data_import_id: { value: 2026 },
      phones: { value: ['1'] },
    });
    expect(mapped(mapping, { first: 'Ann', last: 'Lee', age: 5 })).to.deep.equal({
      job_title: 'Ann Lee, {5}',
      data_import_id: '2026',
      phones: ['1'],
    });
  });

  it('takes unmentioned fields under their own names, and rejects fields that the stream does not have', () => {
    const mapping = contact({ contact_id: 'id' }, { ignore: ['Notes'], timezone: 'UTC' });
    const source = {
      id: '1',
      Notes: 'x',
      age: '5',
      city: null,
      state_region: '',
      updated_at: '2026-01-02 03:04',
    };
    expect(mapped(mapping, source)).to.deep.equal({
      contact_id: '1',
      age: 5,
      city: null,
      updated_at: '2026-01-02T03:04:00Z',
    });
    const outcome = mapping.apply({ id: '1', fist_name: 'x' });
    expect(outcome).to.include({ code: 'unknown_field' });
    expect(mapping.checkColumns(['id', 'Notes', 'fist_name', ''])).to.deep.equal([
      'The column "fist_name" is not a field of contacts. Did you mean first_name?',
      'Column 4 has no name.',
    ]);
    expect(mapping.missingPaths(['Notes'])).to.deep.equal(['id']);
  });

  it('skips records that its condition leaves out', () => {
    const mapping = contact({ contact_id: 'id' }, { where: { 'event.type': ['page', 'screen'] } });
    expect(mapped(mapping, { id: '1', event: { type: 'page' } })).to.deep.equal({ contact_id: '1' });
    expect(mapped(mapping, { id: '1', event: { type: 'track' } })).to.equal('skipped');
    expect(mapped(mapping, { id: '1', event: { type: { toString: 1 } } })).to.equal('skipped');
  });

  it('picks the entries of a list that have a prefix', () => {
    const pivots = { pivotValues: ['urn:li:sponsoredCampaign:12', 'urn:li:sponsoredCreative:34'] };
    const mapping = delivery({
      campaign_id: { path: 'pivotValues', prefix: 'urn:li:sponsoredCampaign:' },
      creative_id: { path: 'pivotValues', prefix: 'urn:li:sponsoredCreative:' },
    });
    expect(mapped(mapping, pivots)).to.deep.equal({ campaign_id: '12', creative_id: '34' });
  });

  it('changes texts: host, lower case, signs at the ends, words of a name, a table of values', () => {
    const mapping = contact({
      contact_id: { path: 'Email', lower: true },
      first_name: { path: 'Name', part: 'first_word' },
      last_name: { path: 'Name', part: 'rest' },
      company_domain: [
        { path: 'Website', host: true },
        { path: 'Email', host: true },
      ],
      job_title: { path: 'Title', trim: '"\'' },
      functional_area: { path: 'Level', lower: true, lookup: { vp: 'Vice president' } },
      personal_emails: { path: 'Others', split: ',', lower: true },
    });
    const ann = {
      Email: 'Ann@Acme.example',
      Name: 'Ann  Marie Lee',
      Website: 'n/a',
      Title: " 'CTO' ",
      Level: 'VP',
      Others: ['A@x.example', 'b@x.example'],
    };
    expect(mapped(mapping, ann)).to.deep.equal({
      contact_id: 'ann@acme.example',
      first_name: 'Ann',
      last_name: 'Marie Lee',
      company_domain: 'acme.example',
      job_title: 'CTO',
      functional_area: 'Vice president',
      personal_emails: ['a@x.example', 'b@x.example'],
    });
    expect(mapped(mapping, { Email: 'x', Name: 'Ann', Level: 'Chief' })).to.deep.equal({
      contact_id: 'x',
      first_name: 'Ann',
      functional_area: 'chief',
    });
  });

  it('makes a record of each entry of a list, with the line of the list and an order of its own', async () => {
    const mapping = contact({ contact_id: 'id', company_name: 'firm' }, { each: 'people' });
    const messages = [
      { firm: 'Acme', people: [{ id: 'a' }, { id: 'b', firm: 'Other' }] },
      { id: 'c', firm: 'Single' },
    ];
    const source = (async function* () {
      yield messages.map((value, index) => ({ line: index + 1, bytes: Buffer.from(JSON.stringify(value)) }));
    })();
    const records: unknown[] = [];
    for await (const chunk of mapSource(source, mapping)) {
      records.push(...chunk.map(({ line, order, mapped }) => [line, order, mapped]));
    }
    expect(records).to.deep.equal([
      [1, 1, { contact_id: 'a', company_name: 'Acme' }],
      [1, 2, { contact_id: 'b', company_name: 'Other' }],
      [2, 3, { contact_id: 'c', company_name: 'Single' }],
    ]);
  });

  it('takes either the entries of a list or the columns of a row', () => {
    const both = { each: 'people', each_column: { name: 'month', value: 'count' } };
    expect(() => contact({ contact_id: 'id' }, both)).to.throw('each_column: Give either this or each.');
  });

  it('names a date that fits its format and does not exist, with both', () => {
    const mapping = delivery({ date: { path: 'day', format: ['DD.MM.YYYY', 'iso'] } });
    for (const [day, format] of [
      ['30.02.2026', 'DD.MM.YYYY'],
      ['2026-02-30', 'iso'],
    ]) {
      const outcome = mapping.apply({ day });
      expect(outcome).to.deep.include({
        code: 'invalid_date',
        detail: `date is "${day}": it fits ${format}, but there is no such date.`,
      });
    }
    expect(mapped(mapping, { day: '29.02.2024' })).to.deep.equal({ date: '2024-02-29' });
  });

  it('reads numbers with the decimal mark of their locale', () => {
    const mapping = delivery({
      clicks: { path: 'clicks', decimal: '.' },
      conversion_value: { path: 'value', decimal: ',' },
    });
    expect(mapped(mapping, { clicks: '1,234', value: '1.234,50' })).to.deep.equal({
      clicks: 1234,
      conversion_value: '1234.50',
    });
    expect(mapped(mapping, {})).to.deep.equal({});
  });

  it('writes money with an exponent out', () => {
    const mapping = delivery({ ad_spend: 'cost' });
    for (const [cost, amount] of [
      ['-2e-18', '-0.000000000000000002'],
      ['0E-18', '0'],
      ['1.5e3', '1500'],
      [24.457317520310493, 24.457317520310493],
    ]) {
      expect(mapped(mapping, { cost })).to.deep.equal({ ad_spend: amount });
    }
  });

  it('joins a row of another table', () => {
    const mapping = compile('network-a-deliveries', {
      fields: {
        creative_id: { path: 'creative', prefix: 'urn:c:' },
        campaign_id: [{ path: 'creatives.campaign', prefix: 'urn:g:' }, { template: 'unknown_{creative}' }],
      },
      join: {
        creatives: {
          table: 'creative_history',
          on: { path: 'creative', prefix: 'urn:c:' },
          key: 'id',
          newest: ['modified', 'created'],
        },
      },
    });
    const plan = mapping.joins.creatives;
    const row = { id: 7, campaign: 'urn:g:3', created: '2026', other: 'x' };
    expect([plan?.table, plan?.keyOf(row), plan?.versionOf(row), plan?.pick(row)]).to.deep.equal([
      'creative_history',
      '7',
      '2026',
      { campaign: 'urn:g:3' },
    ]);
    const joined = mapping.withJoins({ creatives: new Map([['7', { campaign: 'urn:g:3' }]]) });
    expect(mapped(joined, { creative: 'urn:c:7' })).to.deep.equal({ creative_id: '7', campaign_id: '3' });
    expect(mapped(joined, { creative: 'urn:c:8' })).to.deep.equal({
      creative_id: '8',
      campaign_id: 'unknown_urn:c:8',
    });
  });
});

describe('Dates of a mapping', () => {
  const date = (format: string | undefined, value: unknown, timezone?: string) => {
    const source = { path: 'at', ...(format === undefined ? {} : { format }) };
    const mapping = contact({ updated_at: source }, timezone === undefined ? {} : { timezone });
    const record = mapped(mapping, { at: value });
    return typeof record === 'string' ? record : (record as { updated_at?: string }).updated_at;
  };

  it('are read as exports write them', () => {
    const cases: [string | undefined, unknown, string][] = [
      [undefined, '2024-01-02T03:04:05.000+0000', '2024-01-02T03:04:05.000+00:00'],
      [undefined, '2024-01-02 03:04', '2024-01-02T03:04:00Z'],
      [undefined, '2026-11-20 10:00:00.100', '2026-11-20T10:00:00.100Z'],
      [undefined, '2026-11-20 10:00:00.100+00', '2026-11-20T10:00:00.100+00:00'],
      [undefined, '2026-11-20 10:00:00.1 -0330', '2026-11-20T10:00:00.1-03:30'],
      [undefined, '2026-11-20 10:00:00 UTC', '2026-11-20T10:00:00Z'],
      [undefined, '2026-11-20', '2026-11-20T00:00:00Z'],
      ['MM/DD/YYYY', '01/31/2024', '2024-01-31T00:00:00Z'],
      ['M/D/YY h:mm A', '1/2/24 12:05 am', '2024-01-02T00:05:00Z'],
      ['M/D/YY h:mm A', '1/2/70 1:05 PM', '1970-01-02T13:05:00Z'],
      ['DD.MM.YYYY HH:mm', '31.12.2024 23:59', '2024-12-31T23:59:00Z'],
      ['DD MMM YYYY', '02 Jan 2024', '2024-01-02T00:00:00Z'],
      ['D MMMM YYYY', '2 February 2024', '2024-02-02T00:00:00Z'],
      ['YYYY-MM-DDTHH:mm:ss.SSSZ', '2024-01-02T03:04:05.123456+0100', '2024-01-02T03:04:05.123456+01:00'],
      ['YYYYMMDD', 20240102, '2024-01-02T00:00:00Z'],
      ['unix_s', 1704164645, '2024-01-02T03:04:05.000Z'],
      ['unix_ms', '1704164645000', '2024-01-02T03:04:05.000Z'],
      ['unix_us', 1704164645000000, '2024-01-02T03:04:05.000Z'],
    ];
    for (const [format, value, expected] of cases) {
      expect(date(format, value, 'UTC'), `${format} ${value}`).to.equal(expected);
    }
  });

  it('are rejected in another form than the one named, and without offset where no time zone is named', () => {
    expect(date('MM/DD/YYYY', '2024-01-31', 'UTC')).to.equal('invalid_date_time');
    expect(date(undefined, '31.12.2024', 'UTC')).to.equal('invalid_date_time');
    expect(date(undefined, '2024-01-02 03:04')).to.equal('invalid_date_time');
    expect(date(undefined, 1704164645, 'UTC')).to.equal('invalid_date_time');
    expect(date('unix_s', '1'.repeat(17), 'UTC')).to.equal('invalid_date_time');
  });

  it('take the offset of their time zone at that moment, across clock changes', () => {
    const berlin = (local: string) => date(undefined, local, 'Europe/Berlin');
    expect(berlin('2024-01-02 03:04')).to.equal('2024-01-02T03:04:00+01:00');
    expect(berlin('2024-07-02 03:04')).to.equal('2024-07-02T03:04:00+02:00');
    // The hour that is skipped, and the hour that occurs twice.
    expect(berlin('2024-03-31 01:59:59')).to.equal('2024-03-31T01:59:59+01:00');
    expect(berlin('2024-03-31 02:30')).to.equal('2024-03-31T02:30:00+01:00');
    expect(berlin('2024-03-31 03:00')).to.equal('2024-03-31T03:00:00+02:00');
    expect(berlin('2024-10-27 02:30')).to.equal('2024-10-27T02:30:00+02:00');
    expect(berlin('2024-10-27 03:00')).to.equal('2024-10-27T03:00:00+01:00');
    expect(date(undefined, '2024-06-01 12:00', 'Asia/Kathmandu')).to.equal('2024-06-01T12:00:00+05:45');
    expect(date(undefined, '2011-12-30 12:00', 'Pacific/Apia')).to.equal('2011-12-30T12:00:00-10:00');
    // Local mean time has an offset of seconds.
    expect(date(undefined, '1850-01-01 12:00', 'Europe/Berlin')).to.equal('1850-01-01T11:06:32.000Z');
  });

  it('become the day as written, or the day of an instant in the time zone', () => {
    const day = (value: unknown, format?: string, timezone?: string) =>
      mapped(delivery({ date: { path: 'at', format, timezone } }), { at: value });
    expect(day('2020-10-17 00:00:00', undefined, 'America/New_York')).to.deep.equal({ date: '2020-10-17' });
    expect(day('2020-10-17T00:00:00Z')).to.deep.equal({ date: '2020-10-17' });
    expect(day('2020-10-17T00:00:00Z', undefined, 'America/New_York')).to.deep.equal({ date: '2020-10-16' });
    expect(day(1602892800000, 'unix_ms')).to.deep.equal({ date: '2020-10-17' });
    expect(day('10/17/2020', 'MM/DD/YYYY')).to.deep.equal({ date: '2020-10-17' });
  });
});

describe('A mapping file', () => {
  const problems = (file: unknown, stream: StreamName = 'contacts'): string => {
    try {
      compileMapping(
        parseMappingFile(typeof file === 'string' ? file : JSON.stringify(file)),
        STREAMS[stream],
      );
      return '';
    } catch (error) {
      expect((error as Error).name).to.equal('MappingError');
      return (error as Error).message;
    }
  };

  it('is rejected with every problem, its path and a suggestion', () => {
    expect(problems('{')).to.match(/not valid JSON/);
    expect(problems([])).to.equal('A mapping must be an object, not an array.');
    expect(problems({ feilds: {} })).to.match(
      /fields is required.*\n.*"?feilds.*a mapping.*Did you mean fields\?/,
    );
    const file = {
      fields: {
        fist_name: 'a',
        last_name: { path: 'b', formt: 'x' },
        job_title: { path: 'a', template: '{b}' },
        first_name: { path: 'a', hash: 'b' },
        city: { template: '{open' },
        updated_at: { path: 'a', format: 'DD.MM.JJJJ' },
        phones: { all: [{ all: ['a'] }] },
        age: 5,
        work_emails: [],
      },
    };
    const found = problems(file);
    expect(found).to.match(/fields\.last_name\.formt is not a field of a source\. Did you mean format\?/);
    expect(found).to.match(/fields\.job_title needs exactly one of path, template, value, all\./);
    expect(found).to.match(/fields\.first_name\.hash is not a field of a source/);
    expect(found).to.match(/fields\.phones\.all\[0\]\.all is not a field of a source/);
    expect(found).to.match(/fields\.age must be a string or an object or an array, not a number/);
    expect(found).to.match(/fields\.work_emails must have at least 1 item/);
    const joined = problems({
      fields: { city: 'a' },
      where: { '': 'a', 'a.b': [] },
      join: { '1a': {}, groups: { table: 'a/b', on: { path: 'a', value: 'b' }, key: ['a'] } },
    });
    expect(joined).to.match(/^where\."" is not a field of conditions, whose paths have 1 to 256 characters/m);
    expect(joined).to.match(/^where\.a\.b must have at least 1 item/m);
    expect(joined).to.match(/^join\.1a is not a field of joins, whose names/m);
    expect(joined).to.match(/^join\.groups\.table must be a name of 1 to 128 letters/m);
    expect(joined).to.match(/^join\.groups\.on needs exactly one of path, template, value\./m);
    expect(joined).to.match(/^join\.groups\.key must be a string or an object, not an array/m);
    const { fist_name, city, updated_at } = file.fields;
    const later = problems({ timezone: 'Europe/Berln', fields: { fist_name, city, updated_at } });
    expect(later).to.match(/fields\.fist_name: .*not a field of contacts\. Did you mean first_name\?/);
    expect(later).to.match(/fields\.city\.template: a \{ is never closed/);
    expect(problems({ fields: { dob: { value: 'soon' } } })).to.match(/fields\.dob\.value: is not a date/);
    expect(later).to.match(/fields\.updated_at\.format: .*letter J/);
    expect(later).to.match(/timezone: "Europe\/Berln" is not a time zone.*Did you mean Europe\/Berlin\?/);
    expect(problems({ stream: 'audiences', fields: {} })).to.match(/for audiences, not for contacts/);
  });

  it('reaches no prototype, whatever names it or its records hold', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(problems(`{"fields": {"${name}": "a"}}`), name).to.match(/is not a field of contacts/);
      const mapping = contact({
        contact_id: name,
        city: `a.${name}`,
        job_title: `${name}.name`,
        first_name: { template: `{${name}}{a.${name}.name}` },
      });
      expect(mapped(mapping, { a: {} })).to.deep.equal({});
      expect(mapped(mapping, { a: [] })).to.deep.equal({});
    }
    const open = contact({ contact_id: 'id' }, { ignore: [] });
    const outcome = open.apply(JSON.parse('{"id": "1", "__proto__": {"city": "x"}, "constructor": "y"}'));
    expect(outcome).to.include({ code: 'unknown_field' });
    expect(({} as { city?: string }).city).to.equal(undefined);
  });

  it('cannot make records that are out of proportion to their source', () => {
    const huge = 'x'.repeat(1000);
    expect(problems({ fields: { city: { template: `{a}${'x'.repeat(1100)}` } } })).to.match(
      /1024 characters/,
    );
    expect(problems({ fields: { city: { template: '{a}'.repeat(17) } } })).to.match(/16 placeholders/);
    expect(problems({ fields: { city: `a${'.a'.repeat(200)}` } })).to.match(/256 characters/);
    expect(problems(`{"description": "${'x'.repeat(300_000)}", "fields": {}}`)).to.match(/262144 bytes/);
    expect(problems({ fields: { phones: { all: Array(17).fill('a') } } })).to.match(/16 items/);
    const mapping = contact({
      city: { template: '{a}'.repeat(16) },
      phones: { all: Array(16).fill('list') },
    });
    expect(mapped(mapping, { a: huge })).to.equal('too_long');
    const list = Array.from({ length: 20_000 }, (_, index) => String(index));
    const { phones } = mapped(mapping, { list }) as { phones: string[] };
    expect(phones).to.have.lengthOf(10_001);
    // An expression that would take exponential time if a format were one.
    expect(problems({ fields: { updated_at: { path: 'a', format: '(Y+)+$' } } })).to.match(/letter Y/);
    expect(
      mapped(contact({ updated_at: { path: 'a', format: 'M/D/YYYY' } }), { a: '1'.repeat(500_000) }),
    ).to.equal('invalid_date_time');
  });
});

describe('The page about mappings', () => {
  const blocks = [...readFileSync('docs/reference/mapping.md', 'utf8').matchAll(/```json\n(.+?)```/gs)].map(
    ([, json]) => JSON.parse(json ?? ''),
  );
  const [crm, record, changed, wide, joined] = blocks as [
    MappingFile,
    object,
    MappingFile,
    MappingFile,
    MappingFile,
  ];

  it('shows a row as its example maps it', () => {
    const row = /^`(\{.+?\})` becomes/m.exec(readFileSync('docs/reference/mapping.md', 'utf8'))?.[1];
    expect(mapped(compile('contacts', crm), JSON.parse(row ?? ''))).to.deep.equal(record);
    const person = { email: 'A@x.example', name: 'Ann Lee', site: 'http://www.x.example/', level: 'VP*' };
    const changes = compile('contacts', changed);
    expect(changes.split?.({ people: [person] })?.map((each) => mapped(changes, each))).to.deep.equal([
      {
        contact_id: 'a@x.example',
        first_name: 'Ann',
        last_name: 'Lee',
        company_domain: 'x.example',
        functional_area: 'Vice president',
      },
    ]);
    const rates = compile('currency-rates', wide);
    const days = { Day: '2026-11-20', USD: '1.15', HRK: 'N/A' };
    expect(rates.split?.(days)?.map((each) => rates.apply(each as SourceRecord))).to.deep.equal([
      { record: { date: '2026-11-20', currency: 'USD', per_eur: '1.15' } },
      'skipped',
    ]);
    expect(
      mapped(compile('network-a-deliveries', joined), { creative_id: '7', cost_in_usd: '1' }),
    ).to.deep.equal({
      creative_id: '7',
      campaign_id: 'unknown_7',
      ad_spend: '1',
    });
  });

  it('and the published schema agree about files', () => {
    const validate = new Ajv2020({ strict: false }).compile(MAPPING_SCHEMA);
    for (const file of [crm, changed, wide, joined])
      expect(validate(file), JSON.stringify(validate.errors)).to.equal(true);
    for (const fields of [{ city: 5 }, { city: {} }, { city: { path: 'a', value: 'b' } }, { city: [] }]) {
      expect(validate({ fields })).to.equal(false);
    }
  });
});
