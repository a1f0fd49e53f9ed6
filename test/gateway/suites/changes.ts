import { expect } from 'chai';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { expectProblem, expectRules } from '../../support/problems.js';
import { Random, runs, SEED } from '../../support/random.js';
import { responseCheck } from '../../support/schema-check.js';
import { until } from '../../support/until.js';

type Json = Record<string, unknown>;
interface Change {
  contact_id: string;
  state: 'present' | 'absent';
  contact?: Json;
}
type ChangesPage = { changes: Change[]; next_cursor: string; more: boolean };

const PATH = '/api/contacts/changes';
const FILTERS: Json[] = [
  {},
  { country: 'US' },
  { query: 'maria' },
  // No contact has this address, so its parts are searched for.
  { query: 'person.lee3@acme.example' },
  { audience_id: 'aud' },
  { company_domains: ['acme.example'], audience_id: 'aud' },
];

export const changes = gatewaySuite('The feed of changes', (start) => {
  let gateway: TestGateway;
  const keys = new Map<string, string>();
  const organization_id = 'org_feed';
  before(async function () {
    this.timeout(60_000);
    gateway = await start();
    for (const organization of [organization_id, 'org_near']) {
      const key = await gateway.keyFor(organization);
      keys.set(organization, key);
      await gateway.ingest('audiences', [{ id: 'aud', name: 'Aud' }], { key });
      await gateway.ingest('contacts', people(organization), { key });
    }
  });
  after(() => gateway.close());

  const call = (path: string, body: Json, organization = organization_id): Promise<Answer> =>
    gateway.call(path, { organization_id: organization, ...body }, { key: keys.get(organization) });
  const ask = async (path: string, body: Json, organization?: string): Promise<Json> => {
    const answer = await call(path, body, organization);
    expect(answer.status, answer.text).to.equal(200);
    expect(responseCheck.get(path)?.(answer.body)).to.deep.equal([]);
    return answer.body;
  };
  const read = async (body: Json, organization?: string) =>
    (await ask(PATH, body, organization)) as unknown as ChangesPage;
  /** Reads to the present, and stores what each page says. */
  const follow = async (
    filter: Json,
    contacts: Map<string, Json>,
    cursor?: string,
    limit = 3,
  ): Promise<string> => {
    let next = cursor;
    await until(async () => {
      const page = await read({ filter, limit, ...(next && { cursor: next }) });
      for (const { contact_id, state, contact } of page.changes) {
        if (state === 'absent') contacts.delete(contact_id);
        else contacts.set(contact_id, contact as Json);
      }
      next = page.next_cursor;
      return !page.more;
    }, 'the feed reaches the present');
    return next as string;
  };
  const search = async (filter: Json) => {
    const { contacts } = await ask('/api/contacts/search', { ...filter, match: 'all', limit: 1000 });
    return new Map((contacts as Json[]).map((contact) => [contact.contact_id as string, contact]));
  };
  const fieldsOf = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  const forged = (cursor: string, change: (fields: unknown[]) => unknown[]) =>
    Buffer.from(JSON.stringify(change(fieldsOf(cursor)))).toString('base64url');

  for (const filter of FILTERS) {
    it(`has what a search finds, before and after changes of every kind: ${JSON.stringify(filter)}`, async () => {
      const contacts = new Map<string, Json>();
      const cursor = await follow(filter, contacts);
      expect([...contacts.keys()].sort()).to.deep.equal([...(await search(filter)).keys()].sort());
      await ask('/api/contacts/update', { contact_id: 'c1', country: 'France', first_name: 'Ann' });
      await ask('/api/audiences/contacts/remove', { audience_id: 'aud', contact_id: 'c3' });
      await ask('/api/audiences/contacts/add', { audience_id: 'aud', contact_id: 'c4' });
      await ask('/api/contacts/delete', { contact_id: 'c5' });
      await ask('/api/contacts/erase', { contact_id: `erased_${FILTERS.indexOf(filter)}` });
      await follow(filter, contacts, cursor);
      const expected = await search(filter);
      expect([...contacts.keys()].sort()).to.deep.equal([...expected.keys()].sort());
      for (const [id, contact] of expected) expect(contacts.get(id)).to.deep.equal(contact);
      const key = keys.get(organization_id) as string;
      await gateway.ingest('contacts', people(organization_id), { key });
    });
  }

  it('answers 422 for a forged cursor, or 410 if it names another numbering or reading', async () => {
    const random = new Random(SEED);
    const numbers = [-2, -1, 0, 1, 7, 2 ** 31, 2 ** 53, 1.5, '1', null, [], {}];
    const { next_cursor: issued } = await read({ limit: 1 });
    const near = await read({ limit: 1 }, 'org_near');
    for (let run = 0; run < runs(60); run++) {
      const pick = (field: unknown): unknown =>
        Array.isArray(field) ? field.map(pick) : random.chance(0.4) ? random.pick(numbers) : field;
      const cursor = forged(issued, ([signature, scope, ...fields]) => [
        signature,
        scope,
        ...fields.map(pick),
        ...(random.chance(0.2) ? [[3]] : []),
      ]);
      if (cursor === issued) continue;
      const answer = await call(PATH, { cursor });
      const [, , epoch, reading] = fieldsOf(cursor);
      const [, , ownEpoch, ownReading] = fieldsOf(issued);
      const isOther = epoch !== ownEpoch || reading !== ownReading;
      expect(answer.status, answer.text).to.be.oneOf(isOther ? [410, 422] : [422]);
    }
    for (const step of [-1, 1, 1_000_000_000]) {
      const cursor = forged(issued, (fields) => {
        const [[...numbers]] = fields.splice(4, 1) as [number[]];
        const last = numbers.pop() as number;
        return [...fields.slice(0, 4), [...numbers, last + step], ...fields.slice(4)];
      });
      expectRules(await call(PATH, { cursor }), ['/cursor invalid_cursor']);
    }
    for (const numbers of [[-1], [5, 6]]) {
      const cursor = forged(issued, (fields) => [...fields.slice(0, 4), numbers]);
      expectRules(await call(PATH, { cursor }), ['/cursor invalid_cursor']);
    }
    expectRules(await call(PATH, { cursor: near.next_cursor }), ['/cursor cursor_mismatch']);
    expectRules(await call(PATH, { cursor: 'WyJ4IiwieSJd' }), ['/cursor cursor_mismatch']);
    expectRules(await call(PATH, { cursor: `${issued}A` }), ['/cursor invalid_cursor']);
  });

  it('names no contact of another organization on any page, while contacts of both change', async function () {
    this.timeout(runs(120_000));
    const random = new Random(SEED);
    const organizations = ['org_left', 'org_right'];
    for (const organization of organizations) {
      keys.set(organization, await gateway.keyFor(organization));
      await gateway.ingest('audiences', [{ id: 'aud', name: 'Aud' }], { key: keys.get(organization) });
    }
    const write = (organization: string) => {
      const contact_id = `${organization}_${random.below(60)}`;
      const key = keys.get(organization);
      const kind = random.below(10);
      if (kind === 0) return call('/api/contacts/delete', { contact_id }, organization);
      if (kind === 1 && random.chance(0.05)) return call('/api/contacts/erase', { contact_id }, organization);
      const record = {
        ...{ contact_id, first_name: 'Maria', city: organization },
        country: random.pick(['US', 'DE']),
        audience_ids: random.chance(0.5) ? ['aud'] : [],
      };
      return gateway.ingest('contacts', [record], { key });
    };
    const filters = FILTERS.filter((filter) => !('company_domains' in filter));
    /** The newest cursor of each organization and filter. */
    const cursors = new Map<string, string>();
    const seen = { pages: 0, changes: 0, refused: 0 };
    const total = runs(300);
    const reader = async () => {
      while (seen.pages < total) {
        const [organization = '', other = ''] = random.shuffled(organizations);
        const filter = random.pick(filters);
        if (random.chance(0.3)) await write(random.pick(organizations));
        const place = `${organization} ${JSON.stringify(filter)}`;
        const foreign = cursors.get(`${other} ${JSON.stringify(filter)}`);
        if (foreign && random.chance(0.1)) {
          expectRules(await call(PATH, { filter, cursor: foreign }, organization), [
            '/cursor cursor_mismatch',
          ]);
          seen.refused++;
          continue;
        }
        const cursor = random.chance(0.8) ? cursors.get(place) : undefined;
        const answer = await call(PATH, { filter, limit: random.between(1, 20), cursor }, organization);
        if (answer.status === 410) cursors.delete(place);
        else expect(answer.status, answer.text).to.equal(200);
        expect(answer.text).not.to.include(other);
        seen.pages++;
        if (answer.status === 410) continue;
        const page = answer.body as unknown as ChangesPage;
        for (const { contact_id } of page.changes) expect(contact_id.startsWith(organization)).to.equal(true);
        seen.changes += page.changes.length;
        cursors.set(place, page.next_cursor);
      }
    };
    await Promise.all(Array.from({ length: 4 }, reader));
    console.log(
      `      ${seen.pages} pages, ${seen.changes} changes, ${seen.refused} foreign cursors refused`,
    );
    expect(seen.changes).to.be.above(total);
    expect(seen.refused).to.be.above(0);
  });

  it('refuses the cursor of another filter, from with a cursor, and an unknown audience', async () => {
    const { next_cursor: cursor } = await read({ limit: 1 });
    expectRules(await call(PATH, { cursor, filter: { country: 'US' } }), ['/cursor cursor_mismatch']);
    expectRules(await call(PATH, { cursor, from: 'now' }), ['/from not_with_cursor']);
    const ofNone = { audience_id: 'none' };
    for (const filter of [ofNone, { any_of: [ofNone] }, { none_of: [ofNone] }]) {
      expectProblem(await call(PATH, { filter }), 404, 'audience_not_found', {});
    }
  });

  it('answers 410 for a cursor of another numbering', async () => {
    const { next_cursor } = await read({ limit: 1 });
    const cursor = forged(next_cursor, ([signature, scope, , ...rest]) => [
      signature,
      scope,
      'another',
      ...rest,
    ]);
    expectProblem(await call(PATH, { cursor }), 410, 'cursor_expired');
  });

  it('says absent for each member once their audience is deleted', async () => {
    await ask('/api/audiences/create', { id: 'gone', name: 'Gone' });
    await ask('/api/audiences/contacts/add-many', { audience_id: 'gone', contact_ids: ['c1', 'c2'] });
    const filter = { audience_id: 'gone' };
    const members = new Map<string, Json>();
    const cursor = await follow(filter, members);
    expect([...members.keys()].sort()).to.deep.equal(['c1', 'c2']);
    await ask('/api/audiences/delete', { audience_id: 'gone' });
    await follow(filter, members, cursor);
    expect(members.size).to.equal(0);
  });

  it('from now on, names only what changed later, also an erased contact, by its id alone', async () => {
    const { changes: none, next_cursor: cursor } = await read({ from: 'now' });
    expect(none).to.deep.equal([]);
    await ask('/api/contacts/erase', { email: 'person7@acme.example' });
    const { changes: found } = await read({ cursor });
    expect(found).to.deep.equal([{ contact_id: 'c7', state: 'absent' }]);
  });
});

const people = (organization: string) => [
  ...Array.from({ length: 12 }, (_, index) => ({
    contact_id: `c${index}`,
    first_name: ['Maria', 'José', 'Robert'][index % 3],
    last_name: `${organization.replace('_', '')}Lee${index}`,
    country: index % 2 ? 'US' : 'DE',
    company_domain: 'acme.example',
    work_emails: [`person${index}@acme.example`],
    audience_ids: index % 3 === 0 ? ['aud'] : [],
  })),
  ...FILTERS.map((_, index) => ({
    contact_id: `erased_${index}`,
    first_name: 'Maria',
    country: 'US',
    audience_ids: ['aud'],
  })),
];
