import { expect } from 'chai';
import type { Clock } from '../../../services/shared/time.js';
import { type Answer, gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { wordsOf } from '../../support/words.js';

const NOW = Date.parse('2026-11-21T12:00:00Z');
/** Advances with each request of one organization, so that created items have an order. */
let moment = NOW;
const clock: Clock = { now: () => moment };
const range = { start_date: '2026-11-01', end_date: '2026-11-20' };
const NETWORK = '/api/advertising/network_a';
type Streams = Record<string, object[]>;

const upTo = <T>(count: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index + 1));

/** Records of an organization: their ids are the same in each organization, everything else differs. */
function recordsOf(
  name: string,
  day: string,
  counts: Record<'audiences' | 'contacts' | 'visits' | 'campaigns' | 'creatives' | 'companies', number>,
  days: string[],
  person: (number: number) => object,
): Streams {
  const updated_at = `${day}T00:00:00Z`;
  const moments = { created_at: '2026-11-02T00:00:00Z', updated_at };
  const figures = { reported_at: updated_at, impressions: 10 * name.length, engagements: 1 };
  return {
    audiences: upTo(counts.audiences, (number) => ({
      ...{ id: `aud_${number}`, name: `${name} ${number}`, network_a: name === 'Beta', ...moments },
    })),
    contacts: upTo(counts.contacts, (number) => ({
      ...{ contact_id: `con_${number}`, company_domain: 'shared.example', ...person(number), ...moments },
      ...(number > 3 && { import_id: 'imp_1' }),
    })),
    'website-visits': upTo(counts.visits, (number) => ({
      ...{ id: `v_${number}`, createdAt: `2026-11-0${number < 4 ? 5 : 6}T00:00:00Z`, audienceId: 'aud_1' },
      ...{ city: `${name}town`, ipAddress: '192.0.2.1', companyDomain: 'shared.example' },
    })),
    'network-a-campaigns': upTo(counts.campaigns, (number) => ({
      ...{ id: `cam_${number}`, name, status: name === 'Beta' ? 'PAUSED' : 'ACTIVE', updated_at },
      currency: name === 'Beta' ? ['EUR', 'CHF'][number - 1] : 'USD',
    })),
    'network-a-creatives': upTo(counts.creatives, (number) => ({
      ...{ id: `cre_${number}`, campaign_id: 'cam_1', name, updated_at },
    })),
    'network-a-companies': upTo(counts.companies, (number) => ({
      ...{ id: `co_${number}`, network_a_company_id: '77', name, domain: 'shared.example', updated_at },
    })),
    // The rates of Beta are newer.
    'currency-rates': (name === 'Beta' ? ['2026-11-02', '2026-11-20'] : ['2026-11-01']).flatMap((date) =>
      ['USD', 'CHF'].map((currency) => ({ date, currency, per_eur: `1.${name.length}` })),
    ),
    'network-a-deliveries': days.flatMap((date) =>
      upTo(counts.campaigns, (number) => ({ date, campaign_id: `cam_${number}`, ...figures })).flatMap(
        (delivery) => [
          { ...delivery, creative_id: 'cre_1', ad_spend: String(name.length) },
          { ...delivery, company_id: 'co_1' },
          // Beta also has a delivery to a company without a record.
          { ...delivery, company_id: name === 'Beta' ? 'co_9' : 'co_1' },
        ],
      ),
    ),
  };
}

const recordsOfA = recordsOf(
  'Alpha',
  '2026-11-03',
  { audiences: 3, contacts: 5, visits: 3, campaigns: 1, creatives: 1, companies: 1 },
  ['2026-11-02'],
  (number) => ({
    ...{ first_name: 'Maria', last_name: `Alpha${number}`, audience_ids: number < 4 ? ['aud_1'] : [] },
  }),
);
/** The same ids with other contents, newer versions, and ids that A lacks. */
const recordsOfB = recordsOf(
  'Beta',
  '2026-11-10',
  { audiences: 5, contacts: 24, visits: 8, campaigns: 3, creatives: 2, companies: 3 },
  ['2026-10-01', '2026-11-02', '2026-11-20'],
  (number) => ({
    ...{ first_name: 'Zanzibar', last_name: 'Maria', work_emails: [`taken${number}@beta.example`] },
    ...{ network_a_url: `https://linkedin.com/in/taken-${number}`, phones: ['+1 202 555 0199'] },
    audience_ids: ['aud_1', 'aud_2', 'aud_4'],
  }),
);

interface Step {
  path: string;
  body: object;
  headers?: Record<string, string>;
}

