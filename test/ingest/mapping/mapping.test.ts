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

interface Example extends MappingFile {
  what: string;
  stream: StreamName;
  /** What source records become: a record, `skipped`, or the code of a rejection. */
  records: [source: object, expected: object | string][];
}

/** A line for each mapping, and below it one for each source record and what it becomes. */
function readExamples(): Example[] {
  const examples: Example[] = [];
  for (const line of readFileSync('test/ingest/mapping/mappings.ndjson', 'utf8').trim().split('\n')) {
    const value = JSON.parse(line);
    if (Array.isArray(value)) examples.at(-1)?.records.push(value as Example['records'][0]);
    else examples.push({ ...value, records: [] });
  }
  return examples;
}

describe('A mapping', () => {
  for (const { what, stream, records, ...file } of readExamples()) {
    it(what, () => {
      const mapping = compile(stream, { ignore: 'rest', ...file });
      for (const [source, expected] of records)
        expect(mapped(mapping, source), JSON.stringify(source)).to.deep.equal(expected);
    });
  }

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

/** Format, value (digits alone as a text and as a number), the moment it becomes, and the time zone where it is not UTC. */
const DATES = `
iso | 2024-01-02T03:04:05.000+0000 | 2024-01-02T03:04:05.000+00:00
iso | 2024-01-02 03:04 | 2024-01-02T03:04:00Z
iso | 2026-11-20 10:00:00.100 | 2026-11-20T10:00:00.100Z
iso | 2026-11-20 10:00:00.100+00 | 2026-11-20T10:00:00.100+00:00
iso | 2026-11-20 10:00:00.1 -0330 | 2026-11-20T10:00:00.1-03:30
iso | 2026-11-20 10:00:00 UTC | 2026-11-20T10:00:00Z
iso | 2026-11-20 | 2026-11-20T00:00:00Z
MM/DD/YYYY | 01/31/2024 | 2024-01-31T00:00:00Z
M/D/YY h:mm A | 1/2/24 12:05 am | 2024-01-02T00:05:00Z
M/D/YY h:mm A | 1/2/70 1:05 PM | 1970-01-02T13:05:00Z
DD.MM.YYYY HH:mm | 31.12.2024 23:59 | 2024-12-31T23:59:00Z
DD MMM YYYY | 02 Jan 2024 | 2024-01-02T00:00:00Z
D MMMM YYYY | 2 February 2024 | 2024-02-02T00:00:00Z
YYYY-MM-DDTHH:mm:ss.SSSZ | 2024-01-02T03:04:05.123456+0100 | 2024-01-02T03:04:05.123456+01:00
YYYYMMDD | 20240102 | 2024-01-02T00:00:00Z
unix_s | 1704164645 | 2024-01-02T03:04:05.000Z
unix_ms | 1704164645000 | 2024-01-02T03:04:05.000Z
unix_us | 1704164645000000 | 2024-01-02T03:04:05.000Z
MM/DD/YYYY | 2024-01-31 | invalid_date_time
iso | 31.12.2024 | invalid_date_time
iso | 1704164645 | invalid_date_time
iso | 2024-01-02 03:04 | invalid_date_time | none
unix_s | 11111111111111111 | invalid_date_time
iso | 2024-01-02 03:04 | 2024-01-02T03:04:00+01:00 | Europe/Berlin
iso | 2024-07-02 03:04 | 2024-07-02T03:04:00+02:00 | Europe/Berlin
iso | 2024-03-31 01:59:59 | 2024-03-31T01:59:59+01:00 | Europe/Berlin
iso | 2024-03-31 02:30 | 2024-03-31T02:30:00+01:00 | Europe/Berlin | an hour that is skipped
iso | 2024-03-31 03:00 | 2024-03-31T03:00:00+02:00 | Europe/Berlin
iso | 2024-10-27 02:30 | 2024-10-27T02:30:00+02:00 | Europe/Berlin | an hour that occurs twice
iso | 2024-10-27 03:00 | 2024-10-27T03:00:00+01:00 | Europe/Berlin
iso | 2024-06-01 12:00 | 2024-06-01T12:00:00+05:45 | Asia/Kathmandu
iso | 2011-12-30 12:00 | 2011-12-30T12:00:00-10:00 | Pacific/Apia | a day that is skipped
iso | 1850-01-01 12:00 | 1850-01-01T11:06:32.000Z | Europe/Berlin | local mean time has an offset of seconds
`;

describe('A date of a mapping', () => {
  for (const row of DATES.trim().split('\n')) {
    const [format = '', value = '', expected = '', timezone = 'UTC'] = row.split(' | ');
    it(row, () => {
      const zone = timezone === 'none' ? {} : { timezone };
      // In ISO form, exports name no format.
      const mapping = contact({ updated_at: { path: 'at', ...(format === 'iso' ? {} : { format }) } }, zone);
      for (const at of /^\d+$/.test(value) ? [value, Number(value)] : [value]) {
        const record = mapped(mapping, { at });
        expect(record).to.deep.equal(expected.startsWith('invalid') ? expected : { updated_at: expected });
      }
    });
  }
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
    const cell = contact({ contact_id: 'a.b' });
    expect(mapped(cell, { a: `{"b": 7}${' '.repeat(65_536)}` }), 'a cell of JSON').to.deep.equal({});
    const list = Array.from({ length: 10_500 }, (_, index) => String(index));
    const { phones } = mapped(mapping, { list }) as { phones: string[] };
    expect(phones).to.have.lengthOf(10_001);
    // An expression that would take exponential time if a format were a regular expression.
    expect(problems({ fields: { updated_at: { path: 'a', format: '(Y+)+$' } } })).to.match(/letter Y/);
    expect(
      mapped(contact({ updated_at: { path: 'a', format: 'M/D/YYYY' } }), { a: '1'.repeat(60_000) }),
    ).to.equal('invalid_date_time');
  });
});

