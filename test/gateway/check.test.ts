import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { useGateway } from '../support/gateway.js';

interface Answer {
  stream: string;
  format: string;
  preset?: string;
  missing_tables?: string[];
  header?: { line: number };
  mapping?: object;
  columns: { column: string; field: string; samples: string[] }[];
  questions: {
    code: string;
    answer: string;
    field?: string;
    column?: string;
    choices: { value: string; reading?: string }[];
  }[];
  result?: {
    accepted: number;
    rejected: number;
    is_whole: boolean;
    records: { record: Record<string, unknown> }[];
    errors: object[];
  };
}

const form = (file: string | Buffer, parts: Record<string, unknown> = {}, type = 'text/csv') => {
  const boundary = 'a-boundary-of-this-test';
  const chunks: Buffer[] = [];
  for (const [name, value] of Object.entries(parts)) {
    chunks.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(value)}\r\n`,
      ),
    );
  }
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="list.csv"\r\nContent-Type: ${type}\r\n\r\n`;
  chunks.push(Buffer.from(head), Buffer.from(file), Buffer.from(`\r\n--${boundary}--\r\n`));
  return {
    raw: Buffer.concat(chunks),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
};

/** Header rows of real lists, each with a row, and the fields that its columns become. */
const LISTS: readonly [text: string, fields: string, first: Record<string, unknown>][] = [
  [
    'ID,First Name,Last Name,Email,Company,Country\n17,Ada,Lovelace,ada@acme.example,Acme,Germany',
    'contact_id first_name last_name work_emails company_name country',
    { contact_id: '17', company_name: 'Acme', country: 'Germany' },
  ],
  [
    'email,firstname,lastname,company,jobtitle,phone\nada@acme.example,Ada,Lovelace,Acme,Analyst,+49 30 123',
    'work_emails first_name last_name company_name job_title phones',
    { contact_id: 'ada_40acme.example', job_title: 'Analyst' },
  ],
  [
    'id,first_name,last_name,email,company,country\n17,Ada,Lovelace,ada@acme.example,Acme,DE',
    'contact_id first_name last_name work_emails company_name country',
    { contact_id: '17' },
  ],
  [
    'Contact ID,First name,Last name,Email,Company,Country\n17,Ada,Lovelace,ada@acme.example,Acme,DE',
    'contact_id first_name last_name work_emails company_name country',
    { contact_id: '17', company_name: 'Acme', country: 'DE' },
  ],
  [
    'Vorname;Nachname;Firma;Stadt;E-Mail\nAda;Lovelace;Müller GmbH;Köln;ada@acme.example',
    'first_name last_name company_name city work_emails',
    { city: 'Köln', company_name: 'Müller GmbH' },
  ],
  [
    'Prénom;Nom;Adresse e-mail;Entreprise;Ville\nAda;Lovelace;ada@acme.example;Société;Nîmes',
    'first_name last_name work_emails company_name city',
    { city: 'Nîmes' },
  ],
  [
    'Name,Email,Company\nAda King Lovelace,ada@acme.example,Acme',
    'full_name work_emails company_name',
    { first_name: 'Ada', last_name: 'King Lovelace' },
  ],
  [
    'Messe 2026: Kontakte\n\nVorname;Nachname;E-Mail\nAda;Lovelace;ada@acme.example\nBo;Berg;bo@acme.example',
    'first_name last_name work_emails',
    { contact_id: 'ada_40acme.example' },
  ],
  [
    'Full Name,Title,Company,LinkedIn URL\nAda Lovelace,Analyst,Acme,https://www.linkedin.com/in/ada-l',
    'full_name job_title company_name network_a_url',
    { contact_id: 'ada-l' },
  ],
  [
    'contact_id,first_name,created_at\n17,Ada,2026-05-06T00:00:00Z',
    'contact_id first_name created_at',
    { contact_id: '17' },
  ],
  [
    'Email;Created\nada@acme.example;25.10.2026',
    'work_emails created_at',
    { contact_id: 'ada_40acme.example' },
  ],
];

describe('The check of a file', () => {
  const gateway = useGateway();
  const check = async (sent: ReturnType<typeof form>, query = '', stream = 'contacts') => {
    const answer = await gateway.call(`/api/ingest/${stream}/check${query}`, undefined, sent);
    return { status: answer.status, text: answer.text, body: answer.body as unknown as Answer };
  };
  const load = (sent: ReturnType<typeof form>, query = '', stream = 'contacts') =>
    gateway.call(`/api/ingest/${stream}${query}`, undefined, sent);

  for (const [text, fields, first] of LISTS) {
    it(`reads the columns of a list that begins with ${text.slice(0, 40).replaceAll('\n', ' ')}, and the load does the same`, async () => {
      const { body, text: said } = await check(form(text));
      expect(body.questions, said).to.deep.equal([]);
      expect(body.columns.map(({ field }) => field).join(' ')).to.equal(fields);
      expect(body.result?.rejected, said).to.equal(0);
      const record = body.result?.records[0]?.record ?? {};
      expect(record).to.deep.include(first);
      const loaded = await load(form(text, { mapping: body.mapping }));
      expect(loaded.body, loaded.text).to.include({ accepted: body.result?.accepted, rejected: 0 });
      const { body: stored } = await gateway.call('/api/contacts/get', {
        organization_id: 'org_a',
        contact_id: record.contact_id,
      });
      expect(stored.contact, JSON.stringify(stored)).to.deep.include(first);
    });
  }

  const CSV = 'Email,Created\nada@acme.example,05/10/2026\n';

  it('asks once whether the day or the month comes first, and the mapping of the answer states it', async () => {
    const { body } = await check(form(CSV));
    expect(body.result).to.equal(undefined);
    expect(body.questions.map(({ code, answer, column }) => [code, answer, column])).to.deep.equal([
      ['ambiguous_date', 'date_order', 'Created'],
    ]);
    expect(body.questions[0]?.choices.map(({ value, reading }) => [value, reading])).to.deep.equal([
      ['dmy', '2026-10-05'],
      ['mdy', '2026-05-10'],
    ]);
    const answered = await check(form(CSV), '?date_order=dmy');
    expect(answered.body.questions).to.deep.equal([]);
    await load(form(CSV, { mapping: answered.body.mapping }));
    const { body: stored } = await gateway.call('/api/contacts/get', {
      organization_id: 'org_a',
      contact_id: 'ada_40acme.example',
    });
    expect(stored.contact).to.include({ created_at: '2026-10-05T00:00:00.000Z' });
  });

  it('takes what a person says of the columns before its own guesses', async () => {
    const text = 'Name,Title,Mail\nAda Lovelace,Countess,ada@acme.example\n';
    const { body } = await check(form(text, { columns: { Title: '', Name: 'last_name' } }));
    expect(body.columns.map(({ column, field }) => [column, field])).to.deep.equal([
      ['Name', 'last_name'],
      ['Title', ''],
      ['Mail', 'work_emails'],
    ]);
    expect(body.result?.records[0]?.record).to.deep.equal({
      organization_id: 'org_a',
      contact_id: 'ada_40acme.example',
      last_name: 'Ada Lovelace',
      work_emails: ['ada@acme.example'],
    });
    const unknown = await check(form(text, { columns: { Name: 'surname' } }));
    expect([unknown.status, unknown.text]).to.match(/422.*surname/);
  });

  it('names the table of an export that a file lacks, and so does the load', async () => {
    const days = readFileSync('test/data/presets/fivetran-linkedin/ad_analytics_by_creative.csv');
    const { body, text } = await check(form(days), '', 'network-a-deliveries');
    expect(body, text).to.deep.include({
      preset: 'fivetran-linkedin/ad_analytics_by_creative',
      missing_tables: ['creative_history'],
    });
    const loaded = await load(form(days, { mapping: body.mapping }), '', 'network-a-deliveries');
    expect(loaded.body, loaded.text).to.deep.include({ missing_tables: ['creative_history'] });
    const list = 'Email\nada@acme.example\n';
    const own = await load(form(list, { mapping: (await check(form(list))).body.mapping }));
    expect(own.body, own.text).to.not.have.property('missing_tables');
  });

  it('refuses another file than the one that was checked before it stores a record of it', async () => {
    const { body } = await check(form('Contact,E-Mail\nc1,one@acme.example\n'));
    const other = await load(form('Kontakt;Tag\nc9;9\n', { mapping: body.mapping }));
    expect([other.status, other.text]).to.match(/422.*has no column .*\\"E-Mail\\"/);
  });

  it('says which stream a file belongs to, and does not check it as another', async () => {
    const rates = 'date,currency,per_eur\n2026-10-05,USD,1.1\n';
    const { body, text } = await check(form(rates));
    expect(body.questions[0], text).to.deep.include({ code: 'other_stream', answer: 'stream' });
    expect(body.questions[0]?.choices.map(({ value }) => value)).to.deep.equal(['currency-rates']);
    expect(body.result).to.equal(undefined);
  });

  it('checks the beginning of a file without its last row, which may be cut', async () => {
    const cut = 'contact_id,first_name\nc1,Ada\nc2';
    const { body, text } = await check(form(cut), '?beginning=true');
    expect(body.result, text).to.deep.include({ accepted: 1, rejected: 0, is_whole: false });
  });

  it('takes lines of JSON and arrays that are records already without a mapping', async () => {
    for (const text of [
      '{"contact_id":"j1","audience_ids":["a"]}\n',
      '[{"contact_id":"j1","deleted":true}]',
    ]) {
      const { body } = await check(form(text, {}, 'application/octet-stream'));
      expect(body.questions).to.deep.equal([]);
      expect(body).not.to.have.property('mapping');
      expect(body.result).to.include({ accepted: 1 });
    }
  });

  it('recognizes a file without a media type, as curl sends it, and so does the load', async () => {
    const files: [file: string | Buffer, format: string][] = [
      ['{"contact_id":"curl1"}\n', 'ndjson'],
      ['[{"contact_id":"curl2"}]', 'json'],
      ['contact_id,first_name\ncurl3,Ada\n', 'csv'],
      [readFileSync('test/data/files/contacts-openpyxl.xlsx'), 'xlsx'],
    ];
    for (const [file, format] of files) {
      const sent = form(file, {}, 'application/octet-stream');
      const query = format === 'xlsx' ? '?header_row=3' : '';
      const { body, text } = await check(sent, query);
      expect(body, text).to.include({ format });
      const loaded = await load(sent, query);
      // A time in a workbook has no offset.
      const expected = format === 'xlsx' ? { accepted: 2, rejected: 1 } : { accepted: 1, rejected: 0 };
      expect(loaded.body, loaded.text).to.include(expected);
    }
  });

  it('keeps every digit of the money of mapped JSON', async () => {
    const text =
      '[{"day":"2026-10-05","campaign":"7","creative":"9","account":"1","company":"c","cost":123456789012345.123456}]';
    const { body, text: said } = await check(form(text, {}, 'application/json'), '', 'network-a-deliveries');
    expect(body.result?.records[0]?.record, said).to.include({ ad_spend: '123456789012345.123456' });
  });

  it('checks a table of ten thousand columns within seconds', async () => {
    const names = Array.from({ length: 10_000 }, (_, n) => (n === 0 ? 'Email' : `column ${n}`));
    const cells = names.map((_, n) => (n === 0 ? 'ada@acme.example' : 'x'));
    const { body, text } = await check(form(`${names.join(',')}\n${cells.join(',')}\n`));
    expect(body.result, text.slice(0, 1000)).to.include({ accepted: 1, rejected: 0 });
  }).timeout(30_000);

  it('refuses a form that is none, and one with other parts', async () => {
    for (const [sent, said] of [
      [{ raw: 'x', headers: { 'Content-Type': 'multipart/form-data' } }, /400.*form cannot be read/],
      [
        { raw: 'x', headers: { 'Content-Type': 'multipart/form-data; boundary=b' } },
        /400.*form cannot be read|400.*no part file/,
      ],
      [form('a\n1', { other: {} }), /400.*has a part \\"other\\"/],
      [form('a\n1', { mapping: { fields: { x: 'y'.repeat(300_000) } } }), /413.*262144/],
      [form('a\n1', { mapping: { fields: { nonsense: 'a' } } }), /422.*nonsense/],
      [form('a\n1', { columns: [] }), /422.*JSON object/],
      [
        form('Email\na@x.example', { columns: { Emial: '', __proto__: '' } }),
        /422.*\\"Emial\\", which is no column of the file. Did you mean Email/,
      ],
    ] as const) {
      const { status, text } = await check(sent as ReturnType<typeof form>);
      expect([status, text]).to.match(said);
    }
  });
});