/** Requests whose responses could reveal other organizations: by id, filter, word, typo, total, warning and error. */
function questions(organizationId: string): Step[] {
  const organization = { organization_id: organizationId };
  const step = (path: string, ...bodies: object[]): Step[] => bodies.map((body) => ({ path, body }));
  const own = (path: string, ...bodies: object[]): Step[] =>
    step(path, ...bodies.map((body) => ({ ...organization, ...body })));
  return [
    ...own(
      '/api/contacts/get',
      { contact_id: 'con_1' },
      { contact_id: 'con_20' },
      { contact_id: 'con_nobody' },
    ),
    ...own('/api/contacts/get-many', { contact_ids: ['con_20', 'con_1', 'con_nobody'] }),
    ...own(
      '/api/contacts/search',
      {},
      { limit: 2 },
      { query: 'maria' },
      { query: 'zanzibar' },
      { query: 'zanzibat' },
      { query: 'zan' },
      { query: 'taken1@beta.example' },
      { query: '2025550199' },
      { query: 'maria -zanzibar' },
      { first_name: 'zanzibar' },
      { company_domain: 'shared.example' },
      { company_domains: ['shared.example', 'beta.example'] },
      { audience_id: 'aud_1' },
      { audience_id: 'aud_4' },
      { network_a_url: 'taken-1' },
    ),
    ...own(
      '/api/audiences/contacts/search',
      { audience_id: 'aud_1' },
      { audience_id: 'aud_2' },
      { audience_id: 'aud_4' },
    ),
    ...own('/api/audiences/get', { audience_id: 'aud_1' }, { audience_id: 'aud_4' }),
    ...own(
      '/api/audiences/search',
      {},
      { query: 'alpha' },
      { query: 'beta' },
      { query: 'betta' },
      { page: 2, limit: 2 },
    ),
    ...own(
      '/api/website-visits/search',
      {},
      { audience_id: 'aud_1' },
      { city: 'Betatown' },
      { ip_address: '192.0.2.0/24', limit: 1 },
    ),
    ...step('/api/filters/list', { view: 'contacts' }, { view: 'visits' }),
    ...own('/api/credits/get', {}),
    ...step(
      `${NETWORK}/campaigns`,
      range,
      { ...range, campaign_ids: ['cam_1', 'cam_2', 'cam_none'], currency: 'EUR' },
      { ...range, search: 'beta', start_date: '2026-09-01', granularity: 'monthly' },
    ),
    ...step(`${NETWORK}/creatives`, { ...range, creative_ids: ['cre_1', 'cre_2', 'cre_none'] }),
    ...step(
      `${NETWORK}/companies`,
      {
        ...{ ...range, company_ids: ['co_1', 'co_2'], network_a_company_ids: ['77'] },
        domains: ['shared.example', 'beta.example'],
      },
      { ...range, campaign_ids: ['cam_2'] },
      { ...range, company_ids: ['co_1', 'co_2', 'co_9'] },
      { ...range, sort_by: 'name' },
    ),
    ...step(
      `${NETWORK}/influence`,
      range,
      { ...range, thresholds: { engagements: 1 }, campaign_ids: ['cam_1', 'cam_2'] },
      { ...range, sort_by: 'first_outcome', outcomes: ['contacts'], page_size: 1 },
    ),
    ...own('/api/imports/list', {}),
    ...step(
      '/api/companies/search',
      range,
      { ...range, domains: ['shared.example', 'beta.example'] },
      { ...range, search: 'beta', sort_by: 'name' },
    ),
    ...step(
      '/api/companies/get',
      { ...range, domain: 'shared.example' },
      { ...range, domain: 'beta.example' },
    ),
    ...step(
      `${NETWORK}/company`,
      { ...range, company_id: 'co_2' },
      { ...range, company_id: '77' },
      { ...range, company_id: 'co_9' },
      { ...range, domain: 'shared.example' },
      { ...range, company_id: 'co_1', campaign_ids: ['cam_2'] },
    ),
  ];
}