describe('The page about mappings', () => {
  const blocks = [...readFileSync('docs/reference/mapping.md', 'utf8').matchAll(/```json\n(.+?)```/gs)].map(
    ([, json]) => JSON.parse(json ?? ''),
  );
  const [crm, record, changed, wide, scoped, joined] = blocks as [
    MappingFile,
    object,
    MappingFile,
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
    const report = compile('network-a-deliveries', scoped);
    const day = { 'Start Date': '2026-09-01', 'Campaign ID': '7', Impressions: '5' };
    const delivery = { date: '2026-09-01', campaign_id: '7', creative_id: 'urn:li:sponsoredCampaign:7' };
    for (const [columns, outcome] of [
      [
        { Placement: '—', pivots: ['urn:li:sponsoredCampaign:7'] },
        { ...delivery, impressions: 5 },
      ],
      [{ 'End Date': '2026-09-30' }, 'not_a_day'],
      [{ Placement: 'Feed' }, 'finer_than_key'],
      [{ pivots: 'urn:li:sponsoredCampaign:7, MOBILE' }, 'finer_than_key'],
    ] as const)
      expect(mapped(report, { ...day, ...columns })).to.deep.equal(outcome);
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
    for (const file of [crm, changed, wide, scoped, joined])
      expect(validate(file), JSON.stringify(validate.errors)).to.equal(true);
    for (const fields of [{ city: 5 }, { city: {} }, { city: { path: 'a', value: 'b' } }, { city: [] }]) {
      expect(validate({ fields })).to.equal(false);
    }
  });

  it('refuses more sources than a mapping needs, and values that every source would read for long', () => {
    const source = { path: 'a', part: 'rest', email: true } as const;
    const fields = (alternatives: number) => ({
      contact_id: 'id',
      ...Object.fromEntries(
        ['first_name', 'last_name', 'job_title', 'city'].map((field) => [
          field,
          Array(alternatives).fill(source),
        ]),
      ),
      work_emails: { all: Array(16).fill('a') },
    });
    const mapping = contact(fields(16));
    expect(mapped(mapping, { id: 'c', a: 'a '.repeat(500_000) })).to.equal('too_long');
    expect(mapped(mapping, { id: 'c', a: ['a '.repeat(30_000), 'b '.repeat(30_000)] })).to.equal('too_long');
    expect(
      mapped(contact({ contact_id: 'id', city: { path: 'a', prefix: 'x' } }), {
        id: 'c',
        a: 'x'.repeat(70_000),
      }),
    ).to.equal('too_long');
    const wide = Object.fromEntries(
      ['work_emails', 'personal_emails', 'phones'].map((field) => [
        field,
        Array(16).fill({ all: Array(16).fill('a') }),
      ]),
    );
    expect(() => contact({ contact_id: 'id', ...wide })).to.throw(/A mapping may have 512 sources/);
  });

  it('writes out at most 16 MiB of the entries of one message, and rejects those behind', async () => {
    const mapping = contact({ contact_id: 'id', city: 'city' }, { each: 'list' });
    const list = Array.from({ length: 2000 }, (_, id) => ({ id: String(id) }));
    const bytes = Buffer.from(JSON.stringify({ city: 'x'.repeat(60_000), list }));
    const codes: (string | undefined)[] = [];
    const message = (async function* () {
      yield [{ line: 1, bytes }];
    })();
    let written = 0;
    for await (const records of mapSource(message, mapping)) {
      for (const raw of records) {
        codes.push(raw.rejection?.code);
        written += raw.bytes.length;
      }
    }
    expect(codes).to.have.length(2000);
    expect(codes[0]).to.equal(undefined);
    expect(codes.at(-1)).to.equal('too_long');
    expect(written).to.be.below(17 * 1024 * 1024);
  });
});
