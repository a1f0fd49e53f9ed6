import { expect } from 'chai';
import fc from 'fast-check';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { runs, SEED } from '../../support/random.js';

type Json = Record<string, unknown>;

const WAYS = ['create', 'update', 'reject'] as const;

/** `?on_duplicate=` of contacts (contract 6.2g). */
export const peopleOfImports = gatewaySuite('People who are there already', (start) => {
  let gateway: TestGateway;
  let organizations = 0;
  before(async function () {
    this.timeout(60_000);
    gateway = await start();
  });
  after(() => gateway.close());

  /** An organization with some contacts. */
  async function organizationWith(records: readonly Json[]) {
    organizations++;
    const organization = `org_people_${organizations}`;
    const key = await gateway.keyFor(organization);
    if (records.length > 0) await gateway.ingest('contacts', records, { key });
    const send = async (path: string, more: readonly Json[]) => {
      const raw = more.map((record) => JSON.stringify(record)).join('\n');
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const answer = await gateway.call(path, undefined, { key, raw, headers });
      return answer.body as Json & {
        errors: { line: number; code: string; pointer: string }[];
        result: Json;
      };
    };
    const all = async () => {
      const body = { organization_id: organization, limit: 200 };
      const answer = await gateway.call('/api/contacts/search', body, { key });
      const contacts = answer.body.contacts as {
        contact_id: string;
        last_name: string;
        work_emails: string[];
      }[];
      return contacts.sort((a, b) => (a.contact_id < b.contact_id ? -1 : 1));
    };
    return { organization, key, send, all };
  }

  const ada = {
    contact_id: 'ada',
    last_name: 'Lovelace',
    city: 'London',
    work_emails: ['ada@acme.example'],
    network_a_url: 'https://www.linkedin.com/in/ada-l',
  };
  const twins = [
    { contact_id: 'twin-1', work_emails: ['team@acme.example'] },
    { contact_id: 'twin-2', work_emails: ['team@acme.example'] },
  ];
  /** One row of each kind, and the expected outcome. */
  const rows = [
    { contact_id: 'new', last_name: 'New', work_emails: ['new@acme.example'] },
    { contact_id: 'ada', last_name: 'Byron' },
    { contact_id: 'crm-7', last_name: 'King', work_emails: ['ADA@acme.example'] },
    { contact_id: 'crm-8', job_title: 'Countess', network_a_url: 'uk.linkedin.com/in/Ada-L/?x=1' },
    { contact_id: 'crm-9', work_emails: ['team@acme.example'] },
    { contact_id: 'nameless' },
  ];

  it('the check counts who is new, known by id, known by an address, and known twice', async () => {
    const { send, all } = await organizationWith([ada, ...twins]);
    const { result } = await send('/api/ingest/contacts/check', rows);
    expect(result).to.deep.include({ accepted: 6, created: 2, updated: 1, matched: 2, ambiguous: 1 });
    expect(result.matches).to.deep.equal([
      { line: 3, contact_id: 'ada', field: 'work_emails', value: 'ada@acme.example' },
      { line: 4, contact_id: 'ada', field: 'network_a_url', value: 'uk.linkedin.com/in/Ada-L/?x=1' },
    ]);
    expect((await all()).map(({ last_name }) => last_name)).to.deep.equal(['Lovelace', null, null]);
  });

  it('by default all are created, and nobody is looked up', async () => {
    const { send, all } = await organizationWith([ada, ...twins]);
    const answer = await send('/api/ingest/contacts', rows);
    expect(answer).to.include({ accepted: 6 }).and.not.have.any.keys('created', 'matched', 'matches');
    expect(await all()).to.have.length(8);
  });

  it('update changes the one contact that the person has, and refuses a person with several', async () => {
    const { send, all } = await organizationWith([ada, ...twins]);
    const answer = await send('/api/ingest/contacts?on_duplicate=update', rows);
    expect(answer).to.deep.include({
      accepted: 5,
      rejected: 1,
      created: 2,
      updated: 1,
      matched: 2,
      ambiguous: 0,
    });
    expect(answer.errors.map(({ line, code, pointer }) => [line, code, pointer])).to.deep.equal([
      [5, 'ambiguous_person', '/work_emails'],
    ]);
    const contacts = await all();
    expect(contacts.map(({ contact_id }) => contact_id)).to.deep.equal([
      'ada',
      'nameless',
      'new',
      'twin-1',
      'twin-2',
    ]);
    expect(contacts[0]).to.deep.include({
      last_name: 'King',
      job_title: 'Countess',
      city: 'London',
      work_emails: ['ada@acme.example'],
    });
  });

  it('reject leaves the person as it is', async () => {
    const { send, all } = await organizationWith([ada, ...twins]);
    const answer = await send('/api/ingest/contacts?on_duplicate=reject', rows);
    expect(answer).to.deep.include({
      accepted: 3,
      rejected: 3,
      created: 2,
      updated: 1,
      matched: 0,
      ambiguous: 0,
    });
    expect(answer.errors.map(({ line, code }) => [line, code])).to.deep.equal([
      [3, 'contact_exists'],
      [4, 'contact_exists'],
      [5, 'ambiguous_person'],
    ]);
    expect((await all())[0]).to.include({ last_name: 'Byron' });
  });

  it('on_reject=fail writes none where a person is there already', async () => {
    const { send, all } = await organizationWith([ada]);
    const answer = await send('/api/ingest/contacts?on_duplicate=reject&on_reject=fail', rows);
    expect(answer).to.include({ code: 'records_rejected', accepted: 0 });
    expect(await all()).to.have.length(1);
  });

  it('of another organization nobody is there', async () => {
    await organizationWith([ada]);
    const { send, all } = await organizationWith([]);
    const answer = await send('/api/ingest/contacts?on_duplicate=reject', [{ ...ada, contact_id: 'crm-7' }]);
    expect(answer).to.include({ accepted: 1, created: 1 });
    expect(await all()).to.have.length(1);
  });

  it('a dry run counts as the load does', async () => {
    for (const way of WAYS) {
      const { send } = await organizationWith([ada, ...twins]);
      const dry = await send(`/api/ingest/contacts?on_duplicate=${way}&dry_run=true`, rows);
      const real = await send(`/api/ingest/contacts?on_duplicate=${way}`, rows);
      for (const name of ['accepted', 'rejected', 'created', 'updated', 'matched', 'ambiguous']) {
        expect(real[name], `${way} ${name}`).to.equal(dry[name]);
      }
      expect(dry.matches).to.have.length(2);
      expect(real).not.to.have.any.keys('matches');
    }
  });

  it('deleted contacts are nobody, and deletions are counted as nobody', async () => {
    const { send, all } = await organizationWith([ada]);
    await send('/api/ingest/contacts', [{ contact_id: 'ada', deleted: true }]);
    const answer = await send('/api/ingest/contacts?on_duplicate=update', [
      { ...ada, contact_id: 'crm-7' },
      { contact_id: 'nobody', deleted: true, work_emails: ['ada@acme.example'] },
    ]);
    expect(answer).to.include({ accepted: 2, created: 1, updated: 0, matched: 0 });
    expect((await all()).map(({ contact_id }) => contact_id)).to.deep.equal(['crm-7']);
  });

  it('a key that reads no contacts learns of nobody', async () => {
    const { organization } = await organizationWith([ada]);
    const key = await gateway.keyFor(organization, ['ingest:write']);
    const call = async (path: string) => {
      const raw = JSON.stringify({ ...ada, contact_id: 'crm-7' });
      const headers = { 'Content-Type': 'application/x-ndjson' };
      return (await gateway.call(path, undefined, { key, raw, headers })).body as Json;
    };
    for (const way of WAYS) {
      for (const path of ['/api/ingest/contacts', '/api/ingest/contacts/check']) {
        const answer = await call(`${path}?on_duplicate=${way}`);
        expect(answer).to.include({ code: 'insufficient_scope', required_scope: 'contacts:read' });
      }
    }
    const { result } = await call('/api/ingest/contacts/check');
    expect(result).to.include({ accepted: 1 });
    expect(result).not.to.have.any.keys('created', 'updated', 'matched', 'ambiguous', 'matches');
    expect(await call('/api/ingest/contacts')).to.include({ accepted: 1 });
  });

  it('other streams have no people', async () => {
    const { send } = await organizationWith([]);
    const answer = await send('/api/ingest/audiences?on_duplicate=update', [{ id: 'a', name: 'A' }]);
    expect(answer).to.include({ code: 'validation_failed' });
    expect(answer.errors[0]).to.include({ pointer: '?on_duplicate', code: 'not_for_stream' });
  });

  it('quotes, separators and long texts in addresses are nobody else', async () => {
    const odd = [
      `o'x"@a.example`,
      'a b@a.example',
      'x*@a.example',
      'emails:x@a.example',
      '%@a.example',
      `${'x'.repeat(300)}@a.example`,
    ];
    const { send } = await organizationWith([{ contact_id: 'x', work_emails: ['x@a.example'] }]);
    const records = odd.map((email, index) => ({ contact_id: `odd-${index}`, work_emails: [email] }));
    const answer = await send('/api/ingest/contacts?on_duplicate=update', records);
    expect(Number(answer.created) + Number(answer.rejected)).to.equal(odd.length);
    expect(answer.matched).to.equal(0);
    const again = await send(
      '/api/ingest/contacts?on_duplicate=update',
      records.map((record) => ({ ...record, contact_id: `again-${record.contact_id}` })),
    );
    expect(again.matched).to.equal(answer.created);
  });

  it('with update, a person is one contact, however rows and requests are divided', async function () {
    this.timeout(120_000);
    const person = fc.record({
      email: fc.constantFrom('a@x.example', 'A@X.example ', 'b@x.example', 'c@x.example', 'd@x.example'),
      request: fc.integer({ min: 0, max: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(person, { minLength: 1, maxLength: 12 }), async (people) => {
        const { send, all } = await organizationWith([]);
        let created = 0;
        let matched = 0;
        for (const request of [0, 1, 2]) {
          const records = people.flatMap((each, index) =>
            each.request === request ? [{ contact_id: `row-${index}`, work_emails: [each.email] }] : [],
          );
          if (records.length === 0) continue;
          const answer = await send('/api/ingest/contacts?on_duplicate=update', records);
          created += Number(answer.created);
          matched += Number(answer.matched);
        }
        const persons = new Set(people.map(({ email }) => email.trim().toLowerCase()));
        expect((await all()).flatMap(({ work_emails }) => work_emails).sort()).to.deep.equal(
          [...persons].sort(),
        );
        expect([created, matched]).to.deep.equal([persons.size, people.length - persons.size]);
      }),
      { seed: SEED, numRuns: runs(5) },
    );
  });

  it('rows of one person are found thousands of rows apart', async function () {
    this.timeout(60_000);
    const { send } = await organizationWith([]);
    const others = Array.from({ length: 6000 }, (_, index) => ({
      contact_id: `c${index}`,
      work_emails: [`person${index}@acme.example`],
    }));
    const last = { contact_id: 'last', work_emails: ['person0@acme.example', 'more@acme.example'] };
    const answer = await send('/api/ingest/contacts?on_duplicate=update', [...others, last]);
    expect(answer).to.include({ accepted: 6001, created: 6000, matched: 1 });
  });
});
