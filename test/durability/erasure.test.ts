import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { filesWith } from '../support/files.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const ORGANIZATION = 'org_erase';
const organization = { organization_id: ORGANIZATION };

/** Words that no other record has, in every form that a store may keep them in. */
const person = (number: number) => ({
  contact_id: `person_${number}`,
  first_name: `Quillon${letters(number)}`,
  last_name: `Vexborough${letters(number)}`,
  work_emails: [`q.vex${number}@erased-employer.example`],
  personal_emails: [`quill${number}@erased-mail.example`],
  network_a_url: `https://www.linkedin.com/in/quillvex-${number}`,
  phones: [`+41 44 999 ${String(1000 + number)}`],
  city: 'Zürich',
  audience_ids: ['aud_erase'],
});

const letters = (number: number) => String.fromCharCode(97 + number).repeat(3);
const tracesOf = (number: number) => [
  `quillon${letters(number)}`,
  `vexborough${letters(number)}`,
  `q.vex${number}@`,
  `quill${number}@`,
  `quillvex-${number}`,
  `4144999${1000 + number}`,
];

describe('An erasure', function () {
  this.timeout(120_000);
  let folder: string;
  let server: ServerProcess;
  let output = '';
  let key: string;
  const start = async () => {
    server = await startServer({
      dataDir: folder,
      key,
      environment: { REACHLINE_LOG_LEVEL: 'debug' },
    });
  };
  before(async () => {
    folder = tempFolder();
    key = await prepareOrganization(folder, ORGANIZATION);
    await start();
    const others = Array.from({ length: 1000 }, (_, index) => ({
      contact_id: `other_${index}`,
      first_name: 'Ann',
      last_name: `Other${index}`,
      work_emails: [`ann${index}@elsewhere.example`],
      audience_ids: ['aud_erase'],
    }));
    await server.ingest('audiences', [{ id: 'aud_erase', name: 'All' }]);
    const people = Array.from({ length: 12 }, (_, number) => person(number));
    for (const records of [people.slice(0, 6), others, people]) {
      expect((await server.ingest('contacts', records)).body).to.include({ rejected: 0 });
    }
  });
  after(async () => {
    await server.kill();
  });

  const erase = (body: object, query = '') =>
    server.call(`/api/contacts/erase${query}`, { ...organization, ...body });
  const completedAt = async () => {
    const { body } = await server.call('/api/contacts/erasures', organization);
    return (body.erasures as { completed_at: string | null }[]).map(({ completed_at }) => completed_at);
  };
  /**
   * The texts that some value in the database or another file holds. It does not read the unused space of pages. `indexedWords` reads the
   * segments of the text index as far as they can be read (docs/operating/personal-data.md).
   */
  function traces(texts: readonly string[]): string[] {
    const database = new DatabaseSync(join(folder, 'reachline.db'), { readOnly: true });
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`)
      .all() as { name: string }[];
    const found = tables.flatMap(({ name }) => {
      if (name.startsWith('contact_terms_')) return [];
      const columns = database.prepare(`SELECT name FROM pragma_table_info(?)`).all(name) as {
        name: string;
      }[];
      const value = columns.map((column) => `hex(${column.name}) || hex(lower(${column.name}))`).join(' || ');
      const matches = database.prepare(`SELECT 1 FROM ${name} WHERE instr(${value}, ?) LIMIT 1`);
      return texts.filter((text) => matches.get(Buffer.from(text).toString('hex').toUpperCase()));
    });
    database.close();
    return [...found, ...filesWith(folder, texts).filter((each) => !each.startsWith('reachline.db'))];
  }
  /**
   * Words that can be read from the index and the vocabulary. A term is stored without the beginning that it shares with the term before.
   */
  function indexedWords(): string {
    const database = new DatabaseSync(join(folder, 'reachline.db'));
    try {
      database.exec(`CREATE VIRTUAL TABLE temp.terms USING fts5vocab (main, contact_terms, row)`);
      const rows = database.prepare(`SELECT term FROM terms UNION ALL SELECT word FROM vocabulary`).all();
      return (rows as { term: string }[]).map(({ term }) => term).join('\n');
    } finally {
      database.close();
    }
  }
  const get = (contact_id: string) => server.call('/api/contacts/get', { ...organization, contact_id });

  it('leaves nothing of a person that can be read from the data folder, and counts what it removed', async () => {
    // As in a store in use: changed, created once more under an idempotency key, misspelt in a search.
    await server.ingest('contacts', [{ ...person(0), city: 'Rome', job_title: 'Quillonaaa officer' }]);
    const renamed = { ...person(0), last_name: 'Vexboroughaaa-Zwyndham', phones: [], job_title: null };
    await server.ingest('contacts', [renamed]);
    await server.ingest('contacts', [{ ...renamed, last_name: 'Vexboroughaaa' }]);
    const { contact_id: _, audience_ids: __, ...fields } = person(0);
    const created = await server.call(
      '/api/contacts/create',
      { ...organization, audience_id: 'aud_erase', ...fields },
      { headers: { 'Idempotency-Key': 'erase-me' } },
    );
    expect(created.status).to.equal(200);
    await server.call('/api/contacts/search', { ...organization, query: 'quilonaaa' });
    // No value of a rejected record is stored.
    expect((await server.ingest('contacts', [{ ...person(0), age: 'old' }])).body).to.include({
      rejected: 1,
    });
    const before = filesWith(folder, tracesOf(0));
    expect(before).not.to.have.length(0);

    const email = 'Q.VEX0@erased-employer.example';
    const dry = await erase({ email }, '?dry_run=true');
    expect(dry.body.erased).to.have.members(['person_0', created.body.contact_id]);
    const { status, body } = await erase({ email });
    expect(status).to.equal(200);
    expect(body.erased).to.have.members(['person_0', created.body.contact_id]);
    expect(body.related).to.deep.equal([]);
    expect(body.proof).to.deep.include({
      organization_id: ORGANIZATION,
      removed: { contacts: 2, memberships: 2, idempotency_answers: 1, rejections: 1 },
    });
    expect((body.proof as { completed_at: unknown }).completed_at).to.be.a('string');
    expect(traces(tracesOf(0))).to.deep.equal([]);
    expect(indexedWords()).not.to.match(/quillonaaa|vexborough\w*aaa|zwyndham|41449991000/);
    for (const trace of tracesOf(0)) expect(server.output().toLowerCase()).not.to.include(trace);
    const { body: listed } = await server.call('/api/contacts/erasures', organization);
    expect(listed.erasures).to.deep.equal([body.proof]);
    expect((await get('person_0')).status).to.equal(404);
    expect((await get('person_1')).status).to.equal(200);
  });

  it('keeps the person out: of the same file, of creations, and of deletions', async () => {
    const people = Array.from({ length: 3 }, (_, number) => person(number));
    const { body } = await server.ingest('contacts', people);
    expect(body).to.include({ accepted: 3, rejected: 0, suppressed: 1 });
    const underOther = [
      { contact_id: 'fresh_1', first_name: 'Q', personal_emails: person(0).personal_emails },
      { contact_id: 'fresh_2', first_name: 'Q', network_a_url: 'linkedin.com/in/quillvex-0' },
      { contact_id: 'person_0', deleted: true },
      { contact_id: 'fresh_3', first_name: 'Q' },
    ];
    const second = await server.ingest('contacts', underOther);
    expect(second.body).to.include({ accepted: 4, suppressed: 3 });
    expect((await get('fresh_1')).status).to.equal(404);
    expect((await get('fresh_3')).status).to.equal(200);
    const created = await server.call('/api/contacts/create', {
      ...organization,
      audience_id: 'aud_erase',
      work_emails: person(0).work_emails,
    });
    expect(created).to.deep.include({ status: 409 });
    expect(created.body.code).to.equal('contact_suppressed');
    // The values that were sent are not stored either.
    expect(traces(tracesOf(0))).to.deep.equal([]);
  });

  it('does not suppress what a contact that stays shares, and names that contact', async () => {
    const shared = { work_emails: ['office@erased-employer.example'] };
    await server.ingest('contacts', [
      { contact_id: 'shares_1', first_name: 'A', ...shared },
      { contact_id: 'shares_2', first_name: 'B', ...shared },
    ]);
    const { body } = await erase({ contact_id: 'shares_1' });
    expect(body).to.deep.include({ erased: ['shares_1'], related: ['shares_2'] });
    const again = await server.ingest('contacts', [{ contact_id: 'shares_2', city: 'Oslo' }]);
    expect(again.body).to.include({ accepted: 1, suppressed: 0 });
  });

  it('suppresses an address that no contact has', async () => {
    const { body } = await erase({ email: 'nobody@nowhere.example' });
    expect(body.erased).to.deep.equal([]);
    const { body: loaded } = await server.ingest('contacts', [
      { contact_id: 'nobody', work_emails: ['nobody@nowhere.example'] },
    ]);
    expect(loaded).to.include({ accepted: 1, suppressed: 1 });
  });

  it('holds up no write while a reader needs the log, which is emptied once it does not', async () => {
    const reader = new DatabaseSync(join(folder, 'reachline.db'), { readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM contacts').get();
    const { status, body } = await erase({ contact_id: 'person_2' });
    expect(status).to.equal(200);
    expect((body.proof as { completed_at: unknown }).completed_at).to.equal(null);
    expect((await server.ingest('contacts', [{ contact_id: 'meanwhile' }])).body).to.include({ accepted: 1 });
    await server.kill();
    await start();
    expect((await get('person_2')).status).to.equal(404);
    reader.exec('COMMIT');
    reader.close();
    await server.ingest('contacts', [{ contact_id: 'afterwards' }]);
    await until(async () => !(await completedAt()).includes(null), 'the erasure is complete');
    expect(traces(tracesOf(2))).to.deep.equal([]);
  });

  it('leaves nothing when the server is killed in the middle, and is completed after the next write', async () => {
    let caught = -1;
    for (let number = 3; number < 12 && caught === -1; number++) {
      const done = erase({ contact_id: `person_${number}` }).then(
        () => true,
        () => true,
      );
      while (!(await Promise.race([done, new Promise((resolve) => setImmediate(resolve))]))) {
        if ((await get(`person_${number}`)).status === 200) continue;
        output = server.output();
        await server.kill();
        caught = number;
        break;
      }
      await done;
    }
    expect(caught, 'no kill came in the middle of an erasure').not.to.equal(-1);
    await start();
    expect((await get(`person_${caught}`)).status).to.equal(404);
    const again = await server.ingest('contacts', [person(caught)]);
    expect(again.body).to.include({ accepted: 1, suppressed: 1 });
    await until(async () => !(await completedAt()).includes(null), 'the erasure is complete');
    expect(traces(tracesOf(caught))).to.deep.equal([]);
    for (const trace of tracesOf(caught)) expect(output.toLowerCase()).not.to.include(trace);
  });
});