/** Changes that the other organization has made under the same ids and idempotency keys. */
function changes(organizationId: string): Step[] {
  const organization = { organization_id: organizationId };
  const headers = { 'Idempotency-Key': 'the-same-key' };
  const create = (query: string, body: object, given = {}): Step => ({
    path: `/api/contacts/create${query}`,
    body: { ...organization, audience_id: 'aud_1', ...body },
    headers: given,
  });
  const member = (action: string, body: object, given = {}): Step => ({
    path: `/api/audiences/contacts/${action}`,
    body: { ...organization, audience_id: 'aud_1', ...body },
    headers: given,
  });
  const audience = (action: string, body: object, given = {}): Step => ({
    path: `/api/audiences/${action}`,
    body: { ...organization, ...body },
    headers: given,
  });
  const filter = (action: string, body: object): Step => ({ path: `/api/filters/${action}`, body });
  return [
    audience('create', { name: organizationId }, headers),
    audience('create', { name: organizationId }, headers),
    audience('create', { id: 'aud_6', name: `Made by ${organizationId}` }),
    audience('update', { audience_id: 'aud_3', name: `Named by ${organizationId}` }, headers),
    audience('update', { audience_id: 'aud_5', description: organizationId }),
    audience('delete', { audience_id: 'aud_3' }, headers),
    audience('delete', { audience_id: 'aud_5' }),
    create('', { first_name: organizationId }, headers),
    create('', { first_name: organizationId }, headers),
    create('?on_duplicate=reject', { work_emails: ['taken1@beta.example'] }),
    create('?on_duplicate=return', { network_a_url: 'linkedin.com/in/taken-2' }),
    create('?dry_run=true', { work_emails: ['taken3@beta.example'] }),
    create('?required_credits=5', { company_domain: 'shared.example' }),
    create('', { audience_id: 'aud_4' }),
    ...['con_2', 'con_24'].flatMap((contact_id) =>
      [{ last_name: organizationId }, { work_emails: ['taken5@beta.example'] }].map((fields) => ({
        path: '/api/contacts/update',
        body: { ...organization, contact_id, ...fields },
        headers,
      })),
    ),
    { path: '/api/contacts/delete', body: { ...organization, contact_ids: ['con_3', 'con_20'] } },
    { path: '/api/contacts/delete', body: { ...organization, email: 'taken4@beta.example' } },
    create('', { first_name: 'Erased', work_emails: ['taken6@beta.example'] }),
    { path: '/api/contacts/erase', body: { ...organization, email: 'taken6@beta.example' } },
    member('add', { contact_id: 'con_4' }, headers),
    member('add', { contact_id: 'con_4' }, headers),
    member('add', { contact_id: 'con_20' }),
    member('add', { audience_id: 'aud_4', contact_id: 'con_4' }),
    member('remove', { contact_id: 'con_1' }, headers),
    member('remove', { contact_id: 'con_1' }, headers),
    member('remove', { contact_id: 'con_20' }),
    member('remove', { audience_id: 'aud_4', contact_id: 'con_1' }),
    // The contacts of the same import of B are as B imported them.
    ...(organizationId === 'org_a'
      ? [{ path: '/api/imports/undo', body: { ...organization, import_id: 'imp_1' } }]
      : []),
    filter('save', { name: 'Shared name', contacts: { city: organizationId } }),
    filter('save', { name: organizationId, contacts: { city: organizationId } }),
    filter('save', { name: 'Shared name', contacts: { city: 'Again' } }),
    filter('delete', { view: 'contacts', name: 'Shared name' }),
    filter('delete', { view: 'contacts', name: 'org_b' }),
  ];
}

const HEADERS = wordsOf(
  'Content-Type Idempotency-Replayed X-Ignored-Fields Retry-After WWW-Authenticate Allow',
);

/** A response as the caller sees it. Generated ids are numbered, since each run generates others. */
class Transcript {
  readonly lines: string[] = [];
  readonly #made = new Map<string, string>();

  add({ path, body }: Step, { status, headers, text }: Answer): void {
    const shown = HEADERS.map((name) => headers.get(name) ?? '').join('|');
    this.lines.push(this.#numbered(`${path} ${JSON.stringify(body)}\n${status} ${shown}\n${text}`));
  }

  #numbered(text: string): string {
    // A cursor contains the id of the last item before it.
    const read = text.replace(/cursor":"([\w-]+)"/g, (_, cursor: string) =>
      Buffer.from(cursor, 'base64url').toString(),
    );
    // Leaves out the parts of an erasure's proof that differ between installations and moments.
    const same = read
      .replace(/"[0-9a-f]{64}"/g, '"hash"')
      .replace(/"(key_id|completed_at)":[^,]+/g, '"$1":"any"')
      // The order of records moves on with every organization.
      .replace(/"imported_at":"[^"]+"/g, '"imported_at":"any"');
    return same.replace(/(?:con|aud|era)_[0-9a-z]{26}/g, (id) => {
      if (!this.#made.has(id)) this.#made.set(id, `made_${this.#made.size + 1}`);
      return this.#made.get(id) as string;
    });
  }
}

class Organization {
  readonly id: string;
  readonly #gateway: TestGateway;
  readonly #key: string;
  #requests = 0;

  constructor(gateway: TestGateway, id: string, key: string) {
    this.#gateway = gateway;
    this.id = id;
    this.#key = key;
  }

  call({ path, body, headers }: Step): Promise<Answer> {
    moment = NOW + ++this.#requests * 10;
    return this.#gateway.call(path, body, { key: this.#key, headers: { 'X-Request-Id': 'one', ...headers } });
  }

  async load(streams: Streams): Promise<void> {
    for (const [stream, records] of Object.entries(streams)) {
      const { body, text } = await this.#gateway.ingest(stream, records, { key: this.#key });
      expect(body, text).to.include({ accepted: records.length, rejected: 0 });
    }
  }

  /** Sends all requests, follows cursors to their end, and returns the responses. */
  async ask(steps: Step[], transcript = new Transcript()): Promise<Transcript> {
    for (const step of steps) {
      const answer = await this.call(step);
      transcript.add(step, answer);
      const { next_cursor: cursor } = answer.body;
      if (typeof cursor === 'string')
        await this.ask([{ ...step, body: { ...step.body, cursor } }], transcript);
    }
    return transcript;
  }
}

async function organizationOf(gateway: TestGateway, id: string): Promise<Organization> {
  return new Organization(gateway, id, await gateway.keyFor(id));
}

/** All responses that A gets, before and after its own changes. */
async function lifeOfA(a: Organization, gateway: TestGateway): Promise<string[]> {
  await a.load(recordsOfA);
  const before = await a.ask(questions(a.id));
  const during = await a.ask(changes(a.id));
  await gateway.stores.records.setCredits(a.id, 7);
  await a.ask(changes(a.id), during);
  // The changes of A touch no advertising data.
  const after = await a.ask(questions(a.id).filter(({ path }) => !path.startsWith(NETWORK)));
  const rejected = await gateway.ingest('contacts', [{ contact_id: 'x', organization_id: 'org_b' }]);
  return [...before.lines, ...during.lines, ...after.lines, rejected.text];
}

export const isolation = gatewaySuite('An organization', (start) => {
  let alone: string[];
  let beside: string[];
  let betaBefore: string[];
  let betaAfter: string[];
  let gateway: TestGateway;
  let a: Organization;
  let b: Organization;

  before(async function () {
    this.timeout(120_000);
    const empty = await start({}, clock);
    try {
      alone = await lifeOfA(await organizationOf(empty, 'org_a'), empty);
    } finally {
      await empty.close();
    }
    gateway = await start({}, clock);
    b = await organizationOf(gateway, 'org_b');
    await b.load(recordsOfB);
    await gateway.stores.records.setCredits('org_b', 3);
    await b.ask(changes('org_b'));
    betaBefore = (await b.ask(questions('org_b'))).lines;
    a = await organizationOf(gateway, 'org_a');
    beside = await lifeOfA(a, gateway);
    betaAfter = (await b.ask(questions('org_b'))).lines;
  });
  after(() => gateway.close());

  it('gets the same responses, byte for byte, whatever another organization stores under the same ids', () => {
    for (const [index, line] of alone.entries()) expect(beside[index]).to.equal(line);
    expect(beside).to.have.length(alone.length);
    expect(alone.length).to.be.above(100);
  });

  it('keeps its data, whatever another organization changes under the same ids', () => {
    expect(betaAfter).to.deep.equal(betaBefore);
    expect(betaBefore.join('\n')).to.include('Zanzibar').and.include('Betatown');
  });

  it('cannot use a cursor of another organization', async () => {
    for (const path of ['/api/contacts/search', '/api/website-visits/search']) {
      const { body } = await b.call({ path, body: { organization_id: 'org_b', limit: 1 } });
      const { next_cursor: cursor } = body;
      expect(cursor).to.be.a('string');
      const answer = await a.call({ path, body: { organization_id: 'org_a', limit: 1, cursor } });
      expect(answer.status).to.equal(422);
      expect((answer.body.errors as object[])[0]).to.include({ pointer: '/cursor', code: 'cursor_mismatch' });
    }
  });

  it('shares no idempotency key with another organization, not even while a request runs', async () => {
    for (let round = 0; round < 10; round++) {
      const headers = { 'Idempotency-Key': `race-${round}` };
      const answers = await Promise.all(
        [a, b].map((organization) =>
          organization.call({
            path: '/api/audiences/contacts/add',
            body: { organization_id: organization.id, audience_id: 'aud_2', contact_id: 'con_2' },
            headers,
          }),
        ),
      );
      for (const [index, answer] of answers.entries()) {
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.headers.get('Idempotency-Replayed')).to.equal(null);
        expect(answer.body.organization_id).to.equal(['org_a', 'org_b'][index]);
      }
    }
  });

  it('has its own company id for a domain that other organizations share', async () => {
    const ids = await Promise.all(
      [a, b].map(async ({ id }, index) => {
        const { body } = await ([a, b][index] as Organization).call({
          path: '/api/contacts/get',
          body: { organization_id: id, contact_id: 'con_1' },
        });
        return (body.contact as { company_id: string }).company_id;
      }),
    );
    expect(ids[0]).to.match(/^com_/);
    expect(ids[0]).not.to.equal(ids[1]);
  });
});
